// SPDX-License-Identifier: Apache-2.0

package symbol

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mpitrace/mpitrace/format"
)

// build runs a compiler on files of testdata, or skips the test if there is no
// such compiler.
func build(t *testing.T, compiler string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("no %s on this machine", compiler)
	}
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler, strings.Join(args, " "), err, out)
	}
}

// run runs a program and makes definitions of what it says it was called from,
// and the names that it gave the sites, in order.
func run(t *testing.T, program string) (*format.Definitions, []string) {
	t.Helper()
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	d := &format.Definitions{}
	modules := map[string]format.ID{}
	var names []string
	for line := range strings.Lines(string(out)) {
		var name, path string
		var address, base uint64
		if _, err := fmt.Sscanf(line, "%s %x %x %s", &name, &address, &base, &path); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if modules[path] == 0 {
			id := format.ID(len(d.Modules) + 1)
			modules[path] = id
			d.Modules = append(d.Modules, format.Module{ID: id, Path: path, BuildID: idOf(t, path), Base: base})
		}
		d.Sites = append(d.Sites, format.Site{ID: format.ID(len(d.Sites) + 1), Module: modules[path], Address: address})
		names = append(names, name)
	}
	return d, names
}

func idOf(t *testing.T, path string) string {
	t.Helper()
	o := &object{}
	f, err := o.open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	return BuildID(f)
}

// found writes what was found out of each site: "name function file:line".
func found(d *format.Definitions, names []string) (lines []string) {
	for i, s := range d.Sites {
		line := names[i] + " " + s.Function
		if s.File != "" {
			line += fmt.Sprintf(" %s:%d", filepath.Base(s.File), s.Line)
		}
		lines = append(lines, line)
	}
	return lines
}

// buildC builds the C program with a library beside it.
func buildC(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	library, program := filepath.Join(dir, "libsolve.so"), filepath.Join(dir, "program")
	build(t, "gcc", append([]string{"-shared", "-fPIC", "-Wl,--build-id", "-o", library, "testdata/library.c", "testdata/where.c", "-ldl"}, flags...)...)
	build(t, "gcc", append([]string{"-Wl,--build-id", "-o", program, "testdata/program.c", library, "-Wl,-rpath," + dir}, flags...)...)
	return program
}

var cLines = []string{
	"plain solve program.c:12", "inlined exchange program.c:7", "last solve program.c:14", "library in_library library.c:7",
}

func TestLinesOfC(t *testing.T) {
	for name, flags := range map[string][]string{
		"moved":       {"-g", "-O1", "-fno-optimize-sibling-calls"},
		"version 4":   {"-gdwarf-4", "-O1", "-fno-optimize-sibling-calls"},
		"compressed":  {"-g", "-O1", "-fno-optimize-sibling-calls", "-gz"},
		"no build id": {"-g", "-O1", "-fno-optimize-sibling-calls", "-Wl,--build-id=none"},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, buildC(t, t.TempDir(), flags...), cLines)
		})
	}
}

// An executable at a fixed address, whose addresses are as in the file.
func TestLinesOfUnmoved(t *testing.T) {
	dir := t.TempDir()
	program := buildC(t, dir, "-g", "-O1", "-fno-optimize-sibling-calls")
	build(t, "gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-no-pie", "-o", program, "testdata/program.c", filepath.Join(dir, "libsolve.so"), "-Wl,-rpath,"+dir)
	check(t, program, cLines)
}

func check(t *testing.T, program string, want []string) {
	t.Helper()
	d, names := run(t, program)
	if warnings := Resolve(d); len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
	if diff := cmp.Diff(want, found(d, names)); diff != "" {
		t.Errorf("call sites (-want +got):\n%s", diff)
	}
}

func TestLinesOfCxx(t *testing.T) {
	dir := t.TempDir()
	object, program := filepath.Join(dir, "where.o"), filepath.Join(dir, "program")
	build(t, "gcc", "-c", "-o", object, "testdata/where.c")
	build(t, "g++", "-g", "-O1", "-fno-optimize-sibling-calls", "-o", program, "testdata/program.cc", object)
	check(t, program, []string{"method grid::Halo<double>::exchange program.cc:6"})
}

func TestLinesOfFortran(t *testing.T) {
	dir := t.TempDir()
	object, program := filepath.Join(dir, "where.o"), filepath.Join(dir, "program")
	build(t, "gcc", "-c", "-o", object, "testdata/where.c")
	build(t, "gfortran", "-g", "-O1", "-fno-optimize-sibling-calls", "-J", dir, "-o", program, "testdata/program.f90", object)
	check(t, program, []string{
		"module halo::exchange program.f90:12", "external external program.f90:18", "main main program program.f90:25",
	})
}

func TestWithoutDebugInformation(t *testing.T) {
	d, names := run(t, buildC(t, t.TempDir(), "-O1", "-fno-optimize-sibling-calls"))
	warnings := Resolve(d)
	if len(warnings) != 1 || !strings.Contains(warnings[0], "program, libsolve.so") || !strings.Contains(warnings[0], "-g") {
		t.Errorf("warnings: %q", warnings)
	}
	for i, s := range d.Sites {
		want := map[string]string{"library": "in_library+0x"}[names[i]]
		if want == "" {
			want = "solve+0x"
		}
		if !strings.HasPrefix(s.Function, want) || s.File != "" {
			t.Errorf("%s: %q %q:%d, want %s…", names[i], s.Function, s.File, s.Line, want)
		}
	}
}

// Debug information in a file of its own is found by the name that the program
// gives.
func TestSeparateDebugFile(t *testing.T) {
	dir := t.TempDir()
	program := buildC(t, dir, "-g", "-O1", "-fno-optimize-sibling-calls")
	for _, f := range []string{program, filepath.Join(dir, "libsolve.so")} {
		if err := os.MkdirAll(filepath.Join(dir, ".debug"), 0o777); err != nil {
			t.Fatal(err)
		}
		debug := filepath.Join(dir, ".debug", filepath.Base(f)+".debug")
		build(t, "objcopy", "--only-keep-debug", f, debug)
		build(t, "strip", f)
		build(t, "objcopy", "--add-gnu-debuglink="+debug, f)
	}
	check(t, program, cLines)
}

func TestChangedProgram(t *testing.T) {
	dir := t.TempDir()
	program := buildC(t, dir, "-g", "-O1")
	d, names := run(t, program)
	buildC(t, dir, "-g", "-O2", "-DCHANGED")
	warnings := Resolve(d)
	if len(warnings) != 2 || !strings.Contains(warnings[0], "changed since the run") {
		t.Errorf("warnings: %q", warnings)
	}
	for i, s := range d.Sites {
		if s.Function != "" || s.File != "" {
			t.Errorf("%s: resolved from another program: %+v", names[i], s)
		}
	}
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("not an ELF file"), 0o666); err != nil {
		t.Fatal(err)
	}
	d := &format.Definitions{}
	for i, path := range []string{text, dir, filepath.Join(dir, "gone"), "relative/path", "/dev/zero", "[vdso]"} {
		id := format.ID(i + 1)
		d.Modules = append(d.Modules, format.Module{ID: id, Path: path})
		d.Sites = append(d.Sites, format.Site{ID: id, Module: id, Address: 0x1000})
	}
	if warnings := Resolve(d); len(warnings) != len(d.Modules) {
		t.Errorf("%d modules, warnings %q", len(d.Modules), warnings)
	}
}

func TestPrettySymbol(t *testing.T) {
	for in, want := range map[string]string{
		"main":                        "main",
		"_ZN4grid4HaloIdE8exchangeEd": "grid::Halo<double>::exchange",
		"exchange_":                   "exchange",
		"__grid_MOD_exchange":         "grid::exchange",
		"grid_mp_exchange_":           "grid::exchange",
		"my_solver_":                  "my_solver",
		"MAIN__":                      "main program",
		"_start":                      "_start",
		"Exchange_":                   "Exchange_",
		"_Z":                          "_Z",
	} {
		if got := prettySymbol(in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

func FuzzBuildIDNote(f *testing.F) {
	f.Add([]byte("\x04\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00GNU\x00\xab\xcd\x00\x00"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\x03\x00\x00\x00GNU\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		id, ok := buildIDNote(b, binary.LittleEndian)
		if ok && len(id) > 2*len(b) {
			t.Fatalf("id of %d digits from %d bytes", len(id), len(b))
		}
	})
}
