// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/binary"

	"github.com/mpitrace/mpitrace/format"
)

// weaver makes one stream of the calls of several blocks, in the order of
// their begin, and hands it out in blocks with one dictionary each.
type weaver struct {
	emit    func(*format.Calls)
	strands []strand
	used    int
	out     format.Calls
	sigs    map[string]uint32
	done    map[format.DoneSig]uint32
	key     []byte
}

// strand is one block on its way in: the calls from next on are to come.
type strand struct {
	calls         *format.Calls
	next, to      int
	request, done int
	sigs          []uint32 // by signature: its place in the output's dictionary, plus 1
	doneSigs      []uint32
}

func (w *weaver) reset(emit func(*format.Calls)) {
	w.emit = emit
	w.used = 0
	w.clearOut()
}

func (w *weaver) clearOut() {
	o := &w.out
	o.Sigs, o.Index, o.Begin, o.End = o.Sigs[:0], o.Index[:0], o.Begin[:0], o.End[:0]
	o.Request, o.DoneSigs, o.DoneIndex, o.DoneRequest = o.Request[:0], o.DoneSigs[:0], o.DoneIndex[:0], o.DoneRequest[:0]
	if w.sigs == nil {
		w.sigs, w.done = map[string]uint32{}, map[format.DoneSig]uint32{}
	}
	clear(w.sigs)
	clear(w.done)
	for i := range w.strands[:w.used] {
		clear(w.strands[i].sigs)
		clear(w.strands[i].doneSigs)
	}
}

// add takes in the calls from up to, not including, to of a block. The block
// must stay as it is until run or concatenate is done.
func (w *weaver) add(c *format.Calls, from, to int) {
	if from >= to {
		return
	}
	if w.used == len(w.strands) {
		w.strands = append(w.strands, strand{})
	}
	s := &w.strands[w.used]
	w.used++
	*s = strand{calls: c, next: from, to: to, sigs: cleared(s.sigs, len(c.Sigs)), doneSigs: cleared(s.doneSigs, len(c.DoneSigs))}
	for _, x := range c.Index[:from] {
		sig := &c.Sigs[x]
		if sig.Flags&format.FlagRequest != 0 {
			s.request++
		}
		s.done += int(sig.NDone)
	}
}

func cleared(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// concatenate hands out the blocks one after the other.
func (w *weaver) concatenate() {
	for i := range w.used {
		s := &w.strands[i]
		for s.next < s.to {
			w.take(s)
		}
	}
	w.flush()
}

// run hands out the calls in the order of their begin; those that began at the
// same time in the order of their threads.
func (w *weaver) run() {
	heap := make([]*strand, 0, w.used)
	for i := range w.used {
		heap = append(heap, &w.strands[i])
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i)
	}
	for len(heap) > 0 {
		s := heap[0]
		w.take(s)
		if s.next == s.to {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		sink(heap, 0)
	}
	w.flush()
}

// sink puts heap[i] where it belongs below.
func sink(heap []*strand, i int) {
	for {
		least := i
		for _, k := range [2]int{2*i + 1, 2*i + 2} {
			if k < len(heap) && heap[k].before(heap[least]) {
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

func (s *strand) before(o *strand) bool {
	a, b := s.calls, o.calls
	if x, y := a.Begin[s.next], b.Begin[o.next]; x != y {
		return x < y
	}
	if x, y := a.Sigs[a.Index[s.next]].Thread, b.Sigs[b.Index[o.next]].Thread; x != y {
		return x < y
	}
	return a.FirstSeq+uint64(s.next) < b.FirstSeq+uint64(o.next)
}

// take moves a strand's next call to the output.
func (w *weaver) take(s *strand) {
	o, c := &w.out, s.calls
	x := c.Index[s.next]
	sig := &c.Sigs[x]
	if len(o.Index) == format.MaxBlockCalls || len(o.DoneIndex)+int(sig.NDone) > format.MaxBlockDone && len(o.Index) > 0 {
		w.flush()
	}
	if s.sigs[x] == 0 {
		s.sigs[x] = w.intern(sig) + 1
	}
	o.Index = append(o.Index, s.sigs[x]-1)
	o.Begin = append(o.Begin, c.Begin[s.next])
	o.End = append(o.End, c.End[s.next])
	s.next++
	if sig.Flags&format.FlagRequest != 0 {
		o.Request = append(o.Request, c.Request[s.request])
		s.request++
	}
	for range sig.NDone {
		d := c.DoneIndex[s.done]
		if s.doneSigs[d] == 0 {
			s.doneSigs[d] = w.internDone(c.DoneSigs[d]) + 1
		}
		o.DoneIndex = append(o.DoneIndex, s.doneSigs[d]-1)
		o.DoneRequest = append(o.DoneRequest, c.DoneRequest[s.done])
		s.done++
	}
}

func (w *weaver) flush() {
	if len(w.out.Index) > 0 {
		w.emit(&w.out)
	}
	w.clearOut()
}

// intern returns the place of sig in the output's dictionary.
func (w *weaver) intern(sig *format.Sig) uint32 {
	w.key = appendSigKey(w.key[:0], sig)
	if at, ok := w.sigs[string(w.key)]; ok {
		return at
	}
	at := uint32(len(w.out.Sigs))
	w.sigs[string(w.key)] = at
	w.out.Sigs = append(w.out.Sigs, *sig)
	return at
}

func (w *weaver) internDone(sig format.DoneSig) uint32 {
	if at, ok := w.done[sig]; ok {
		return at
	}
	at := uint32(len(w.out.DoneSigs))
	w.done[sig] = at
	w.out.DoneSigs = append(w.out.DoneSigs, sig)
	return at
}

// appendSigKey appends what tells signatures apart: all of it.
func appendSigKey(b []byte, s *format.Sig) []byte {
	le := binary.LittleEndian
	u32 := func(values ...uint32) {
		for _, v := range values {
			b = le.AppendUint32(b, v)
		}
	}
	u64 := func(values ...int64) {
		for _, v := range values {
			b = le.AppendUint64(b, uint64(v))
		}
	}
	u32(uint32(s.Func), uint32(s.Flags), s.Thread, uint32(s.Comm), uint32(s.Win), uint32(s.File), uint32(s.Datatype),
		uint32(s.Op), uint32(s.Site), uint32(s.Peer), uint32(s.Tag), uint32(s.Root), uint32(s.Error), s.NDone)
	u64(s.Count, s.Bytes)
	if t := s.Second; t != nil {
		b = append(b, 1)
		u32(uint32(t.Peer), uint32(t.Tag), uint32(t.Datatype))
		u64(t.Count, t.Bytes, t.Disp)
	} else {
		b = append(b, 0)
	}
	u64(s.Args...)
	return b
}
