// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/analysis"
)

// files writes the rank files that testdata/name describes.
func files(t *testing.T, name string) (dir string) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir = t.TempDir()
	if _, err := format.CreateText(f, name, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// viewOf is what a verb says of the rank files that testdata/name describes,
// from within their folder, so that paths are short and always the same.
func viewOf(t *testing.T, name, verb string, args ...string) string {
	t.Helper()
	dir := files(t, name)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(dir); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.Chdir(here); err != nil {
			t.Fatal(err)
		}
	}()
	stdout, stderr, code := view(dir, append([]string{verb, "."}, args...)...)
	if code != ExitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	return stdout
}

// The broken run and its twin, of which nothing is missing.
func TestReport(t *testing.T) {
	for _, c := range []struct {
		golden, trace string
		args          []string
	}{
		{"report_80.clean", "clean.txt", []string{"--width", "80"}},
		{"report_120.clean", "clean.txt", []string{"--width", "120"}},
		{"report_200.clean", "clean.txt", []string{"--width", "200"}},
		{"report_80.broken", "broken.txt", []string{"--width", "80"}},
		{"report_120.broken", "broken.txt", []string{"--width", "120"}},
		{"report_color.clean", "clean.txt", []string{"--width", "80", "--color", "always", "--section", "functions,ranks"}},
		{"report_color.broken", "broken.txt", []string{"--width", "80", "--color", "always", "--section", "losses"}},
		{"report_json.clean", "clean.txt", []string{"--format", "json"}},
		{"report_json.broken", "broken.txt", []string{"--format", "json"}},
		{"report_sort_calls_top_3.clean", "clean.txt", []string{"--section", "functions,sites", "--sort", "calls", "--top", "3"}},
		{"report_time.clean", "clean.txt", []string{"--width", "80", "--time", "20ms:32ms", "--ranks", "0,3", "--func", "collective"}},
		{"report_functions_csv.clean", "clean.txt", []string{"--format", "csv", "--section", "functions"}},
		{"report_ranks_csv.broken", "broken.txt", []string{"--format", "csv", "--section", "ranks"}},
		{"report_sites_csv.clean", "clean.txt", []string{"--format", "csv", "--section", "sites"}},
		{"report_sizes_csv.clean", "clean.txt", []string{"--format", "csv", "--section", "sizes"}},
		{"report_regions_csv.broken", "broken.txt", []string{"--format", "csv", "--section", "regions"}},
		{"report_markers_csv.broken", "broken.txt", []string{"--format", "csv", "--section", "markers"}},
		{"report_losses_csv.broken", "broken.txt", []string{"--format", "csv", "--section", "losses"}},
		{"report_summary_csv.clean", "clean.txt", []string{"--format", "csv", "--section", "summary"}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			golden(t, c.golden, viewOf(t, c.trace, "report", c.args...))
		})
	}
}

// No line of a report is wider than was asked for.
func TestReportFits(t *testing.T) {
	for _, name := range []string{"clean.txt", "broken.txt"} {
		dir := files(t, name)
		for _, width := range []string{"80", "100", "120", "160", "200"} {
			stdout, _, _ := view(dir, "report", dir, "--width", width)
			for line := range strings.Lines(stdout) {
				line = strings.TrimRight(line, "\n")
				if n := len([]rune(line)); strings.HasSuffix(line, " ") || width == "80" && n > 80 || width == "100" && n > 100 {
					t.Errorf("%s in %s columns: %d: %q", name, width, n, line)
				}
			}
		}
	}
}

// The report of rank files, of their folder and of the merged file are the same.
func TestReportOfMergedFile(t *testing.T) {
	dir := files(t, "clean.txt")
	merged := dir + "/m/merged.mpt"
	if err := os.Mkdir(dir+"/m", 0o777); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := view(dir, "merge", "-o", merged, dir); code != ExitOK {
		t.Fatal(stderr)
	}
	for _, form := range []string{"text", "json"} {
		ranks, _, _ := view(dir, "report", "--format", form, dir)
		whole, _, _ := view(dir, "report", "--format", form, merged)
		if ranks != whole {
			t.Errorf("%s: of the rank files:\n%s\nof the merged file:\n%s", form, ranks, whole)
		}
	}
}

// What is shown in text and csv is in the json.
func TestReportFormatsAgree(t *testing.T) {
	dir := files(t, "clean.txt")
	text, _, _ := view(dir, "report", "--format", "json", dir)
	var p analysis.Profile
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	for section, want := range map[string]int{
		"functions": len(p.Functions), "ranks": len(p.Ranks), "sites": len(p.Sites), "sizes": len(p.Sizes),
		"regions": len(p.Regions), "markers": len(p.Markers), "summary": 1,
	} {
		stdout, _, _ := view(dir, "report", "--format", "csv", "--section", section, dir)
		rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		if err != nil || len(rows) != want+1 {
			t.Errorf("%s: %d rows, want %d and a header: %v", section, len(rows), want, err)
		}
	}
}

func TestReportUsage(t *testing.T) {
	dir := files(t, "clean.txt")
	for _, args := range [][]string{
		{"--format", "xml"}, {"--format", "csv"}, {"--format", "csv", "--section", "ranks,sites"}, {"--format", "json", "--section", "ranks"},
		{"--sort", "size"}, {"--section", "rank"}, {"--top", "-1"}, {"--ranks", "9"}, {"--time", "2s:1s"}, {"--func", "MPI_Nothing"}, {"--comm", "nobody"},
		{"--color", "purple"},
	} {
		_, stderr, code := view(dir, append([]string{"report", dir}, args...)...)
		if code != ExitUsage || stderr == "" {
			t.Errorf("%s: exit %d, %q", args, code, stderr)
		}
	}
	if _, stderr, code := view(dir, "report", dir+"/nothing"); code != ExitInput || stderr == "" {
		t.Errorf("no file: exit %d, %q", code, stderr)
	}
	if _, stderr, code := view(dir, "report", "-o", dir+"/no/folder", dir); code != ExitInput || stderr == "" {
		t.Errorf("unwritable output: exit %d, %q", code, stderr)
	}
}
