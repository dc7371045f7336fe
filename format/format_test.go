// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mpitrace/mpitrace/mpi"
)

// sampleRun is a run with every field set.
func sampleRun() Run {
	return Run{
		ID: [16]byte{1, 2, 3, 0xff}, Size: 4, Start: 1_700_000_000_123_456_789, Tool: "mpitrace 0.1.0",
		Job: "4711", Parent: "00-aa-bb-01", Command: []string{"./halo", "-n", "two words", ""},
	}
}

func sampleProcess(rank int32) Process {
	return Process{
		Rank: rank, PID: 1234 + rank, Host: "node1", Boot: "b00t", Executable: "/bin/halo", Directory: "/home/me",
		ABI: "openmpi", Library: "Open MPI v4.1.4", LibraryPath: "/usr/lib/libmpi.so.40", MPIVersion: "3.1",
		ThreadLevel: "MPI_THREAD_MULTIPLE", Clock: "tsc", TickHz: 2.5e9,
		Config: []Setting{{"MPITRACE_BUFFER", "4M", true}, {"MPITRACE_FILTER", "MPI_Send,\"x\"", false}},
		Rings:  []string{"/dev/shm/mpitrace-1"},
	}
}

// sampleDefinitions has at least one of everything, and every field set.
func sampleDefinitions(rank int32) Definitions {
	return Definitions{
		Run:       sampleRun(),
		Processes: []Process{sampleProcess(rank)},
		Threads:   []Thread{{rank, 0, 77, "main"}, {rank, 1, 78, "worker é"}},
		Comms: []Comm{
			{ID: 1, Name: "MPI_COMM_WORLD", Global: 1, Rank: rank, Group: Ranks{{0, 4, 1}}},
			{ID: 2, Kind: CommInter, Parent: 1, Birth: 3, Maker: "MPI_Intercomm_create", Global: 1 << 63, Rank: 0, Group: Ranks{{0, 2, 1}}, Remote: Ranks{{3, 1, 1}, {2, 2, -1}}},
		},
		Datatypes: []Datatype{{1, "MPI_DOUBLE", 8, 8, "", 0}, {2, "", -1, -16, "MPI_Type_vector", 1}},
		Ops:       []Op{{1, "MPI_SUM"}, {2, ""}},
		Wins:      []Win{{1, "win", 1, 4096, 8}},
		Files:     []File{{1, "out\nput.dat", 1, 9}},
		Modules:   []Module{{1, "/bin/halo", "abcdef", 0x5555_0000_0000, 0x5555_0000_1000, 0x5555_0000_2000}},
		Sites:     []Site{{1, 1, 0x5555_0000_1234, "main", "halo.c", 42}, {2, 0, 0, "", "", 0}},
		Texts:     []Text{{1, "solve"}},
		Clock:     []ClockPoint{{rank, 100, 200, 1_700_000_000_000_000_000, 20}, {rank, 1 << 50, 1 << 49, -5, 7}},
		Drains:    []Drain{{rank, DrainInline, 1, 5, 9, 1000}},
		Losses:    []Loss{{rank, LossUnwritten, 0, 12, "no space left on device"}},
		Notes:     []Note{{rank, "damaged", "trace.3", 12, "offset 77: payload checksum is wrong", "copy it again"}},
		Summaries: []Summary{{rank, 1 << 40, 7, 1, 1 << 60, true}},
	}
}

// randomCalls makes n calls of all shapes. Extreme values come up often.
func randomCalls(rng *rand.Rand, rank int32, first uint64, n int) *Calls {
	pick := func(v ...int64) int64 { return v[rng.IntN(len(v))] }
	i64 := func() int64 {
		return pick(0, 1, -1, 8, math.MaxInt64, math.MinInt64, rng.Int64N(1000), int64(rng.Uint64()))
	}
	i32 := func() int32 { return int32(pick(0, 1, -1, math.MaxInt32, math.MinInt32, rng.Int64N(100))) }
	id := func() ID { return ID(pick(0, 1, 2, math.MaxUint32, rng.Int64N(100))) }
	c := &Calls{Rank: rank, FirstSeq: first}
	for range 1 + rng.IntN(20) {
		s := Sig{
			Func: mpi.FuncID(rng.IntN(1 << 16)), Flags: Flags(rng.IntN(1 << 9)), Thread: uint32(rng.IntN(2)),
			Comm: id(), Win: id(), File: id(), Datatype: id(), Op: id(), Site: id(),
			Peer: i32(), Tag: i32(), Root: i32(), Count: i64(), Bytes: i64(), Error: i32(), NDone: uint32(pick(0, 0, 1, 4)),
		}
		if rng.IntN(3) == 0 {
			s.Second = &Side{i32(), i32(), id(), i64(), i64(), i64()}
		}
		for range rng.IntN(3) {
			s.Args = append(s.Args, i64())
		}
		c.Sigs = append(c.Sigs, s)
	}
	done := 0
	for range n {
		x := uint32(rng.IntN(len(c.Sigs)))
		s := &c.Sigs[x]
		c.Index = append(c.Index, x)
		begin, end := i64(), i64()
		if s.Flags&FlagInFlight != 0 {
			end = 0
		}
		c.Begin, c.End = append(c.Begin, begin), append(c.End, end)
		if s.Flags&FlagRequest != 0 {
			c.Request = append(c.Request, uint64(i64()))
		}
		done += int(s.NDone)
	}
	for range min(done, 5) {
		c.DoneSigs = append(c.DoneSigs, DoneSig{DoneKind(rng.IntN(9)), Flags(rng.IntN(1 << 9)), i32(), i32(), i64(), i32()})
	}
	for range done {
		c.DoneIndex = append(c.DoneIndex, uint32(rng.IntN(len(c.DoneSigs))))
		c.DoneRequest = append(c.DoneRequest, uint64(i64()))
	}
	return c
}

// equal compares and shows the difference, nil and empty being the same.
func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s differs (-want +got):\n%s", what, d)
	}
}

func openBytes(t testing.TB, b []byte) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(b), int64(len(b)), "test")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func readAll(t testing.TB, r *Reader) []*Calls {
	t.Helper()
	var all []*Calls
	for i := range r.Blocks() {
		c := new(Calls)
		if err := r.ReadCalls(i, c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "trace.3")
	defs := sampleDefinitions(3)
	w, err := Create(path, defs.Run, defs.Processes[0])
	if err != nil {
		t.Fatal(err)
	}
	w.Define(&defs)
	var want []*Calls
	seq := uint64(0)
	for i := range 40 {
		c := randomCalls(rng, 3, seq, 1+rng.IntN(1+i*20))
		seq += uint64(len(c.Index))
		want = append(want, c)
		if err := w.WriteCalls(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, complete := range []bool{false, true} {
		if complete {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Complete() != complete {
			t.Errorf("Complete() = %v, want %v", r.Complete(), complete)
		}
		equal(t, "definitions", *r.Definitions(), defs)
		equal(t, "calls", readAll(t, r), want)
		equal(t, "problems", r.Problems(), []Problem(nil))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Many goroutines may read one Reader's blocks at once.
func TestReadConcurrently(t *testing.T) {
	file := sampleFile(t, KindMerged, 4, 30)
	r := openBytes(t, file)
	want := readAll(t, r)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var c Calls
			for n := range r.Blocks() {
				i := (n + g*7) % len(want)
				if err := r.ReadCalls(i, &c); err != nil {
					t.Error(err)
					return
				}
				if c.FirstSeq != want[i].FirstSeq || !slices.Equal(c.Begin, want[i].Begin) || !slices.Equal(c.Index, want[i].Index) {
					t.Errorf("block %d differs", i)
				}
				_ = r.Problems()
			}
		})
	}
	wg.Wait()
}
