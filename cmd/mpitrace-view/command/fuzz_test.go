// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"strings"
	"testing"

	"github.com/mpitrace/mpitrace/format"
)

// FuzzViews reads any trace that the text twin can say: whatever its calls
// contradict, a report and a drawing come out, or an error.
func FuzzViews(f *testing.F) {
	for _, name := range []string{"clean.txt", "broken.txt", "kinds.txt"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, calls := range []string{
		"MPI_Barrier 10 5",
		"MPI_Start 0 1 request=7\nMPI_Pcontrol 1 2\nMPI_Pcontrol 3 4 args=[9094]\nMPI_Waitall 5 6 done=[1:recv,bytes=-5]",
		"MPI_Recv 0 - flags=nested\nMPI_Init 5 -\nMPI_Finalize 1 -\nMPI_Init 2 3",
		"MPI_Send -9223372036854775808 9223372036854775807 bytes=9223372036854775807 peer=2147483647",
		"func:65535 0 1 site=4294967295 comm=4294967295 thread=4294967295",
	} {
		f.Add("mpitrace-text 1 merged\nrank 2147483647\n" + calls + "\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		if _, err := format.CreateText(strings.NewReader(text), "fuzz", dir); err != nil {
			return
		}
		for _, args := range [][]string{
			{"report", "--top", "0", "--all-ranks"},
			{"report", "--time", "1us:5us", "--width", "10"},
			{"report", "--format", "json"},
			{"timeline", "--color", "always"},
			{"timeline", "--time", "1us:5us", "--height", "1"},
			{"timeline", "--format", "svg"},
		} {
			stdout, stderr, code := view(dir, append(args, dir)...)
			if code != ExitOK && code != ExitInput {
				t.Errorf("%s: exit %d: %s", args, code, stderr)
			}
			if code == ExitOK && stdout == "" {
				t.Errorf("%s says nothing", args)
			}
		}
	})
}
