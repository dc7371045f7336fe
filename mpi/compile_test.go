// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// compilers are the wrapper compilers of the MPI libraries that the table is
// checked against.
var compilers = []string{"mpicc.openmpi", "mpicc.mpich"}

// needTool skips the test where a tool is missing, unless MPITRACE_REQUIRE_MPI
// says that a skip is a failure.
func needTool(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		if os.Getenv("MPITRACE_REQUIRE_MPI") == "1" {
			t.Fatalf("%s is not installed, and MPITRACE_REQUIRE_MPI=1", tool)
		}
		t.Skipf("%s is not installed", tool)
	}
	return path
}

// compile checks the C text's syntax and types and returns the diagnostics of
// the kind "error", by line.
func compile(t *testing.T, compiler, text string) map[int]string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "probe.c")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(compiler, "-fsyntax-only", "-fmax-errors=0", "-Wno-deprecated-declarations", source)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	errors := make(map[int]string)
	for _, m := range regexp.MustCompile(`(?m)^[^\n:]*probe\.c:(\d+):\d+: error: (.*)$`).FindAllStringSubmatch(string(out), -1) {
		line, _ := strconv.Atoi(m[1])
		errors[line] = m[2]
	}
	if err != nil && len(errors) == 0 {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return errors
}

// declared returns the functions that the compiler's mpi.h declares as
// functions, not counting macros.
func declared(t *testing.T, compiler string) map[FuncID]bool {
	t.Helper()
	const firstLine = 2
	var b strings.Builder
	b.WriteString("#include <mpi.h>\n")
	for _, f := range All() {
		// The parentheses keep a macro of the name from being expanded.
		fmt.Fprintf(&b, "extern __typeof__((%s)) *probe_%d;\n", f.Name, f.ID)
	}
	errors := compile(t, compiler, b.String())
	known := make(map[FuncID]bool)
	for i, f := range All() {
		if errors[firstLine+i] == "" {
			known[f.ID] = true
		}
	}
	return known
}

// TestPrototypesMatchHeaders redeclares every function that an installed mpi.h
// declares with the table's prototype: C refuses a redeclaration that differs.
func TestPrototypesMatchHeaders(t *testing.T) {
	for _, compiler := range compilers {
		t.Run(compiler, func(t *testing.T) {
			t.Parallel()
			path := needTool(t, compiler)
			known := declared(t, path)
			if len(known) < 380 {
				t.Fatalf("only %d functions found in mpi.h: the probe is broken", len(known))
			}
			lines := []string{"#include <mpi.h>"}
			byLine := make(map[int]*Func)
			for i := range All() {
				f := &All()[i]
				if known[f.ID] {
					lines = append(lines, f.Prototype("("+f.Name+")", Native)+";")
					byLine[len(lines)] = f
				}
			}
			for line, msg := range compile(t, path, strings.Join(lines, "\n")+"\n") {
				t.Errorf("%s: %s\n\t%s", byLine[line].Name, msg, lines[line-1])
			}
			var absent []string
			for _, f := range All() {
				if !known[f.ID] {
					absent = append(absent, f.Name)
				}
			}
			t.Logf("%d prototypes compared; %d not declared as functions: %s", len(known), len(absent), strings.Join(absent, " "))
		})
	}
}

// TestCompileTestSeesMismatch proves that a wrong prototype is noticed.
func TestCompileTestSeesMismatch(t *testing.T) {
	for _, compiler := range compilers {
		t.Run(compiler, func(t *testing.T) {
			path := needTool(t, compiler)
			for _, name := range []string{"MPI_Send", "MPI_Alltoallw", "MPI_Comm_spawn_multiple"} {
				f := *ByName(name)
				f.Params = append([]Param(nil), f.Params...)
				f.Params[1].Const = !f.Params[1].Const
				f.Params[1].Pointer = 1
				f.Params[1].Array = nil
				if errors := compile(t, path, "#include <mpi.h>\n"+f.Prototype("("+f.Name+")", Native)+";\n"); len(errors) == 0 {
					t.Errorf("no error for %s", f.Prototype(f.Name, Native))
				}
			}
		})
	}
}

// TestNeutralPrototypes compiles all prototypes in their neutral form, without
// any mpi.h.
func TestNeutralPrototypes(t *testing.T) {
	cc := needTool(t, "cc")
	lines := []string{"#include <stdint.h>"}
	for _, f := range All() {
		lines = append(lines, f.Prototype(f.Name, Neutral)+";")
	}
	for line, msg := range compile(t, cc, strings.Join(lines, "\n")+"\n") {
		t.Errorf("%s\n\t%s", msg, lines[line-1])
	}
	for _, line := range lines[1:] {
		if strings.Contains(strings.SplitN(line, "(", 2)[1], "MPI_") {
			t.Errorf("needs mpi.h: %s", line)
		}
	}
}
