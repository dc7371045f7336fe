// SPDX-License-Identifier: Apache-2.0

package tracebuf

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/mpitrace/mpitrace/format"
)

// BlockCalls is how many calls are handed on at once.
const BlockCalls = 8192

// Emit takes a block of calls. It must not keep it.
type Emit func(*format.Calls) error

// Decoder turns one ring's slots into blocks of calls.
type Decoder struct {
	env  *Env
	ring *Ring
	rank int32
	emit Emit

	at     uint64 // next slot to read
	thread uint32
	seq    uint64
	calls  format.Calls
	sigs   dictionary // of records without times and requests
	dones  dictionary
	keys   []uint64
	// Programs repeat themselves: what came after a record is what most likely
	// comes after it again, and one comparison is cheaper than a search.
	sigOrder  predictor
	doneOrder predictor
	// Hidden counts the records that served tracking only, Lost the calls that
	// were overwritten in ring mode, Skipped those made by library layers.
	Hidden, Lost, Skipped uint64
	// Calls counts what was handed on.
	Calls uint64
}

// skip stands for the index of a signature whose calls are left out.
const skip = unknown - 1

// NewDecoder reads ring from where its last reader stopped.
func NewDecoder(env *Env, ring *Ring, rank int32, emit Emit) *Decoder {
	d := &Decoder{env: env, ring: ring, rank: rank, emit: emit, at: ring.tail(), thread: ring.Thread()}
	d.calls.Rank = rank
	d.keys = make([]uint64, env.longest*SlotSize/8)
	d.sigs.init()
	d.dones.init()
	return d
}

// Thread is the index of the thread that the decoder is reading.
func (d *Decoder) Thread() uint32 { return d.thread }

// Rewind makes the decoder begin again with what a new owner of the ring writes.
func (d *Decoder) Rewind() {
	d.thread = d.ring.Thread()
	d.seq = 0
}

// nextEnd is the end of the next whole record, 0 if there is none.
func (d *Decoder) nextEnd(published uint64) uint64 {
	if d.at >= published {
		return 0
	}
	return loadEnd(d.ring.slot(d.at))
}

// Drain reads all whole records of the decoders' rings, in the order of their
// ends, because a request may be completed by another thread than the one that
// made it. What was read is handed on, then given back to the writers.
func Drain(decoders []*Decoder) error {
	if len(decoders) == 1 {
		d := decoders[0]
		published := d.ring.published()
		for d.nextEnd(published) != 0 {
			if err := d.step(); err != nil {
				return err
			}
		}
		return d.flush()
	}
	published := make([]uint64, len(decoders))
	for i, d := range decoders {
		published[i] = d.ring.published()
	}
	for {
		var first *Decoder
		best := ^uint64(0)
		for i, d := range decoders {
			if end := d.nextEnd(published[i]); end != 0 && end < best {
				first, best = d, end
			}
		}
		if first == nil {
			break
		}
		if err := first.step(); err != nil {
			return err
		}
	}
	for _, d := range decoders {
		if err := d.flush(); err != nil {
			return err
		}
	}
	return nil
}

// Unfinished hands on the call that the thread is in, if it is in one.
func (d *Decoder) Unfinished() error {
	if d.at >= d.ring.published() || loadEnd(d.ring.slot(d.at)) != 0 {
		return nil
	}
	if err := d.step(); err != nil {
		return err
	}
	return d.flush()
}

// Overwritten moves on, in ring mode, to the oldest record that is still whole.
func (d *Decoder) Overwritten() {
	at, calls := d.ring.oldest(d.ring.published())
	if at > d.at {
		d.at = at
		d.Lost = calls - min(calls, d.Calls+d.Hidden+d.Skipped)
		d.seq = calls
	}
}

// step reads one record.
func (d *Decoder) step() error {
	s := d.ring.slot(d.at)
	fn := int(s.function())
	slots := 1 + int(s.ncont)
	if fn >= len(d.env.plans) || d.env.plans[fn].fn == nil || uint64(slots) > d.ring.capacity || slots < d.env.plans[fn].fixed {
		return fmt.Errorf("ring of thread %d: record %d is damaged (function %d, %d slots)", d.thread, d.at, fn, slots)
	}
	p := &d.env.plans[fn]
	end := loadEnd(s)
	if p.fixed == 1 && !p.requests && s.flags&slotHidden == 0 && end != 0 {
		d.at++
		return d.short(s, p, end)
	}
	words := unsafe.Slice((*uint64)(unsafe.Pointer(s)), slots*SlotSize/8)
	done := len(d.calls.DoneIndex)
	if p.requests {
		d.requests(words[p.fixed*SlotSize/8:])
	}
	ndone := len(d.calls.DoneIndex) - done
	number := d.request(s, p, end)
	d.at += uint64(slots)
	if s.flags&slotHidden != 0 {
		d.Hidden++
		d.cut(done)
		return nil
	}
	key := d.key(words[:p.fixed*SlotSize/8], p, ndone, number != 0, end == 0)
	i := d.sigOrder.find(&d.sigs, key)
	if i == unknown {
		i = d.signature(words, p, key, ndone, number != 0, end == 0)
	}
	if i == skip {
		d.Skipped++
		d.cut(done)
		return nil
	}
	return d.add(i, s.begin, end, number)
}

// short is the rest of step for what most records are: one slot, whole, that
// takes no requests. If the record is the one that came after the last one
// before, its slot is compared where it lies.
func (d *Decoder) short(s *slot, p *plan, end uint64) error {
	number := d.request(s, p, end)
	words := (*[SlotSize / 8]uint64)(unsafe.Pointer(s))
	aux, extra := s.aux, uint64(0)
	if p.request {
		aux = 0
	}
	if number != 0 {
		extra = extraRequest
	}
	o := &d.sigOrder
	for n, tries := o.guess(); tries > 0; n, tries = o.last, tries-1 {
		g := &o.seen[n]
		if k := d.sigs.words[g.start:g.end]; len(k) == shortKey &&
			k[0] == words[2] && k[1] == words[3] && k[2] == words[4] && k[3] == words[5] && k[4] == aux && k[5] == words[7] && k[6] == extra {
			o.last = n
			if g.value == skip {
				d.Skipped++
				return nil
			}
			return d.add(g.value, s.begin, end, number)
		}
	}
	key := d.key(words[:], p, 0, number != 0, false)
	i := o.find(&d.sigs, key)
	if i == unknown {
		i = d.signature(words[:], p, key, 0, number != 0, false)
	}
	if i == skip {
		d.Skipped++
		return nil
	}
	return d.add(i, s.begin, end, number)
}

// request enters the request that a record's call has made; 0 if it made none.
func (d *Decoder) request(s *slot, p *plan, end uint64) uint64 {
	if !p.request || s.aux == 0 || s.aux == d.env.ABI.RequestNull || s.error != 0 || end == 0 {
		return 0
	}
	q := p.made
	if s.flags&(slotAnySource|slotAnyTag) != 0 {
		q.flags = d.env.flags(s) & (format.FlagAnySource | format.FlagAnyTag)
	}
	q.procNull = p.peer && s.peer == d.env.ABI.ProcNull
	return d.env.Requests.made(s.aux, q)
}

// add puts a call into the block.
func (d *Decoder) add(sig uint32, begin, end, number uint64) error {
	c := &d.calls
	c.Index = append(c.Index, sig)
	c.Begin = append(c.Begin, int64(begin))
	c.End = append(c.End, int64(end))
	if number != 0 {
		c.Request = append(c.Request, number)
	}
	if len(c.Index) >= BlockCalls {
		return d.flush()
	}
	return nil
}

// signature enters a record of a kind that the block has not had.
func (d *Decoder) signature(words []uint64, p *plan, key []uint64, ndone int, request, inFlight bool) uint32 {
	c := &d.calls
	s := (*slot)(unsafe.Pointer(&words[0]))
	site, keep := d.env.Site(s.site(), p.fn)
	if !keep {
		d.sigOrder.add(&d.sigs, key, skip)
		return skip
	}
	sig := d.env.signature(words, p)
	sig.Site = site
	sig.Thread = d.thread
	sig.NDone = uint32(ndone)
	if request {
		sig.Flags |= format.FlagRequest
	}
	if inFlight {
		sig.Flags |= format.FlagInFlight
	}
	i := uint32(len(c.Sigs))
	d.sigOrder.add(&d.sigs, key, i)
	c.Sigs = append(c.Sigs, sig)
	return i
}

// cut forgets the completions that were read for a record that is left out.
func (d *Decoder) cut(done int) {
	d.calls.DoneIndex = d.calls.DoneIndex[:done]
	d.calls.DoneRequest = d.calls.DoneRequest[:done]
}

// A key's last word: how many requests were completed, and these.
const (
	extraRequest = 1 << iota
	extraInFlight
)

// shortKey is the length of the key of a record of one slot.
const shortKey = SlotSize/8 - 1

// key is what repeats of a record: its fixed slots without times and request.
func (d *Decoder) key(words []uint64, p *plan, ndone int, request, inFlight bool) []uint64 {
	// A reused array, without the calls that append would make of so few words.
	k := d.keys[:len(words)-1]
	for i, w := range words[2:] {
		k[i] = w
	}
	if p.request {
		k[4] = 0
	}
	extra := uint64(ndone) << 8
	if request {
		extra |= extraRequest
	}
	if inFlight {
		extra |= extraInFlight
	}
	// The number of slots is as long as the list of requests that were pending.
	k[5] &^= 0xffff << 32
	k[len(k)-1] = extra
	return k
}

// requests follows the requests of a record that takes some.
func (d *Decoder) requests(words []uint64) {
	n := len(words) * 8 / int(unsafe.Sizeof(done{}))
	if n == 0 {
		return
	}
	list := unsafe.Slice((*done)(unsafe.Pointer(&words[0])), n)
	for i := range list {
		if r := &list[i]; r.request != 0 && r.request != d.env.ABI.RequestNull {
			d.completion(r)
		}
	}
}

// completion follows one request of a record that takes requests.
func (d *Decoder) completion(r *done) {
	requests := d.env.Requests
	place := requests.find(r.request)
	if place < 0 {
		if r.state == doneComplete || r.state == doneCancelled || r.state == doneFreed {
			requests.Unknown++
		}
		d.done(0, format.DoneSig{Kind: format.DoneUnknown, Source: format.NoRank, Tag: format.NoTag, Error: r.error})
		return
	}
	q := &requests.table[place].request
	sig := format.DoneSig{Kind: q.kind, Source: format.NoRank, Tag: format.NoTag, Error: r.error}
	number := q.number
	switch r.state {
	case doneComplete, doneCancelled:
		if q.persistent && !q.active {
			return // an inactive request: nothing was completed
		}
		if q.kind == format.DoneRecv {
			sig.Flags = q.flags
			if q.procNull {
				sig.Source, sig.Tag = format.ProcNull, format.AnyTag
			} else {
				sig.Source, sig.Tag, sig.Bytes = d.env.rank(r.source), d.env.tag(r.tag), max(r.bytes, 0)
			}
		}
		if r.state == doneCancelled {
			sig.Flags |= format.FlagCancelled
			sig.Source, sig.Tag, sig.Bytes = format.NoRank, format.NoTag, 0
		}
		if q.persistent {
			q.active = false
		} else {
			requests.remove(place)
		}
	case doneStarted:
		q.active = true
		sig.Kind = format.DoneStarted
	case doneFreed:
		sig.Kind = format.DoneFreed
		requests.remove(place)
	default:
		sig.Kind = format.DonePending
	}
	d.done(number, sig)
}

func (d *Decoder) done(number uint64, sig format.DoneSig) {
	k := [3]uint64{
		uint64(sig.Kind) | uint64(sig.Flags)<<8 | uint64(uint32(sig.Error))<<32,
		uint64(uint32(sig.Source)) | uint64(uint32(sig.Tag))<<32,
		uint64(sig.Bytes),
	}
	c := &d.calls
	i := d.doneOrder.find(&d.dones, k[:])
	if i == unknown {
		i = uint32(len(c.DoneSigs))
		d.doneOrder.add(&d.dones, k[:], i)
		c.DoneSigs = append(c.DoneSigs, sig)
	}
	c.DoneIndex = append(c.DoneIndex, i)
	c.DoneRequest = append(c.DoneRequest, number)
}

// flush hands the block on and gives its slots back.
func (d *Decoder) flush() error {
	c := &d.calls
	var err error
	if n := len(c.Index); n > 0 {
		c.FirstSeq = d.seq
		err = d.emit(c)
		d.seq += uint64(n)
		d.Calls += uint64(n)
	}
	c.Sigs = slices.Delete(c.Sigs, 0, len(c.Sigs))
	c.Index, c.Begin, c.End, c.Request = c.Index[:0], c.Begin[:0], c.End[:0], c.Request[:0]
	c.DoneSigs, c.DoneIndex, c.DoneRequest = c.DoneSigs[:0], c.DoneIndex[:0], c.DoneRequest[:0]
	d.sigs.reset()
	d.dones.reset()
	d.sigOrder.reset()
	d.doneOrder.reset()
	d.ring.setTail(d.at)
	return err
}
