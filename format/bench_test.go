// SPDX-License-Identifier: Apache-2.0

package format

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mpitrace/mpitrace/mpi"
)

// The files in testdata/samples have real times: 16,384 calls each from the
// middle of a 2-rank halo exchange (4 Irecv, 4 Isend, Waitall, Allreduce; 8 or
// 2,048 bytes) and a 2-rank ping-pong, taken with two reads of the TSC around
// each call on an Intel VM at 2.5 GHz whose TSC shows even numbers only.

// samples returns the calls of each sample.
func samples(t testing.TB) map[string][]*Calls {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "samples", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	all := map[string][]*Calls{}
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = readAll(t, openBytes(t, file))
	}
	all["irregular"] = irregular()
	return all
}

// irregular has another peer, tag and size in each call.
func irregular() []*Calls {
	rng := rand.New(rand.NewPCG(1, 1))
	var blocks []*Calls
	now := int64(1 << 40)
	for b := range 2 {
		c := &Calls{FirstSeq: uint64(b) * MaxBlockCalls}
		for i := range MaxBlockCalls {
			c.Sigs = append(c.Sigs, Sig{
				Func: mpi.FuncID(1 + rng.IntN(4)), Comm: 1, Datatype: 1, Peer: rng.Int32N(1000), Tag: rng.Int32N(100),
				Root: NoRank, Count: rng.Int64N(100_000), Bytes: rng.Int64N(1_000_000), Site: ID(rng.IntN(30)),
			})
			begin := now + 2*rng.Int64N(5000)
			now = begin + 2*rng.Int64N(5000)
			c.Index = append(c.Index, uint32(i))
			c.Begin, c.End = append(c.Begin, begin), append(c.End, now)
		}
		blocks = append(blocks, c)
	}
	return blocks
}

func count(blocks []*Calls) (n int) {
	for _, c := range blocks {
		n += len(c.Index)
	}
	return n
}

func BenchmarkWriteCalls(b *testing.B) {
	for name, blocks := range samples(b) {
		b.Run(name, func(b *testing.B) {
			w, err := NewWriter(io.Discard, KindRank, Run{}, Process{})
			if err != nil {
				b.Fatal(err)
			}
			calls := float64(count(blocks))
			b.ReportAllocs()
			for b.Loop() {
				for _, c := range blocks {
					if err := w.WriteCalls(c); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/call")
			s := w.Stats()
			sum := int64(0)
			for i, bytes := range s.Columns {
				b.ReportMetric(float64(bytes)/float64(s.Calls), "B/call:"+ColumnGroups[i])
				sum += bytes
			}
			b.ReportMetric(float64(sum)/float64(s.Calls), "B/call")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkReadCalls(b *testing.B) {
	for name, blocks := range samples(b) {
		b.Run(name, func(b *testing.B) {
			m := &buffer{}
			w, err := NewWriter(m, KindRank, Run{}, Process{})
			if err != nil {
				b.Fatal(err)
			}
			for _, c := range blocks {
				if err := w.WriteCalls(c); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			r := openBytes(b, m.b)
			d := r.NewDecoder()
			var c Calls
			b.ReportAllocs()
			for b.Loop() {
				for i := range r.Blocks() {
					if err := d.ReadCalls(i, &c); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count(blocks)), "ns/call")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// The promise of the project for a halo exchange, on real times.
func TestSizeOfSamples(t *testing.T) {
	for name, blocks := range samples(t) {
		if name == "irregular" {
			continue
		}
		w, err := NewWriter(io.Discard, KindRank, Run{}, Process{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range blocks {
			if err := w.WriteCalls(c); err != nil {
				t.Fatal(err)
			}
		}
		if per := float64(w.Stats().Bytes) / float64(count(blocks)); per > 1.5 {
			t.Errorf("%s: %.3f bytes a call, want at most 1.5", name, per)
		}
	}
}

// A Writer lives in the traced process: it must stay small, and leave nothing to
// the garbage collector for each block.
func TestWriterIsFrugal(t *testing.T) {
	all := samples(t)
	halo, wild := all["halo-8-openmpi"], all["irregular"]
	write := func(w *Writer, blocks []*Calls) {
		for _, c := range blocks {
			if err := w.WriteCalls(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w, err := NewWriter(io.Discard, KindRank, Run{}, Process{})
	if err != nil {
		t.Fatal(err)
	}
	write(w, halo)
	write(w, wild)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if heap := int64(after.HeapAlloc) - int64(before.HeapAlloc); heap > 2<<20 {
		t.Errorf("a Writer holds %d bytes, want at most 2 MiB", heap)
	}
	if n := testing.AllocsPerRun(10, func() { write(w, halo) }); n > 1 {
		t.Errorf("%v allocations for %d blocks, want none", n, len(halo))
	}
}
