// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// resolve looks up all that the block's signatures refer to.
func (r *rankWalk) resolve(c *format.Calls) {
	r.sigs = r.sigs[:0]
	for i := range c.Sigs {
		sig := &c.Sigs[i]
		t := r.profiler.trait(sig.Func)
		s := sigState{
			trait:   t,
			thread:  r.thread(sig.Thread),
			done:    int(sig.NDone),
			slow:    t.special() || sig.Flags&(format.FlagInFlight|format.FlagNested) != 0,
			counted: r.profiler.counts(r.rank, sig),
			request: sig.Flags&format.FlagRequest != 0,
			min:     math.MaxInt64,
		}
		if s.counted {
			s.cell = r.cell(sig.Func)
			s.site = r.site(siteKey{sig.Func, sig.Site})
			s.times = r.worker.durations(sig.Func)
		}
		r.sigs = append(r.sigs, s)
	}
	r.dones = r.dones[:0]
	for range c.DoneSigs {
		r.dones = append(r.dones, 0)
	}
}

func (r *rankWalk) thread(id uint32) *thread {
	t := r.threads[id]
	if t == nil {
		t = &thread{id: id}
		r.threads[id] = t
	}
	return t
}

func (r *rankWalk) cell(fn mpi.FuncID) *cell {
	if int(fn) >= len(r.cells) {
		fn = 0
	}
	if r.cells[fn] == nil {
		r.cells[fn] = newCell()
	}
	return r.cells[fn]
}

func (r *rankWalk) site(key siteKey) *cell {
	c := r.sites[key]
	if c == nil {
		c = newCell()
		r.sites[key] = c
	}
	return c
}

// flush adds what the block's calls came to, by signature, to the rank's cells.
func (r *rankWalk) flush(c *format.Calls) {
	for i := range r.sigs {
		s, sig := &r.sigs[i], &c.Sigs[i]
		if s.calls == 0 {
			continue
		}
		r.calls += s.calls
		s.thread.calls += s.calls
		traffic := r.moved(s, sig)
		traffic.add(s.started)
		traffic.Received += s.received
		r.traffic.add(traffic)
		for _, to := range [...]*cell{s.cell, s.site} {
			to.calls += s.calls
			to.traffic.add(traffic)
			if sig.Error != 0 {
				to.errors += s.calls
			}
			switch {
			case sig.Flags&format.FlagInFlight != 0: // counted when it is left
			case sig.Flags&format.FlagNested != 0:
				to.nested += s.calls
			default:
				to.returned += s.calls
				to.inside += s.time
				to.time += s.time
				to.min = min(to.min, s.min)
				to.max = max(to.max, s.max)
			}
		}
		if sig.Error != 0 {
			r.errors += s.calls
		}
	}
	for i, n := range r.dones {
		if n > 0 {
			r.worker.sizes.add(classReceive, c.DoneSigs[i].Bytes, n)
		}
	}
}
