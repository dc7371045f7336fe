// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mpitrace/mpitrace/format"
)

func TestTimeline(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("COLORTERM", "")
	t.Setenv("COLUMNS", "")
	t.Setenv("LINES", "")
	for _, c := range []struct {
		golden, trace string
		args          []string
	}{
		{"timeline.clean", "clean.txt", nil},
		{"timeline.broken", "broken.txt", nil},
		{"timeline_120.clean", "clean.txt", []string{"--width", "120"}},
		{"timeline_ascii.broken", "broken.txt", []string{"--ascii"}},
		{"timeline_color.clean", "clean.txt", []string{"--color", "always"}},
		{"timeline_color.broken", "broken.txt", []string{"--color", "always", "--width", "60"}},
		{"timeline_height_2.clean", "clean.txt", []string{"--height", "2"}},
		{"timeline_time.clean", "clean.txt", []string{"--time", "19ms:25ms", "--ranks", "0-1"}},
		{"timeline_regions.clean", "clean.txt", []string{"--regions"}},
		{"timeline_svg.clean", "clean.txt", []string{"--format", "svg", "--width", "480"}},
		{"timeline_svg.broken", "broken.txt", []string{"--format", "svg", "--width", "480"}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			drawn := viewOf(t, c.trace, "timeline", c.args...)
			golden(t, c.golden, drawn)
			if len(c.args) > 0 && c.args[0] != "--regions" {
				return
			}
			for line := range strings.Lines(drawn) {
				if n := len([]rune(line)) - 1; n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

func TestTimelineWithoutUTF8IsASCII(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	dir := files(t, "broken.txt")
	stdout, _, _ := view(dir, "timeline", dir)
	if i := strings.IndexFunc(stdout, func(r rune) bool { return r > 126 }); i >= 0 {
		t.Errorf("at %d of\n%s", i, stdout)
	}
}

func TestTimelineSVGIsXML(t *testing.T) {
	for _, name := range []string{"clean.txt", "broken.txt"} {
		dir := files(t, name)
		stdout, _, _ := view(dir, "timeline", "--format", "svg", dir)
		for d := xml.NewDecoder(strings.NewReader(stdout)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// A thousand ranks are as many rows as asked for at most, and each rank is in
// one of them.
func TestTimelineOfManyRanks(t *testing.T) {
	var b strings.Builder
	b.WriteString("mpitrace-text 1 merged\n")
	for rank := range 1000 {
		fmt.Fprintf(&b, "rank %d\nMPI_Barrier %d 1000\n", rank, rank)
	}
	dir := t.TempDir()
	if _, err := format.CreateText(strings.NewReader(b.String()), "many", dir); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := view(dir, "timeline", "--height", "40", dir)
	if code != ExitOK {
		t.Fatal(stderr)
	}
	golden(t, "timeline.1000", stdout)
	if n := strings.Count(stdout, "\nranks "); n != 32 {
		t.Errorf("%d rows, want 32", n)
	}
}

func TestTimelineUsage(t *testing.T) {
	dir := files(t, "clean.txt")
	for _, args := range [][]string{{"--format", "png"}, {"--width", "-1"}, {"--height", "-1"}, {"--time", "x"}, {"--ranks", "7"}} {
		if _, stderr, code := view(dir, append([]string{"timeline", dir}, args...)...); code != ExitUsage || stderr == "" {
			t.Errorf("%s: exit %d, %q", args, code, stderr)
		}
	}
	if err := os.WriteFile(dir+"/trace.0", []byte("no trace"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := view(dir, "timeline", dir+"/trace.0"); code != ExitInput || stderr == "" {
		t.Errorf("no trace: exit %d, %q", code, stderr)
	}
}
