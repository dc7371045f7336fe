// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/mpitrace/mpitrace/format"
)

// Selection is the part of a trace that somebody wants to see. The zero value
// of Ranks is every rank; of Window it is nothing: start from Everything.
type Selection struct {
	Ranks  RankSet
	Window Window
	// Keep says which calls, by their signature. nil is all of them.
	Keep func(rank int32, sig *format.Sig) bool
}

// Everything selects the whole trace.
func Everything() Selection { return Selection{Window: always} }

// orderBudget is how many calls InOrder reads at once for one stretch of time,
// about, and orderHeld how many it keeps beyond it.
const (
	orderBudget = 1 << 19
	orderHeld   = 2 << 20
)

// InOrder goes through the selected calls of all ranks in the order of their
// begin; of calls that began at the same time the lower rank's comes first.
// Memory is bounded whatever the trace's length and number of ranks. A Call is
// valid until the next.
func (t *Trace) InOrder(s Selection) iter.Seq[*Call] { return t.inOrder(s, orderBudget, orderHeld) }

func (t *Trace) inOrder(s Selection, budget, held int) iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		var ranks []*Rank
		for _, r := range t.ranks {
			if s.Ranks.Has(r.number) {
				ranks = append(ranks, r)
			}
		}
		stretches := make(chan stretch)
		stop := make(chan struct{})
		var reading sync.WaitGroup
		defer reading.Wait()
		defer close(stop)
		reading.Go(func() {
			defer close(stretches)
			c := cutter{trace: t, selection: s, budget: budget, room: held, held: map[pieceOf]*strip{}, numbers: newNumbering()}
			c.run(ranks, func(some stretch) bool {
				select {
				case stretches <- some:
					return true
				case <-stop:
					return false
				}
			})
		})
		for some := range stretches {
			if !some.merge(yield) {
				return
			}
		}
	}
}

// stretch is what ranks did in a stretch of time: the calls of each strip that
// begin before hi.
type stretch struct {
	strips []*strip
	hi     int64
}

// strip is the selected calls of a piece that are to come, read once for all
// stretches that the piece reaches into if there is room to keep them.
type strip struct {
	calls format.Calls
	seqs  []uint64
	piece int
	at    reader // who merges moves it on
	begun bool
}

// part is a piece of a rank that reaches into a stretch of time.
type part struct {
	rank  *Rank
	piece int
	lo    int64 // begin of its first call, or earlier
	hi    int64 // begin of its last call, or later
}

// cutter cuts time into stretches with few enough calls to be read at once.
type cutter struct {
	trace     *Trace
	selection Selection
	budget    int
	numbers   *numbering

	mu   sync.Mutex
	held map[pieceOf]*strip
	room int // for so many calls more
}

type pieceOf struct {
	rank  *Rank
	piece int
}

// run calls f with each stretch until it returns false.
func (c *cutter) run(ranks []*Rank, f func(stretch) bool) {
	var parts []part
	for _, r := range ranks {
		for i := range r.pieces {
			p := &r.pieces[i]
			if !p.touches(c.selection.Window) {
				continue
			}
			lo, hi := max(p.lo, r.PieceBegin(i)), min(p.max, r.Span().End)
			if r.woven {
				hi = min(hi, p.hi)
			}
			parts = append(parts, part{r, i, lo, max(lo, hi)})
		}
	}
	if len(parts) == 0 {
		return
	}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, p := range parts {
		lo, hi = min(lo, p.lo), max(hi, p.hi)
	}
	c.cut(parts, lo, hi, true, f)
}

// cut halves the stretch from lo to hi (in it only if last) until it has few
// enough calls.
func (c *cutter) cut(parts []part, lo, hi int64, last bool, f func(stretch) bool) bool {
	calls := 0.0
	for i := range parts {
		calls += parts[i].share(lo, hi)
	}
	length := uint64(hi) - uint64(lo)
	if calls > float64(c.budget) && length > 1 {
		mid := lo + int64(length/2)
		var left, right []part
		for _, p := range parts {
			if p.lo < mid {
				left = append(left, p)
			}
			if p.hi >= mid {
				right = append(right, p)
			}
		}
		return c.cut(left, lo, mid, false, f) && c.cut(right, mid, hi, last, f)
	}
	if last {
		hi = math.MaxInt64
	}
	return f(c.gather(parts, lo, hi))
}

// share is about how many of the part's calls begin between lo and hi.
func (p *part) share(lo, hi int64) float64 {
	calls := float64(p.rank.pieces[p.piece].calls)
	whole := float64(p.hi) - float64(p.lo)
	if whole <= 0 {
		return calls
	}
	return calls * min(1, max(0, float64(min(hi, p.hi))-float64(max(lo, p.lo)))/whole)
}

// gather reads the parts that are not held yet.
func (c *cutter) gather(parts []part, lo, hi int64) stretch {
	// The parts of one rank are together and in order.
	var groups [][]part
	for i, p := range parts {
		if i == 0 || parts[i-1].rank != p.rank {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], p)
	}
	found := make([][]*strip, len(groups))
	loaders := make(chan *Loader, c.trace.jobs)
	for range c.trace.jobs {
		loaders <- nil
	}
	c.trace.parallel(len(groups), func(i int) {
		l := <-loaders
		if l == nil {
			l = c.trace.NewLoader()
		}
		defer func() { loaders <- l }()
		for _, p := range groups[i] {
			found[i] = append(found[i], c.strip(l, p, lo, hi))
		}
	})
	return stretch{slices.Concat(found...), hi}
}

// strip returns the part's calls from lo on: all of them if they are held or
// can be, else those up to hi.
func (c *cutter) strip(l *Loader, p part, lo, hi int64) *strip {
	key := pieceOf{p.rank, p.piece}
	most := p.rank.pieces[p.piece].calls
	c.mu.Lock()
	s := c.held[key]
	hold := false
	switch {
	case s != nil && (p.hi < hi || hi == math.MaxInt64):
		// Its last stretch: who merges has it from now on.
		delete(c.held, key)
		c.room += most
	case s == nil && p.hi >= hi && hi != math.MaxInt64 && c.room >= most:
		hold = true
		c.room -= most
	}
	c.mu.Unlock()
	if s != nil {
		return s
	}
	until := hi
	if hold {
		until = math.MaxInt64
	}
	s = c.read(l, p, lo, until)
	if hold {
		c.mu.Lock()
		c.held[key] = s
		c.mu.Unlock()
	}
	return s
}

// read reads the selected calls of a part that began from lo up to hi.
func (c *cutter) read(l *Loader, p part, lo, hi int64) *strip {
	out := &strip{piece: p.piece}
	r, window := p.rank, c.selection.Window
	out.calls.Rank = r.number
	first := c.numbers.first(l, r, p.piece)
	read := l.Piece(r, p.piece, func(b *format.Calls) {
		keep := make([]bool, len(b.Sigs))
		for i := range keep {
			keep[i] = c.selection.Keep == nil || c.selection.Keep(r.number, &b.Sigs[i])
		}
		b.FirstSeq += first
		filter(b, func(i int) bool {
			end := b.End[i]
			if b.Sigs[b.Index[i]].Flags&format.FlagInFlight != 0 {
				end = math.MaxInt64
			}
			ok := keep[b.Index[i]] && b.Begin[i] >= lo && (b.Begin[i] < hi || hi == math.MaxInt64) && window.Touches(b.Begin[i], end)
			if ok {
				out.seqs = append(out.seqs, b.FirstSeq+uint64(i))
			}
			return ok
		})
		out.append(b)
	})
	c.numbers.note(r, p.piece, first, read)
	out.at.calls = &out.calls
	return out
}

// append copies calls, with those signatures that they need.
func (s *strip) append(c *format.Calls) {
	o := &s.calls
	sigs := make([]uint32, len(c.Sigs))
	o.Index = slices.Grow(o.Index, len(c.Index))
	for _, x := range c.Index {
		if sigs[x] == 0 {
			o.Sigs = append(o.Sigs, c.Sigs[x])
			sigs[x] = uint32(len(o.Sigs))
		}
		o.Index = append(o.Index, sigs[x]-1)
	}
	o.Begin = append(o.Begin, c.Begin...)
	o.End = append(o.End, c.End...)
	o.Request = append(o.Request, c.Request...)
	doneSigs := make([]uint32, len(c.DoneSigs))
	o.DoneIndex = slices.Grow(o.DoneIndex, len(c.DoneIndex))
	for _, x := range c.DoneIndex {
		if doneSigs[x] == 0 {
			o.DoneSigs = append(o.DoneSigs, c.DoneSigs[x])
			doneSigs[x] = uint32(len(o.DoneSigs))
		}
		o.DoneIndex = append(o.DoneIndex, doneSigs[x]-1)
	}
	o.DoneRequest = append(o.DoneRequest, c.DoneRequest...)
}

// numbering remembers the numbers of the first calls of woven pieces, which
// only reading the pieces before tells. Stretches follow each other, so that it
// is nearly always known already.
type numbering struct {
	mu   sync.Mutex
	from map[*Rank]map[int]uint64
}

func newNumbering() *numbering { return &numbering{from: map[*Rank]map[int]uint64{}} }

func (n *numbering) first(l *Loader, r *Rank, piece int) uint64 {
	if !r.woven {
		return r.pieces[piece].first
	}
	n.mu.Lock()
	first, ok := n.from[r][piece]
	n.mu.Unlock()
	if !ok {
		first = l.before(r, piece)
	}
	return first
}

// note remembers the number of the piece after one that was read.
func (n *numbering) note(r *Rank, piece int, first, read uint64) {
	if !r.woven {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.from[r]
	if known == nil {
		known = map[int]uint64{}
		n.from[r] = known
	}
	known[piece], known[piece+1] = first, first+read
	delete(known, piece-2)
}

// more tells whether the strip has a call that begins before hi, and makes it
// the current one.
func (s *strip) more(hi int64) bool {
	if !s.begun {
		if s.at.i == len(s.seqs) {
			return false
		}
		s.at.next()
		s.at.call.Seq = s.seqs[s.at.i-1]
		s.begun = true
	}
	return s.at.call.Begin < hi || hi == math.MaxInt64
}

// before orders the current calls of two strips.
func (s *strip) before(o *strip) bool {
	a, b := &s.at.call, &o.at.call
	return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Rank, b.Rank), cmp.Compare(s.piece, o.piece)) < 0
}

// merge yields the stretch's calls in order of time.
func (s *stretch) merge(yield func(*Call) bool) bool {
	heap := make([]*strip, 0, len(s.strips))
	for _, x := range s.strips {
		if x.more(s.hi) {
			heap = append(heap, x)
		}
	}
	down := func(i int) {
		for {
			least := i
			for k := 2*i + 1; k <= 2*i+2 && k < len(heap); k++ {
				if heap[k].before(heap[least]) {
					least = k
				}
			}
			if least == i {
				return
			}
			heap[i], heap[least] = heap[least], heap[i]
			i = least
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		down(i)
	}
	for len(heap) > 0 {
		x := heap[0]
		if !yield(&x.at.call) {
			return false
		}
		if x.begun = false; !x.more(s.hi) {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		down(0)
	}
	return true
}
