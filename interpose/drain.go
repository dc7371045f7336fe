// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

package main

// #include "core.h"
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
	"unsafe"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/config"
	"github.com/mpitrace/mpitrace/tracebuf"
)

// recorder is what the drain thread knows. Only that thread touches it, but for
// the settings, which MPI_Init's thread leaves there before the drain begins.
type recorder struct {
	settings config.Config
	problems []*config.Problem
	begin    tickMark // when MPI_Init began

	rank, size  int
	path        string
	writer      *format.Writer
	env         *tracebuf.Env
	definitions *tracebuf.Definitions
	rings       []ring
	sites       *sites
	failure     error  // the first error of the file; nothing is written after it
	unwritten   uint64 // calls that could not be written
	drains      uint64
	inline      uint64
	lastClock   time.Time
	lastCalls   uint64
}

// ring is one thread's ring and what reads it.
type ring struct {
	state   *C.struct_mpit_thread
	ring    *tracebuf.Ring
	decoder *tracebuf.Decoder
}

var recording recorder

// mpit_go_open opens the trace file, once it is known which rank this is.
//
//export mpit_go_open
func mpit_go_open() C.int {
	return ok(recording.open())
}

// mpit_go_drain empties the rings. After the last drain the file is closed.
//
//export mpit_go_drain
func mpit_go_drain(kind C.int) C.int {
	r := &recording
	if r.writer == nil {
		return 0
	}
	begin := C.mpit_ticks()
	err := r.drain()
	if r.failure == nil {
		r.failure = err
	}
	r.note(format.DrainKind(kind), int64(begin))
	switch format.DrainKind(kind) {
	case format.DrainFlush:
		err = r.flush()
	case format.DrainFinal:
		r.close()
	}
	if r.failure != nil && C.mpit_active != 0 {
		r.stop()
	}
	return ok(r.failure == nil && err == nil)
}

func ok(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func (r *recorder) open() bool {
	r.rank, r.size = int(C.mpit_process.rank), int(C.mpit_process.size)
	for _, p := range r.problems {
		if r.rank == 0 {
			say(p.Error())
		}
	}
	host, _ := os.Hostname()
	r.path = r.settings.Output.Path(config.Place{Rank: r.rank, Host: host, PID: os.Getpid(), Job: jobID()})
	r.sites = newSites()
	writer, err := format.Create(r.path, r.run(), r.process(host))
	if err != nil {
		say(fmt.Sprintf("rank %d: not recording: cannot write the trace file: %v; set MPITRACE_OUTPUT to a place that can be written", r.rank, err))
		return false
	}
	r.writer = writer
	r.sites.to = writer
	r.env = tracebuf.NewEnv(tracebuf.ABI{
		AnySource: int32(C.mpit_abi.any_source), AnyTag: int32(C.mpit_abi.any_tag),
		ProcNull: int32(C.mpit_abi.proc_null), Root: int32(C.mpit_abi.root),
		RequestNull: uint64(C.mpit_abi.request_null), Opaque: C.mpit_abi.kind == C.MPIT_ABI_OPAQUE,
	}, r.sites.number)
	base, err := tracebuf.At(unsafe.Pointer(C.mpit_ring_at(0).ring))
	if err != nil {
		say(fmt.Sprintf("rank %d: not recording: %v", r.rank, err))
		return false
	}
	r.definitions = tracebuf.NewDefinitions(r.env, base, writer)
	r.clock()
	if r.rank == 0 && !r.settings.Quiet {
		say(r.banner())
	}
	return true
}

// meet looks for rings of threads that are new since the last drain.
func (r *recorder) meet() {
	for i := len(r.rings) + 1; i < int(C.mpit_ring_count()); i++ {
		state := C.mpit_ring_at(C.uint(i))
		view, err := tracebuf.At(unsafe.Pointer(state.ring))
		if err != nil {
			return // not named yet: next time
		}
		r.rings = append(r.rings, ring{state, view, tracebuf.NewDecoder(r.env, view, int32(r.rank), r.emit)})
		r.define(view)
	}
	for i := range r.rings {
		// A ring that another thread has taken over.
		if n := &r.rings[i]; n.ring.Thread() != n.decoder.Thread() {
			n.decoder.Rewind()
			r.define(n.ring)
		}
	}
}

func (r *recorder) define(view *tracebuf.Ring) {
	r.writer.Thread(format.Thread{Rank: int32(r.rank), ID: view.Thread(), TID: view.TID(), Name: view.Name()})
}

func (r *recorder) emit(c *format.Calls) error {
	if r.failure != nil {
		r.unwritten += uint64(len(c.Index))
		return nil
	}
	err := r.writer.WriteCalls(c)
	if err != nil {
		r.unwritten += uint64(len(c.Index))
	}
	return err
}

// drain reads what is in the rings. In ring mode calls are left there until
// somebody asks for them.
func (r *recorder) drain() error {
	err := r.definitions.Drain()
	if r.settings.Mode == config.Ring {
		return err
	}
	return errors.Join(err, r.read())
}

func (r *recorder) read() error {
	r.meet()
	decoders := make([]*tracebuf.Decoder, len(r.rings))
	for i := range r.rings {
		decoders[i] = r.rings[i].decoder
		if r.settings.Mode == config.Ring {
			decoders[i].Overwritten()
		}
	}
	return tracebuf.Drain(decoders)
}

// note keeps what disturbed the program, and the time now and then.
func (r *recorder) note(kind format.DrainKind, begin int64) {
	r.drains++
	calls := r.calls()
	if kind == format.DrainInline || kind == format.DrainFlush {
		if kind == format.DrainInline {
			r.inline++
		}
		r.writer.Drain(format.Drain{
			Rank: int32(r.rank), Kind: kind, Begin: begin, End: int64(C.mpit_ticks()), Calls: calls - r.lastCalls,
		})
	}
	if calls != r.lastCalls && time.Since(r.lastClock) >= time.Second {
		r.clock()
	}
	r.lastCalls = calls
}

func (r *recorder) calls() uint64 {
	var n uint64
	for i := range r.rings {
		n += r.rings[i].decoder.Calls
	}
	return n
}

// flush makes everything recorded so far readable by another process.
func (r *recorder) flush() error {
	if r.failure != nil {
		return r.failure
	}
	if r.settings.Mode == config.Ring {
		if err := r.read(); err != nil {
			return err
		}
	}
	r.clock()
	r.losses()
	return r.writer.Flush()
}

// losses writes what is missing so far; later ones replace earlier ones.
func (r *recorder) losses() uint64 {
	var total uint64
	loss := func(kind format.LossKind, thread uint32, n uint64, detail string) {
		if n > 0 {
			r.writer.Loss(format.Loss{Rank: int32(r.rank), Kind: kind, Thread: thread, Count: n, Detail: detail})
		}
	}
	for i := range r.rings {
		n := &r.rings[i]
		loss(format.LossOverwritten, n.ring.Thread(), n.decoder.Lost, "")
		loss(format.LossDropped, n.ring.Thread(), n.ring.LostCalls(), "")
		loss(format.LossRequests, n.ring.Thread(), n.ring.LostRequests(), "")
		total += n.decoder.Lost + n.ring.LostCalls()
	}
	loss(format.LossUntracked, 0, r.env.Requests.Unknown, "")
	loss(format.LossThreads, 0, uint64(C.mpit_lost_thread_count()), "")
	if r.failure != nil {
		loss(format.LossUnwritten, 0, r.unwritten, r.failure.Error())
	}
	return total + r.unwritten + uint64(C.mpit_lost_thread_count())
}

// close writes what is left, with the call that each thread is in.
func (r *recorder) close() {
	var err error
	if r.settings.Mode == config.Ring {
		err = r.read()
	}
	for i := range r.rings {
		err = errors.Join(err, r.rings[i].decoder.Unfinished())
	}
	if r.failure == nil {
		r.failure = err
	}
	r.clock()
	lost := r.losses()
	r.writer.Summary(format.Summary{
		Rank: int32(r.rank), Calls: r.calls(), Drains: r.drains, InlineDrains: r.inline,
		End: int64(C.mpit_ticks()), Finalized: C.mpit_finalized != 0,
	})
	stats := r.writer.Stats()
	if err := r.writer.Close(); err != nil && r.failure == nil {
		r.failure = err
	}
	if r.failure == nil && r.rank == 0 && !r.settings.Quiet {
		say(r.summary(stats, lost))
	}
}

// stop ends recording after an error of the file; what was written stays.
func (r *recorder) stop() {
	C.mpit_stop()
	reason := r.failure.Error()
	var path *fs.PathError
	var number syscall.Errno
	if errors.As(r.failure, &path) {
		reason = path.Err.Error()
	} else if errors.As(r.failure, &number) {
		reason = number.Error()
	}
	say(fmt.Sprintf("rank %d: recording stopped: %s: %s; %d calls are in the file, %d were lost", r.rank, r.path, reason,
		r.writer.Stats().Calls, r.unwritten))
}

// clock ties the ticks to the node's clocks: the best of a few tries.
func (r *recorder) clock() {
	best := format.ClockPoint{Rank: int32(r.rank), Error: 1 << 62}
	hz := r.tickHz()
	for range 8 {
		var mono, real syscall.Timespec
		t0 := int64(C.mpit_ticks())
		clockGettime(clockMonotonic, &mono)
		t1 := int64(C.mpit_ticks())
		clockGettime(clockRealtime, &real)
		if e := int64(float64(t1-t0) / hz * 1e9 / 2); e < best.Error {
			best.Error, best.Tick, best.Monotonic, best.Realtime = e, t0+(t1-t0)/2, mono.Nano(), real.Nano()
		}
	}
	r.writer.Clock(best)
	r.lastClock = time.Now()
}
