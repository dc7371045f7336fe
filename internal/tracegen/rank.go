// SPDX-License-Identifier: Apache-2.0

package tracegen

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// Times are in ticks of a clock with 2.5 GHz that only ever shows even numbers,
// as some hypervisors' do.
const (
	tickHz    = 2_500_000_000
	runStart  = 1_780_000_000_000_000_000 // ns since 1970
	firstTick = 1_000_000
)

// Ids of definitions.
const (
	world  format.ID = 1
	double format.ID = 1
	octet  format.ID = 2
	sum    format.ID = 1
)

// rank generates one rank's file.
type rank struct {
	o       *Options
	w       *format.Writer
	rank    int32
	offset  int64 // of the host's clock
	threads []*thread
}

// thread generates one thread's calls.
type thread struct {
	rank  *rank
	id    uint32
	block format.Calls
	sigs  map[sigKey]uint32
	dones map[format.DoneSig]uint32
	now   int64 // end of the last call, without the host's offset
	next  uint64
	err   error
}

// sigKey is what tells the signatures here apart.
type sigKey struct {
	function mpi.FuncID
	flags    format.Flags
	peer     int32
	tag      int32
	root     int32
	bytes    int64
	done     uint32
}

func newRank(o *Options, r int32) *rank {
	g := &rank{o: o, rank: r}
	g.offset = int64(g.host()) * 86_400 * tickHz
	for id := range o.Threads {
		g.threads = append(g.threads, &thread{
			rank: g, id: uint32(id), now: firstTick, next: uint64(id),
			sigs: map[sigKey]uint32{}, dones: map[format.DoneSig]uint32{},
		})
	}
	return g
}

// host is the number of the rank's host: ranks fill one after the other.
func (g *rank) host() int { return int(g.rank) * g.o.Hosts / g.o.Ranks }

func (g *rank) run() format.Run {
	run := format.Run{
		Size: int32(g.o.Ranks), Start: runStart, Tool: "tracegen",
		Command: []string{"tracegen", string(g.o.Pattern)},
	}
	binary.BigEndian.PutUint64(run.ID[:], g.o.Seed)
	copy(run.ID[8:], g.o.Pattern)
	return run
}

func (g *rank) process() format.Process {
	level := "MPI_THREAD_SINGLE"
	if g.o.Threads > 1 {
		level = "MPI_THREAD_MULTIPLE"
	}
	return format.Process{
		Rank: g.rank, PID: 1000 + g.rank, Host: fmt.Sprintf("node%d", g.host()), Boot: fmt.Sprintf("boot-%d", g.host()),
		Executable: "/opt/tracegen", Directory: "/opt", ABI: "openmpi", Library: "Open MPI v4.1.4, generated",
		MPIVersion: "3.1", ThreadLevel: level, Clock: "tsc", TickHz: tickHz,
	}
}

// at turns a time into the ticks of the rank's host.
func (g *rank) at(t int64) int64 { return (t + g.offset) &^ 1 }

func (g *rank) clock(t int64) format.ClockPoint {
	ns := t * 2 / 5
	return format.ClockPoint{Rank: g.rank, Tick: g.at(t), Monotonic: ns + g.offset*2/5, Realtime: runStart + ns, Error: 20}
}

// write writes everything up to the footer.
func (g *rank) write() error {
	w := g.w
	for _, t := range g.threads {
		w.Thread(format.Thread{Rank: g.rank, ID: t.id, TID: 1000 + g.rank + int32(t.id)})
	}
	w.Clock(g.clock(0))
	w.Comm(format.Comm{ID: world, Name: "MPI_COMM_WORLD", Global: 1, Rank: g.rank, Group: format.Ranks{{First: 0, Count: int32(g.o.Ranks), Stride: 1}}})
	w.Datatype(format.Datatype{ID: double, Name: "MPI_DOUBLE", Size: 8, Extent: 8})
	w.Datatype(format.Datatype{ID: octet, Name: "MPI_BYTE", Size: 1, Extent: 1})
	w.Op(format.Op{ID: sum, Name: "MPI_SUM"})
	w.Module(format.Module{ID: 1, Path: "/opt/tracegen", Base: 0x400000, Start: 0x401000, End: 0x500000})
	for i, f := range functions {
		w.Site(format.Site{ID: site(f), Module: 1, Address: 0x401000 + 16*uint64(i), Function: "main", File: "tracegen.c", Line: int32(10 + i)})
	}

	main := g.threads[0]
	main.call(funcInit, 50_000, 2_000_000, sigKey{})
	per := g.perIteration()
	iterations := (g.o.Calls + per - 1) / per
	at := int64(firstTick + 10_000_000)
	for i := range iterations {
		length := int64(0)
		for _, t := range g.threads {
			length = max(length, t.iteration(i, at))
		}
		at += length
	}
	if g.o.Unfinished {
		main.hang(at)
	} else {
		main.until(funcFinalize, at, at+500_000, sigKey{})
	}
	calls := uint64(0)
	for _, t := range g.threads {
		t.flush()
		if t.err != nil {
			return t.err
		}
		calls += t.block.FirstSeq
	}
	if !g.o.Unfinished {
		w.Clock(g.clock(at + 600_000))
		w.Summary(format.Summary{Rank: g.rank, Calls: calls, Drains: calls / format.MaxBlockCalls, End: g.at(at + 600_000), Finalized: true})
	}
	return w.Flush()
}

// perIteration is how many calls all threads of a rank make in an iteration.
func (g *rank) perIteration() int64 {
	per := map[Pattern]int64{Halo: 10, PingPong: 2, Irregular: 5}[g.o.Pattern]
	return per * int64(g.o.Threads)
}

// call adds a call that begins gap after the last and takes duration.
func (t *thread) call(f mpi.FuncID, gap, duration int64, k sigKey) {
	t.until(f, t.now+gap, t.now+gap+duration, k)
}

// until adds a call from begin to end.
func (t *thread) until(f mpi.FuncID, begin, end int64, k sigKey) {
	k.function = f
	b := &t.block
	x, ok := t.sigs[k]
	if !ok {
		x = uint32(len(b.Sigs))
		t.sigs[k] = x
		b.Sigs = append(b.Sigs, t.sig(k))
	}
	b.Index = append(b.Index, x)
	b.Begin = append(b.Begin, t.rank.at(begin))
	if k.flags&format.FlagInFlight != 0 {
		b.End = append(b.End, 0)
		t.now = begin
	} else {
		b.End = append(b.End, t.rank.at(end))
		t.now = end
	}
	if len(b.Index) == format.MaxBlockCalls {
		t.flush()
	}
}

// request is the number of the next request; call it before the call that
// starts it.
func (t *thread) request() uint64 {
	t.next += uint64(len(t.rank.threads))
	t.block.Request = append(t.block.Request, t.next)
	return t.next
}

// done adds a completed request; call it before the call that completes it.
func (t *thread) done(request uint64, d format.DoneSig) {
	b := &t.block
	x, ok := t.dones[d]
	if !ok {
		x = uint32(len(b.DoneSigs))
		t.dones[d] = x
		b.DoneSigs = append(b.DoneSigs, d)
	}
	b.DoneIndex = append(b.DoneIndex, x)
	b.DoneRequest = append(b.DoneRequest, request)
}

// flush writes the block.
func (t *thread) flush() {
	b := &t.block
	if len(b.Index) == 0 || t.err != nil {
		return
	}
	b.Rank = t.rank.rank
	t.err = t.rank.w.WriteCalls(b)
	clear(t.sigs)
	clear(t.dones)
	*b = format.Calls{
		FirstSeq: b.FirstSeq + uint64(len(b.Index)),
		Sigs:     b.Sigs[:0], Index: b.Index[:0], Begin: b.Begin[:0], End: b.End[:0], Request: b.Request[:0],
		DoneSigs: b.DoneSigs[:0], DoneIndex: b.DoneIndex[:0], DoneRequest: b.DoneRequest[:0],
	}
}

// sig makes a signature of its key.
func (t *thread) sig(k sigKey) format.Sig {
	s := format.Sig{
		Func: k.function, Flags: k.flags, Thread: t.id, Site: site(k.function),
		Peer: format.NoRank, Tag: format.NoTag, Root: format.NoRank, Count: format.NoCount, NDone: k.done,
	}
	switch k.function {
	case funcSend, funcIsend, funcRecv, funcIrecv:
		s.Comm, s.Peer, s.Tag = world, k.peer, k.tag
		s.Datatype, s.Count, s.Bytes = octet, k.bytes, k.bytes
		if k.function == funcIrecv {
			s.Bytes = 0 // known when it completes
		}
	case funcIprobe:
		s.Comm, s.Peer, s.Tag = world, k.peer, k.tag
	case funcAllreduce:
		s.Comm, s.Datatype, s.Op, s.Count, s.Bytes = world, double, sum, 1, 8
	case funcBcast:
		s.Comm, s.Datatype, s.Root, s.Count, s.Bytes = world, double, k.root, k.bytes/8, k.bytes
	case funcWaitall:
		s.Count = int64(k.done)
	}
	return s
}

func id(name string) mpi.FuncID { return mpi.ByName(name).ID }

var (
	funcInit      = id("MPI_Init")
	funcFinalize  = id("MPI_Finalize")
	funcSend      = id("MPI_Send")
	funcRecv      = id("MPI_Recv")
	funcIsend     = id("MPI_Isend")
	funcIrecv     = id("MPI_Irecv")
	funcWaitall   = id("MPI_Waitall")
	funcIprobe    = id("MPI_Iprobe")
	funcAllreduce = id("MPI_Allreduce")
	funcBcast     = id("MPI_Bcast")
	funcCommRank  = id("MPI_Comm_rank")
)

var functions = []mpi.FuncID{
	funcInit, funcFinalize, funcSend, funcRecv, funcIsend, funcIrecv, funcWaitall, funcIprobe, funcAllreduce,
	funcBcast, funcCommRank,
}

// site is the call site of a function.
func site(f mpi.FuncID) format.ID { return format.ID(1 + slices.Index(functions, f)) }
