// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpitrace/mpitrace/mpi"
)

// result is what a command line did.
type result struct {
	code        int
	out, errors string
}

func execute(args ...string) result {
	var out, errors bytes.Buffer
	code := Run(args, &out, &errors)
	return result{code, out.String(), errors.String()}
}

// withLibrary makes an installation, as far as finding it goes, and returns
// the library's path.
func withLibrary(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"lib/libmpitrace.so", "lib/libmpitrace.a", "include/mpitrace.h"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lib := filepath.Join(dir, "lib", "libmpitrace.so")
	t.Setenv("MPITRACE_LIB", lib)
	return lib
}

func TestUsage(t *testing.T) {
	withLibrary(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"walk"}, `mpitrace: unknown command "walk" for "mpitrace"`},
		{[]string{"run"}, "mpitrace: no command to run"},
		{[]string{"run", "--buffer", "lots", "--", "true"}, "mpitrace: --buffer=lots: not a size (want a number, with k, M or G: 4M)"},
		{[]string{"run", "--filter=MPI_Bananas", "true"}, `mpitrace: --filter=MPI_Bananas: "MPI_Bananas" is no MPI function and no family`},
		{[]string{"run", "--bananas", "true"}, "mpitrace: unknown flag: --bananas"},
		{[]string{"lib", "--static", "--include"}, "mpitrace: if any flags in the group [include static] are set none of the others can be"},
		{[]string{"doctor", "a", "b"}, "mpitrace: accepts at most 1 arg(s), received 2"},
		{[]string{"doctor", "--format", "xml"}, "mpitrace: --format xml: not a format (want text or json)"},
		{[]string{"functions", "--format", "xml"}, "mpitrace: --format xml: not a format (want text, json or csv)"},
		{[]string{"functions", "--family", "fruit"}, "mpitrace: --family fruit: no family is named"},
	} {
		r := execute(tt.args...)
		if r.code != ExitUsage || !strings.HasPrefix(r.errors, tt.want) || r.out != "" {
			t.Errorf("%q: exit code %d, stdout %q, stderr:\n%swant %s", tt.args, r.code, r.out, r.errors, tt.want)
		}
		if !strings.Contains(r.errors, `mpitrace: try "mpitrace`) {
			t.Errorf("%q: no word of --help in %q", tt.args, r.errors)
		}
	}
}

func TestLib(t *testing.T) {
	lib := withLibrary(t)
	root := filepath.Dir(filepath.Dir(lib))
	for _, tt := range []struct {
		option, want string
	}{
		{"", lib},
		{"--static", filepath.Join(root, "lib", "libmpitrace.a")},
		{"--include", filepath.Join(root, "include")},
	} {
		args := []string{"lib"}
		if tt.option != "" {
			args = append(args, tt.option)
		}
		if r := execute(args...); r.code != ExitOK || r.out != tt.want+"\n" || r.errors != "" {
			t.Errorf("%q: %+v, want %s", args, r, tt.want)
		}
	}
	t.Setenv("MPITRACE_LIB", "/no/such/lib.so")
	r := execute("lib")
	want := "mpitrace: /no/such/lib.so: not found\nmpitrace: hint: build it with make lib, or name the library in MPITRACE_LIB\n"
	if r.code != ExitInput || r.errors != want {
		t.Errorf("%+v, want %s", r, want)
	}
}

func TestRunDry(t *testing.T) {
	lib := withLibrary(t)
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("LD_PRELOAD", "")
	launcher := filepath.Join(dir, "mpirun")
	if err := os.WriteFile(launcher, []byte("#!/bin/sh\necho 'mpirun (Open MPI) 5.0.7'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{
			[]string{"run", "--dry-run", "--mode=ring", "--quiet", "--", launcher, "-n", "2", "./my app"},
			launcher + " -x LD_PRELOAD=" + lib + " -x MPITRACE_OUTPUT=" + dir + "/trace.%r -x MPITRACE_MODE=ring -x MPITRACE_QUIET=1 -n 2 './my app'",
		},
		{
			[]string{"run", "--dry-run", "--output", "/x/%h.%r", "true", "--output"},
			"LD_PRELOAD=" + lib + " MPITRACE_OUTPUT=/x/%h.%r true --output",
		},
	} {
		if r := execute(tt.args...); r.code != ExitOK || r.out != tt.want+"\n" || r.errors != "" {
			t.Errorf("%q: %+v\nwant %s", tt.args, r, tt.want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	withLibrary(t)
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := execute("run", "/no/such/program"); r.code != ExitNotFound || r.errors != "mpitrace: /no/such/program: command not found\n" {
		t.Errorf("%+v", r)
	}
	if r := execute("run", plain); r.code != ExitCannotRun || r.errors != "mpitrace: "+plain+": cannot be run: permission denied\n" {
		t.Errorf("%+v", r)
	}
	t.Setenv("MPITRACE_LIB", filepath.Join(dir, "lib.so"))
	if r := execute("run", "true"); r.code != ExitInput || !strings.Contains(r.errors, "lib.so: not found") {
		t.Errorf("%+v", r)
	}
}

func TestFunctions(t *testing.T) {
	r := execute("functions", "--format", "json")
	var list []coverage
	if err := json.Unmarshal([]byte(r.out), &list); err != nil || r.code != ExitOK {
		t.Fatalf("%v, %+v", err, r.code)
	}
	if len(list) != len(mpi.All()) {
		t.Errorf("%d functions, the table has %d", len(list), len(mpi.All()))
	}
	byName := map[string]coverage{}
	for _, c := range list {
		byName[c.Name] = c
		// A function is recorded, or there is a reason.
		if fn := mpi.ByName(c.Name); fn == nil || fn.Is(mpi.RoleLeaveAlone) != (c.Reason != "") {
			t.Errorf("%s: reason %q", c.Name, c.Reason)
		}
	}
	for name, want := range map[string]string{
		"MPI_Send":    "count datatype peer tag comm bytes",
		"MPI_Bcast":   "count datatype root comm bytes",
		"MPI_Waitall": "count request completed-requests",
		"MPI_Recv":    "count datatype peer tag comm source-got tag-got bytes",
	} {
		if got := strings.Join(byName[name].Records, " "); got != want {
			t.Errorf("%s records %q, want %q", name, got, want)
		}
	}

	r = execute("functions", "--format", "csv", "--family", "p2p", "MPI_?send")
	rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range rows[1:] {
		names = append(names, row[0])
	}
	if got := strings.Join(names, " "); got != "MPI_Bsend MPI_Isend MPI_Rsend MPI_Ssend" {
		t.Errorf("MPI_?send: %s", got)
	}

	r = execute("functions", "MPI_Comm_f2c", "MPI_Send")
	if !strings.Contains(r.out, "(not recorded: ") || !strings.HasSuffix(r.out, "2 functions, 1 recorded\n") {
		t.Errorf("%s", r.out)
	}
	if r = execute("functions", "--format", "json", "bananas"); r.out != "[]\n" {
		t.Errorf("no function: %q", r.out)
	}
}

func TestDoctor(t *testing.T) {
	withLibrary(t)
	r := execute("doctor", "--format", "json", "/bin/sh")
	var report struct {
		Program string
		Records bool
		Checks  []struct{ Topic, Level, Text string }
	}
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatalf("%v in %s%s", err, r.out, r.errors)
	}
	// The library of this test is an empty file: nothing can be recorded.
	if r.code != ExitFindings || report.Records || report.Program != "/bin/sh" || len(report.Checks) < 5 {
		t.Errorf("exit code %d, %+v", r.code, report)
	}
	if r := execute("doctor", "/no/such/program"); r.code != ExitInput || r.errors != "mpitrace: /no/such/program: not found\n" {
		t.Errorf("%+v", r)
	}
	if r := execute("doctor", "--output", "/no/such/folder/report", "/bin/sh"); r.code != ExitInput || !strings.Contains(r.errors, "/no/such/folder/report") {
		t.Errorf("%+v", r)
	}
}
