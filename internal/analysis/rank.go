// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// cell is what a rank spent in one function, or at one call site.
type cell struct {
	calls      uint64 // all of them
	time       int64  // thread time of calls that are not nested, unfinished ones included
	returned   uint64 // calls that are neither nested nor unfinished
	inside     int64  // time of those
	min, max   int64  // of those
	traffic    Traffic
	errors     uint64
	nested     uint64
	nestedTime int64
	unfinished uint64
}

func newCell() *cell { return &cell{min: math.MaxInt64} }

// siteKey is a call site and the function called there.
type siteKey struct {
	fn   mpi.FuncID
	site format.ID
}

// thread is one of a rank's threads that call MPI.
type thread struct {
	id      uint32
	calls   uint64
	mpi     int64 // time in MPI so far
	regions regionStack
	open    []openCall // calls that did not return so far, outermost first
}

// openCall is a call without an end.
type openCall struct {
	sig     format.Sig
	begin   int64
	counted bool
}

// rankWalk goes through one rank's calls in the order of their begins and keeps
// what the profile needs. It belongs to one goroutine at a time.
type rankWalk struct {
	profiler *Profiler
	worker   *worker // whose histograms are filled

	rank       int32
	cells      []*cell // by function id
	sites      map[siteKey]*cell
	threads    map[uint32]*thread
	regions    regionCells
	markers    map[markerKey]*markerCell
	requests   map[uint64]motion // persistent ones, by number
	unfinished []Unfinished
	drains     []stretch // of this rank, disjoint, by begin
	nextDrain  int

	calls   uint64
	traffic Traffic
	errors  uint64
	last    int64 // latest time seen

	// The rank's application time is from start to end.
	started     bool
	initialised bool // an MPI_Init was seen
	closed      bool // an MPI_Finalize was seen
	start, end  int64

	busy int64 // until when at least one thread was in MPI
	open int   // calls without an end: the rank is in MPI until they are left
	off  bool  // between MPI_Pcontrol(0) and (1)

	computation, offTime, recorder int64

	sigs  []sigState // of the current block
	dones []uint64   // of the current block: how often each done signature occurred
}

// stretch is a stretch of time.
type stretch struct{ begin, end int64 }

// sigState is a signature of the current block with all it refers to, and what
// the block's calls of it add up to.
type sigState struct {
	trait    *trait
	thread   *thread
	cell     *cell
	site     *cell
	times    *durations
	done     int  // completed requests of each call
	slow     bool // needs more than counting
	counted  bool // the filter lets it through
	request  bool // each call has a request number
	calls    uint64
	time     int64
	min, max int64
	received int64 // by completed requests
	started  Traffic
}

// Add takes the rank's next calls.
func (r *rankWalk) Add(c *format.Calls) {
	r.resolve(c)
	window := r.profiler.window
	request, done := 0, 0
	for i, index := range c.Index {
		s := &r.sigs[index]
		begin, end := c.Begin[i], c.End[i]
		firstRequest, firstDone := request, done
		done += s.done
		if s.request {
			request++
		}
		if s.slow {
			r.addSlow(c, i, firstRequest, firstDone)
			continue
		}
		r.last = max(r.last, end)
		if begin > r.busy {
			r.idle(begin)
			r.off = false
		}
		r.busy = max(r.busy, end)
		if len(s.thread.open) > 0 {
			r.leave(s.thread, begin, true)
		}
		if begin < window.Begin || end > window.End {
			if !window.Touches(begin, end) {
				continue
			}
			begin, end = max(begin, window.Begin), min(end, window.End)
		}
		time := end - begin
		s.thread.mpi += time
		if !s.counted {
			continue
		}
		s.calls++
		s.time += time
		s.min = min(s.min, time)
		s.max = max(s.max, time)
		s.times.add(time)
		if s.done > 0 {
			r.complete(c, s, firstDone)
		}
	}
	r.flush(c)
}

// Close is told when the rank's next calls begin, if there are more. Until then
// it did what it was doing.
func (r *rankWalk) Close(next int64) {
	if next != math.MaxInt64 {
		r.last = max(r.last, next)
	}
}

// addSlow takes a call that does more than begin and end.
func (r *rankWalk) addSlow(c *format.Calls, i, request, done int) {
	s := &r.sigs[c.Index[i]]
	sig := &c.Sigs[c.Index[i]]
	begin, end := c.Begin[i], c.End[i]
	inFlight := sig.Flags&format.FlagInFlight != 0
	nested := sig.Flags&format.FlagNested != 0
	if inFlight {
		end = begin
	}
	r.last = max(r.last, end)
	if s.trait.begins && !nested {
		r.begins(end)
	}
	if begin > r.busy {
		r.idle(begin)
		r.off = r.off && (s.trait.control || s.trait.ends)
	}
	r.busy = max(r.busy, end)
	if s.trait.ends && !nested && !r.closed {
		r.closed, r.end = true, begin
	}
	if !nested && len(s.thread.open) > 0 {
		r.leave(s.thread, begin, true)
	}
	if s.trait.control {
		r.control(s.thread, sig, begin, end)
	}

	// An open call is in the window if it has begun.
	window := r.profiler.window
	if inFlight && begin >= window.End || !inFlight && !window.Touches(begin, end) {
		return
	}
	time := min(end, window.End) - max(begin, window.Begin)
	switch {
	case inFlight:
		s.thread.open = append(s.thread.open, openCall{*sig, begin, s.counted})
		r.open++
	case !nested:
		s.thread.mpi += time
	}
	if !s.counted {
		return
	}
	s.calls++
	switch {
	case inFlight:
	case nested:
		s.cell.nestedTime += time
		s.site.nestedTime += time
	default:
		s.time += time
		s.min = min(s.min, time)
		s.max = max(s.max, time)
		s.times.add(time)
	}
	switch {
	case s.trait.inits && s.request:
		r.remember(c, s, sig, request)
	case s.trait.activates:
		r.activate(c, s, request, done)
	case s.done > 0:
		r.complete(c, s, done)
	}
}

// begins makes the end of MPI_Init the begin of the application time; what
// came before it does not count. A second initialisation (sessions) continues
// the application time.
func (r *rankWalk) begins(end int64) {
	r.closed = false
	if r.initialised {
		return
	}
	r.initialised, r.started, r.start, r.busy = true, true, end, end
	r.computation, r.offTime, r.recorder = 0, 0, 0
}

// idle accounts for the time between r.busy and now, in which no thread of the
// rank was in MPI, and moves r.busy to now.
func (r *rankWalk) idle(now int64) {
	from := r.busy
	r.busy = now
	if !r.started {
		r.started, r.start = true, now
		return
	}
	if r.open == 0 && !r.closed {
		r.account(from, now)
	}
}

// account divides a stretch outside MPI into not recorded, waiting for the
// recorder, and computing.
func (r *rankWalk) account(from, to int64) {
	window := r.profiler.window
	from, to = max(from, window.Begin), min(to, window.End)
	if from >= to {
		return
	}
	if r.off {
		r.offTime += to - from
		return
	}
	waited := r.drained(from, to)
	r.recorder += waited
	r.computation += to - from - waited
}

// drained is for how long drains made the rank wait between from and to.
// Stretches must come in order.
func (r *rankWalk) drained(from, to int64) int64 {
	var waited int64
	for ; r.nextDrain < len(r.drains) && r.drains[r.nextDrain].begin < to; r.nextDrain++ {
		d := r.drains[r.nextDrain]
		waited += max(0, min(d.end, to)-max(d.begin, from))
		if d.end > to {
			break
		}
	}
	return waited
}

// leave ends the open calls of a thread at now: it called again, or the run
// ended.
func (r *rankWalk) leave(t *thread, now int64, calledAgain bool) {
	window := r.profiler.window
	for _, o := range t.open {
		r.open--
		nested := o.sig.Flags&format.FlagNested != 0
		time := max(0, min(now, window.End)-max(o.begin, window.Begin))
		if !nested {
			t.mpi += time
		}
		if o.counted {
			for _, c := range []*cell{r.cell(o.sig.Func), r.site(siteKey{o.sig.Func, o.sig.Site})} {
				c.unfinished++
				if !nested {
					c.time += time
				}
			}
		}
		r.unfinished = append(r.unfinished, r.profiler.describeOpen(r.rank, &o, time, calledAgain))
	}
	t.open = t.open[:0]
}

// finish ends the walk. runEnd is the latest time that is known of the run;
// rankEnd when recording of this rank ended, or, if that is not known, the
// last time in its calls.
func (r *rankWalk) finish(runEnd int64) {
	if !r.started { // nothing was recorded but the end
		return
	}
	rankEnd := r.last
	if s, ok := r.profiler.summaries[r.rank]; ok {
		rankEnd = max(rankEnd, s.End)
	}
	if r.open > 0 {
		rankEnd = max(rankEnd, runEnd)
	}
	if !r.closed {
		r.end = rankEnd
	}
	if rankEnd > r.busy {
		r.idle(rankEnd)
	}
	for _, t := range r.threads {
		r.leave(t, rankEnd, false)
		r.regions.abandon(&t.regions, 0, rankEnd, t.mpi)
	}
	window := r.profiler.window
	r.start = min(max(r.start, window.Begin), window.End)
	r.end = max(r.start, min(r.end, window.End))
}

// mpi is the time in which at least one thread was in MPI.
func (r *rankWalk) mpi() int64 {
	return r.end - r.start - r.computation - r.offTime - r.recorder
}
