// SPDX-License-Identifier: Apache-2.0

package tracebuf

import "github.com/mpitrace/mpitrace/format"

// Requests follows a process's requests from the call that made them to the
// call that completed them, in the order of the calls' ends. Libraries reuse
// handles at once, and give several pending requests the same handle where they
// were complete from the start: so a handle stands for a queue.
type Requests struct {
	table []requestQueue // open addressing, power of two
	used  int
	pool  []request
	free  int32 // first free element of pool, -1 if none
	last  uint64
	// Unknown counts requests that were completed but never seen made.
	Unknown uint64
}

type requestQueue struct {
	handle     uint64 // 0: free
	first, end int32  // in pool; first -1: empty
}

type request struct {
	number     uint64
	next       int32
	kind       format.DoneKind
	flags      format.Flags
	persistent bool
	active     bool
	procNull   bool
}

// NewRequests returns an empty table.
func NewRequests() *Requests {
	return &Requests{table: make([]requestQueue, 1024), free: -1}
}

// Pending is the number of requests that were made and not completed.
func (r *Requests) Pending() int {
	n := 0
	for i := range r.table {
		for j := r.table[i].first; r.table[i].handle != 0 && j >= 0; j = r.pool[j].next {
			n++
		}
	}
	return n
}

func (r *Requests) hash(handle uint64) int {
	return int(handle*0x9e3779b97f4a7c15>>32) & (len(r.table) - 1)
}

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
	q.next = -1
	n := r.free
	if n >= 0 {
		r.free = r.pool[n].next
		r.pool[n] = q
	} else {
		n = int32(len(r.pool))
		r.pool = append(r.pool, q)
	}
	i := r.find(handle)
	if i < 0 {
		i = r.insert(handle)
	}
	e := &r.table[i]
	if e.first < 0 {
		e.first = n
	} else {
		r.pool[e.end].next = n
	}
	e.end = n
	return q.number
}

func (r *Requests) insert(handle uint64) int {
	if 4*(r.used+1) > 3*len(r.table) {
		r.grow()
	}
	i := r.hash(handle)
	for r.table[i].handle != 0 {
		i = (i + 1) & (len(r.table) - 1)
	}
	r.table[i] = requestQueue{handle: handle, first: -1, end: -1}
	r.used++
	return i
}

func (r *Requests) grow() {
	old := r.table
	r.table = make([]requestQueue, 2*len(old))
	r.used = 0
	for _, e := range old {
		if e.handle != 0 {
			r.table[r.insert(e.handle)] = e
		}
	}
}

// oldest returns the oldest request of a handle, nil if there is none.
func (r *Requests) oldest(handle uint64) *request {
	i := r.find(handle)
	if i < 0 {
		return nil
	}
	return &r.pool[r.table[i].first]
}

// remove takes the oldest request of a handle out.
func (r *Requests) remove(handle uint64) {
	i := r.find(handle)
	if i < 0 {
		return
	}
	e := &r.table[i]
	n := e.first
	e.first = r.pool[n].next
	r.pool[n].next = r.free
	r.free = n
	if e.first < 0 {
		r.delete(i)
	}
}

// delete closes the gap, so that no search ends too early.
func (r *Requests) delete(i int) {
	mask := len(r.table) - 1
	r.used--
	for j := i; ; {
		j = (j + 1) & mask
		if r.table[j].handle == 0 {
			break
		}
		if home := r.hash(r.table[j].handle); (j-home)&mask >= (j-i)&mask {
			r.table[i] = r.table[j]
			i = j
		}
	}
	r.table[i] = requestQueue{}
}
