// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/mpitrace/mpitrace/format"
)

// The MPI_Pcontrol levels with a meaning. The region levels are those of the
// MPI tools working group's draft.
const (
	levelOff         = 0
	levelOn          = 1
	levelFlush       = 2
	levelRegionBegin = 9093
	levelRegionEnd   = 9094
	levelIPMEnd      = -1 // ends, with a name behind it, what (1, name) began
)

// unnamed is how a region without a name is called.
const unnamed = "(unnamed)"

// markerKey is what markers are told apart by.
type markerKey struct {
	level int64
	text  format.ID
}

// markerCell is how often a rank passed a marker.
type markerCell struct {
	count       uint64
	first, last int64
}

// control follows an MPI_Pcontrol: its level, and the text behind it if there
// is one. A region is from the return of the call that begins it to the call
// that ends it.
func (r *rankWalk) control(t *thread, sig *format.Sig, begin, end int64) {
	if len(sig.Args) == 0 {
		return
	}
	level := sig.Args[0]
	var text format.ID
	if len(sig.Args) > 1 {
		text = format.ID(sig.Args[1])
	}
	switch {
	case level == levelRegionBegin, level == levelOn && text != 0:
		name := r.profiler.trace.Text(text)
		if name == "" {
			name = unnamed
		}
		t.regions.begin(name, end, t.mpi+end-begin)
	case level == levelRegionEnd, level == levelIPMEnd && text != 0:
		r.regions.end(&t.regions, r.profiler.trace.Text(text), begin, t.mpi)
	case level == levelOff:
		r.off = true
	case level == levelOn:
		r.off = false
	case level == levelFlush:
	default:
		r.mark(markerKey{level, text}, begin)
	}
}

func (r *rankWalk) mark(key markerKey, now int64) {
	if !r.profiler.window.Touches(now, now) {
		return
	}
	m := r.markers[key]
	if m == nil {
		m = &markerCell{first: now}
		r.markers[key] = m
	}
	m.count++
	m.last = now
}
