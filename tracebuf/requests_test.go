// SPDX-License-Identifier: Apache-2.0

package tracebuf

import (
	"math/rand/v2"
	"testing"
)

// TestRequestsAgainstModel makes and completes requests at random, with few
// handles so that many are shared, and compares with plain queues.
func TestRequestsAgainstModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	r := NewRequests()
	model := make(map[uint64][]uint64)
	pending := 0
	for range 200_000 {
		handle := uint64(1 + rnd.IntN(3000)*64)
		if rnd.IntN(5) == 0 {
			handle = 1 // one that libraries give out again and again
		}
		if rnd.IntN(2) == 0 && pending < 2500 {
			model[handle] = append(model[handle], r.made(handle, request{}))
			pending++
			continue
		}
		place := r.find(handle)
		if (place < 0) != (len(model[handle]) == 0) {
			t.Fatalf("handle %d: found %v, have %v", handle, place >= 0, model[handle])
		}
		if place < 0 {
			continue
		}
		if got := r.table[place].number; got != model[handle][0] {
			t.Fatalf("handle %d: oldest is %d, want %d", handle, got, model[handle][0])
		}
		r.remove(place)
		model[handle] = model[handle][1:]
		pending--
	}
	if r.Pending() != pending {
		t.Errorf("%d pending, want %d", r.Pending(), pending)
	}
}

// TestRequestsBounded completes what it makes: memory must not grow.
func TestRequestsBounded(t *testing.T) {
	r := NewRequests()
	for i := range uint64(1_000_000) {
		r.made(8+i%4000*8, request{})
		if i >= 8 {
			r.remove(r.find(8 + (i-8)%4000*8))
		}
	}
	if len(r.table) > 1024 || len(r.pool) > 0 {
		t.Errorf("8 requests at a time took %d places and %d in the pool", len(r.table), len(r.pool))
	}
}
