// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math/rand"
	"testing"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/internal/tracegen"
	"github.com/mpitrace/mpitrace/mpi"
)

// haloBlock is a block of a halo exchange: four receives and four sends
// started, completed by one Waitall, then an Allreduce.
func haloBlock(calls int) *format.Calls {
	random := rand.New(rand.NewSource(1))
	c := &format.Calls{}
	add := func(name string, f func(*format.Sig)) {
		sig := format.Sig{Func: mpi.ByName(name).ID, Comm: 1, Site: format.ID(len(c.Sigs) + 1), Count: 1000, Bytes: 8000}
		f(&sig)
		c.Sigs = append(c.Sigs, sig)
	}
	for peer := range int32(4) {
		add("MPI_Irecv", func(s *format.Sig) { s.Peer, s.Flags = peer, format.FlagRequest })
	}
	for peer := range int32(4) {
		add("MPI_Isend", func(s *format.Sig) { s.Peer, s.Flags = peer, format.FlagRequest })
	}
	add("MPI_Waitall", func(s *format.Sig) { s.NDone = 8 })
	add("MPI_Allreduce", func(*format.Sig) {})
	for peer := range int32(4) {
		c.DoneSigs = append(c.DoneSigs, format.DoneSig{Kind: format.DoneRecv, Source: peer, Bytes: 8000})
	}
	c.DoneSigs = append(c.DoneSigs, format.DoneSig{Kind: format.DoneSend})
	now := int64(0)
	for i := range calls {
		sig := i % len(c.Sigs)
		now += 100 + random.Int63n(400)
		c.Index = append(c.Index, uint32(sig))
		c.Begin = append(c.Begin, now)
		now += 200 + int64(random.ExpFloat64()*2000)
		c.End = append(c.End, now)
		if sig < 8 {
			c.Request = append(c.Request, uint64(i))
		}
		if sig == 8 {
			c.DoneIndex = append(c.DoneIndex, 0, 1, 2, 3, 4, 4, 4, 4)
			c.DoneRequest = append(c.DoneRequest, make([]uint64, 8)...)
		}
	}
	return c
}

func BenchmarkAdd(b *testing.B) {
	c := haloBlock(8000)
	w := NewProfiler(&trace.Trace{}, trace.Everything()).Visit(0, 0)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		w.Add(c)
		n += len(c.Index)
	}
	b.ReportMetric(float64(n)/1e6/b.Elapsed().Seconds(), "Mcalls/s")
}

// BenchmarkRead reads trace files as the recorder writes them, from the file
// to the profile.
func BenchmarkRead(b *testing.B) {
	for _, pattern := range tracegen.Patterns {
		b.Run(string(pattern), func(b *testing.B) {
			made, err := tracegen.Generate(tracegen.Options{Dir: b.TempDir(), Ranks: 4, Calls: 500_000, Pattern: pattern, Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			n := uint64(0)
			for b.Loop() {
				t, err := trace.Open(made.Paths, trace.Options{})
				if err != nil {
					b.Fatal(err)
				}
				n += Read(t, trace.Everything(), nil).Run.Calls
				t.Close()
			}
			b.ReportMetric(float64(n)/1e6/b.Elapsed().Seconds(), "Mcalls/s")
		})
	}
}
