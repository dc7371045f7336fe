// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"
	"slices"
	"sync"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/mpi"
)

// Profiler makes a profile: its visitors go through the ranks' calls, and
// Finish puts together what they saw.
type Profiler struct {
	trace     *trace.Trace
	selection trace.Selection
	window    trace.Window
	traits    []trait
	summaries map[int32]*format.Summary
	drains    map[int32][]stretch

	mu      sync.Mutex
	workers map[int]*worker
}

// Read makes the profile of the selected part of a trace. Calls in progress in
// the selection's window count, their times as far as they lie in it. Which
// calls are kept concerns functions, call sites and message sizes; the ranks'
// times are of all calls always. progress is told how many calls were read, see
// trace.Trace.Walk; it may be nil.
func Read(t *trace.Trace, s trace.Selection, progress func(calls uint64)) *Profile {
	p := NewProfiler(t, s)
	var ranks []*trace.Rank
	for _, r := range t.Ranks() {
		if s.Ranks.Has(r.Number()) {
			ranks = append(ranks, r)
		}
	}
	t.Walk(ranks, s.Window.End, progress, func(worker int, r *trace.Rank) trace.Visitor {
		return p.Visit(worker, r.Number())
	})
	return p.Finish(t.Problems())
}

// NewProfiler makes a Profiler for the selected part of a trace.
func NewProfiler(t *trace.Trace, s trace.Selection) *Profiler {
	p := &Profiler{
		trace:     t,
		selection: s,
		window:    s.Window,
		traits:    newTraits(),
		summaries: make(map[int32]*format.Summary),
		drains:    make(map[int32][]stretch),
		workers:   make(map[int]*worker),
	}
	defs := t.Definitions()
	for i := range defs.Summaries {
		p.summaries[defs.Summaries[i].Rank] = &defs.Summaries[i]
	}
	for _, d := range defs.Drains {
		if d.Kind == format.DrainBackground {
			continue // nobody waited
		}
		p.drains[d.Rank] = append(p.drains[d.Rank], stretch{d.Begin, d.End})
	}
	for rank, d := range p.drains {
		p.drains[rank] = disjoint(d)
	}
	return p
}

// disjoint sorts stretches and joins those that overlap.
func disjoint(s []stretch) []stretch {
	slices.SortFunc(s, func(a, b stretch) int {
		switch {
		case a.begin < b.begin:
			return -1
		case a.begin > b.begin:
			return 1
		}
		return 0
	})
	joined := s[:0]
	for _, next := range s {
		if n := len(joined); n > 0 && next.begin <= joined[n-1].end {
			joined[n-1].end = max(joined[n-1].end, next.end)
			continue
		}
		joined = append(joined, next)
	}
	return joined
}

// trait is the function's, or that of no function for an id that this
// program's table does not have.
func (p *Profiler) trait(id mpi.FuncID) *trait {
	if int(id) >= len(p.traits) {
		id = 0
	}
	return &p.traits[id]
}

// counts tells whether calls with the signature are selected.
func (p *Profiler) counts(rank int32, sig *format.Sig) bool {
	return p.selection.Keep == nil || p.selection.Keep(rank, sig)
}

// worker is what visitors share that are used one after the other.
type worker struct {
	times []*durations // by function id
	sizes sizeHistogram
	walks []*rankWalk
}

func (w *worker) durations(fn mpi.FuncID) *durations {
	if int(fn) >= len(w.times) {
		fn = 0
	}
	if w.times[fn] == nil {
		w.times[fn] = newDurations()
	}
	return w.times[fn]
}

// Visit returns the visitor of a rank, see trace.Trace.Walk. Times are in
// nanoseconds since the run's start.
func (p *Profiler) Visit(number int, rank int32) trace.Visitor {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.workers[number]
	if w == nil {
		w = &worker{times: make([]*durations, len(p.traits))}
		p.workers[number] = w
	}
	r := &rankWalk{
		profiler: p,
		worker:   w,
		rank:     rank,
		cells:    make([]*cell, len(p.traits)),
		sites:    make(map[siteKey]*cell),
		threads:  make(map[uint32]*thread),
		regions:  regionCells{make(map[string]*regionCell), p.window},
		markers:  make(map[markerKey]*markerCell),
		requests: make(map[uint64]motion),
		drains:   p.drains[rank],
		busy:     math.MinInt64,
		last:     math.MinInt64,
	}
	w.walks = append(w.walks, r)
	return r
}
