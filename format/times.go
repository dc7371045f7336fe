// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/bits"
	"slices"

	"github.com/mpitrace/mpitrace/mpi"
)

// The times of calls are noise of the clock and of the machine for the most
// part, and nearly all of a file. So they have a coding of their own: every
// time is the gap since the end of the thread's call before, or a duration;
// signatures are put into groups that behave alike; a value is what it exceeds
// its group's smallest by, divided by the clock's granule, split into a symbol
// (its magnitude, three significant bits) and the bits below; symbols are
// Huffman coded, with one table for lists that are distributed alike.
//
// doc.go has the layout, RATIONALE.md the figures.

const (
	maxGroups  = 32
	maxLists   = 2 * maxGroups // gaps and durations of each group
	maxStreams = 16
	maxSymbol  = 251

	// A symbol's bits below are at most 61; so many can be appended or taken
	// at once without looking at a ninth byte.
	maxBitsAtOnce = 56
)

// The ways to store a stream of symbols.
const (
	streamRaw     = 0 // a byte each
	streamSame    = 1 // one byte, the symbol of all
	streamHuffman = 2 // Huffman table and one stream, as in RFC 8878, 4.2
	streamFour    = 3 // the same with four streams, which are decoded side by side
)

// symbol splits v: symbols 0 to 7 are values, above them there are four to an
// octave, followed by k bits.
func symbol(v uint64) (sym uint8, k uint) {
	k = uint(bits.Len64(v|4)-3) & 63
	return uint8(4*uint64(k) + v>>k), k
}

// symbolBits and symbolBase undo symbol.
var symbolBits, symbolBase = func() (n [256]uint8, base [256]uint64) {
	for s := range n {
		switch {
		case s < 8:
			base[s] = uint64(s)
		case s <= maxSymbol:
			n[s] = uint8(s/4 - 1)
			base[s] = uint64(4+s%4) << n[s]
		default:
			n[s] = math.MaxUint8
		}
	}
	return n, base
}()

// sigInfo is what the times need to know of a signature.
type sigInfo struct {
	group    uint8
	inFlight bool
	slot     uint16 // which of the threads' last ends
}

// threadSlots numbers the threads in order of their appearance.
func threadSlots(sigs []Sig, info []sigInfo, ends []int64) []int64 {
	slots := 0
	for i := range sigs {
		t, k := sigs[i].Thread, -1
		if i > 0 && t == sigs[i-1].Thread {
			k = int(info[i-1].slot)
		} else {
			for j := range i {
				if sigs[j].Thread == t {
					k = int(info[j].slot)
					break
				}
			}
		}
		if k < 0 {
			k = slots
			slots++
		}
		info[i].slot = uint16(k)
		info[i].inFlight = sigs[i].Flags&FlagInFlight != 0
	}
	return resize(ends, slots)
}

// groupByFunction groups signatures by function, in order of appearance; the
// last group has all that are left.
func groupByFunction(sigs []Sig, info []sigInfo) int {
	var functions [maxGroups]mpi.FuncID
	groups := 0
	for i := range sigs {
		f := sigs[i].Func
		g := slices.Index(functions[:groups], f)
		switch {
		case g >= 0:
		case groups < maxGroups:
			functions[groups] = f
			g = groups
			groups++
		default:
			g = maxGroups - 1
		}
		info[i].group = uint8(g)
	}
	return groups
}

// listBounds returns where each list begins when they are laid end to end: the
// gaps of group g are list 2g, its durations list 2g+1. calls has the number
// of calls of each signature; those that never returned have no duration.
func listBounds(info []sigInfo, calls []uint32) (from [maxLists + 1]int) {
	for i, n := range calls {
		l := 2 * int(info[i].group)
		from[l+1] += int(n)
		if !info[i].inFlight {
			from[l+2] += int(n)
		}
	}
	for l := range maxLists {
		from[l+1] += from[l]
	}
	return from
}
