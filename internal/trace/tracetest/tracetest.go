// SPDX-License-Identifier: Apache-2.0

// Package tracetest writes small rank files for the tests of the packages that
// read traces.
package tracetest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// Functions that fixtures call.
var (
	Send = mpi.ByName("MPI_Send").ID
	Recv = mpi.ByName("MPI_Recv").ID
)

// Fixture is a rank file to be written. Times of its calls are in ticks of its
// clock, which ticks twice a nanosecond and read shift at CLOCK_MONOTONIC 0.
type Fixture struct {
	Run     byte
	Start   int64
	Size    int32
	Rank    int32
	Host    string
	Boot    string
	Shift   int64 // ticks
	ToDay   int64 // CLOCK_REALTIME - CLOCK_MONOTONIC
	NoClock bool
	Blocks  []*format.Calls
	Open    bool // no summary: the process was killed
}

// Day is the time of day at CLOCK_MONOTONIC 0 unless a Fixture says otherwise.
const Day = int64(1_700_000_000_000_000_000)

// At turns nanoseconds of CLOCK_MONOTONIC into the fixture's ticks.
func (f *Fixture) At(ns int64) int64 { return f.Shift + 2*ns }

// Calls makes a block of calls of one thread: pairs of begin and end in
// nanoseconds of CLOCK_MONOTONIC.
func (f *Fixture) Calls(thread uint32, firstSeq uint64, times ...int64) *format.Calls {
	c := &format.Calls{Rank: f.Rank, FirstSeq: firstSeq, Sigs: []format.Sig{{Func: Send, Thread: thread, Comm: 1, Datatype: 3, Site: 2, Peer: 1, Tag: int32(thread), Root: format.NoRank, Count: 4, Bytes: 32}}}
	for i := 0; i < len(times); i += 2 {
		c.Index = append(c.Index, 0)
		c.Begin = append(c.Begin, f.At(times[i]))
		c.End = append(c.End, f.At(times[i+1]))
	}
	return c
}

// Write writes the file.
func (f *Fixture) Write(t testing.TB, path string) {
	t.Helper()
	if f.ToDay == 0 {
		f.ToDay = Day
	}
	run := format.Run{ID: [16]byte{f.Run, 1: 0xcd, 15: 0xff}, Size: f.Size, Start: f.Start, Tool: "mpitrace test", Command: []string{"./app"}}
	w, err := format.Create(path, run, format.Process{Rank: f.Rank, Host: f.Host, Boot: f.Boot, TickHz: 2e9, Clock: "tsc"})
	if err != nil {
		t.Fatal(err)
	}
	w.Thread(format.Thread{Rank: f.Rank, ID: 0, TID: 100})
	w.Comm(format.Comm{ID: 1, Name: "MPI_COMM_WORLD", Global: 1, Rank: f.Rank, Group: format.Ranks{{First: 0, Count: f.Size, Stride: 1}}})
	w.Datatype(format.Datatype{ID: 3, Name: "MPI_DOUBLE", Size: 8, Extent: 8})
	base := 0x1000 * uint64(f.Rank+1)
	w.Module(format.Module{ID: 1, Path: "/bin/app", BuildID: "abc", Base: base, Start: base, End: base + 0x1000})
	w.Site(format.Site{ID: 2, Module: 1, Address: base + 0x42})
	if !f.NoClock {
		for _, ns := range []int64{0, 1_000_000_000} {
			w.Clock(format.ClockPoint{Rank: f.Rank, Tick: f.At(ns), Monotonic: ns, Realtime: ns + f.ToDay, Error: 20})
		}
	}
	n := uint64(0)
	for _, c := range f.Blocks {
		n += uint64(len(c.Index))
		if err := w.WriteCalls(c); err != nil {
			t.Fatal(err)
		}
	}
	if !f.Open {
		w.Summary(format.Summary{Rank: f.Rank, Calls: n, End: f.At(2_000_000_000), Finalized: true})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// WriteRun writes size rank files of a run with three calls each.
func WriteRun(t testing.TB, dir string, run byte, size int32, change func(*Fixture)) (paths []string) {
	t.Helper()
	for rank := range size {
		f := &Fixture{Run: run, Start: Day + int64(run)*1e9, Size: size, Rank: rank, Host: "node1", Boot: "b1", Shift: int64(rank) * 1_000_000}
		if change != nil {
			change(f)
		}
		if f.Blocks == nil {
			at := int64(rank) * 10
			f.Blocks = []*format.Calls{f.Calls(0, 0, 1000+at, 1005+at, 2000+at, 2010+at), f.Calls(0, 2, 3000+at, 3005+at)}
		}
		p := filepath.Join(dir, fmt.Sprintf("trace.%d", rank))
		f.Write(t, p)
		paths = append(paths, p)
	}
	return paths
}

// NewerVersion makes of a trace file one of a version that is not known yet.
func NewerVersion(b []byte) []byte {
	b = slices.Clone(b)
	b[8] = 9
	binary.LittleEndian.PutUint32(b[12:], crc32.Checksum(b[:12], crc32.MakeTable(crc32.Castagnoli)))
	return b
}
