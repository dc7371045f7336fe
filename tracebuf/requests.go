// SPDX-License-Identifier: Apache-2.0

package tracebuf

import "github.com/mpitrace/mpitrace/format"

// Requests follows a process's requests from the call that made them to the
// call that completed them, in the order of the calls' ends. Libraries reuse
// handles at once, and give several pending requests the same handle where they
// were complete from the start: so a handle stands for a queue.
type Requests struct {
	table []queue // open addressing, power of two
	used  int
	pool  []waiting // what queues of more than one hold
	free  int32     // first free element of pool, -1 if none
	last  uint64
	// Unknown counts requests that were completed but never seen made.
	Unknown uint64
}

// queue is the requests of one handle: the oldest, and the others in order.
type queue struct {
	handle uint64 // 0: free
	request
	first, end int32 // the others, in pool; first -1: none
}

type waiting struct {
	request
	next int32
}

type request struct {
	number     uint64
	flags      format.Flags
	kind       format.DoneKind
	persistent bool
	active     bool
	procNull   bool
}

// NewRequests returns an empty table.
func NewRequests() *Requests {
	return &Requests{table: make([]queue, 1024), free: -1}
}

// Pending is the number of requests that were made and not completed.
func (r *Requests) Pending() int {
	n := 0
	for i := range r.table {
		if r.table[i].handle == 0 {
			continue
		}
		n++
		for j := r.table[i].first; j >= 0; j = r.pool[j].next {
			n++
		}
	}
	return n
}

func (r *Requests) hash(handle uint64) int {
	return int(handle*0x9e3779b97f4a7c15>>32) & (len(r.table) - 1)
}

// find returns the place of a handle's queue, -1 if it has none. A place is
// good until the next call of made or remove.
func (r *Requests) find(handle uint64) int {
	for i := r.hash(handle); ; i = (i + 1) & (len(r.table) - 1) {
		switch r.table[i].handle {
		case handle:
			return i
		case 0:
			return -1
		}
	}
}

// made enters a new request and returns its number.
func (r *Requests) made(handle uint64, q request) uint64 {
	r.last++
	q.number = r.last
	if i := r.find(handle); i >= 0 {
		r.enqueue(&r.table[i], q)
		return q.number
	}
	if 4*(r.used+1) > 3*len(r.table) {
		r.grow()
	}
	r.insert(queue{handle: handle, request: q, first: -1, end: -1})
	return q.number
}

func (r *Requests) enqueue(e *queue, q request) {
	n := r.free
	if n >= 0 {
		r.free = r.pool[n].next
		r.pool[n] = waiting{q, -1}
	} else {
		n = int32(len(r.pool))
		r.pool = append(r.pool, waiting{q, -1})
	}
	if e.first < 0 {
		e.first = n
	} else {
		r.pool[e.end].next = n
	}
	e.end = n
}

func (r *Requests) insert(e queue) {
	i := r.hash(e.handle)
	for r.table[i].handle != 0 {
		i = (i + 1) & (len(r.table) - 1)
	}
	r.table[i] = e
	r.used++
}

func (r *Requests) grow() {
	old := r.table
	r.table = make([]queue, 2*len(old))
	r.used = 0
	for _, e := range old {
		if e.handle != 0 {
			r.insert(e)
		}
	}
}

// remove takes the oldest request of the queue at place i out.
func (r *Requests) remove(i int) {
	e := &r.table[i]
	n := e.first
	if n < 0 {
		r.delete(i)
		return
	}
	e.request = r.pool[n].request
	e.first = r.pool[n].next
	r.pool[n].next = r.free
	r.free = n
}

// delete closes the gap, so that no search ends too early.
func (r *Requests) delete(i int) {
	mask := len(r.table) - 1
	r.used--
	for j := (i + 1) & mask; r.table[j].handle != 0; j = (j + 1) & mask {
		if home := r.hash(r.table[j].handle); (j-home)&mask >= (j-i)&mask {
			r.table[i] = r.table[j]
			i = j
		}
	}
	r.table[i].handle = 0
}
