// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"iter"

	"github.com/mpitrace/mpitrace/format"
)

// Call is one call of a block of calls. It refers to the block and is valid as
// long as the block is.
type Call struct {
	Rank    int32
	Seq     uint64 // number within the rank
	Begin   int64
	End     int64 // 0 if Sig has FlagInFlight
	Sig     *format.Sig
	Request uint64 // if Sig has FlagRequest

	doneIndex   []uint32
	doneRequest []uint64
	doneSigs    []format.DoneSig
}

// InFlight tells whether the call never returned.
func (c *Call) InFlight() bool { return c.Sig.Flags&format.FlagInFlight != 0 }

// HasRequest tells whether the call created or started a request.
func (c *Call) HasRequest() bool { return c.Sig.Flags&format.FlagRequest != 0 }

// Done is how many requests the call completed.
func (c *Call) Done() int { return len(c.doneIndex) }

// Completed returns the i-th request that the call completed.
func (c *Call) Completed(i int) (request uint64, sig *format.DoneSig) {
	return c.doneRequest[i], &c.doneSigs[c.doneIndex[i]]
}

// Each goes through the calls of a block.
func Each(c *format.Calls) iter.Seq[Call] {
	return func(yield func(Call) bool) {
		at := reader{calls: c}
		for at.next() {
			if !yield(at.call) {
				return
			}
		}
	}
}

// reader goes through the calls of a block.
type reader struct {
	calls            *format.Calls
	call             Call // the current one
	i, request, done int  // of the next one
}

// next moves on to the next call, if there is one.
func (r *reader) next() bool {
	c, i := r.calls, r.i
	if i == len(c.Index) {
		return false
	}
	sig := &c.Sigs[c.Index[i]]
	r.call = Call{Rank: c.Rank, Seq: c.FirstSeq + uint64(i), Begin: c.Begin[i], End: c.End[i], Sig: sig}
	if sig.Flags&format.FlagRequest != 0 {
		r.call.Request = c.Request[r.request]
		r.request++
	}
	if n := int(sig.NDone); n > 0 {
		r.call.doneIndex = c.DoneIndex[r.done : r.done+n]
		r.call.doneRequest = c.DoneRequest[r.done : r.done+n]
		r.call.doneSigs = c.DoneSigs
		r.done += n
	}
	r.i++
	return true
}
