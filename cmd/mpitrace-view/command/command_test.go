// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace/tracetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// view runs the command line and returns what it says and its exit code. Paths
// under dir are shown as DIR.
func view(dir string, args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	code = Run(args, &out, &err)
	hide := strings.NewReplacer(dir, "DIR")
	return hide.Replace(out.String()), hide.Replace(err.String()), code
}

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// kinds writes the rank files of testdata/kinds.txt.
func kinds(t *testing.T) (dir string, paths []string) {
	t.Helper()
	f, err := os.Open("testdata/kinds.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir = t.TempDir()
	if paths, err = format.CreateText(f, "kinds.txt", dir); err != nil {
		t.Fatal(err)
	}
	return dir, paths
}

func TestDumpOfRankFilesAndOfTheMergedFile(t *testing.T) {
	dir, paths := kinds(t)
	merged := filepath.Join(dir, "merged.mpt")
	if _, stderr, code := view(dir, "merge", "-o", merged, paths[0], paths[1]); code != ExitOK {
		t.Fatalf("merge: %s", stderr)
	}
	for _, form := range []string{"jsonl", "csv"} {
		for _, args := range [][]string{paths, {merged}} {
			stdout, stderr, code := view(dir, append([]string{"dump", "--format", form}, args...)...)
			if code != ExitOK {
				t.Fatalf("%s: exit %d: %s", args, code, stderr)
			}
			golden(t, "dump."+form, stdout)
		}
	}
	stdout, _, _ := view(dir, "dump", merged)
	for line := range strings.Lines(stdout) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
	stdout, _, _ = view(dir, "dump", "--format", "csv", merged)
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil || len(rows) != 19 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestDumpTextIsTheFilesAgain(t *testing.T) {
	dir, paths := kinds(t)
	text, stderr, code := view(dir, append([]string{"dump", "--format", "text"}, paths...)...)
	if code != ExitOK {
		t.Fatal(stderr)
	}
	again := t.TempDir()
	copies, err := format.CreateText(strings.NewReader(text), "text", again)
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := view(dir, append([]string{"dump"}, paths...)...)
	got, _, _ := view(again, append([]string{"dump"}, copies...)...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-files +their text's files):\n%s", diff)
	}
}

func TestDumpSelections(t *testing.T) {
	dir, paths := kinds(t)
	for _, c := range []struct {
		args []string
		want int // lines
	}{
		{nil, 18},
		{[]string{"--ranks", "1"}, 3},
		{[]string{"--func", "p2p"}, 8},
		{[]string{"--func", "MPI_Init,-MPI_Send"}, 2},
		{[]string{"--func", "-p2p"}, 10},
		{[]string{"--comm", "2"}, 2},
		{[]string{"--comm", "MPI_COMM_WORLD", "--ranks", "0", "--func", "collective"}, 1},
		{[]string{"--time", ":1us"}, 2},
		{[]string{"--time", "1s:"}, 1}, // the call in flight
	} {
		stdout, stderr, code := view(dir, append(append([]string{"dump"}, c.args...), paths...)...)
		if n := strings.Count(stdout, "\n"); n != c.want || code != ExitOK {
			t.Errorf("%q: %d lines, want %d; exit %d %s\n%s", c.args, n, c.want, code, stderr, stdout)
		}
	}
}

func TestInfo(t *testing.T) {
	dir, paths := kinds(t)
	stdout, stderr, code := view(dir, append([]string{"info"}, paths...)...)
	if code != ExitOK {
		t.Fatal(stderr)
	}
	golden(t, "info.text", sizes.ReplaceAllString(stdout, "$1…"))
	stdout, _, _ = view(dir, append([]string{"info", "--format", "json"}, paths...)...)
	golden(t, "info.json", sizes.ReplaceAllString(stdout, "$1…"))
}

// sizes matches the sizes of files in what info says: they change whenever
// files are packed better.
var sizes = regexp.MustCompile(`(?m)(^size +|"bytes": |"bytes_per_call": )(.*)$`)

func TestMergeSaysWhatItFound(t *testing.T) {
	dir, paths := kinds(t)
	merged := filepath.Join(dir, "run 1.mpt")
	stdout, stderr, code := view(dir, "merge", "-o", merged, paths[0], paths[1])
	if code != ExitOK {
		t.Fatal(stderr)
	}
	for _, want := range []string{"run 3fa80000 of halo", "2 ranks on 1 host", "\n  calls     18 in ", "Open MPI v4.1.4", "mpitrace-view report 'DIR/run 1.mpt'"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("does not say %q:\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, "rank 1: 3 calls dropped") && !strings.Contains(stderr, "trace.1: 3 calls dropped") {
		t.Errorf("does not tell of the loss:\n%s", stderr)
	}
	if strings.Contains(stderr, "\r") || strings.Contains(stderr, "\x1b") {
		t.Errorf("draws a bar into what is no terminal: %q", stderr)
	}
	// What is written to standard output is the file.
	b, err := os.ReadFile(merged)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := Run([]string{"merge", "-o", "-", dir}, &out, &errs); code != ExitOK || !bytes.Equal(out.Bytes(), b) {
		t.Errorf("exit %d, %d bytes, want the %d of the file", code, out.Len(), len(b))
	}
}

// Whatever is wrong, each verb says so in one line that names it, with the
// right exit code, and nothing on standard output.
func TestBadInput(t *testing.T) {
	dir, paths := kinds(t)
	merged := filepath.Join(dir, "merged.mpt")
	if _, stderr, code := view(dir, "merge", "-o", merged, paths[0], paths[1]); code != ExitOK {
		t.Fatal(stderr)
	}
	text, newer, cut := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "newer"), filepath.Join(dir, "cut")
	empty := filepath.Join(dir, "empty")
	whole, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string][]byte{text: []byte("a text that is no trace, but long enough"), newer: tracetest.NewerVersion(whole), cut: whole[:10]} {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(empty, 0o777); err != nil {
		t.Fatal(err)
	}
	all := []string{"merge", "report", "timeline", "dump", "info"}
	for _, c := range []struct {
		verbs []string
		args  []string
		code  int
		want  string
	}{
		{all, nil, ExitUsage, "no files given"},
		{all, []string{"--no-such-flag"}, ExitUsage, "no-such-flag"},
		{all, []string{"-j", "-1", paths[0]}, ExitUsage, "-j -1"},
		{all, []string{filepath.Join(dir, "gone")}, ExitInput, "DIR/gone: no such file"},
		{all, []string{text}, ExitInput, "DIR/notes.txt: offset 0: not an mpitrace file"},
		{all, []string{newer}, ExitInput, "DIR/newer: offset 8: unknown format version: the file has version 9.0"},
		{all, []string{cut}, ExitInput, "DIR/cut: "},
		{all, []string{empty}, ExitInput, "DIR/empty: the directory is empty"},
		{all, []string{"--run", "ffff", dir}, ExitInput, "no such run; there is 3fa8"},
		{[]string{"merge"}, []string{merged}, ExitInput, "DIR/merged.mpt: already a merged file: give merge the rank files"},
		{[]string{"merge"}, []string{"-o", paths[1], dir}, ExitInput, "DIR/trace.1: one of the files to merge; it will not be replaced"},
		{[]string{"merge"}, []string{"-o", text, dir}, ExitInput, "DIR/notes.txt: exists and is no merged file"},
		{[]string{"merge"}, []string{"-o", filepath.Join(dir, "no", "where.mpt"), dir}, ExitInput, "DIR/no/"},
		{[]string{"report", "timeline", "dump"}, []string{"--ranks", "5-2", merged}, ExitUsage, "runs backwards"},
		{[]string{"report", "timeline", "dump"}, []string{"--ranks", "7", merged}, ExitUsage, "the trace has none of them; it has 0-1"},
		{[]string{"report", "timeline", "dump"}, []string{"--time", "2:1", merged}, ExitUsage, "ends before it begins"},
		{[]string{"dump"}, []string{"--func", "MPI_Sned", merged}, ExitUsage, "MPI_Sned"},
		{[]string{"dump"}, []string{"--comm", "solver", merged}, ExitUsage, "it has MPI_COMM_WORLD, communicator 2"},
		{[]string{"dump"}, []string{"--format", "text", "--ranks", "0", merged}, ExitUsage, "whole files"},
		{[]string{"dump", "report", "info"}, []string{"--format", "xml", merged}, ExitUsage, "--format xml"},
	} {
		for _, verb := range c.verbs {
			stdout, stderr, code := view(dir, append([]string{verb}, c.args...)...)
			if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" {
				t.Errorf("%s %q: exit %d, want %d and %q:\n%s%s", verb, c.args, code, c.code, c.want, stderr, stdout)
			}
		}
	}
	if _, stderr, code := view(dir, "mrege", dir); code != ExitUsage || !strings.Contains(stderr, "mrege") {
		t.Errorf("unknown verb: exit %d: %s", code, stderr)
	}
	if b, _ := os.ReadFile(text); !strings.HasPrefix(string(b), "a text") {
		t.Error("merge has overwritten notes.txt")
	}
}

// A trace from a stranger must not steer the terminal.
func TestNamesDoNotReachTheTerminal(t *testing.T) {
	dir := t.TempDir()
	evil := "\x1b]0;owned\x07\x1b[2J\u202e"
	w, err := format.Create(filepath.Join(dir, "trace.0"),
		format.Run{ID: [16]byte{1}, Size: 3, Tool: evil, Job: evil, Command: []string{evil}},
		format.Process{Host: evil, Library: evil, Executable: evil, Clock: evil, ABI: evil, Config: []format.Setting{{Name: evil, Value: evil}}})
	if err != nil {
		t.Fatal(err)
	}
	w.Comm(format.Comm{ID: 1, Name: evil})
	w.Loss(format.Loss{Count: 1, Detail: evil})
	w.Module(format.Module{ID: 1, Path: "/" + evil})
	w.Site(format.Site{ID: 1, Module: 1, Address: 5})
	if err := w.WriteCalls(&format.Calls{Sigs: []format.Sig{{Func: tracetest.Send, Comm: 1, Site: 1}}, Index: []uint32{0}, Begin: []int64{1}, End: []int64{2}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"info"}, {"info", "--format", "json"}, {"merge", "-o", filepath.Join(dir, "m.mpt")}, {"dump"}, {"dump", "--format", "csv"}, {"dump", "--format", "text"}, {"report"}, {"timeline"}, {"dump", "--comm", evil + "?"},
	} {
		stdout, stderr, _ := view(dir, append(args, filepath.Join(dir, "trace.0"))...)
		for _, s := range []string{stdout, stderr} {
			if strings.ContainsAny(s, "\x1b\x07") || strings.Contains(s, "\u202e") && !slices.Contains(args, "json") {
				t.Errorf("%q lets it through: %q", args, s)
			}
		}
	}
}

// closedPipe is standard output whose reader has gone.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestBrokenPipeIsQuiet(t *testing.T) {
	dir, _ := kinds(t)
	for _, verb := range []string{"dump", "info", "report"} {
		var stderr bytes.Buffer
		if code := Run([]string{verb, dir}, closedPipe{}, &stderr); code != ExitOK || strings.Contains(stderr.String(), "pipe") {
			t.Errorf("%s: exit %d: %s", verb, code, &stderr)
		}
	}
}

func TestHelpOfEveryVerb(t *testing.T) {
	for _, verb := range New().Commands() {
		var out bytes.Buffer
		if code := Run([]string{verb.Name(), "--help"}, &out, io.Discard); code != ExitOK || !strings.Contains(out.String(), "mpitrace-view "+verb.Name()) {
			t.Errorf("%s --help: exit %d\n%s", verb.Name(), code, &out)
		}
		if verb.Example == "" && verb.RunE != nil {
			t.Errorf("%s has no example", verb.Name())
		}
	}
	var out bytes.Buffer
	if code := Run(nil, &out, io.Discard); code != ExitOK || !strings.Contains(out.String(), "Available Commands") {
		t.Errorf("without a verb: exit %d\n%s", code, &out)
	}
}
