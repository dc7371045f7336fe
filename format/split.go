// SPDX-License-Identifier: Apache-2.0

package format

import "fmt"

// split writes calls that are too many for a block in halves, each with the
// signatures that it needs. It is for the rare giant; it allocates.
func (w *Writer) split(c *Calls) error {
	n := len(c.Index)
	parts := [][2]int{{0, n}}
	switch {
	case n > MaxBlockCalls:
		parts = parts[:0]
		for at := 0; at < n; at += MaxBlockCalls {
			parts = append(parts, [2]int{at, min(at+MaxBlockCalls, n)})
		}
	case n > 1:
		parts = [][2]int{{0, n / 2}, {n / 2, n}}
	}
	for _, p := range parts {
		part := c.slice(p[0], p[1])
		shape, err := part.shape(nil)
		if err != nil {
			return err
		}
		if n == 1 && !part.fits(shape) {
			return fmt.Errorf("call %d of rank %d: %w", part.FirstSeq, part.Rank, ErrTooLarge)
		}
		if err := w.writeCalls(part, shape); err != nil {
			return err
		}
	}
	return nil
}

// slice returns calls from up to, not including, to, with dictionaries of
// their own.
func (c *Calls) slice(from, to int) *Calls {
	p := &Calls{
		Rank: c.Rank, FirstSeq: c.FirstSeq + uint64(from),
		Begin: c.Begin[from:to], End: c.End[from:to],
	}
	request, done := 0, 0
	for _, x := range c.Index[:from] {
		s := &c.Sigs[x]
		if s.Flags&FlagRequest != 0 {
			request++
		}
		done += int(s.NDone)
	}
	firstRequest, firstDone := request, done
	sigs := map[uint32]uint32{}
	for _, x := range c.Index[from:to] {
		s := &c.Sigs[x]
		if s.Flags&FlagRequest != 0 {
			request++
		}
		done += int(s.NDone)
		at, ok := sigs[x]
		if !ok {
			at = uint32(len(p.Sigs))
			sigs[x] = at
			p.Sigs = append(p.Sigs, *s)
		}
		p.Index = append(p.Index, at)
	}
	p.Request = c.Request[firstRequest:request]
	p.DoneRequest = c.DoneRequest[firstDone:done]
	doneSigs := map[uint32]uint32{}
	for _, x := range c.DoneIndex[firstDone:done] {
		at, ok := doneSigs[x]
		if !ok {
			at = uint32(len(p.DoneSigs))
			doneSigs[x] = at
			p.DoneSigs = append(p.DoneSigs, c.DoneSigs[x])
		}
		p.DoneIndex = append(p.DoneIndex, at)
	}
	return p
}
