// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/mpitrace/mpitrace/format"

// motion is the data that a call moves, seen from its rank. Amounts that are
// not known are negative.
type motion struct {
	class    sizeClass
	sent     int64
	received int64
}

// motionOf is what one call with the signature moves, or, for a call that
// makes a persistent request, what each start of it moves.
func (r *rankWalk) motionOf(t *trait, sig *format.Sig) motion {
	m := motion{class: t.class, sent: -1, received: -1}
	if t.class == classNone {
		return m
	}
	if sig.Peer != format.ProcNull {
		switch {
		case t.first == flowSend, t.first == flowRoot && r.isRoot(sig):
			m.sent = sig.Bytes
		case t.first == flowReceive, t.first == flowRoot:
			m.received = sig.Bytes
		}
	}
	if sig.Second == nil && (t.result == forAll || t.result == forRoot && r.isRoot(sig)) {
		m.received = sig.Bytes
	}
	if sig.Second != nil && t.second == flowReceive && sig.Second.Peer != format.ProcNull {
		m.received = max(m.received, sig.Second.Bytes)
	}
	return m
}

// isRoot tells whether the rank is the root of a rooted call.
func (r *rankWalk) isRoot(sig *format.Sig) bool {
	switch {
	case sig.Root == format.RootRank:
		return true
	case sig.Root < 0:
		return false
	}
	return r.profiler.trace.WorldRank(sig.Comm, r.rank, sig.Root) == r.rank
}

// count adds n times the motion to the histogram and returns its traffic.
func (m motion) count(h *sizeHistogram, n uint64) Traffic {
	switch m.class {
	case classSend, classReceive:
		h.add(classSend, m.sent, n)
		h.add(classReceive, m.received, n)
	default:
		h.add(m.class, max(m.sent, m.received), n)
	}
	out, in := max(0, m.sent)*int64(n), max(0, m.received)*int64(n)
	if m.class == classIO {
		return Traffic{Written: out, Read: in}
	}
	return Traffic{Sent: out, Received: in}
}

// moved is what the block's calls of a signature moved by themselves, not
// through requests that they complete or start.
func (r *rankWalk) moved(s *sigState, sig *format.Sig) Traffic {
	if s.trait.inits || sig.Flags&format.FlagInFlight != 0 {
		return Traffic{}
	}
	return r.motionOf(s.trait, sig).count(&r.worker.sizes, s.calls)
}

// complete counts the receives that a call completed.
func (r *rankWalk) complete(c *format.Calls, s *sigState, first int) {
	for i := first; i < min(first+s.done, len(c.DoneIndex)); i++ {
		index := c.DoneIndex[i]
		d := &c.DoneSigs[index]
		if d.Kind != format.DoneRecv || d.Flags&format.FlagCancelled != 0 || d.Bytes < 0 {
			continue
		}
		s.received += d.Bytes
		r.dones[index]++
	}
}

// remember keeps what a persistent request moves.
func (r *rankWalk) remember(c *format.Calls, s *sigState, sig *format.Sig, request int) {
	if m := r.motionOf(s.trait, sig); m.sent >= 0 || m.received >= 0 {
		r.requests[c.Request[request]] = m
	}
}

// activate counts what the persistent requests move that a call starts:
// MPI_Start has one request of its own, MPI_Startall a list.
func (r *rankWalk) activate(c *format.Calls, s *sigState, request, done int) {
	var numbers []uint64
	switch {
	case s.done > 0:
		numbers = c.DoneRequest[min(done, len(c.DoneRequest)):min(done+s.done, len(c.DoneRequest))]
	case s.request:
		numbers = c.Request[request : request+1]
	}
	for _, n := range numbers {
		if m, ok := r.requests[n]; ok {
			s.started.add(m.count(&r.worker.sizes, 1))
		}
	}
}
