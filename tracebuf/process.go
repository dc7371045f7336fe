// SPDX-License-Identifier: Apache-2.0

package tracebuf

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

func loadEnd(s *slot) uint64 { return atomic.LoadUint64(&s.end) }

// Definitions reads what has come into the ring of definitions.
type Definitions struct {
	env  *Env
	ring *Ring
	to   Definer
}

// NewDefinitions reads ring and hands what it finds to to. Env then knows it,
// and reads on by itself when a call refers to what it does not know yet.
func NewDefinitions(env *Env, ring *Ring, to Definer) *Definitions {
	d := &Definitions{env: env, ring: ring, to: to}
	env.refresh = func() { _ = d.Drain() }
	return d
}

// Drain reads all definitions that are there. An error says that some of them
// were damaged; the rest was read.
func (d *Definitions) Drain() error {
	var errs error
	published := d.ring.published()
	at := d.ring.tail()
	for at < published {
		s := d.ring.slot(at)
		slots := 1 + uint64(s.ncont)
		if s.function() != definitionFunc || slots > d.ring.capacity || loadEnd(s) == 0 || s.count < 0 || uint64(s.count) > (slots-1)*SlotSize {
			errs = errors.Join(errs, errDefinition)
			at = published
			break
		}
		if s.count > 0 {
			b := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(s), SlotSize)), s.count)
			errs = errors.Join(errs, d.env.define(s.aux, b, d.to))
		}
		at += slots
	}
	d.ring.setTail(at)
	return errs
}
