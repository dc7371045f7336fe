// SPDX-License-Identifier: Apache-2.0

package tracebuf

import (
	"bytes"
	"errors"
	"sync/atomic"
	"unsafe"
)

// Ring is a mapped ring, seen by its one reader.
type Ring struct {
	head     *head
	slots    unsafe.Pointer // capacity slots, mapped twice in a row
	capacity uint64
	mask     uint64
}

// ErrNotRing means that mapped memory is not a ring of this version.
var ErrNotRing = errors.New("not a ring of this version")

// At looks at the ring that begins at base. Its data must be mapped twice in a
// row behind its first page, as the recorder does.
func At(base unsafe.Pointer) (*Ring, error) {
	h := (*head)(base)
	if h.magic != Magic || h.version != Version || h.slotSize != SlotSize || h.capacity == 0 || h.capacity&(h.capacity-1) != 0 {
		return nil, ErrNotRing
	}
	return &Ring{
		head:     h,
		slots:    unsafe.Add(base, DataOffset),
		capacity: h.capacity,
		mask:     h.capacity - 1,
	}, nil
}

// Thread is the index of the thread that owns the ring.
func (r *Ring) Thread() uint32 { return r.head.thread }

// TID is the kernel's id of the thread.
func (r *Ring) TID() int32 { return int32(r.head.tid) }

// Name is the thread's name, as the program set it.
func (r *Ring) Name() string {
	name, _, _ := bytes.Cut(r.head.threadName[:], []byte{0})
	return string(name)
}

// LostCalls counts the calls that found no room, LostRequests the completed
// requests that records had no room for.
func (r *Ring) LostCalls() uint64 { return r.head.lostCalls }

// LostRequests counts the completed requests that were left out of records.
func (r *Ring) LostRequests() uint64 { return r.head.lostRequests }

func (r *Ring) published() uint64 { return atomic.LoadUint64(&r.head.head) }

func (r *Ring) tail() uint64 { return atomic.LoadUint64(&r.head.tail) }

// setTail gives the slots before t back to the writer.
func (r *Ring) setTail(t uint64) { atomic.StoreUint64(&r.head.tail, t) }

func (r *Ring) slot(i uint64) *slot {
	return (*slot)(unsafe.Add(r.slots, (i&r.mask)*SlotSize))
}

// oldest finds, in ring mode, the oldest record that is still whole, and how
// many calls were recorded before it. Slots that the writer may be overwriting
// right now are left alone.
func (r *Ring) oldest(published uint64) (at, calls uint64) {
	if published <= r.capacity {
		return 0, 0
	}
	from := published - r.capacity + r.capacity/NumSegments
	best := published
	for i := range r.head.segment {
		s := atomic.LoadUint64(&r.head.segment[i])
		if s >= from && s < best {
			best, calls = s, r.head.segmentCalls[i]
		}
	}
	return best, calls
}
