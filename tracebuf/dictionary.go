// SPDX-License-Identifier: Apache-2.0

package tracebuf

import "slices"

// dictionary numbers keys of a few words. It is made for few distinct keys
// asked for often, and is emptied with every block.
type dictionary struct {
	slots []entry // open addressing, power of two
	used  int
	round uint32 // entries of other rounds are free
	words []uint64
}

type entry struct {
	hash         uint64
	start, end   uint32 // of the key, in words
	value, round uint32
	place        uint32 // among a predictor's successors
}

func (d *dictionary) init() {
	d.slots = make([]entry, 256)
	d.round = 1
}

func hashWords(k []uint64) uint64 {
	const m1, m2 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	var a, b uint64 = m1, m2
	for ; len(k) >= 2; k = k[2:] {
		a = (a ^ k[0]) * m1
		b = (b ^ k[1]) * m2
		a ^= a >> 29
		b ^= b >> 31
	}
	if len(k) > 0 {
		a = (a ^ k[0]) * m1
	}
	a ^= b*m1 + b>>17
	return a ^ a>>32
}

func (d *dictionary) find(k []uint64, h uint64) *entry {
	mask := uint64(len(d.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		e := &d.slots[i]
		if e.round != d.round || e.hash == h && slices.Equal(d.words[e.start:e.end], k) {
			return e
		}
	}
}

// index looks a key up; a fresh one is the caller's to set.
func (d *dictionary) index(k []uint64) (e *entry, fresh bool) {
	e = d.find(k, hashWords(k))
	return e, e.round != d.round
}

// set enters a key; the entry is good until the next set.
func (d *dictionary) set(k []uint64, value uint32) *entry {
	if 2*(d.used+1) > len(d.slots) {
		d.grow()
	}
	h := hashWords(k)
	e := d.find(k, h)
	if e.round != d.round {
		d.used++
		start := uint32(len(d.words))
		d.words = append(d.words, k...)
		*e = entry{hash: h, start: start, end: uint32(len(d.words)), round: d.round}
	}
	e.value = value
	return e
}

func (d *dictionary) grow() {
	old := d.slots
	d.slots = make([]entry, 2*len(old))
	mask := uint64(len(d.slots) - 1)
	for _, e := range old {
		if e.round != d.round {
			continue
		}
		i := e.hash & mask
		for d.slots[i].round == d.round {
			i = (i + 1) & mask
		}
		d.slots[i] = e
	}
}

func (d *dictionary) reset() {
	d.words = d.words[:0]
	d.used = 0
	d.round++
	if d.round == 0 {
		clear(d.slots)
		d.round = 1
	}
}

// predictor remembers, for each key of a dictionary, which other key came next.
// A key is expected to be followed by that one, or by itself.
type predictor struct {
	seen []successor
	last int
}

// successor is a key, its value, and the place in predictor.seen of the other
// key that came after it last time.
type successor struct {
	start, end uint32
	value      uint32
	next       int32
}

// unknown is the value of a key that is not in the dictionary.
const unknown = ^uint32(0)

// guess returns the place of the key that is expected, and how many guesses
// there are: after the first, the last key itself.
func (p *predictor) guess() (place, tries int) {
	if p.last >= len(p.seen) {
		return 0, 0
	}
	return int(p.seen[p.last].next), 2
}

// find returns a key's value, or unknown.
func (p *predictor) find(d *dictionary, k []uint64) uint32 {
	for n, tries := p.guess(); tries > 0; n, tries = p.last, tries-1 {
		s := &p.seen[n]
		if w := d.words[s.start:s.end]; len(w) == len(k) {
			differ := uint64(0)
			for i, v := range w {
				differ |= v ^ k[i]
			}
			if differ == 0 {
				p.last = n
				return s.value
			}
		}
	}
	e, fresh := d.index(k)
	if fresh {
		return unknown
	}
	p.follow(int(e.place))
	return e.value
}

// follow notes that the key at place n came after the last one.
func (p *predictor) follow(n int) {
	if p.last < len(p.seen) && n != p.last {
		p.seen[p.last].next = int32(n)
	}
	p.last = n
}

// add enters a new key.
func (p *predictor) add(d *dictionary, k []uint64, value uint32) {
	e := d.set(k, value)
	n := len(p.seen)
	e.place = uint32(n)
	p.seen = append(p.seen, successor{start: e.start, end: e.end, value: value, next: int32(n)})
	p.follow(n)
}

func (p *predictor) reset() {
	p.seen = p.seen[:0]
	p.last = 0
}
