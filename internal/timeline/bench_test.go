// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"testing"

	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/internal/tracegen"
)

// BenchmarkRead reads trace files as the recorder writes them, from the file
// to the level of detail.
func BenchmarkRead(b *testing.B) {
	const calls = 500_000
	made, err := tracegen.Generate(tracegen.Options{Dir: b.TempDir(), Ranks: 4, Calls: calls, Pattern: tracegen.Halo, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	n := uint64(0)
	for b.Loop() {
		t, err := trace.Open(made.Paths, trace.Options{})
		if err != nil {
			b.Fatal(err)
		}
		Read(t, trace.Everything(), [][]int32{{0}, {1}, {2}, {3}}, 100, false, nil)
		n += made.Calls
		t.Close()
	}
	b.ReportMetric(float64(n)/1e6/b.Elapsed().Seconds(), "Mcalls/s")
}
