// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mpitrace/mpitrace/format"
)

// Trace is a run, open for reading. Its methods may be called from several
// goroutines at once, except Close.
type Trace struct {
	pool    *filePool
	jobs    int
	sources []*source
	merged  bool

	defs      format.Definitions
	index     index
	ranks     []*Rank // ascending
	hosts     []Host
	unaligned bool
	problems  []Problem // found by Open

	undefined atomic.Int64 // ids in calls that were never defined
	backwards atomic.Int64 // calls that began before the one before them
}

// Rank is one rank's calls: one stream in the order of their begin, whichever
// thread made them.
type Rank struct {
	trace  *Trace
	number int32
	source *source
	clock  *clock
	remap  *remap // nil if the ids are the trace's
	calls  uint64
	plan
	spanOnce sync.Once
	span     Window
}

// File is a file that the trace was read from.
type File struct {
	Path  string
	Size  int64
	Rank  int32 // format.NoRank for a merged file
	Calls uint64
	Whole bool // closed in order: it has its index
}

// Close closes the files.
func (t *Trace) Close() error {
	t.pool.close()
	return nil
}

// Definitions returns the trace's definitions. Ids are the same on all ranks.
// Run.Start is the absolute time of the trace's time 0. Times of Drains and
// Summaries are in the trace's time; ClockPoints are as they were recorded.
// They must not be changed.
func (t *Trace) Definitions() *format.Definitions { return &t.defs }

// Run returns the run.
func (t *Trace) Run() *format.Run { return &t.defs.Run }

// Merged tells whether the trace was read from a merged file.
func (t *Trace) Merged() bool { return t.merged }

// Unaligned tells whether there are hosts whose clocks were not measured
// against each other, so that times of ranks on different hosts do not compare
// to better than their times of day do.
func (t *Trace) Unaligned() bool { return t.unaligned }

// Hosts returns where the ranks ran, in the order of their lowest rank.
func (t *Trace) Hosts() []Host { return t.hosts }

// Ranks returns the ranks that there are, in ascending order.
func (t *Trace) Ranks() []*Rank { return t.ranks }

// Rank returns a rank, or nil if there is nothing of it.
func (t *Trace) Rank(number int32) *Rank {
	i, ok := slices.BinarySearchFunc(t.ranks, number, func(r *Rank, n int32) int { return cmp.Compare(r.number, n) })
	if !ok {
		return nil
	}
	return t.ranks[i]
}

// Calls returns how many calls the files say that they have.
func (t *Trace) Calls() (n uint64) {
	for _, r := range t.ranks {
		n += r.calls
	}
	return n
}

// Span returns the time from the first call's begin to the last call's end.
// It is empty if there are no calls.
func (t *Trace) Span() Window {
	return join(t.ranks, (*Rank).Span)
}

func join(ranks []*Rank, span func(*Rank) Window) Window {
	w := Window{math.MaxInt64, math.MinInt64}
	for _, r := range ranks {
		if s := span(r); r.calls > 0 {
			w.Begin, w.End = min(w.Begin, s.Begin), max(w.End, s.End)
		}
	}
	if w.End < w.Begin {
		return Window{}
	}
	return w
}

// Files returns the files that the trace was read from.
func (t *Trace) Files() []File {
	files := make([]File, 0, len(t.sources))
	for _, s := range t.sources {
		files = append(files, File{s.path, s.size, s.rank, s.calls(), s.reader.Complete()})
	}
	return files
}

// Problems returns all that is known to be wrong with the trace by now:
// reading calls may find more.
func (t *Trace) Problems() []Problem {
	problems := slices.Clone(t.problems)
	for _, s := range t.sources {
		problems = append(problems, damage(s)...)
	}
	if n := t.undefined.Load(); n > 0 {
		problems = append(problems, Problem{
			Kind: ProblemDefinitions, Rank: format.NoRank, Count: uint64(n),
			Text: "calls refer to communicators, datatypes or call sites whose definitions are missing",
		})
	}
	if n := t.backwards.Load(); n > 0 {
		problems = append(problems, Problem{
			Kind: ProblemClock, Rank: format.NoRank, Count: uint64(n),
			Text: fmt.Sprintf("%s out of order of time; put in order", plural(n, "call")),
		})
	}
	sortProblems(problems)
	return problems
}

// damageShown is how many damaged places of a file are told one by one.
const damageShown = 3

// damage makes the problems that a file's reader found the trace's, in the
// order of their offsets. After a few the others are one.
func damage(s *source) []Problem {
	found := s.reader.Problems()
	slices.SortStableFunc(found, func(a, b format.Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	var problems []Problem
	more, moreLost, uncertain := 0, uint64(0), false
	for i, p := range found {
		if i >= damageShown && len(found) > damageShown+1 {
			more++
			moreLost += uint64(max(p.LostCalls, 0))
			uncertain = uncertain || p.LostCalls < 0
			continue
		}
		kind := ProblemDamaged
		if errors.Is(p.Err, format.ErrTruncated) {
			kind = ProblemTruncated
		}
		rank := s.rank
		if rank == format.NoRank {
			rank = p.Rank
		}
		problems = append(problems, Problem{
			Kind: kind, Rank: rank, File: s.path, Count: uint64(max(p.LostCalls, 0)),
			Text: fmt.Sprintf("offset %d: %s (%s)%s", p.Offset, p.What, plural(p.Size, "byte"), lost(uint64(max(p.LostCalls, 0)), p.LostCalls < 0)),
		})
	}
	if more > 0 {
		problems = append(problems, Problem{
			Kind: ProblemDamaged, Rank: s.rank, File: s.path, Count: moreLost,
			Text: fmt.Sprintf("%d more damaged places%s", more, lost(moreLost, uncertain)),
		})
	}
	if u := s.reader.Unknown(); u.Blocks+u.Records > 0 {
		problems = append(problems, Problem{
			Kind: ProblemVersion, Rank: s.rank, File: s.path, Count: uint64(u.Blocks + u.Records),
			Text: fmt.Sprintf("written by a newer recorder: %s and %s skipped", plural(u.Blocks, "block"), plural(u.Records, "record")),
			Hint: "use a newer mpitrace-view to see them",
		})
	}
	return problems
}

// lost says how many calls damage cost.
func lost(calls uint64, uncertain bool) string {
	switch {
	case uncertain && calls > 0:
		return fmt.Sprintf("; at least %s lost", plural(calls, "call"))
	case uncertain:
		return "; it is not known how many calls are lost"
	case calls > 0:
		return fmt.Sprintf("; %s lost", plural(calls, "call"))
	}
	return ""
}

// Number is the rank in MPI_COMM_WORLD.
func (r *Rank) Number() int32 { return r.number }

// Calls is how many calls the file says that it has.
func (r *Rank) Calls() uint64 { return r.calls }

// Process returns where the rank ran. It is never nil.
func (r *Rank) Process() *format.Process {
	if p := r.trace.index.processes[r.number]; p != nil {
		return p
	}
	return &format.Process{Rank: r.number}
}

// Summary returns how recording ended, or nil if it did not end in order.
func (r *Rank) Summary() *format.Summary { return r.trace.index.summaries[r.number] }

// Span returns the time from the rank's first call's begin to its last call's
// end. A call that never returned counts to its begin. It is empty if there are
// no calls.
func (r *Rank) Span() Window {
	r.spanOnce.Do(r.measure)
	return r.span
}

func (r *Rank) measure() {
	if len(r.blocks) == 0 {
		return
	}
	r.span = Window{math.MaxInt64, math.MinInt64}
	var l *Loader
	for i := range r.blocks {
		b := &r.blocks[i]
		r.span.Begin = min(r.span.Begin, b.min)
		if b.max != math.MaxInt64 {
			r.span.End = max(r.span.End, b.max)
			continue
		}
		// The index does not say when the other calls of such a block ended.
		if l == nil {
			l = r.trace.NewLoader()
		}
		r.span.End = max(r.span.End, b.min)
		calls := l.block(r, i, 0)
		for i, end := range calls.End {
			r.span.End = max(r.span.End, end, calls.Begin[i])
		}
	}
}
