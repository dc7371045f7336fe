// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"fmt"
	"math"
)

// callsEncoder turns Calls into the payload of a calls block. It keeps its
// buffers from block to block.
type callsEncoder struct {
	columnWriter
	times  timesEncoder
	values []uint64
}

// callsShape is what a block's header and its checks need to know of Calls.
type callsShape struct {
	calls            []uint32 // per signature
	thread           uint32
	timeMin, timeMax int64
	requests, done   int
}

// shape checks that c is whole: lengths agree, indices are within. It counts in
// scratch.
func (c *Calls) shape(scratch []uint32) (s callsShape, err error) {
	n := len(c.Index)
	if len(c.Begin) != n || len(c.End) != n {
		return s, fmt.Errorf("calls with %d indices, %d begins, %d ends", n, len(c.Begin), len(c.End))
	}
	s.calls = resize(scratch, len(c.Sigs))
	clear(s.calls)
	if n > 0 {
		s.timeMin, s.timeMax = c.Begin[0], c.Begin[0]
	}
	begins, ends := c.Begin[:n], c.End[:n]
	for i, x := range c.Index {
		if int(x) >= len(s.calls) {
			return s, fmt.Errorf("call %d has signature %d of %d", i, x, len(c.Sigs))
		}
		s.calls[x]++
		s.timeMin = min(s.timeMin, begins[i])
		s.timeMax = max(s.timeMax, begins[i], ends[i])
	}
	for i := range c.Sigs {
		s.done += int(c.Sigs[i].NDone) * int(s.calls[i])
		if c.Sigs[i].Flags&FlagRequest != 0 {
			s.requests += int(s.calls[i])
		}
		if c.Sigs[i].Flags&FlagInFlight != 0 && s.calls[i] > 0 {
			s.timeMax = math.MaxInt64
		}
	}
	if len(c.Request) != s.requests {
		return s, fmt.Errorf("%d calls have a request, but there are %d request numbers", s.requests, len(c.Request))
	}
	if len(c.DoneIndex) != s.done || len(c.DoneRequest) != s.done {
		return s, fmt.Errorf("calls completed %d requests, but there are %d and %d", s.done, len(c.DoneIndex), len(c.DoneRequest))
	}
	for i, x := range c.DoneIndex {
		if int(x) >= len(c.DoneSigs) {
			return s, fmt.Errorf("completed request %d has signature %d of %d", i, x, len(c.DoneSigs))
		}
	}
	s.thread = noThread
	seen := false
	for i := range c.Sigs {
		if s.calls[i] == 0 {
			continue
		}
		if t := c.Sigs[i].Thread; !seen {
			s.thread, seen = t, true
		} else if t != s.thread {
			s.thread = noThread
			break
		}
	}
	return s, nil
}

// fits says whether a block can hold c.
func (c *Calls) fits(s callsShape) bool {
	if len(c.Index) > MaxBlockCalls || len(c.Sigs) > MaxBlockCalls || s.done > MaxBlockDone || len(c.DoneSigs) > s.done {
		return false
	}
	args := 0
	for i := range c.Sigs {
		args += len(c.Sigs[i].Args)
	}
	return args <= maxBlockArgs
}

// maxBlockArgs keeps the argument column within MaxUnpacked.
const maxBlockArgs = MaxUnpacked / binary.MaxVarintLen64

// optional maps an integer that may be missing (none) to 0, others above.
func optional(v, none int64) uint64 {
	if v == none {
		return 0
	}
	return zigzag(v) + 1
}

// encode appends c's payload to b. c fits a block.
func (e *callsEncoder) encode(b []byte, c *Calls, calls []uint32) []byte {
	e.reset()
	e.putTimes(c, calls)
	e.putIndex(colIndex, c.Index, len(c.Sigs))
	e.putRequests(colRequest, c.Request)
	e.sigs(c.Sigs)
	e.done(c)

	b = binary.AppendUvarint(b, uint64(len(c.Sigs)))
	b = binary.AppendUvarint(b, uint64(len(c.DoneSigs)))
	b = binary.AppendUvarint(b, first(c.Request))
	b = binary.AppendUvarint(b, first(c.DoneRequest))
	b = binary.AppendUvarint(b, uint64(e.columns))
	b = append(b, e.directory...)
	return append(b, e.data...)
}

// putTimes stores the times, and the groups that they are coded by.
func (e *callsEncoder) putTimes(c *Calls, calls []uint32) {
	times, explicit := e.times.encode(c, calls)
	e.data = append(e.data, times...)
	e.enter(colTimes, codingTimes, len(times), len(times))
	if !explicit {
		return
	}
	v := e.values[:0]
	for i := range c.Sigs {
		v = append(v, uint64(e.times.info[i].group))
	}
	e.put(colGroup, v)
	e.values = v
}

func (e *callsEncoder) sigs(sigs []Sig) {
	field(e, colFunc, sigs, func(s *Sig) uint64 { return uint64(s.Func) })
	field(e, colFlags, sigs, func(s *Sig) uint64 { return uint64(s.Flags) })
	field(e, colThread, sigs, func(s *Sig) uint64 { return uint64(s.Thread) })
	field(e, colComm, sigs, func(s *Sig) uint64 { return uint64(s.Comm) })
	field(e, colWin, sigs, func(s *Sig) uint64 { return uint64(s.Win) })
	field(e, colFile, sigs, func(s *Sig) uint64 { return uint64(s.File) })
	field(e, colDatatype, sigs, func(s *Sig) uint64 { return uint64(s.Datatype) })
	field(e, colOp, sigs, func(s *Sig) uint64 { return uint64(s.Op) })
	field(e, colSite, sigs, func(s *Sig) uint64 { return uint64(s.Site) })
	field(e, colPeer, sigs, func(s *Sig) uint64 { return optional(int64(s.Peer), int64(NoRank)) })
	field(e, colTag, sigs, func(s *Sig) uint64 { return optional(int64(s.Tag), int64(NoTag)) })
	field(e, colRoot, sigs, func(s *Sig) uint64 { return optional(int64(s.Root), int64(NoRank)) })
	field(e, colCount, sigs, func(s *Sig) uint64 { return optional(s.Count, NoCount) })
	field(e, colBytes, sigs, func(s *Sig) uint64 { return optional(s.Bytes, NoCount) })
	field(e, colError, sigs, func(s *Sig) uint64 { return zigzag(int64(s.Error)) })
	field(e, colNDone, sigs, func(s *Sig) uint64 { return uint64(s.NDone) })
	field(e, colNArgs, sigs, func(s *Sig) uint64 { return uint64(len(s.Args)) })

	v := e.values[:0]
	for i := range sigs {
		for _, a := range sigs[i].Args {
			v = append(v, zigzag(a))
		}
	}
	e.put(colArgs, v)
	e.values = v

	second := false
	for i := range sigs {
		second = second || sigs[i].Second != nil
	}
	if !second {
		return
	}
	field(e, colSecond, sigs, func(s *Sig) uint64 {
		if s.Second != nil {
			return 1
		}
		return 0
	})
	sides := func(id columnID, get func(s *Side) uint64) {
		v := e.values[:0]
		for i := range sigs {
			if s := sigs[i].Second; s != nil {
				v = append(v, get(s))
			}
		}
		e.put(id, v)
		e.values = v
	}
	sides(colSecondPeer, func(s *Side) uint64 { return optional(int64(s.Peer), int64(NoRank)) })
	sides(colSecondTag, func(s *Side) uint64 { return optional(int64(s.Tag), int64(NoTag)) })
	sides(colSecondDatatype, func(s *Side) uint64 { return uint64(s.Datatype) })
	sides(colSecondCount, func(s *Side) uint64 { return optional(s.Count, NoCount) })
	sides(colSecondBytes, func(s *Side) uint64 { return optional(s.Bytes, NoCount) })
	sides(colSecondDisp, func(s *Side) uint64 { return zigzag(s.Disp) })
}

func (e *callsEncoder) done(c *Calls) {
	sigs := c.DoneSigs
	field(e, colDoneKind, sigs, func(s *DoneSig) uint64 { return uint64(s.Kind) })
	field(e, colDoneFlags, sigs, func(s *DoneSig) uint64 { return uint64(s.Flags) })
	field(e, colDoneSource, sigs, func(s *DoneSig) uint64 { return optional(int64(s.Source), int64(NoRank)) })
	field(e, colDoneTag, sigs, func(s *DoneSig) uint64 { return optional(int64(s.Tag), int64(NoTag)) })
	field(e, colDoneBytes, sigs, func(s *DoneSig) uint64 { return optional(s.Bytes, NoCount) })
	field(e, colDoneError, sigs, func(s *DoneSig) uint64 { return zigzag(int64(s.Error)) })

	e.putIndex(colDoneIndex, c.DoneIndex, len(c.DoneSigs))
	e.putRequests(colDoneRequest, c.DoneRequest)
}

// putRequests stores request numbers as differences to one more than the
// number before, the first to firstRequest's. Numbers that count up, as they
// do most of the time, take no room.
func (e *callsEncoder) putRequests(id columnID, requests []uint64) {
	next, all := first(requests), uint64(0)
	for _, r := range requests {
		all |= r ^ next
		next = r + 1
	}
	if all == 0 {
		return
	}
	v := e.values[:0]
	next = first(requests)
	for _, r := range requests {
		v = append(v, zigzag(int64(r-next)))
		next = r + 1
	}
	e.put(id, v)
	e.values = v
}

// first is the first number, stored in the payload's head.
func first(requests []uint64) uint64 {
	if len(requests) == 0 {
		return 0
	}
	return requests[0]
}

// field stores one field of all elements of s as a column.
func field[T any](e *callsEncoder, id columnID, s []T, get func(*T) uint64) {
	v := e.values[:0]
	for i := range s {
		v = append(v, get(&s[i]))
	}
	e.put(id, v)
	e.values = v
}
