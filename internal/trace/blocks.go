// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"iter"
	"math"

	"github.com/mpitrace/mpitrace/format"
)

// Blocks goes through the rank's calls in the order of their begin, a block at
// a time. A block is valid until the next one, and may be changed. Several
// goroutines may go through the same or different ranks at once.
//
// With a window other than Always, only calls that touch it are in the blocks;
// then FirstSeq is the number of the block's first call, and the others' cannot
// be told (see InOrder).
//
// Calls of blocks that cannot be read are left out; see Trace.Problems.
func (r *Rank) Blocks(w Window) iter.Seq[*format.Calls] {
	return func(yield func(*format.Calls) bool) {
		l := r.trace.NewLoader()
		next := uint64(0)
		counted := false
		for i := range r.pieces {
			p := &r.pieces[i]
			if !p.touches(w) {
				counted = false
				continue
			}
			if !counted {
				next = l.before(r, i)
				counted = true
			}
			going := true
			read := l.Piece(r, i, func(c *format.Calls) {
				if !going {
					return
				}
				c.FirstSeq += next
				if !w.All() {
					keepTouching(c, w)
				}
				if len(c.Index) > 0 {
					going = yield(c)
				}
			})
			if !going {
				return
			}
			next += r.Numbers(i, read)
		}
	}
}

// touches tells whether calls of the piece may touch w.
func (p *piece) touches(w Window) bool {
	return (p.lo < w.End || w.End == math.MaxInt64) && p.max >= w.Begin
}

// before counts the rank's calls before a piece.
func (l *Loader) before(r *Rank, piece int) (n uint64) {
	p := &r.pieces[piece]
	if !r.woven {
		return p.first
	}
	for i := range r.blocks {
		b := &r.blocks[i]
		switch {
		case b.min >= p.lo:
		case b.max < p.lo:
			n += uint64(b.calls)
		default:
			c := l.block(r, i, 0)
			from, _ := between(c, p)
			n += uint64(from)
		}
	}
	return n
}

// keepTouching drops calls that do not touch w.
func keepTouching(c *format.Calls, w Window) {
	keep := func(i int) bool {
		end := c.End[i]
		if c.Sigs[c.Index[i]].Flags&format.FlagInFlight != 0 {
			end = math.MaxInt64
		}
		return w.Touches(c.Begin[i], end)
	}
	first := -1
	n := filter(c, func(i int) bool {
		k := keep(i)
		if k && first < 0 {
			first = i
		}
		return k
	})
	if n > 0 {
		c.FirstSeq += uint64(first)
	}
}

// filter keeps the calls of c for which keep is true, in place, and returns
// how many they are. Dictionaries stay as they are.
func filter(c *format.Calls, keep func(i int) bool) (n int) {
	request, done := 0, 0
	requests, dones := 0, 0
	for i, x := range c.Index {
		sig := &c.Sigs[x]
		hasRequest, d := sig.Flags&format.FlagRequest != 0, int(sig.NDone)
		if keep(i) {
			c.Index[n], c.Begin[n], c.End[n] = x, c.Begin[i], c.End[i]
			n++
			if hasRequest {
				c.Request[requests] = c.Request[request]
				requests++
			}
			if d > 0 {
				copy(c.DoneIndex[dones:], c.DoneIndex[done:done+d])
				copy(c.DoneRequest[dones:], c.DoneRequest[done:done+d])
				dones += d
			}
		}
		if hasRequest {
			request++
		}
		done += d
	}
	c.Index, c.Begin, c.End, c.Request = c.Index[:n], c.Begin[:n], c.End[:n], c.Request[:requests]
	c.DoneIndex, c.DoneRequest = c.DoneIndex[:dones], c.DoneRequest[:dones]
	return n
}
