// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// workshop builds small programs and libraries; no MPI is needed to look like
// one from the outside.
type workshop struct {
	t   *testing.T
	dir string
}

func newWorkshop(t *testing.T) workshop {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	return workshop{t, t.TempDir()}
}

func (w workshop) gcc(source string, args ...string) {
	w.t.Helper()
	cmd := exec.Command("gcc", append([]string{"-x", "c", "-", "-x", "none"}, args...)...)
	cmd.Stdin = strings.NewReader(source)
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("gcc %v: %v\n%s", args, err, out)
	}
}

func (w workshop) path(name string) string { return filepath.Join(w.dir, name) }

const (
	functions = "int PMPI_Init(void *a, void *b) { return 0; } int MPI_Init(void *a, void *b) { return 0; } int MPI_Send(void) { return 0; }\n"
	openMPI   = functions + `char ompi_mpi_comm_world[512]; const char ompi_version_string[] = "9.8.7";`
	mpich     = functions + `const char MPII_Version_string[] = "4.9.9"; int MPIR_F_MPI_BOTTOM;`
	strange   = functions
	tool      = "int MPI_Send(void) { return 0; } int Extrae_init(void) { return 0; }"
	user      = "int MPI_Init(void *, void *); int MPI_Send(void); int MPI_Bananas(void) __attribute__((weak)); " +
		"int main(void) { return MPI_Init(0, 0) + MPI_Send() + (MPI_Bananas ? MPI_Bananas() : 0); }"
)

// find returns the checks of a topic as text, one a line.
func (r *Report) find(topic string) string {
	var b strings.Builder
	for _, c := range r.Checks {
		if c.Topic == topic {
			b.WriteString(string(c.Level) + ": " + c.Text + "\n")
		}
	}
	return b.String()
}

func (w workshop) examine(program string, environ ...string) *Report {
	w.t.Helper()
	r, err := Examine(Subject{Program: program, Library: "/bin/sh", Environ: environ})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func TestWhichMPI(t *testing.T) {
	w := newWorkshop(t)
	for _, tt := range []struct {
		name, soname, source string
		want                 Library
	}{
		{"openmpi", "libmpi.so.40", openMPI, Library{Family: "Open MPI", Version: "9.8.7", ABI: "openmpi"}},
		{"mpich", "libmpich.so.12", mpich, Library{Family: "MPICH", Version: "4.9.9", ABI: "mpich"}},
		{"abi", "libmpi_abi.so.1", openMPI, Library{Family: "MPI ABI", Version: "9.8.7", ABI: "abi"}},
		{"strange", "libmpi_strange.so.1", strange, Library{Family: "unknown", ABI: "opaque"}},
	} {
		dir := w.path(tt.name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		lib := filepath.Join(dir, tt.soname)
		w.gcc(tt.source, "-shared", "-fPIC", "-o", lib, "-Wl,-soname,"+tt.soname)
		program := filepath.Join(dir, "app")
		w.gcc(user, "-o", program, lib, "-Wl,-rpath,$ORIGIN")
		r := w.examine(program)
		if r.MPI == nil {
			t.Errorf("%s: no MPI found:\n%+v", tt.name, r.Checks)
			continue
		}
		tt.want.Path, tt.want.Soname = lib, tt.soname
		if *r.MPI != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, *r.MPI, tt.want)
		}
		if !r.Records {
			t.Errorf("%s: not recorded: %+v", tt.name, r.Checks)
		}
		if text := r.find("mpi"); !strings.Contains(text, "not in the table: MPI_Bananas") || !strings.Contains(text, "3 different MPI functions") {
			t.Errorf("%s: %s", tt.name, text)
		}
		if tt.want.ABI == "opaque" && !strings.Contains(r.find("abi"), "warning: not recognised") {
			t.Errorf("%s: %s", tt.name, r.find("abi"))
		}
	}
}

func TestOtherTools(t *testing.T) {
	w := newWorkshop(t)
	w.gcc(openMPI, "-shared", "-fPIC", "-o", "libmpi.so.40", "-Wl,-soname,libmpi.so.40")
	w.gcc(tool, "-shared", "-fPIC", "-o", "libmpitrace.so")
	w.gcc("int MPI_Send(void) { return 0; }", "-shared", "-fPIC", "-o", "libmine.so", "-Wl,-soname,libmine.so")
	w.gcc(user, "-o", "app", w.path("libmpi.so.40"), "-Wl,-rpath,$ORIGIN")
	w.gcc(user, "-o", "wrapped", w.path("libmine.so"), w.path("libmpi.so.40"), "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed")

	if got := w.examine(w.path("app")).find("tools"); got != "ok: no other tool that wraps MPI\n" {
		t.Errorf("without a tool: %s", got)
	}
	got := w.examine(w.path("app"), "LD_PRELOAD="+w.path("libmpitrace.so")).find("tools")
	if want := "warning: Extrae has a library of the same name: " + w.path("libmpitrace.so") + " (in LD_PRELOAD)\n"; got != want {
		t.Errorf("preloaded: %swant %s", got, want)
	}
	got = w.examine(w.path("wrapped")).find("tools")
	if want := "warning: an unknown tool is in the way: " + w.path("libmine.so") + " (linked to the program)\n"; got != want {
		t.Errorf("linked: %swant %s", got, want)
	}
}

func TestWhatPreventsRecording(t *testing.T) {
	w := newWorkshop(t)
	w.gcc(openMPI, "-shared", "-fPIC", "-o", "libmpi.so.40", "-Wl,-soname,libmpi.so.40")
	w.gcc(user, "-o", "app", w.path("libmpi.so.40"), "-Wl,-rpath,$ORIGIN")
	w.gcc(openMPI, "-shared", "-fPIC", "-o", "libmpi_of_nobody.so.1", "-Wl,-soname,libmpi_of_nobody.so.1")
	w.gcc(user, "-o", "lost", w.path("libmpi_of_nobody.so.1"))
	w.gcc("int main(void) { return 0; }", "-o", "plain")
	w.gcc(openMPI+"int main(void) { return MPI_Init(0, 0); }", "-static", "-o", "static")
	w.gcc(openMPI+"int mpitrace_version; int main(void) { return MPI_Init(0, 0); }", "-static", "-o", "static-ours")
	w.gcc("int main(void) { return 0; }", "-static", "-s", "-o", "stripped")
	app, err := os.ReadFile(w.path("app"))
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"setuid": 0o755 | os.ModeSetuid, "setgid": 0o755 | os.ModeSetgid} {
		if err := os.WriteFile(w.path(name), app, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(w.path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	// Another processor's: the machine is at offset 18 of an ELF header.
	foreign := bytes.Clone(app)
	foreign[18] = 0xf3 // RISC-V
	if err := os.WriteFile(w.path("foreign"), foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path("script"), []byte("#!/usr/bin/env -S "+w.path("app")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		program, topic, want string
		records              bool
	}{
		{"app", "mpi", "ok: Open MPI 9.8.7", true},
		{"script", "program", "is a script, run by " + w.path("app"), true},
		{"static-ours", "mpi", "ok: libmpitrace.a is linked in", true},
		{"lost", "program", "error: libmpi_of_nobody.so.1: not found", false},
		{"plain", "mpi", "error: it is not linked to MPI", false},
		{"static", "mpi", "error: it is statically linked without libmpitrace.a", false},
		{"stripped", "mpi", "error: it is statically linked and has no symbols", false},
		{"setuid", "program", "is setuid: the loader ignores LD_PRELOAD", false},
		{"setgid", "program", "is setgid: the loader ignores LD_PRELOAD", false},
		{"foreign", "program", "the library is 64-bit", false},
	} {
		r := w.examine(w.path(tt.program))
		if got := r.find(tt.topic); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %swant %s", tt.program, got, tt.want)
		}
		if r.Records != tt.records {
			t.Errorf("%s: recorded: %v, want %v: %+v", tt.program, r.Records, tt.records, r.Checks)
		}
		var text bytes.Buffer
		if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "will") {
			t.Errorf("%s: %v, %s", tt.program, err, text.String())
		}
	}
}

func TestUnreadable(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("plain text\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{
		"/no/such/program": "/no/such/program: not found",
		text:               text + ": neither an ELF program nor a script",
	} {
		if _, err := Examine(Subject{Program: program}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", program, err, want)
		}
	}
}

func TestOutputFolder(t *testing.T) {
	for path, want := range map[string]string{
		"/no/such/folder/trace.0":             "error: /no/such/folder: no such folder\n",
		"/proc/trace.0":                       "error: /proc: no file can be made here",
		filepath.Join(t.TempDir(), "trace.0"): ": writable, ",
	} {
		r := &Report{}
		r.output(path)
		if got := r.find("output"); !strings.Contains(got, want) {
			t.Errorf("%s: %swant %s", path, got, want)
		}
	}
}

func TestRings(t *testing.T) {
	for _, tt := range []struct {
		dir    string
		buffer int64
		want   string
	}{
		{"/no/such/folder", 1 << 20, "warning: /no/such/folder: no such file or directory"},
		{"/proc", 1 << 20, "warning"},
		{"/dev/shm", 1 << 60, "warning: /dev/shm"},
	} {
		r := &Report{}
		r.rings(tt.dir, tt.buffer)
		if got := r.find("rings"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %swant %s", tt.dir, got, tt.want)
		}
	}
}

func TestTSC(t *testing.T) {
	flags, mhz := tsc("processor\t: 0\ncpu MHz\t\t: 2500.5\nflags\t\t: fpu constant_tsc nonstop_tsc\n\nprocessor\t: 1\nflags\t\t: other\n")
	if !flags["constant_tsc"] || !flags["nonstop_tsc"] || flags["other"] || mhz != 2500.5 {
		t.Errorf("%v, %v", flags, mhz)
	}
}

func TestOlder(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"2.28", "2.34", true},
		{"2.34", "2.28", false},
		{"2.9", "2.10", true},
		{"2.34", "2.34", false},
		{"2.2", "2.2.5", true},
	} {
		if got := older(tt.a, tt.b); got != tt.want {
			t.Errorf("older(%s, %s) = %v", tt.a, tt.b, got)
		}
	}
}
