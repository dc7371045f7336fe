// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The library enters every process of a job: what it exports could take the
// place of anybody's functions.
func TestExports(t *testing.T) {
	f, err := elf.Open(library(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	allowed := regexp.MustCompile(`^(P?MPIX?_[A-Z]|mpitrace_)`)
	exported := 0
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF {
			continue
		}
		exported++
		if !allowed.MatchString(s.Name) {
			t.Errorf("exports %s", s.Name)
		}
		if strings.HasSuffix(s.Name, "f2c") || strings.HasSuffix(s.Name, "c2f") {
			t.Errorf("exports %s, which Fortran layers call on their own", s.Name)
		}
	}
	if exported < 1000 {
		t.Errorf("exports %d names only", exported)
	}
}

// A process that never calls MPI gets nothing: no thread, no file, no ring.
func TestNoMPI(t *testing.T) {
	lib := library(t)
	dir := t.TempDir()
	rings := t.TempDir()
	for _, program := range []string{"/bin/true", "/bin/sh"} {
		cmd := exec.Command(program, "-c", "exit 0")
		cmd.Dir = dir
		cmd.Env = append(environ(), "LD_PRELOAD="+lib, "MPITRACE_RING_DIR="+rings)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v, said %q", program, err, out)
		}
	}
	// A shell's own view of its process: one thread, as always.
	cmd := exec.Command("/bin/sh", "-c", "grep ^Threads: /proc/$$/status; grep '^Sig[IC]' /proc/$$/status")
	cmd.Env = append(environ(), "LD_PRELOAD="+lib)
	with, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = environ()
	without, err := exec.Command(cmd.Path, cmd.Args[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(with) != string(without) || !strings.Contains(string(with), "Threads:\t1\n") {
		t.Errorf("threads and signals are\n%swithout the recorder\n%s", with, without)
	}
	for _, d := range []string{dir, rings} {
		if entries, _ := os.ReadDir(d); len(entries) > 0 {
			t.Errorf("left %v", entries)
		}
	}
}

// A program linked to MPI that does not call it is left alone too.
func TestLinkedButNoMPI(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		cmd := exec.Command(compile(t, m, "nompi.c"))
		cmd.Dir = t.TempDir()
		cmd.Env = environ()
		want, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		cmd = exec.Command(cmd.Path)
		cmd.Dir = t.TempDir()
		cmd.Env = append(environ(), "LD_PRELOAD="+library(t))
		got, err := cmd.Output()
		if err != nil || string(got) != string(want) {
			t.Errorf("%q, %v, without the recorder %q", got, err, want)
		}
		if entries, _ := os.ReadDir(cmd.Dir); len(entries) > 0 {
			t.Errorf("left %v", entries)
		}
	})
}

// Each bad setting gets one line, whatever the number of ranks, and recording
// goes on.
func TestBadSettings(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		for _, tt := range []struct{ setting, want string }{
			{"MPITRACE_BUFFER=lots", `MPITRACE_BUFFER="lots": not a size`},
			{"MPITRACE_BUFER=4M", "MPITRACE_BUFER is not a setting, did you mean MPITRACE_BUFFER"},
			{"MPITRACE_MODE=flight", `MPITRACE_MODE="flight": not a mode`},
			{"MPITRACE_FILTER=MPI_Bananas", `MPITRACE_FILTER="MPI_Bananas": "MPI_Bananas" is no MPI function`},
		} {
			r := m.run(t, job{ranks: 2, program: compile(t, m, "comm_rank.c"), args: []string{"100"},
				settings: []string{tt.setting}, preload: library(t)}).ok(t)
			if n := strings.Count(r.errors, tt.want); n != 1 {
				t.Errorf("%s: said %d times:\n%s", tt.setting, n, r.errors)
			}
			if calls := dump(t, r.traces(t, 2)...); len(calls) < 200 {
				t.Errorf("%s: %d calls recorded", tt.setting, len(calls))
			}
		}
	})
}

func TestQuiet(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		r := m.run(t, job{ranks: 2, program: compile(t, m, "comm_rank.c"), args: []string{"100"},
			settings: []string{"MPITRACE_QUIET=1"}, preload: library(t)}).ok(t)
		if strings.Contains(r.errors, "mpitrace") {
			t.Errorf("said %q", r.errors)
		}
		r.traces(t, 2)
	})
}

func TestFilter(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		for _, tt := range []struct {
			settings []string
			want     string // functions that the trace has
		}{
			{[]string{"MPITRACE_FILTER=p2p"}, "MPI_Finalize MPI_Init MPI_Irecv MPI_Isend MPI_Pcontrol"},
			{[]string{"MPITRACE_FILTER=MPI_I*,-MPI_I?end"}, "MPI_Finalize MPI_Init MPI_Irecv MPI_Pcontrol"},
			{[]string{"MPITRACE_FILTER=collective,-control"}, "MPI_Allreduce MPI_Barrier MPI_Finalize MPI_Init"},
			{[]string{"MPITRACE_ENABLE=0"}, ""},
		} {
			r := m.run(t, job{ranks: 2, program: compile(t, m, "halo.c"), args: []string{"3", "8", "1"},
				settings: tt.settings, preload: library(t)}).ok(t)
			seen := map[string]bool{}
			for _, c := range dump(t, r.traces(t, 2)...) {
				seen[c.name()] = true
			}
			var names []string
			for name := range seen {
				names = append(names, name)
			}
			slices.Sort(names)
			got := strings.Join(names, " ")
			// Whether MPI_Init and MPI_Finalize belong to a run that began
			// disabled is a matter of taste.
			if tt.settings[0] == "MPITRACE_ENABLE=0" {
				got = strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(got, "MPI_Init", ""), "MPI_Finalize", ""))
			}
			if got != tt.want {
				t.Errorf("%v: recorded %s, want %s", tt.settings, got, tt.want)
			}
		}
	})
}

// faults are places where a trace cannot be written. The program runs as if
// nothing had been, and one line a rank at most says why there is no trace.
func TestOutputFaults(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		halo := compile(t, m, "halo.c")
		args := []string{"20000", "8", "0"}
		plain := m.run(t, job{ranks: 2, program: halo, args: args}).ok(t)
		inNamespace := []string{"unshare", "--mount"}
		for _, fault := range []struct {
			name     string
			wrap     []string
			settings []string
			want     string // in one of the recorder's lines
		}{
			{"no such folder", nil, []string{"MPITRACE_OUTPUT=/no/such/folder/trace.%r"}, "no such file or directory"},
			{"a file for a folder", nil, []string{"MPITRACE_OUTPUT=/etc/passwd/trace.%r"}, "not a directory"},
			{
				"read-only file system",
				append(slices.Clone(inNamespace), "sh", "-c", `mount -t tmpfs -o ro none /mnt && exec "$@"`, "sh"),
				[]string{"MPITRACE_OUTPUT=/mnt/trace.%r"}, "read-only file system",
			},
			{
				"full file system",
				append(slices.Clone(inNamespace), "sh", "-c", `mount -t tmpfs -o size=16k none /mnt && exec "$@"`, "sh"),
				[]string{"MPITRACE_OUTPUT=/mnt/trace.%r"}, "no space left on device",
			},
			{"no folder for rings", nil, []string{"MPITRACE_RING_DIR=/no/such/folder"}, ""},
			{
				"full folder for rings",
				append(slices.Clone(inNamespace), "sh", "-c", `mount -t tmpfs -o size=64k none /mnt && exec "$@"`, "sh"),
				[]string{"MPITRACE_RING_DIR=/mnt"}, "",
			},
		} {
			t.Run(strings.ReplaceAll(fault.name, " ", "-"), func(t *testing.T) {
				if len(fault.wrap) > 0 && fault.wrap[0] == "unshare" {
					if out, err := exec.Command("unshare", "--mount", "sh", "-c", "mount -t tmpfs none /mnt").CombinedOutput(); err != nil {
						t.Skipf("cannot mount here: %v %s", err, out)
					}
				}
				r := m.run(t, job{ranks: 2, program: halo, args: args, settings: fault.settings, wrap: fault.wrap, preload: library(t)})
				if r.code != 0 {
					t.Fatalf("the program was harmed: exit code %d\n%s%s", r.code, r.out, r.errors)
				}
				if a, b := measured.ReplaceAllString(r.out, "$1"), measured.ReplaceAllString(plain.out, "$1"); a != b {
					t.Errorf("standard output differs\nwith    %q\nwithout %q", a, b)
				}
				ours := 0
				said := fault.want == ""
				for _, line := range strings.Split(r.errors, "\n") {
					if strings.HasPrefix(line, "mpitrace") {
						ours++
						said = said || strings.Contains(line, fault.want)
					}
				}
				if !said {
					t.Errorf("nobody said %q:\n%s", fault.want, r.errors)
				}
				if ours > 8 {
					t.Errorf("the recorder said %d lines:\n%s", ours, r.errors)
				}
				if strings.Contains(r.errors, "goroutine ") || strings.Contains(r.errors, "panic") {
					t.Errorf("a panic:\n%s", r.errors)
				}
			})
		}
	})
}

// A limit of file sizes is a signal by default, which must not reach the
// program. What was written before can be read, and what is missing is said.
func TestFileSizeLimit(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		j := job{ranks: 1, program: compile(t, m, "limit.c"), args: []string{"65536", "1000000"}}
		want := m.run(t, j).ok(t).out
		j.preload = library(t)
		r := m.run(t, j)
		if r.code != 0 || r.out != want {
			t.Fatalf("the program was harmed: exit code %d\n%s%s", r.code, r.out, r.errors)
		}
		if !strings.Contains(r.errors, "file too large") {
			t.Errorf("nobody said why the trace is cut:\n%s", r.errors)
		}
		if calls := dump(t, r.traces(t, 1)...); len(calls) == 0 || len(calls) >= 1000000 {
			t.Errorf("%d calls can be read\n%s", len(calls), r.errors)
		}
	})
}

// figures are the numbers that a program prints, by name.
func figures(out string) map[string]float64 {
	f := map[string]float64{}
	for _, line := range strings.Split(out, "\n") {
		if name, value, ok := strings.Cut(line, " "); ok {
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				f[name] = v
			}
		}
	}
	return f
}

// Resident memory at the default buffer: at most 16 MiB more than without the
// recorder, also after the ring has been filled many times.
func TestMemory(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		program := compile(t, m, "init.c")
		resident := func(preload string) float64 {
			var all []float64
			for range 3 {
				r := m.run(t, job{ranks: 1, program: program, args: []string{"3000000"}, preload: preload}).ok(t)
				all = append(all, figures(r.out)["rss_kib"])
			}
			slices.Sort(all)
			return all[1]
		}
		without, with := resident(""), resident(library(t))
		if without <= 0 || with <= 0 {
			t.Fatalf("no figures: %v, %v", without, with)
		}
		t.Logf("%.1f MiB with the recorder, %.1f MiB without", with/1024, without/1024)
		if added := (with - without) / 1024; added > 16 {
			t.Errorf("the recorder takes %.1f MiB, 16 are allowed", added)
		}
	})
}

// Rings must not be left behind.
func TestRingsAreRemoved(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		rings := t.TempDir()
		m.run(t, job{ranks: 2, program: compile(t, m, "comm_rank.c"), settings: []string{"MPITRACE_RING_DIR=" + rings}, preload: library(t)}).ok(t)
		if left, _ := filepath.Glob(filepath.Join(rings, "*")); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	})
}

// A small ring makes threads wait, and nothing is lost; in ring mode, what is
// overwritten is counted.
func TestSmallRing(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		const calls = 300000
		for _, mode := range []string{"stream", "ring"} {
			r := m.run(t, job{ranks: 1, program: compile(t, m, "comm_rank.c"), args: []string{fmt.Sprint(calls)},
				settings: []string{"MPITRACE_BUFFER=64k", "MPITRACE_MODE=" + mode}, preload: library(t)}).ok(t)
			total, lost := 0, lossOf(t, r.traces(t, 1)[0])
			for _, c := range dump(t, r.traces(t, 1)...) {
				if c.name() == "MPI_Comm_rank" {
					total++
				}
			}
			// Warm-up, measurement, one at the end.
			const made = calls/10 + calls + 1
			switch {
			case mode == "stream" && (total != made || lost != 0):
				t.Errorf("%d of %d calls in the trace, %d said to be lost", total, made, lost)
			case mode == "ring" && (total == 0 || lost == 0 || uint64(total)+lost < made):
				t.Errorf("ring mode: %d calls in the trace, %d said to be lost, the program made %d", total, lost, made)
			}
		}
	})
}
