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

// orderBudget is how many calls InOrder holds in memory at once, about.
const orderBudget = 1 << 20

// InOrder goes through the selected calls of all ranks in the order of their
// begin; of calls that began at the same time the lower rank's comes first.
// Memory is bounded whatever the trace's length and number of ranks. A Call is
// valid until the next.
func (t *Trace) InOrder(s Selection) iter.Seq[*Call] { return t.inOrder(s, orderBudget) }

func (t *Trace) inOrder(s Selection, budget int) iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		var ranks []*Rank
		for _, r := range t.ranks {
			if s.Ranks.Has(r.number) {
				ranks = append(ranks, r)
			}
		}
		stretches := make(chan []*stretch)
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			defer close(stretches)
			t.eachStretch(ranks, s, budget, func(some []*stretch) bool {
				select {
				case stretches <- some:
					return true
				case <-stop:
					return false
				}
			})
		}()
		for some := range stretches {
			if !mergeStretches(some, yield) {
				return
			}
		}
	}
}

// stretch is the selected calls of one rank that began in a stretch of time.
type stretch struct {
	calls format.Calls
	seqs  []uint64
}

// part is a piece of a rank that reaches into a stretch of time.
type part struct {
	rank  *Rank
	piece int
	lo    int64 // begin of its first call, or earlier
	hi    int64 // begin of its last call, or later
}

// eachStretch cuts time so that each stretch has about budget calls, and calls
// f with what each rank has in it.
func (t *Trace) eachStretch(ranks []*Rank, s Selection, budget int, f func([]*stretch) bool) {
	numbers := newNumbering()
	var parts []part
	for _, r := range ranks {
		for i := range r.pieces {
			p := &r.pieces[i]
			if !p.touches(s.Window) {
				continue
			}
			lo := max(p.lo, r.PieceBegin(i))
			parts = append(parts, part{r, i, lo, max(lo, min(p.hi, p.max, r.Span().End))})
		}
	}
	if len(parts) == 0 {
		return
	}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, p := range parts {
		lo, hi = min(lo, p.lo), max(hi, p.hi)
	}
	t.cut(parts, lo, hi, true, s, budget, numbers, f)
}

// cut halves the stretch from lo to hi (in it only if last) until it has few
// enough calls.
func (t *Trace) cut(parts []part, lo, hi int64, last bool, s Selection, budget int, numbers *numbering, f func([]*stretch) bool) bool {
	calls := 0.0
	for _, p := range parts {
		calls += p.share(lo, hi)
	}
	length := uint64(hi) - uint64(lo)
	if calls > float64(budget) && length > 1 {
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
		return t.cut(left, lo, mid, false, s, budget, numbers, f) && t.cut(right, mid, hi, last, s, budget, numbers, f)
	}
	if last {
		hi = math.MaxInt64
	}
	return f(t.gather(parts, lo, hi, s, numbers))
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

// gather reads the selected calls of the parts that began from lo up to hi.
func (t *Trace) gather(parts []part, lo, hi int64, s Selection, numbers *numbering) []*stretch {
	// The parts of one rank are together and in order.
	var groups [][]part
	for i, p := range parts {
		if i == 0 || parts[i-1].rank != p.rank {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], p)
	}
	found := make([]*stretch, len(groups))
	loaders := make(chan *Loader, t.jobs)
	for range t.jobs {
		loaders <- nil
	}
	t.parallel(len(groups), func(i int) {
		l := <-loaders
		if l == nil {
			l = t.NewLoader()
		}
		defer func() { loaders <- l }()
		found[i] = gatherRank(l, groups[i], lo, hi, s, numbers)
	})
	return slices.DeleteFunc(found, func(x *stretch) bool { return len(x.seqs) == 0 })
}

func gatherRank(l *Loader, parts []part, lo, hi int64, s Selection, numbers *numbering) *stretch {
	out := &stretch{}
	r := parts[0].rank
	out.calls.Rank = r.number
	for _, p := range parts {
		first := numbers.first(l, r, p.piece)
		read := l.Piece(r, p.piece, func(c *format.Calls) {
			keep := make([]bool, len(c.Sigs))
			for i := range keep {
				keep[i] = s.Keep == nil || s.Keep(r.number, &c.Sigs[i])
			}
			c.FirstSeq += first
			filter(c, func(i int) bool {
				end := c.End[i]
				if c.Sigs[c.Index[i]].Flags&format.FlagInFlight != 0 {
					end = math.MaxInt64
				}
				ok := keep[c.Index[i]] && c.Begin[i] >= lo && (c.Begin[i] < hi || hi == math.MaxInt64) && s.Window.Touches(c.Begin[i], end)
				if ok {
					out.seqs = append(out.seqs, c.FirstSeq+uint64(i))
				}
				return ok
			})
			out.append(c)
		})
		numbers.note(r, p.piece, first, read)
	}
	return out
}

// append copies calls, with those signatures that they need.
func (s *stretch) append(c *format.Calls) {
	o := &s.calls
	sigs := make([]uint32, len(c.Sigs))
	for i, x := range c.Index {
		if sigs[x] == 0 {
			o.Sigs = append(o.Sigs, c.Sigs[x])
			sigs[x] = uint32(len(o.Sigs))
		}
		o.Index = append(o.Index, sigs[x]-1)
		o.Begin = append(o.Begin, c.Begin[i])
		o.End = append(o.End, c.End[i])
	}
	o.Request = append(o.Request, c.Request...)
	doneSigs := make([]uint32, len(c.DoneSigs))
	for i, x := range c.DoneIndex {
		if doneSigs[x] == 0 {
			o.DoneSigs = append(o.DoneSigs, c.DoneSigs[x])
			doneSigs[x] = uint32(len(o.DoneSigs))
		}
		o.DoneIndex = append(o.DoneIndex, doneSigs[x]-1)
		o.DoneRequest = append(o.DoneRequest, c.DoneRequest[i])
	}
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

// mergeStretches yields the calls of several ranks in order of time.
func mergeStretches(some []*stretch, yield func(*Call) bool) bool {
	type head struct {
		reader
		seqs []uint64
	}
	heap := make([]*head, 0, len(some))
	less := func(a, b *head) bool {
		return cmp.Or(cmp.Compare(a.call.Begin, b.call.Begin), cmp.Compare(a.call.Rank, b.call.Rank)) < 0
	}
	down := func(i int) {
		for {
			least := i
			for k := 2*i + 1; k <= 2*i+2 && k < len(heap); k++ {
				if less(heap[k], heap[least]) {
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
	for _, s := range some {
		h := &head{reader{calls: &s.calls}, s.seqs}
		h.next()
		heap = append(heap, h)
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		down(i)
	}
	for len(heap) > 0 {
		h := heap[0]
		h.call.Seq = h.seqs[h.i-1]
		if !yield(&h.call) {
			return false
		}
		if !h.next() {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		down(0)
	}
	return true
}
