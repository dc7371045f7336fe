// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// mergeRanks is how many ranks the merged trace has.
const mergeRanks = 64

// mergeSpeed is how fast the viewer merges files that are not in the page
// cache, and how much memory that takes.
func (b *bench) mergeSpeed() (table, error) {
	t := table{
		title: fmt.Sprintf("Merging a generated halo exchange of %d ranks, from cold files:", mergeRanks),
		head:  []string{"calls", "read", "written", "time", "calls/s", "peak memory"},
	}
	generator, viewer := filepath.Join(b.scratch, "tracegen"), filepath.Join(b.scratch, "mpitrace-view")
	for path, source := range map[string]string{generator: "./internal/tracegen/cmd", viewer: "./cmd/mpitrace-view"} {
		cmd := exec.Command("go", "build", "-o", path, source)
		cmd.Dir = b.root
		if out, err := cmd.CombinedOutput(); err != nil {
			return t, fmt.Errorf("building %s: %w\n%s", source, err, out)
		}
	}
	dir := filepath.Join(b.scratch, "trace")
	cmd := exec.Command(generator, "-o", dir, "-ranks", strconv.Itoa(mergeRanks), "-calls", strconv.FormatInt(b.calls/mergeRanks, 10))
	if out, err := cmd.CombinedOutput(); err != nil {
		return t, fmt.Errorf("generating: %w\n%s", err, out)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "trace.*"))
	if err != nil {
		return t, err
	}
	var calls, read int64
	for _, path := range paths {
		n, size, err := count(path)
		if err != nil {
			return t, err
		}
		calls += n
		read += size
	}
	merged := filepath.Join(b.scratch, "merged.mpt")
	var times []float64
	var peak int64
	for range min(b.rounds, 3) {
		for _, path := range paths {
			if err := chill(path); err != nil {
				return t, err
			}
		}
		cmd := exec.Command(viewer, "merge", "-o", merged, dir)
		begin := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return t, fmt.Errorf("merging: %w\n%s", err, out)
		}
		times = append(times, time.Since(begin).Seconds())
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			peak = max(peak, usage.Maxrss)
		}
	}
	info, err := os.Stat(merged)
	if err != nil {
		return t, err
	}
	took := median(times)
	mib := func(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
	t.add(strconv.FormatInt(calls, 10), mib(read), mib(info.Size()), fmt.Sprintf("%.1f s", took),
		fmt.Sprintf("%.2f million", float64(calls)/took/1e6), mib(peak<<10))
	return t, nil
}

// chill takes a file out of the page cache.
func chill(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	// Only what is on the disk can be dropped.
	if err := f.Sync(); err != nil {
		return fmt.Errorf("%s: sync: %w", path, err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("%s: fadvise: %w", path, err)
	}
	return nil
}
