// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
)

// Whatever rank files say, as long as they are rank files, they are read and
// merged without a panic, the merged trace is the same, and no calls are lost.
func FuzzMerge(f *testing.F) {
	f.Add("mpitrace-text 1 rank\nrank 0\nMPI_Init 0 100\nMPI_Recv 110 - comm=1 peer=any\nrank 3\nMPI_Init 5 7 thread=1\nMPI_Send 4 8\n")
	f.Add("mpitrace-text 1 rank\nrun size=9\nclock tick=5 monotonic=9 realtime=-7 error=1\nclock tick=1 monotonic=2\ncomm id=1 global=0x1 group=0-3\ncomm id=1000000 group=1:2:-1\nrank -5\nblock seq=7\nMPI_Waitall 3 1 done=[1:send 2:recv,source=0]\nMPI_Isend 2 2 request=4 comm=1000000 args=[1 2 3]\nsummary calls=9\n")
	f.Add("mpitrace-text 1 rank\nrank 1\nprocess rank=1 host=a tick-hz=nan:7ff8000000000001\nMPI_Init 9223372036854775807 -9223372036854775808\nMPI_Init -9223372036854775808 0 thread=4294967295\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		dir := t.TempDir()
		paths, err := format.CreateText(strings.NewReader(text), "text", dir)
		if err != nil || len(paths) == 0 || strings.HasSuffix(paths[0], "merged.mpt") {
			return
		}
		from, err := trace.Open(paths, trace.Options{})
		if err != nil {
			return
		}
		defer from.Close()
		var out bytes.Buffer
		stats, err := Write(t.Context(), from, &out, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := listing(from)
		if stats.Calls != from.Calls() || len(want) != int(stats.Calls) {
			t.Fatalf("%d calls in the files, %d in order, %d merged", from.Calls(), len(want), stats.Calls)
		}
		merged := filepath.Join(dir, "m")
		if err := os.WriteFile(merged, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		to, err := trace.Open([]string{merged}, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		if d := firstDifference(want, listing(to)); d != "" {
			t.Fatalf("the merged trace has other calls:\n%s", d)
		}
		for _, r := range from.Ranks() {
			n := 0
			for c := range r.Blocks(trace.Always()) {
				n += len(c.Index)
			}
			if n != int(r.Calls()) {
				t.Fatalf("rank %d has %d calls block by block, want %d", r.Number(), n, r.Calls())
			}
		}
		_ = trace.Summarise(to.Problems())
	})
}
