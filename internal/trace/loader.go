// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/mpitrace/mpitrace/format"
)

// Loader reads pieces of a trace's calls: one for each goroutine that reads
// much. It keeps its buffers from piece to piece and must not be used by
// several goroutines at once.
type Loader struct {
	decoder *format.Decoder
	in      []*format.Calls // one per block of the piece being read
	weaver  weaver
}

// NewLoader makes a Loader.
func (t *Trace) NewLoader() *Loader {
	return &Loader{decoder: t.sources[0].reader.NewDecoder()}
}

// Pieces is how many pieces the rank's calls are read in.
func (r *Rank) Pieces() int { return len(r.pieces) }

// PieceBegin is when a piece's first call begins, or earlier.
func (r *Rank) PieceBegin(piece int) int64 {
	return r.blocks[r.pieces[piece].blocks[0]].min
}

// Numbers is how many numbers of calls a piece takes of which read calls could
// be read: calls known to be lost leave a gap.
func (r *Rank) Numbers(piece int, read uint64) uint64 {
	if r.woven {
		return read
	}
	return uint64(r.pieces[piece].calls)
}

// Piece calls f with the calls of a piece, in order, at most
// format.MaxBlockCalls at a time, and returns how many there were. FirstSeq
// counts from 0 within the piece. What f is given is valid until it returns.
//
// Calls of blocks that cannot be read are left out; the blocks are then among
// the trace's problems.
func (l *Loader) Piece(r *Rank, piece int, f func(*format.Calls)) (n uint64) {
	p := &r.pieces[piece]
	emit := func(c *format.Calls) {
		if len(c.Index) == 0 {
			return
		}
		c.Rank, c.FirstSeq = r.number, n
		n += uint64(len(c.Index))
		f(c)
	}
	if len(p.blocks) == 1 {
		c := l.block(r, int(p.blocks[0]), 0)
		if r.woven {
			from, to := between(c, p)
			if from > 0 || to < len(c.Index) {
				l.weaver.reset(emit)
				l.weaver.add(c, from, to)
				l.weaver.run()
				return n
			}
		}
		emit(c)
		return n
	}
	l.weaver.reset(emit)
	for i, k := range p.blocks {
		c := l.block(r, int(k), i)
		from, to := 0, len(c.Index)
		if r.woven {
			from, to = between(c, p)
		}
		l.weaver.add(c, from, to)
	}
	if r.woven {
		l.weaver.run()
	} else {
		l.weaver.concatenate()
	}
	return n
}

// between returns which calls of c began in the piece.
func between(c *format.Calls, p *piece) (from, to int) {
	from = sort.Search(len(c.Begin), func(i int) bool { return c.Begin[i] >= p.lo })
	to = len(c.Begin)
	if p.hi != math.MaxInt64 {
		to = sort.Search(len(c.Begin), func(i int) bool { return c.Begin[i] >= p.hi })
	}
	return from, max(from, to)
}

// block reads block i of the rank's plan into buffer k: in the trace's time,
// with its ids, and in order. It is empty if the block cannot be read.
func (l *Loader) block(r *Rank, i, k int) *format.Calls {
	for len(l.in) <= k {
		l.in = append(l.in, &format.Calls{})
	}
	c := l.in[k]
	l.decoder.Reset(r.source.reader)
	if err := l.decoder.ReadCalls(int(r.blocks[i].at), c); err != nil {
		return c // the reader keeps it among its problems
	}
	if r.remap != nil {
		r.clock.convert(c)
		if n := r.remap.apply(c); n > 0 {
			r.trace.undefined.Add(int64(n))
		}
	}
	if n := order(c); n > 0 {
		r.trace.backwards.Add(int64(n))
	}
	return c
}

// order puts calls in the order of their begin, and returns how many were not.
func order(c *format.Calls) (moved int) {
	for i := 1; i < len(c.Begin); i++ {
		if c.Begin[i] < c.Begin[i-1] {
			moved++
		}
	}
	if moved == 0 {
		return 0
	}
	places := make([]int, len(c.Begin))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(c.Begin[a], c.Begin[b]) })
	pickCalls(c, places)
	return moved
}

// pickCalls replaces c by its calls at places, in that order.
func pickCalls(c *format.Calls, places []int) {
	views := slices.Collect(Each(c))
	old := *c
	c.Index, c.Begin, c.End, c.Request, c.DoneIndex, c.DoneRequest = nil, nil, nil, nil, nil, nil
	for _, i := range places {
		v := &views[i]
		c.Index = append(c.Index, old.Index[i])
		c.Begin = append(c.Begin, v.Begin)
		c.End = append(c.End, v.End)
		if v.Sig.Flags&format.FlagRequest != 0 {
			c.Request = append(c.Request, v.Request)
		}
		c.DoneIndex = append(c.DoneIndex, v.doneIndex...)
		c.DoneRequest = append(c.DoneRequest, v.doneRequest...)
	}
}
