// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"slices"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
)

// losses gathers what is missing from the trace, or disturbed by recording it.
func (f *finisher) losses(problems []trace.Problem) Losses {
	l := Losses{
		Problems:   append([]trace.Problem{}, problems...),
		Waits:      f.waits(),
		Unfinished: []Unfinished{},
	}
	for _, r := range f.walks {
		l.Unfinished = append(l.Unfinished, r.unfinished...)
	}
	slices.SortStableFunc(l.Unfinished, func(a, b Unfinished) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Thread, b.Thread))
	})
	return l
}

// drainNames are the kinds of drains that make the program wait.
var drainNames = [...]string{
	format.DrainInline: "inline",
	format.DrainFlush:  "flush",
	format.DrainFinal:  "final",
}

// waits sums the times for which draining rings made the program wait.
func (f *finisher) waits() []Wait {
	var rows [len(drainNames)]Wait
	var ranks [len(drainNames)]map[int32]bool
	for _, d := range f.trace.Definitions().Drains {
		if int(d.Kind) >= len(rows) || drainNames[d.Kind] == "" || !f.window.Touches(d.Begin, d.End) {
			continue
		}
		row := &rows[d.Kind]
		time := min(d.End, f.window.End) - max(d.Begin, f.window.Begin)
		row.Count++
		row.Time += time
		row.Max = max(row.Max, time)
		if ranks[d.Kind] == nil {
			ranks[d.Kind] = make(map[int32]bool)
		}
		ranks[d.Kind][d.Rank] = true
	}
	list := []Wait{}
	for kind := range rows {
		if rows[kind].Count > 0 {
			rows[kind].Kind = drainNames[kind]
			rows[kind].Ranks = len(ranks[kind])
			list = append(list, rows[kind])
		}
	}
	return list
}
