// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/config"
	"github.com/mpitrace/mpitrace/internal/launch"
)

// written tells what a run that began at started left behind, and what to
// type next, in lines for people.
func written(output config.Output, started time.Time) []string {
	paths, err := filepath.Glob(output.Glob())
	if err != nil {
		return []string{fmt.Sprintf("looking for %s: %v", output.Glob(), err)}
	}
	var files, older int
	var bytes int64
	var calls uint64
	var problems []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		// File systems keep times in steps, of a second at worst.
		if info.ModTime().Before(started.Add(-time.Second)) {
			older++
			continue
		}
		n, err := countCalls(path)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		files++
		bytes += info.Size()
		calls += n
	}
	if files == 0 {
		return append(problems,
			fmt.Sprintf("no trace file was written (looked for %s)", relative(output.Glob())),
			"hint: mpitrace doctor PROGRAM says why a program is not recorded")
	}
	lines := append(problems, fmt.Sprintf("%s, %s, %s written to %s",
		plural(uint64(files), "file"), plural(calls, "call"), byteCount(bytes), relative(output.Glob())))
	if older > 0 {
		lines = append(lines, fmt.Sprintf("%s of an earlier run match too; merge takes the newest run", plural(uint64(older), "file")))
	}
	return append(lines, "next: mpitrace-view merge "+shellGlob(relative(output.Glob())))
}

// relative shortens a path below the working folder.
func relative(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	if rest, ok := strings.CutPrefix(path, dir+"/"); ok {
		return rest
	}
	return path
}

// shellGlob quotes what a shell would take for more than a pattern with *.
func shellGlob(pattern string) string {
	parts := strings.Split(pattern, "*")
	for i, p := range parts {
		if p != "" {
			parts[i] = launch.Quote(p)
		}
	}
	return strings.Join(parts, "*")
}

func plural(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(n) + " " + thing + "s"
}

// grouped writes a number with commas.
func grouped(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func byteCount(n int64) string {
	switch {
	case n < 1<<10:
		return plural(uint64(n), "byte")
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// countCalls returns how many calls are in a trace file.
func countCalls(path string) (uint64, error) {
	r, err := format.Open(path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var n uint64
	for _, b := range r.Blocks() {
		n += uint64(b.Calls)
	}
	return n, nil
}
