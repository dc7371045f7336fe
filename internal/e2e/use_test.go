// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mpitrace/mpitrace/format"
)

// commands builds bin/ once and returns its folder.
var commands = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "bin")
	out, err := exec.Command("go", "build", "-o", dir+"/", "../../cmd/mpitrace", "../../cmd/mpitrace-view").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

func bin(t *testing.T, name string) string {
	t.Helper()
	dir, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// lossOf is how many calls a trace file says that it lacks.
func lossOf(t *testing.T, path string) uint64 {
	t.Helper()
	r, err := format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var n uint64
	for _, l := range r.Definitions().Losses {
		n += l.Count
	}
	return n
}

// After MPI_Pcontrol(2), a second process finds everything in the file.
func TestFlush(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		for _, mode := range []string{"stream", "ring"} {
			dir := t.TempDir()
			reader := fmt.Sprintf("%s dump --format jsonl trace.0 > during.jsonl 2> during.errors", bin(t, "mpitrace-view"))
			r := m.run(t, job{ranks: 2, program: compile(t, m, "pcontrol.c"), args: []string{reader}, dir: dir,
				settings: []string{"MPITRACE_MODE=" + mode}, preload: library(t)})
			if r.code != 0 {
				said, _ := os.ReadFile(filepath.Join(dir, "during.errors"))
				t.Fatalf("exit code %d\n%s%s\nreader: %s", r.code, r.out, r.errors, said)
			}
			f, err := os.Open(filepath.Join(dir, "during.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			var tags []string
			for _, c := range lines(t, f, "during.jsonl") {
				if c.name() == "MPI_Send" {
					tags = append(tags, fmt.Sprint(c["tag"]))
				}
			}
			f.Close()
			// Tag 2 was sent while recording was disabled, 5 comes after the flush.
			if got := strings.Join(tags, " "); got != "1 3 4" {
				t.Errorf("%s: a second process read messages %s, want 1 3 4", mode, got)
			}
		}
	})
}

// MPI_Pcontrol before MPI_Init and after MPI_Finalize is harmless, also where
// the MPI library itself would abort.
func TestPcontrolOutside(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		r := m.run(t, job{ranks: 2, program: compile(t, m, "pcontrol.c"), settings: []string{"PCONTROL_EARLY=1"}, preload: library(t)})
		if r.code != 0 {
			t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errors)
		}
	})
}

// Regions and markers by name and number reach the dump.
func TestRegions(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		r := m.run(t, job{ranks: 2, program: compile(t, m, "pcontrol.c"), preload: library(t)}).ok(t)
		text := view(t, append([]string{"dump", "--format", "jsonl"}, r.traces(t, 2)...)...)
		for _, name := range []string{"outer", "inner", "here"} {
			if !strings.Contains(text, name) {
				t.Errorf("no region %q in the dump", name)
			}
		}
	})
}

// Call sites are named by file and line.
func TestSites(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		r := m.run(t, job{ranks: 2, program: compile(t, m, "pingpong.c"), args: []string{"10"}, preload: library(t)}).ok(t)
		source, err := os.ReadFile(root("testdata", "mpi", "pingpong.c"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(source), "\n")
		checked := 0
		for _, c := range dump(t, r.traces(t, 2)...) {
			if c.name() != "MPI_Send" && c.name() != "MPI_Recv" {
				continue
			}
			site, _ := c["site"].(string)
			var line int
			if _, err := fmt.Sscanf(site[strings.LastIndex(site, "/")+1:], "pingpong.c:%d", &line); err != nil {
				t.Fatalf("site %q of %s: %v", site, c.name(), err)
			}
			if line < 1 || line > len(lines) || !strings.Contains(lines[line-1], c.name()+"(") {
				t.Fatalf("%s is said to be at %s, where it is not", c.name(), site)
			}
			checked++
		}
		if checked == 0 {
			t.Error("no calls")
		}
	})
}

// mpitrace run, in front of the launcher and in front of the program.
func TestRun(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		t.Setenv("MPITRACE_LIB", library(t))
		program := compile(t, m, "pingpong.c")
		oversubscribe := []string{}
		if m.name == "openmpi" {
			oversubscribe = []string{"--oversubscribe"}
		}
		withLib := func(args ...string) []string {
			return append([]string{"env", "MPITRACE_LIB=" + library(t), bin(t, "mpitrace")}, args...)
		}
		launcher := append([]string{m.launcher()}, oversubscribe...)

		r := command(t, "", append(append(withLib("run", "--output", "out.%r", "--"), launcher...), "-n", "2", program, "10")...).ok(t)
		for _, want := range []string{"mpitrace: 2 files, ", " written to out.*\n", "mpitrace: next: mpitrace-view merge out.*\n"} {
			if !strings.Contains(r.errors, want) {
				t.Errorf("no %q in\n%s", want, r.errors)
			}
		}
		if !strings.HasPrefix(r.out, "pingpong: 10 iterations of 8 bytes\n") {
			t.Errorf("standard output %q", r.out)
		}
		dump(t, filepath.Join(r.dir, "out.0"), filepath.Join(r.dir, "out.1"))

		r = command(t, "", append(append(withLib("run", "--quiet", "--"), launcher...), "-n", "2", program, "10")...).ok(t)
		if strings.Contains(r.errors, "mpitrace") {
			t.Errorf("--quiet said %q", r.errors)
		}
		r.traces(t, 2)

		inFront := append(append([]string{"env", "MPITRACE_LIB=" + library(t)}, launcher...), "-n", "2", bin(t, "mpitrace"), "run", program, "10")
		r = command(t, "", inFront...).ok(t)
		if calls := dump(t, r.traces(t, 2)...); len(calls) < 40 {
			t.Errorf("in front of the program: %d calls", len(calls))
		}

		// The exit status is the command's.
		r = command(t, "", append(append(withLib("run", "--"), launcher...), "-n", "1", "/bin/sh", "-c", "exit 7")...)
		if r.code != 7 {
			t.Errorf("exit code %d, want 7\n%s", r.code, r.errors)
		}
		if !strings.Contains(r.errors, "mpitrace: no trace file was written") {
			t.Errorf("no word of the missing trace:\n%s", r.errors)
		}
		r = command(t, "", withLib("run", "/bin/sh", "-c", "kill -TERM $$")...)
		if r.code != -1 {
			t.Errorf("the program died by a signal, mpitrace exited with %d", r.code)
		}
	})
}

// What the launchers make of our options is theirs to say: only the ranks are
// preloaded, in every part of a command line with several programs.
func TestRunPreloadsRanksOnly(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		args := []string{"env", "MPITRACE_LIB=" + library(t), "LD_PRELOAD=", bin(t, "mpitrace"), "run", "--quiet", "--", m.launcher()}
		if m.name == "openmpi" {
			args = append(args, "--oversubscribe")
		}
		show := []string{"sh", "-c", "env | grep -c ^LD_PRELOAD=.*libmpitrace; tr '\\0' '\\n' < /proc/$PPID/environ | grep -c ^LD_PRELOAD=.*libmpitrace; true"}
		args = append(append(append(args, "-n", "1"), show...), ":", "-n", "1")
		args = append(args, show...)
		r := command(t, "", args...)
		if got := strings.Fields(r.out); !sameCounts(got, 2, 2) {
			t.Errorf("ranks and their parents with the library: %v\n%s", got, r.errors)
		}
	})
}

// sameCounts tells whether there are so many ones and zeros.
func sameCounts(words []string, ones, zeros int) bool {
	for _, w := range words {
		switch w {
		case "1":
			ones--
		case "0":
			zeros--
		default:
			return false
		}
	}
	return ones == 0 && zeros == 0
}

// A statically linked program is recorded through the archive, and doctor
// tells programs apart that are and are not.
func TestStatic(t *testing.T) {
	archive := filepath.Join(filepath.Dir(library(t)), "libmpitrace.a")
	if _, err := os.Stat(archive); err != nil {
		require(t, "the archive is not built: %v", err)
	}
	static, err := exec.Command("sh", "-c", "ls /usr/lib/*/libmpich.a").Output()
	if err != nil {
		require(t, "no static MPICH is installed")
	}
	m := implementation{"mpich", "mpich"}
	link := func(name string, libs ...string) string {
		path := filepath.Join(scratch, name)
		args := append([]string{"-g", "-o", path, "-I/usr/include/x86_64-linux-gnu/mpich", root("testdata", "mpi", "pingpong.c"), "-D_GNU_SOURCE", "-Wno-stringop-overflow"}, libs...)
		out, err := exec.Command("gcc", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("linking %s: %v\n%s", name, err, out)
		}
		return path
	}
	rest := []string{strings.TrimSpace(string(static)), "-lm", "-lpthread"}
	if out, err := exec.Command("sh", "-c", "pkg-config --static --libs-only-l mpich 2>/dev/null || true").Output(); err == nil {
		for _, l := range strings.Fields(string(out)) {
			if l != "-lmpich" {
				rest = append(rest, l)
			}
		}
	}
	with := link("static-with", append([]string{archive}, rest...)...)
	r := m.run(t, job{ranks: 2, program: with, args: []string{"10"}}).ok(t)
	sends := 0
	for _, c := range dump(t, r.traces(t, 2)...) {
		if c.name() == "MPI_Send" {
			sends++
		}
	}
	if sends != 22 {
		t.Errorf("%d sends recorded, the program made 22", sends)
	}
}
