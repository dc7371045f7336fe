// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// library looks at the recorder itself.
func (r *Report) library(path string) {
	if path == "" {
		c := r.add("library", Error, "libmpitrace.so: not found")
		c.Hint = "build it with make lib, or name it in MPITRACE_LIB"
		return
	}
	f, err := elf.Open(path)
	if err != nil {
		r.add("library", Error, "%s: %v", path, err)
		return
	}
	defer f.Close()
	have := glibcVersion()
	want := neededGlibc(f)
	switch {
	case have != "" && want != "" && older(have, want):
		c := r.add("library", Error, "%s needs glibc %s, this machine has %s: the loader will not start the program", path, want, have)
		c.Hint = "build the library on this machine, or on one with an older glibc"
	case want != "":
		r.add("library", OK, "%s (needs glibc %s, here is %s)", path, want, have)
	default:
		r.add("library", OK, "%s", path)
	}
}

// neededGlibc is the newest version of glibc that a library refers to.
func neededGlibc(f *elf.File) string {
	newest := ""
	symbols, _ := f.ImportedSymbols()
	for _, s := range symbols {
		if v, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok && v[0] >= '0' && v[0] <= '9' && (newest == "" || older(newest, v)) {
			newest = v
		}
	}
	return newest
}

// glibcVersion is the version of this machine's C library, "" if it is not found.
func glibcVersion() string {
	loader := NewLoader(func(string) string { return "" })
	machine := elf.EM_X86_64
	if runtime.GOARCH == "arm64" {
		machine = elf.EM_AARCH64
	}
	o := loader.find("libc.so.6", &Object{}, elf.ELFCLASS64, machine)
	if o == nil {
		return ""
	}
	f, err := elf.Open(o.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	newest := ""
	versions, _ := f.DynamicVersions()
	for _, v := range versions {
		if v, ok := strings.CutPrefix(v.Name, "GLIBC_"); ok && v[0] >= '0' && v[0] <= '9' && (newest == "" || older(newest, v)) {
			newest = v
		}
	}
	return newest
}

// older tells whether version a ("2.28") is older than b.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i])
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return x < y
		}
	}
	return len(as) < len(bs)
}

// clock says which clock the recorder reads, and how fine it is.
func (r *Report) clock(cpuinfo, clocksource string) {
	source := "unknown"
	if b, err := os.ReadFile(clocksource); err == nil {
		source = strings.TrimSpace(string(b))
	}
	switch runtime.GOARCH {
	case "arm64":
		r.add("clock", OK, "cntvct, the architecture's counter; the kernel's clock source is %s", source)
		return
	case "amd64":
		b, err := os.ReadFile(cpuinfo)
		if err != nil {
			break
		}
		flags, mhz := tsc(string(b))
		if flags["constant_tsc"] && flags["nonstop_tsc"] {
			text := "tsc, which runs at a constant rate and never stops"
			if mhz > 0 {
				text += fmt.Sprintf("; about %.0f MHz, steps of %.2f ns", mhz, 1e3/mhz)
			}
			level := OK
			hint := ""
			if source != "tsc" && source != "kvm-clock" && source != "hyperv_clocksource_tsc_page" && source != "xen" {
				level = Warning
				hint = "the kernel found the tsc unreliable on this machine (dmesg | grep -i tsc says why): compare times between cores with care"
			}
			c := r.add("clock", level, "%s; the kernel's clock source is %s", text, source)
			c.Hint = hint
			return
		}
	}
	c := r.add("clock", Warning, "CLOCK_MONOTONIC, steps of %v; the kernel's clock source is %s", monotonicStep(), source)
	c.Hint = "the processor has no counter with a constant rate: each call costs two system clock reads more"
}

// tsc reads the flags and the clock rate of the first processor.
func tsc(cpuinfo string) (map[string]bool, float64) {
	flags := map[string]bool{}
	mhz := 0.0
	for _, line := range strings.Split(cpuinfo, "\n") {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "flags":
			for _, f := range strings.Fields(value) {
				flags[f] = true
			}
		case "cpu MHz":
			mhz, _ = strconv.ParseFloat(strings.TrimSpace(value), 64)
		case "":
			if len(flags) > 0 {
				return flags, mhz
			}
		}
	}
	return flags, mhz
}

// monotonicStep is the smallest difference between two readings of
// CLOCK_MONOTONIC that is not zero.
func monotonicStep() time.Duration {
	now := func() int64 {
		var ts unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
		return ts.Nano()
	}
	step := time.Second
	for range 1000 {
		a := now()
		b := now()
		for b == a {
			b = now()
		}
		step = min(step, time.Duration(b-a))
	}
	return step
}

// networks are file systems that many nodes share, by statfs's f_type.
var networks = map[uint32]string{
	0x6969: "NFS", 0x0BD00BD0: "Lustre", 0x47504653: "GPFS", 0xFF534D42: "CIFS", 0xFE534D42: "SMB2", 0x517B: "SMB",
	0x19830326: "BeeGFS", 0x00C36400: "CephFS", 0x5346414F: "AFS", 0xAAD7AAEA: "PanFS", 0x65735546: "FUSE",
	0x01021997: "9p", 0x20030528: "OrangeFS", 0x73757245: "Coda", 0x6B414653: "AFS", 0x01161970: "GFS2", 0x7461636F: "OCFS2",
}

// lowSpace is what an output folder should have at least.
const lowSpace = 1 << 30

// output looks at where rank 0's file goes.
func (r *Report) output(path string) {
	path, err := filepath.Abs(path)
	if err != nil {
		r.add("output", Error, "%s: %v", path, err)
		return
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		c := r.add("output", Error, "%s: no such folder", dir)
		c.Hint = "make it: mkdir -p " + dir
		return
	}
	probe, err := os.CreateTemp(dir, ".mpitrace-doctor-")
	if err != nil {
		reason := err
		var p *os.PathError
		if errors.As(err, &p) {
			reason = p.Err
		}
		c := r.add("output", Error, "%s: no file can be made here: %v", dir, reason)
		c.Hint = "choose another place: MPITRACE_OUTPUT=/tmp/trace.%r"
		return
	}
	probe.Close()
	os.Remove(probe.Name())
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		r.add("output", Warning, "%s: %v", dir, err)
		return
	}
	free := fs.Bavail * uint64(fs.Bsize)
	text := fmt.Sprintf("%s: writable, %s free", dir, size(free))
	level, hint := OK, ""
	if name, ok := networks[uint32(fs.Type)]; ok {
		level, text = Note, text+", on "+name
		hint = "one file per rank, written in blocks; if thousands of ranks make the file system slow, write to the nodes: MPITRACE_OUTPUT=/tmp/trace.%r"
	}
	if free < lowSpace {
		level = Warning
		hint = "when it is full, recording stops, and the rest is counted as lost; about 1 to 2 bytes a call are needed"
	}
	c := r.add("output", level, "%s", text)
	c.Hint = hint
}

// rings looks at where the rings go.
func (r *Report) rings(dir string, buffer int64) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		c := r.add("rings", Warning, "%s: %v: rings will be private memory, and what they hold is lost if the program is killed", dir, err)
		c.Hint = "choose another folder on memory: MPITRACE_RING_DIR"
		return
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		c := r.add("rings", Warning, "%s: %v: rings will be private memory, and what they hold is lost if the program is killed", dir, err)
		c.Hint = "choose another folder on memory: MPITRACE_RING_DIR"
		return
	}
	free := fs.Bavail * uint64(fs.Bsize)
	n := uint64(runtime.NumCPU())
	want := n * uint64(buffer)
	where := fmt.Sprintf("%s: %s free, %s for a ring of %s on each of %d processors", dir, size(free), size(want), size(uint64(buffer)), n)
	const tmpfs, ramfs, hugetlbfs = 0x01021994, 0x858458f6, 0x958458f6
	switch {
	case free < want:
		c := r.add("rings", Warning, "%s", where)
		c.Hint = "make the rings smaller (MPITRACE_BUFFER) or put them elsewhere (MPITRACE_RING_DIR)"
	case uint32(fs.Type) != tmpfs && uint32(fs.Type) != ramfs && uint32(fs.Type) != hugetlbfs:
		c := r.add("rings", Warning, "%s; it is not on memory", where)
		c.Hint = "a disk that is busy makes MPI calls wait for up to 100 ms: use /dev/shm"
	default:
		r.add("rings", OK, "%s", where)
	}
}

// goAddressSpace is what the Go runtime wants to reserve, not use.
const goAddressSpace = 2 << 30

// limits looks at what ulimit sets.
func (r *Report) limits() {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err == nil && l.Cur < goAddressSpace {
		c := r.add("limits", Warning, "the address space is limited to %s (ulimit -v): the recorder reserves about 1.6 GiB that it does not use, and falls back to its plain writer without it", size(l.Cur))
		c.Hint = "ulimit -v unlimited"
	}
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &l); err == nil && l.Cur != unix.RLIM_INFINITY {
		c := r.add("limits", Warning, "files are limited to %s (ulimit -f): a trace that reaches it is cut there", size(l.Cur))
		c.Hint = "ulimit -f unlimited"
	}
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err == nil && l.Cur < 64 {
		r.add("limits", Warning, "only %d files may be open at once (ulimit -n)", l.Cur)
	}
}

func size(n uint64) string {
	switch {
	case n >= 1<<40:
		return fmt.Sprintf("%.1f TiB", float64(n)/(1<<40))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}
