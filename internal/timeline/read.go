// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"path/filepath"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
)

// farthest is as far from the run's start as drawings go, 73 years: a trace may
// hold any time, and lengths must not overflow.
const farthest = 1 << 61

func near(ns int64) int64 { return min(max(ns, -farthest), farthest) }

// Read builds the level of the selected part of a trace, with these rows of
// ranks and so many bins. A selection without an end (or begin) ends with the
// last (begins with the first) call. regions asks for the regions of the first
// rank. progress may be nil, see trace.Trace.Walk.
func Read(t *trace.Trace, s trace.Selection, rows [][]int32, bins int, regions bool, progress func(calls uint64)) *Level {
	runEnd, runBegin := t.Span().End, t.Span().Begin
	for _, x := range t.Definitions().Summaries {
		runEnd = max(runEnd, x.End)
	}
	window := s.Window
	always := trace.Always()
	if window.Begin == always.Begin {
		window.Begin = min(runBegin, window.End)
	}
	if window.End == always.End {
		window.End = max(runEnd, window.Begin)
	}
	var text func(format.ID) string
	if regions {
		text = t.Text
	}
	b := NewBuilder(t.Definitions(), Spec{
		Window: trace.Window{Begin: near(window.Begin), End: near(window.End)},
		Bins:   bins,
		Rows:   rows,
		RunEnd: runEnd,
		Place:  func(id format.ID) string { return place(t, id) },
		Text:   text,
	})
	var ranks []*trace.Rank
	for _, row := range rows {
		for _, number := range row {
			if r := t.Rank(number); r != nil {
				ranks = append(ranks, r)
			}
		}
	}
	t.Walk(ranks, window.End, progress, func(_ int, r *trace.Rank) trace.Visitor { return b.Walk(r.Number()) })
	return b.Level()
}

// place is where a call site is: file:line, or what is known.
func place(t *trace.Trace, id format.ID) string {
	s := t.Site(id)
	switch {
	case s == nil:
		return "(unknown)"
	case s.File != "":
		return fmt.Sprintf("%s:%d", filepath.Base(s.File), s.Line)
	}
	if m := t.Module(s.Module); m != nil {
		return fmt.Sprintf("%s+0x%x", filepath.Base(m.Path), s.Address-m.Base)
	}
	return fmt.Sprintf("0x%x", s.Address)
}
