// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mpitrace/mpitrace/format"
)

// compile builds a program of testdata/mpi and returns its path.
func (b *bench) compile(mpi, name string) (string, error) {
	path := filepath.Join(b.scratch, mpi+"-"+name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.Command("mpicc."+mpi, "-O2", "-g", "-D_GNU_SOURCE", "-Wno-stringop-overflow", "-o", path,
		filepath.Join(b.root, "testdata", "mpi", name+".c"), "-lm", "-lpthread")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// mpirun runs a program in dir, with the recorder or without, and returns the
// figures that it printed.
func (b *bench) mpirun(mpi, dir string, recorded bool, ranks int, program string, args ...string) (map[string]float64, error) {
	line := []string{"mpirun." + mpi}
	set := func(name, value string) {
		if mpi == "openmpi" {
			line = append(line, "-x", name+"="+value)
		} else {
			line = append(line, "-genv", name, value)
		}
	}
	if mpi == "openmpi" {
		line = append(line, "--oversubscribe", "--bind-to", "core")
	} else {
		line = append(line, "-bind-to", "core")
	}
	if recorded {
		set("LD_PRELOAD", b.library)
		set("MPITRACE_QUIET", "1")
	}
	line = append(append(line, "-n", strconv.Itoa(ranks), program), args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%q: %w\n%s", line, err, errs.String())
	}
	figures := map[string]float64{}
	for _, l := range strings.Split(string(out), "\n") {
		if name, value, ok := strings.Cut(l, " "); ok {
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				figures[name] = v
			}
		}
	}
	return figures, nil
}

// alternate runs a program without and with the recorder in turn, and returns
// a figure of each run.
func (b *bench) alternate(mpi string, ranks int, name string, figure func(map[string]float64) float64, args ...string) (without, with []float64, err error) {
	program, err := b.compile(mpi, name)
	if err != nil {
		return nil, nil, err
	}
	for range b.rounds {
		for _, recorded := range []bool{false, true} {
			dir, err := os.MkdirTemp(b.scratch, "run-")
			if err != nil {
				return nil, nil, err
			}
			f, err := b.mpirun(mpi, dir, recorded, ranks, program, args...)
			if err != nil {
				return nil, nil, err
			}
			if recorded {
				with = append(with, figure(f))
			} else {
				without = append(without, figure(f))
			}
			os.RemoveAll(dir)
		}
	}
	return without, with, nil
}

// callCost is what a recorded call costs on its path: runs so short that their
// records fit half the ring, so that nothing is drained while the clock runs.
func (b *bench) callCost() (table, error) {
	return b.calling("Nanoseconds a call, up to 30,000 records at a time", []kind{
		{"MPI_Comm_rank, 1 rank", "comm_rank", 1, []string{"25000"}},
		{"ping-pong of 8 bytes, 2 ranks", "pingpong", 2, []string{"12000", "8"}},
		{"halo exchange, 2 ranks (8 nonblocking, Waitall, Allreduce)", "halo", 2, []string{"1900", "128", "0"}},
	})
}

// sustainedCost is what a call costs a program that does nothing but call MPI,
// without a pause, on cores that have nothing left for the drain.
func (b *bench) sustainedCost() (table, error) {
	return b.calling("Nanoseconds a call without a pause, every core taken, drain included", []kind{
		{"MPI_Comm_rank, 1 rank", "comm_rank", 1, []string{"5000000"}},
		{"ping-pong of 8 bytes, 2 ranks", "pingpong", 2, []string{"300000", "8"}},
		{"halo exchange, 2 ranks (8 nonblocking, Waitall, Allreduce)", "halo", 2, []string{"50000", "128", "0"}},
	})
}

// kind is one way of calling MPI.
type kind struct {
	label, program string
	ranks          int
	args           []string
}

func (b *bench) calling(title string, kinds []kind) (table, error) {
	t := table{
		title: fmt.Sprintf("%s; medians of %d runs in turn, one rank a core:", title, b.rounds),
		head:  []string{"", "MPI", "without", "with", "added", "±", "ratio"},
	}
	for _, k := range kinds {
		for _, mpi := range b.mpis {
			without, with, err := b.alternate(mpi, k.ranks, k.program,
				func(f map[string]float64) float64 { return f["ns_per_call"] }, k.args...)
			if err != nil {
				return t, err
			}
			t.add(k.label, mpi, ns(median(without)), ns(median(with)), ns(median(with)-median(without)), ns(spread(without)+spread(with)),
				fmt.Sprintf("%.2f", median(with)/median(without)))
		}
	}
	return t, nil
}

func ns(v float64) string { return fmt.Sprintf("%.1f", v) }

// traceSize is how large the trace of a halo exchange is.
func (b *bench) traceSize() (table, error) {
	t := table{
		title: "Trace of a halo exchange, 2 ranks, 50,000 iterations:",
		head:  []string{"MPI", "calls", "bytes", "bytes a call"},
	}
	for _, mpi := range b.mpis {
		program, err := b.compile(mpi, "halo")
		if err != nil {
			return t, err
		}
		dir, err := os.MkdirTemp(b.scratch, "run-")
		if err != nil {
			return t, err
		}
		if _, err := b.mpirun(mpi, dir, true, 2, program, "50000", "128", "0"); err != nil {
			return t, err
		}
		var calls, bytes int64
		for rank := range 2 {
			n, size, err := count(filepath.Join(dir, fmt.Sprintf("trace.%d", rank)))
			if err != nil {
				return t, err
			}
			calls += n
			bytes += size
		}
		t.add(mpi, strconv.FormatInt(calls, 10), strconv.FormatInt(bytes, 10), fmt.Sprintf("%.2f", float64(bytes)/float64(calls)))
	}
	return t, nil
}

// count returns the calls and the bytes of a trace file.
func count(path string) (calls, size int64, err error) {
	r, err := format.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	for _, block := range r.Blocks() {
		calls += int64(block.Calls)
	}
	return calls, r.Size(), nil
}

// startCost is what the recorder adds to a process.
func (b *bench) startCost() (table, error) {
	t := table{
		title: fmt.Sprintf("What a recorded process takes more, medians of %d runs in turn, default settings:", b.rounds),
		head:  []string{"", "MPI", "without", "with", "added"},
	}
	for _, mpi := range b.mpis {
		row := func(label, unit string, ranks int, scale float64, figure func(map[string]float64) float64, args ...string) error {
			without, with, err := b.alternate(mpi, ranks, "init", figure, args...)
			if err != nil {
				return err
			}
			f := func(v float64) string { return fmt.Sprintf("%.1f %s", v*scale, unit) }
			t.add(label, mpi, f(median(without)), f(median(with)), f(median(with)-median(without)))
			return nil
		}
		both := func(f map[string]float64) float64 { return f["init_ms"] + f["finalize_ms"] }
		resident := func(f map[string]float64) float64 { return f["rss_kib"] }
		virtual := func(f map[string]float64) float64 { return f["virtual_kib"] }
		if err := row("MPI_Init + MPI_Finalize, 2 ranks", "ms", 2, 1, both); err != nil {
			return t, err
		}
		if err := row("resident memory, after 3 million calls", "MiB", 1, 1./1024, resident, "3000000"); err != nil {
			return t, err
		}
		if err := row("reserved address space", "MiB", 1, 1./1024, virtual); err != nil {
			return t, err
		}
	}
	return t, nil
}

// trueCost is what the recorder adds to a process that never calls MPI.
func (b *bench) trueCost() (table, error) {
	const times = 200
	t := table{
		title: fmt.Sprintf("/bin/true, medians of %d runs in turn, %d processes each:", b.rounds, times),
		head:  []string{"", "without", "with", "added"},
	}
	var without, with []float64
	for range b.rounds {
		for _, preload := range []string{"", b.library} {
			begin := time.Now()
			for range times {
				cmd := exec.Command("/bin/true")
				if preload != "" {
					cmd.Env = append(os.Environ(), "LD_PRELOAD="+preload)
				}
				if err := cmd.Run(); err != nil {
					return t, err
				}
			}
			took := float64(time.Since(begin).Microseconds()) / times
			if preload == "" {
				without = append(without, took)
			} else {
				with = append(with, took)
			}
		}
	}
	us := func(v float64) string { return fmt.Sprintf("%.0f µs", v) }
	t.add("a process", us(median(without)), us(median(with)), us(median(with)-median(without)))
	return t, nil
}
