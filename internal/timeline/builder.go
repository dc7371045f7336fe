// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/mpi"
)

// Builder makes a Level out of calls.
type Builder struct {
	level  Level
	rows   map[int32]*Row
	runEnd int64
	ends   map[int32]int64 // when recording of a rank ended in order
	spec   Spec
	mu     sync.Mutex // guards level while walks run
}

// Spec says which level of detail to build.
type Spec struct {
	Window trace.Window // what to show
	Bins   int          // into how many bins of time to divide it
	Rows   [][]int32    // the ranks of each row
	RunEnd int64        // the latest time that is known of the run
	// Place tells where a call site is, for the calls that never returned.
	Place func(site format.ID) string
	// Text tells a region's name. If it is nil, no regions are kept; else those
	// of the first rank of the first row.
	Text func(format.ID) string
}

// NewBuilder makes a Builder for a run's definitions, in nanoseconds.
func NewBuilder(defs *format.Definitions, spec Spec) *Builder {
	if spec.Window.End <= spec.Window.Begin { // a run without length
		spec.Window.End = spec.Window.Begin + 1
	}
	bins := max(1, spec.Bins)
	b := &Builder{
		level:  Level{Window: spec.Window, edges: divide(spec.Window, bins)},
		rows:   make(map[int32]*Row),
		runEnd: spec.RunEnd,
		ends:   make(map[int32]int64),
		spec:   spec,
	}
	b.level.Rows = make([]Row, len(spec.Rows))
	for i, ranks := range spec.Rows {
		row := &b.level.Rows[i]
		row.Ranks, row.Cells = ranks, make([]Cell, bins)
		for _, rank := range ranks {
			b.rows[rank] = row
		}
	}
	for _, s := range defs.Summaries {
		b.ends[s.Rank] = s.End
	}
	return b
}

// Level returns what was built. No walk may be under way.
func (b *Builder) Level() *Level {
	slices.SortFunc(b.level.Open, func(x, y Open) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Begin, y.Begin))
	})
	return &b.level
}

// Walk goes through one rank's calls, in the order of their begins. Walks of
// different ranks may run side by side.
type Walk struct {
	builder *Builder
	rank    int32
	cells   []Cell
	edges   []int64
	bin     int // where the latest call began

	started     bool
	first, last int64 // the rank's first and last time
	busy        int64 // until when at least one thread was in MPI
	off         bool
	offSince    int64

	regions   *regionWalk // nil if they are not wanted
	open      []openCall
	openSince int64 // since when, without a break, there are open calls
}

// openCall is a call that did not return so far.
type openCall struct {
	fn     mpi.FuncID
	thread uint32
	site   format.ID
	begin  int64
	nested bool
}

// Walk begins a rank.
func (b *Builder) Walk(rank int32) *Walk {
	w := &Walk{
		builder: b,
		rank:    rank,
		cells:   make([]Cell, b.level.Bins()),
		edges:   b.level.edges,
	}
	if b.spec.Text != nil && len(b.spec.Rows) > 0 && b.spec.Rows[0][0] == rank {
		w.regions = newRegionWalk(b.level.Bins(), b.spec.Text)
	}
	return w
}

// Add takes the rank's next calls, in nanoseconds. It keeps nothing of c.
func (w *Walk) Add(c *format.Calls) {
	for i, index := range c.Index {
		sig := &c.Sigs[index]
		begin, end := c.Begin[i], c.End[i]
		if !w.started {
			w.started, w.first, w.last, w.busy = true, begin, begin, begin
		}
		nested := sig.Flags&format.FlagNested != 0
		if len(w.open) > 0 && !nested {
			w.leave(begin, func(o *openCall) bool { return o.thread == sig.Thread })
		}
		if sig.Func == mpi.FuncPcontrol {
			w.control(sig, begin, end)
		} else if w.off && begin >= w.offSince && sig.Func != mpi.FuncFinalize {
			w.on(begin) // recorded, so it must be on
		}
		if sig.Flags&format.FlagInFlight != 0 {
			w.last = max(w.last, begin)
			if len(w.open) == 0 {
				w.openSince = max(begin, w.busy)
			}
			w.open = append(w.open, openCall{sig.Func, sig.Thread, sig.Site, begin, nested})
			continue
		}
		w.last = max(w.last, end)
		if nested {
			continue // its time is its caller's
		}
		class := classOf(sig.Func)
		w.spread(begin, end, func(bin int, time int64) { w.cells[bin].Classes[class] += time })
		if len(w.open) == 0 && end > w.busy {
			w.spread(max(begin, w.busy), end, func(bin int, time int64) { w.cells[bin].Busy += time })
		}
		w.busy = max(w.busy, end)
	}
}

// spread divides the time from begin to end among the bins.
func (w *Walk) spread(begin, end int64, add func(bin int, time int64)) {
	begin, end = max(begin, w.edges[0]), min(end, w.edges[len(w.edges)-1])
	if begin >= end {
		return
	}
	for w.bin > 0 && w.edges[w.bin] > begin {
		w.bin--
	}
	for w.edges[w.bin+1] <= begin {
		w.bin++
	}
	for bin := w.bin; begin < end; bin++ {
		until := min(end, w.edges[bin+1])
		add(bin, until-begin)
		begin = until
	}
}

// control follows MPI_Pcontrol.
func (w *Walk) control(sig *format.Sig, begin, end int64) {
	if len(sig.Args) == 0 {
		return
	}
	switch sig.Args[0] {
	case 0:
		if !w.off {
			w.off, w.offSince = true, end
		}
	case 1:
		w.on(begin)
	}
	if w.regions != nil {
		w.regions.control(w, sig, begin, end)
	}
}

func (w *Walk) on(now int64) {
	if w.off {
		w.spread(w.offSince, now, func(bin int, time int64) { w.cells[bin].Off += time })
		w.off = false
	}
}

// leave ends the open calls that which says, at now.
func (w *Walk) leave(now int64, which func(*openCall) bool) {
	kept := w.open[:0]
	for _, o := range w.open {
		if !which(&o) {
			kept = append(kept, o)
			continue
		}
		if o.nested {
			continue
		}
		class := classOf(o.fn)
		w.spread(o.begin, now, func(bin int, time int64) { w.cells[bin].Classes[class] += time })
	}
	gone := len(w.open) > 0 && len(kept) == 0
	w.open = kept
	if gone {
		w.spread(w.openSince, now, func(bin int, time int64) { w.cells[bin].Busy += time })
		w.busy = max(w.busy, now)
	}
}

// Close ends the rank and adds it to its row. next is when its next call begins,
// if there are more than were added, see trace.Visitor.
func (w *Walk) Close(next int64) {
	b := w.builder
	if !w.started {
		return
	}
	end := w.last
	if next != math.MaxInt64 {
		end = max(end, next)
	}
	if s, ok := b.ends[w.rank]; ok {
		end = max(end, s)
	}
	var open []Open
	if len(w.open) > 0 {
		end = max(end, b.runEnd)
		for _, o := range w.open {
			if o.begin <= w.edges[len(w.edges)-1] {
				open = append(open, Open{w.rank, nameOf(o.fn), b.spec.Place(o.site), o.begin})
			}
		}
		w.spread(w.openSince, end, func(bin int, time int64) { w.cells[bin].InFlight += time })
		w.leave(end, func(*openCall) bool { return true })
	}
	w.on(end)
	var regions *Regions
	if w.regions != nil {
		w.regions.close(w, 0, end)
		regions = w.regions.regions(&b.level, w.rank)
	}
	w.spread(w.first, end, func(bin int, time int64) { w.cells[bin].Recorded += time })
	for i := range w.cells {
		c := &w.cells[i]
		c.Recorded -= min(c.Off, c.Recorded-c.Busy)
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	b.level.Open = append(b.level.Open, open...)
	if regions != nil {
		b.level.Regions = regions
	}
	row := b.rows[w.rank]
	if row == nil {
		return
	}
	row.Open += len(open)
	for i := range w.cells {
		row.Cells[i].add(&w.cells[i])
	}
}

func nameOf(id mpi.FuncID) string {
	if f := mpi.ByID(id); f != nil {
		return f.Name
	}
	return "(unknown function)"
}
