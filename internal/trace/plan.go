// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"math"
	"slices"

	"github.com/mpitrace/mpitrace/format"
)

// plan says in which pieces a rank's calls are read: each piece is the calls
// that began in a stretch of time, in order, and needs few blocks.
//
// The blocks of a rank with one thread follow each other, and pieces are runs
// of them. The blocks of several threads overlap in time; then a piece begins
// where a block begins, and the blocks that reach into it are woven together.
type plan struct {
	blocks []block // in the order of their begin
	pieces []piece
	woven  bool
}

// block is a block of calls of the rank, with times in the trace's time.
type block struct {
	at       int32 // index into the reader's blocks
	calls    int32
	thread   uint32
	min, max int64 // smallest begin, largest end (math.MaxInt64 if a call never returned)
}

// piece is one piece of a plan.
type piece struct {
	lo, hi int64 // calls with lo <= begin < hi; the last piece has no upper end
	max    int64 // no call of it ends later
	blocks []int32
	calls  int    // at most so many
	first  uint64 // number of the first call; not known (0) if the plan is woven
}

// newPlan plans the reading of some of a reader's blocks (of all if list is
// nil). merged blocks of a rank are one stream already.
func newPlan(all []format.BlockInfo, list []int32, c *clock, merged bool) plan {
	if list == nil {
		list = make([]int32, len(all))
		for i := range list {
			list[i] = int32(i)
		}
	}
	var p plan
	threads := map[uint32]bool{}
	firstSeq := func(b block) uint64 { return all[b.at].FirstSeq }
	for _, i := range list {
		x := &all[i]
		if x.Calls == 0 {
			continue
		}
		b := block{at: i, calls: int32(x.Calls), thread: x.Thread, min: c.at(x.TimeMin), max: math.MaxInt64}
		if x.TimeMax != math.MaxInt64 {
			b.max = max(c.at(x.TimeMax), b.min)
		}
		threads[x.Thread] = true
		p.blocks = append(p.blocks, b)
	}
	if merged {
		slices.SortStableFunc(p.blocks, func(a, b block) int { return cmp.Compare(firstSeq(a), firstSeq(b)) })
		p.chain()
		return p
	}
	slices.SortStableFunc(p.blocks, func(a, b block) int {
		return cmp.Or(cmp.Compare(a.min, b.min), cmp.Compare(a.thread, b.thread), cmp.Compare(firstSeq(a), firstSeq(b)))
	})
	follows := len(threads) <= 1
	for i := 1; i < len(p.blocks) && follows; i++ {
		follows = p.blocks[i-1].max <= p.blocks[i].min && firstSeq(p.blocks[i-1]) <= firstSeq(p.blocks[i])
	}
	if follows {
		p.chain()
	} else {
		p.weave()
	}
	return p
}

// chain plans blocks that follow each other. Small ones share a piece.
func (p *plan) chain() {
	first := uint64(0)
	for i := 0; i < len(p.blocks); {
		x := piece{lo: math.MinInt64, hi: math.MaxInt64, max: math.MinInt64, first: first}
		if i > 0 {
			x.lo = p.blocks[i].min
		}
		for ; i < len(p.blocks) && (len(x.blocks) == 0 || x.calls+int(p.blocks[i].calls) <= format.MaxBlockCalls); i++ {
			b := &p.blocks[i]
			x.blocks = append(x.blocks, int32(i))
			x.calls += int(b.calls)
			x.max = max(x.max, b.max)
		}
		if i < len(p.blocks) {
			x.hi = p.blocks[i].min
		}
		first += uint64(x.calls)
		p.pieces = append(p.pieces, x)
	}
}

// weave plans blocks that overlap. Each piece begins about as many blocks as
// reach into it, so that no block is read much more than twice.
func (p *plan) weave() {
	p.woven = true
	var open []int32 // blocks that reach beyond the piece before
	lo := int64(math.MinInt64)
	for i := 0; i < len(p.blocks); {
		x := piece{lo: lo, hi: math.MaxInt64, blocks: slices.Clone(open)}
		begun := 0
		for ; i < len(p.blocks); i++ {
			b := &p.blocks[i]
			if begun > len(open) && x.calls+int(b.calls) > format.MaxBlockCalls && b.min > lo {
				x.hi = b.min
				break
			}
			x.blocks = append(x.blocks, int32(i))
			x.calls += int(b.calls)
			lo = max(lo, b.min)
			begun++
		}
		x.max = math.MinInt64
		x.calls = 0
		open = open[:0]
		for _, k := range x.blocks {
			b := &p.blocks[k]
			x.max = max(x.max, b.max)
			x.calls += int(b.calls)
			if b.max >= x.hi {
				open = append(open, k)
			}
		}
		lo = x.hi
		p.pieces = append(p.pieces, x)
	}
}
