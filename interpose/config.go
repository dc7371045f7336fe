// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

package main

// #cgo CFLAGS: -std=gnu11 -O2 -fvisibility=hidden -ftls-model=initial-exec -fno-strict-aliasing
// #cgo LDFLAGS: -ldl -lpthread
// #include "core.h"
import "C"

import (
	"os"
	"runtime/debug"
	"syscall"

	"github.com/mpitrace/mpitrace/internal/config"
	"github.com/mpitrace/mpitrace/mpi"
)

// say writes one line to standard error, in one write.
func say(text string) {
	_, _ = syscall.Write(2, []byte("mpitrace: "+text+"\n"))
}

// mpit_go_configure reads the environment. It is the first Go that runs, called
// by MPI_Init before the library's own; C has what it needs from then on.
//
//export mpit_go_configure
func mpit_go_configure() C.int {
	// The heap is a few buffers; keep it at that.
	debug.SetGCPercent(50)
	settings, problems := config.Parse(os.Environ())
	recording.begin = readTicks()
	recording.settings = settings
	recording.problems = problems
	c := &C.mpit_config
	c.ring_bytes = C.uint64_t(settings.Buffer)
	c.ring_mode = flag(settings.Mode == config.Ring)
	c.quiet = flag(settings.Quiet)
	c.enabled = flag(settings.Enable)
	c.pcontrol_ipm = flag(settings.Pcontrol == config.PcontrolIPM)
	for i := range c.ring_dir {
		c.ring_dir[i] = 0
	}
	for i := 0; i < len(settings.RingDir) && i < len(c.ring_dir)-1; i++ {
		c.ring_dir[i] = C.char(settings.RingDir[i])
	}
	all := mpi.All()
	for i := range all {
		if settings.Filter.Records(&all[i]) {
			c.filter[all[i].ID] = C.MPIT_RECORD
		}
	}
	return 1
}

func flag(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}
