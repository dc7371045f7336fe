// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

package main

// #include "core.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/version"
)

const (
	clockRealtime  = 0
	clockMonotonic = 1
)

func clockGettime(id uintptr, ts *syscall.Timespec) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(ts)), 0)
}

// tickMark is a reading of the counter and of the monotonic clock.
type tickMark struct {
	tick, monotonic int64
}

func readTicks() tickMark {
	var ts syscall.Timespec
	clockGettime(clockMonotonic, &ts)
	return tickMark{int64(C.mpit_ticks()), ts.Nano()}
}

// tickHz is the counter's frequency, nominally: measured from MPI_Init's begin
// to its end. The clock points in the file are what times are computed from.
func (r *recorder) tickHz() float64 {
	if C.mpit_clock_slow != 0 {
		return 1e9
	}
	now := readTicks()
	if now.monotonic <= r.begin.monotonic {
		return 1e9
	}
	return float64(now.tick-r.begin.tick) * 1e9 / float64(now.monotonic-r.begin.monotonic)
}

func jobID() string {
	for _, name := range []string{"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID", "JOB_ID"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

func (r *recorder) run() format.Run {
	run := format.Run{
		Size: int32(r.size), Start: int64(C.mpit_process.start), Tool: "mpitrace " + version.Version,
		Job: jobID(), Parent: os.Getenv("TRACEPARENT"), Command: commandLine(),
	}
	binary.BigEndian.PutUint64(run.ID[:8], uint64(C.mpit_process.run[0]))
	binary.BigEndian.PutUint64(run.ID[8:], uint64(C.mpit_process.run[1]))
	return run
}

// commandLine is the program's own: os.Args is empty in a library.
func commandLine() []string {
	b, err := os.ReadFile("/proc/self/cmdline")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

func (r *recorder) process(host string) format.Process {
	exe, _ := os.Readlink("/proc/self/exe")
	dir, _ := os.Getwd()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	p := format.Process{
		Rank: int32(r.rank), PID: int32(os.Getpid()), Host: host, Boot: strings.TrimSpace(string(boot)),
		Executable: exe, Directory: dir,
		ABI: C.GoString(C.mpit_abi_name()), Library: library(), LibraryPath: C.GoString(C.mpit_library_path()),
		MPIVersion:  fmt.Sprintf("%d.%d", C.mpit_process.mpi_version, C.mpit_process.mpi_subversion),
		ThreadLevel: threadLevel(int(C.mpit_process.thread_level)),
		Clock:       clockName(), TickHz: r.tickHz(),
	}
	for _, v := range r.settings.Values() {
		p.Config = append(p.Config, format.Setting{Name: v.Name, Value: v.Value, Default: v.Default})
	}
	for i := range int(C.mpit_ring_count()) {
		if path := C.GoString(&C.mpit_ring_at(C.uint(i)).ring_path[0]); path != "" {
			p.Rings = append(p.Rings, path)
		}
	}
	return p
}

// library is the first line of what MPI_Get_library_version says, without tabs.
func library() string {
	return strings.Join(strings.Fields(C.GoString(C.mpit_library_version())), " ")
}

func clockName() string {
	switch {
	case C.mpit_clock_slow != 0:
		return "monotonic"
	case runtime.GOARCH == "amd64":
		return "tsc"
	}
	return "cntvct"
}

func threadLevel(n int) string {
	switch n {
	case 0:
		return "MPI_THREAD_SINGLE"
	case 1, 1024:
		return "MPI_THREAD_FUNNELED"
	case 2, 2048:
		return "MPI_THREAD_SERIALIZED"
	case 3, 4096:
		return "MPI_THREAD_MULTIPLE"
	}
	return ""
}

// banner is the one line at the start.
func (r *recorder) banner() string {
	// Open MPI's version goes on with package, revision and date.
	name, _, _ := strings.Cut(library(), ",")
	if C.mpit_abi.kind == C.MPIT_ABI_OPAQUE {
		name = fmt.Sprintf("%q, an MPI that this version does not know: times and counts only", name)
	}
	return fmt.Sprintf("%s recording %d %s of %s to %s", version.Version, r.size, plural(r.size, "rank", "ranks"), name, r.path)
}

// summary is the one line at the end.
func (r *recorder) summary(s format.Stats, lost uint64) string {
	text := fmt.Sprintf("rank 0: %d calls, %d bytes in %s, %d dropped, %d inline drains", s.Calls, s.Bytes, r.path, lost, r.inline)
	if r.env.Requests.Unknown > 0 {
		text += fmt.Sprintf(", %d requests of unknown origin", r.env.Requests.Unknown)
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
