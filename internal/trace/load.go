// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"math"
	"slices"

	"github.com/mpitrace/mpitrace/format"
)

// loadRankFiles makes the trace of t.sources, which are rank files in the
// order of their ranks.
func (t *Trace) loadRankFiles() {
	d := newDefiner()
	for _, s := range t.sources {
		defs := s.reader.Definitions()
		r := &Rank{trace: t, number: s.rank, source: s, calls: s.calls()}
		r.remap = d.add(s.rank, defs)
		var dropped int
		hz := 0.0
		if len(defs.Processes) > 0 {
			hz = defs.Processes[0].TickHz
		}
		r.clock, dropped = newClock(defs.Clock, hz)
		if dropped > 0 {
			t.problems = append(t.problems, Problem{
				Kind: ProblemClock, Rank: s.rank, File: s.path, Count: uint64(dropped),
				Text: fmt.Sprintf("%s of %d contradict the ones before; not used", plural(dropped, "clock measurement"), len(defs.Clock)),
			})
		}
		t.ranks = append(t.ranks, r)
	}
	t.problems = append(t.problems, d.problems...)
	t.defs = d.defs
	t.defs.Run = *t.sources[0].run()
	for _, s := range t.sources {
		// Each rank takes the time of its own MPI_Init; the run began with the first.
		t.defs.Run.Start = min(t.defs.Run.Start, s.run().Start)
		t.defs.Run.Size = max(t.defs.Run.Size, s.run().Size)
	}
	t.index = newIndex(&t.defs)
	t.defs.Run.Start = t.align()
	for _, r := range t.ranks {
		defs := r.source.reader.Definitions()
		for _, x := range defs.Drains {
			x.Rank, x.Begin, x.End = r.number, r.clock.at(x.Begin), r.clock.at(x.End)
			t.defs.Drains = append(t.defs.Drains, x)
		}
		for _, x := range defs.Summaries {
			x.Rank, x.End = r.number, r.clock.at(x.End)
			t.defs.Summaries = append(t.defs.Summaries, x)
		}
		r.plan = newPlan(r.source.reader.Blocks(), nil, r.clock, false)
	}
	t.index = newIndex(&t.defs)
}

// loadMerged makes the trace of the one merged file in t.sources.
func (t *Trace) loadMerged() {
	s := t.sources[0]
	t.defs = *s.reader.Definitions()
	t.index = newIndex(&t.defs)
	byRank := map[int32][]int32{}
	blocks := s.reader.Blocks()
	for i, b := range blocks {
		byRank[b.Rank] = append(byRank[b.Rank], int32(i))
	}
	for _, p := range t.defs.Processes {
		if byRank[p.Rank] == nil {
			byRank[p.Rank] = []int32{}
		}
	}
	for _, n := range t.defs.Notes {
		p := Problem{Kind: ProblemKind(n.Kind), Rank: n.Rank, File: n.File, Count: n.Count, Text: n.Text, Hint: n.Hint}
		t.problems = append(t.problems, p)
		t.unaligned = t.unaligned || p.Kind == ProblemUnaligned
	}
	clock := identity()
	for number, list := range byRank {
		r := &Rank{trace: t, number: number, source: s, clock: clock}
		for _, i := range list {
			r.calls += uint64(blocks[i].Calls)
		}
		r.plan = newPlan(blocks, list, clock, true)
		t.ranks = append(t.ranks, r)
	}
	slices.SortFunc(t.ranks, func(a, b *Rank) int { return int(int64(a.number) - int64(b.number)) })
	byHost := map[string]int{}
	for _, r := range t.ranks {
		name := r.Process().Host
		h, ok := byHost[name]
		if !ok {
			h = len(t.hosts)
			byHost[name] = h
			t.hosts = append(t.hosts, Host{Name: name, Aligned: true})
		}
		t.hosts[h].Ranks = append(t.hosts[h].Ranks, r.number)
	}
}

// check compares what the files say about themselves with what is in them.
func (t *Trace) check() {
	t.checkMissing()
	for _, r := range t.ranks {
		path := ""
		if !t.merged {
			path = r.source.path
		}
		problem := func(kind ProblemKind, count uint64, text, hint string) {
			t.problems = append(t.problems, Problem{Kind: kind, Rank: r.number, File: path, Count: count, Text: text, Hint: hint})
		}
		switch s := r.Summary(); {
		case s == nil && t.merged:
			problem(ProblemUnfinished, 0, "recording did not end in order: the process was killed, or was still running", "")
		case s == nil:
			hint := ""
			if p := r.Process(); len(p.Rings) > 0 {
				hint = fmt.Sprintf("its last calls may still be in its rings on %s", p.Host)
			}
			problem(ProblemUnfinished, 0, "recording did not end in order: the process was killed, or is still running", hint)
		case s.Calls > r.calls:
			problem(ProblemUnfinished, s.Calls-r.calls, fmt.Sprintf("%s of %d are not in the file", plural(s.Calls-r.calls, "call"), s.Calls), "")
		}
		if s := r.Summary(); s != nil && !s.Finalized {
			problem(ProblemUnfinished, 0, "the process ended without MPI_Finalize", "")
		}
	}
	for _, l := range t.defs.Losses {
		path := ""
		if r := t.Rank(l.Rank); r != nil && !t.merged {
			path = r.source.path
		}
		t.problems = append(t.problems, Problem{Kind: ProblemLoss, Rank: l.Rank, File: path, Count: l.Count, Text: lossText(l)})
	}
}

func (t *Trace) checkMissing() {
	size := t.defs.Run.Size
	var missing []span
	count := int64(0)
	next := int32(0)
	for _, r := range t.ranks {
		if r.number > next && r.number <= size {
			missing = append(missing, span{next, r.number - 1})
			count += int64(r.number) - int64(next)
		}
		if r.number >= 0 && r.number < math.MaxInt32 {
			next = max(next, r.number+1)
		}
	}
	if next < size {
		missing = append(missing, span{next, size - 1})
		count += int64(size) - int64(next)
	}
	if count > 0 {
		set := RankSet{spans: missing}
		what := "ranks " + set.String()
		if count == 1 {
			what = "rank " + set.String()
		}
		t.problems = append(t.problems, Problem{
			Kind: ProblemMissing, Rank: format.NoRank, Count: uint64(count),
			Text: fmt.Sprintf("%d of %d ranks are missing: %s", count, size, what),
		})
	}
	if next > size && size > 0 {
		t.problems = append(t.problems, Problem{
			Kind: ProblemDefinitions, Rank: format.NoRank,
			Text: fmt.Sprintf("there is a rank %d, but the run is said to have had %s", next-1, plural(size, "rank")),
		})
	}
}

func lossText(l format.Loss) string {
	n := func(what string) string { return plural(l.Count, what) }
	var text string
	switch l.Kind {
	case format.LossOverwritten:
		text = n("call") + " overwritten in the ring before they were written out (MPITRACE_MODE=ring)"
	case format.LossDropped:
		text = n("call") + " dropped: the ring was full and could not be emptied"
	case format.LossUnwritten:
		text = n("call") + " not written to the file"
	case format.LossRequests:
		text = n("completed request") + " left out of records that had no room for them"
	case format.LossUntracked:
		text = n("request") + " completed whose start was not recorded"
	case format.LossThreads:
		text = n("call") + " of threads that got no ring"
	case format.LossTorn:
		text = n("record") + " not whole when the process died"
	case format.LossClock:
		text = n("time") + " that ran backwards"
	default:
		text = fmt.Sprintf("%d lost (unknown kind %d)", l.Count, l.Kind)
	}
	if l.Detail != "" {
		text += ": " + l.Detail
	}
	return text
}
