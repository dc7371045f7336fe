// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/mpitrace/mpitrace/mpi"
)

// callsDecoder turns the payload of a calls block into Calls. It keeps its
// buffers from block to block.
type callsDecoder struct {
	columnReader
	timesDecoder timesDecoder
	err          error
}

// resize returns s with n elements, in the same array if it is large enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// decode fills c from the payload b of a block with n calls. c's slices are
// reused, but not the Second and Args of its signatures.
func (d *callsDecoder) decode(b []byte, n int, c *Calls) error {
	if n > MaxBlockCalls {
		return fmt.Errorf("%d calls in a block", n)
	}
	nsigs, k := binary.Uvarint(b)
	if k <= 0 || nsigs > MaxBlockCalls {
		return errors.New("bad number of signatures")
	}
	b = b[k:]
	ndone, k := binary.Uvarint(b)
	if k <= 0 || ndone > MaxBlockDone {
		return errors.New("bad number of completed requests' signatures")
	}
	b = b[k:]
	request, k := binary.Uvarint(b)
	if k <= 0 {
		return errors.New("bad number of the first request")
	}
	b = b[k:]
	done, k := binary.Uvarint(b)
	if k <= 0 {
		return errors.New("bad number of the first completed request")
	}
	if err := d.directory(b[k:]); err != nil {
		return err
	}
	d.err = nil
	d.sigs(c, int(nsigs))
	d.index(c, n)
	d.times(c, n)
	d.started(c, request)
	d.done(c, int(ndone), done)
	if d.err != nil {
		c.clear()
	}
	return d.err
}

// clear empties c and keeps its arrays.
func (c *Calls) clear() {
	*c = Calls{
		Sigs: c.Sigs[:0], Index: c.Index[:0], Begin: c.Begin[:0], End: c.End[:0], Request: c.Request[:0],
		DoneSigs: c.DoneSigs[:0], DoneIndex: c.DoneIndex[:0], DoneRequest: c.DoneRequest[:0],
	}
}

// column returns n values, all zero after an error.
func (d *callsDecoder) column(id columnID, n int) []uint64 {
	if d.err == nil {
		v, err := d.get(id, n)
		if err == nil {
			return v
		}
		d.err = err
	}
	d.values = resize(d.values, n)
	clear(d.values)
	return d.values
}

// bounded is column for values of at most max.
func (d *callsDecoder) bounded(id columnID, n int, limit uint64) []uint64 {
	v := d.column(id, n)
	for i := range v {
		if v[i] > limit {
			d.fail(fmt.Errorf("column %d: value %d is larger than %d", id, v[i], limit))
			clear(v)
			break
		}
	}
	return v
}

func (d *callsDecoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *callsDecoder) sigs(c *Calls, n int) {
	c.Sigs = resize(c.Sigs, n)
	s := c.Sigs
	clear(s)
	fill(d, colFunc, math.MaxUint16, s, func(s *Sig, v uint64) { s.Func = mpi.FuncID(v) })
	fill(d, colFlags, math.MaxUint16, s, func(s *Sig, v uint64) { s.Flags = Flags(v) })
	fill(d, colThread, math.MaxUint32, s, func(s *Sig, v uint64) { s.Thread = uint32(v) })
	fill(d, colComm, math.MaxUint32, s, func(s *Sig, v uint64) { s.Comm = ID(v) })
	fill(d, colWin, math.MaxUint32, s, func(s *Sig, v uint64) { s.Win = ID(v) })
	fill(d, colFile, math.MaxUint32, s, func(s *Sig, v uint64) { s.File = ID(v) })
	fill(d, colDatatype, math.MaxUint32, s, func(s *Sig, v uint64) { s.Datatype = ID(v) })
	fill(d, colOp, math.MaxUint32, s, func(s *Sig, v uint64) { s.Op = ID(v) })
	fill(d, colSite, math.MaxUint32, s, func(s *Sig, v uint64) { s.Site = ID(v) })
	fill(d, colPeer, maxOptional32, s, func(s *Sig, v uint64) { s.Peer = optional32(v) })
	fill(d, colTag, maxOptional32, s, func(s *Sig, v uint64) { s.Tag = optional32(v) })
	fill(d, colRoot, maxOptional32, s, func(s *Sig, v uint64) { s.Root = optional32(v) })
	fill(d, colCount, math.MaxUint64, s, func(s *Sig, v uint64) { s.Count = optional64(v) })
	fill(d, colBytes, math.MaxUint64, s, func(s *Sig, v uint64) { s.Bytes = optional64(v) })
	fill(d, colError, math.MaxUint32, s, func(s *Sig, v uint64) { s.Error = int32(unzigzag(v)) })
	fill(d, colNDone, MaxBlockDone, s, func(s *Sig, v uint64) { s.NDone = uint32(v) })

	sides := 0
	for _, v := range d.bounded(colSecond, n, 1) {
		sides += int(v)
	}
	if sides > 0 {
		second := make([]Side, sides)
		for i, v := range d.column(colSecond, n) {
			if v != 0 {
				s[i].Second = &second[len(second)-sides]
				sides--
			}
		}
		fill(d, colSecondPeer, maxOptional32, second, func(s *Side, v uint64) { s.Peer = optional32(v) })
		fill(d, colSecondTag, maxOptional32, second, func(s *Side, v uint64) { s.Tag = optional32(v) })
		fill(d, colSecondDatatype, math.MaxUint32, second, func(s *Side, v uint64) { s.Datatype = ID(v) })
		fill(d, colSecondCount, math.MaxUint64, second, func(s *Side, v uint64) { s.Count = optional64(v) })
		fill(d, colSecondBytes, math.MaxUint64, second, func(s *Side, v uint64) { s.Bytes = optional64(v) })
		fill(d, colSecondDisp, math.MaxUint64, second, func(s *Side, v uint64) { s.Disp = unzigzag(v) })
	}

	total := uint64(0)
	for _, v := range d.bounded(colNArgs, n, maxBlockArgs) {
		total += v
	}
	if total == 0 {
		return
	}
	if total > maxBlockArgs {
		d.fail(fmt.Errorf("%d arguments in a block", total))
		return
	}
	args := make([]int64, total)
	at := 0
	for i, v := range d.column(colNArgs, n) {
		if v > 0 && at+int(v) <= len(args) {
			s[i].Args = args[at : at+int(v) : at+int(v)]
			at += int(v)
		}
	}
	for i, v := range d.column(colArgs, len(args)) {
		args[i] = unzigzag(v)
	}
}

const maxOptional32 = 1 << 32 // zigzag of an int32, plus 1

func optional32(v uint64) int32 {
	if v == 0 {
		return NoRank // and NoTag
	}
	return int32(unzigzag(v - 1))
}

func optional64(v uint64) int64 {
	if v == 0 {
		return NoCount
	}
	return unzigzag(v - 1)
}

func (d *callsDecoder) index(c *Calls, n int) {
	c.Index = resize(c.Index, n)
	d.indices(colIndex, c.Index, len(c.Sigs))
}

// indices fills to with a column of indices below limit.
func (d *callsDecoder) indices(id columnID, to []uint32, limit int) {
	if d.err != nil || len(to) == 0 {
		return
	}
	b, plain, err := d.bytes(id, len(to))
	if err != nil {
		d.fail(err)
		return
	}
	next := uint32(0) // one more than the largest
	if plain {
		b = b[:len(to)]
		for i := range to {
			v := uint32(b[i]) - 1
			if b[i] == 0 {
				v = next
			}
			next = max(next, v+1)
			to[i] = v
		}
	} else {
		for i, x := range d.bounded(id, len(to), uint64(limit)) {
			v := uint32(x) - 1
			if x == 0 {
				v = next
			}
			next = max(next, v+1)
			to[i] = v
		}
	}
	if uint64(next) > uint64(limit) {
		d.fail(fmt.Errorf("column %d: index %d of %d", id, next-1, limit))
	}
}

func (d *callsDecoder) times(c *Calls, n int) {
	c.Begin, c.End = resize(c.Begin, n), resize(c.End, n)
	t := &d.timesDecoder
	t.info = resize(t.info, len(c.Sigs))
	if d.columns[colGroup].present {
		for i, v := range d.bounded(colGroup, len(c.Sigs), maxGroups-1) {
			t.info[i].group = uint8(v)
		}
	} else {
		groupByFunction(c.Sigs, t.info)
	}
	if d.err != nil {
		return
	}
	t.ends = threadSlots(c.Sigs, t.info, t.ends)
	b, err := d.columnReader.times()
	if err == nil {
		err = t.decode(b, c)
	}
	if err != nil {
		d.fail(fmt.Errorf("times: %w", err))
	}
}

func (d *callsDecoder) started(c *Calls, first uint64) {
	if d.err != nil {
		return
	}
	n := 0
	for i, calls := range d.timesDecoder.calls {
		if c.Sigs[i].Flags&FlagRequest != 0 {
			n += int(calls)
		}
	}
	c.Request = resize(c.Request, n)
	d.requests(colRequest, c.Request, first)
}

// requests fills to with request numbers.
func (d *callsDecoder) requests(id columnID, to []uint64, next uint64) {
	if d.err == nil && !d.columns[id].present {
		for i := range to {
			to[i] = next
			next++
		}
		return
	}
	for i, v := range d.column(id, len(to)) {
		to[i] = next + uint64(unzigzag(v))
		next = to[i] + 1
	}
}

func (d *callsDecoder) done(c *Calls, nsigs int, first uint64) {
	if d.err != nil {
		return
	}
	n := 0
	for i, calls := range d.timesDecoder.calls {
		n += int(c.Sigs[i].NDone) * int(calls)
	}
	if n > MaxBlockDone || nsigs > n {
		d.fail(fmt.Errorf("%d completed requests with %d signatures in a block", n, nsigs))
		return
	}
	c.DoneSigs = resize(c.DoneSigs, nsigs)
	s := c.DoneSigs
	clear(s)
	fill(d, colDoneKind, math.MaxUint8, s, func(s *DoneSig, v uint64) { s.Kind = DoneKind(v) })
	fill(d, colDoneFlags, math.MaxUint16, s, func(s *DoneSig, v uint64) { s.Flags = Flags(v) })
	fill(d, colDoneSource, maxOptional32, s, func(s *DoneSig, v uint64) { s.Source = optional32(v) })
	fill(d, colDoneTag, maxOptional32, s, func(s *DoneSig, v uint64) { s.Tag = optional32(v) })
	fill(d, colDoneBytes, math.MaxUint64, s, func(s *DoneSig, v uint64) { s.Bytes = optional64(v) })
	fill(d, colDoneError, math.MaxUint32, s, func(s *DoneSig, v uint64) { s.Error = int32(unzigzag(v)) })

	c.DoneIndex, c.DoneRequest = resize(c.DoneIndex, n), resize(c.DoneRequest, n)
	d.indices(colDoneIndex, c.DoneIndex, nsigs)
	d.requests(colDoneRequest, c.DoneRequest, first)
}

// fill sets one field of all elements of s from a column.
func fill[T any](d *callsDecoder, id columnID, limit uint64, s []T, set func(*T, uint64)) {
	for i, v := range d.bounded(id, len(s), limit) {
		set(&s[i], v)
	}
}
