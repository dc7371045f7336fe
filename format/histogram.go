// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/bits"
)

// histogram counts the symbols of a list, or of several.
type histogram struct {
	count  [256]uint16
	total  uint32
	lo, hi int // symbols that occur are within
	bits   float32
}

// sample counts some hundred of the symbols, which is enough to see which lists
// are alike, and scales the counts to all.
func (h *histogram) sample(symbols []uint8) {
	const enough = 256
	*h = histogram{lo: math.MaxUint8, hi: 0}
	step := 1 + len(symbols)/enough
	for i := 0; i < len(symbols); i += step {
		s := symbols[i]
		h.count[s] += uint16(step)
		h.total += uint32(step)
		h.lo, h.hi = min(h.lo, int(s)), max(h.hi, int(s))
	}
	h.bits = cost(h, nil)
}

// cost estimates the bits that the symbols of a, and b unless it is nil, take
// with a table of their own, table included.
func cost(a, b *histogram) float32 {
	lo, hi, total := a.lo, a.hi, a.total
	if b != nil {
		lo, hi, total = min(lo, b.lo), max(hi, b.hi), total+b.total
	}
	if total == 0 {
		return 0
	}
	sum, used := float32(total)*log2(total), 0
	for s := lo; s <= hi; s++ {
		n := uint32(a.count[s&255])
		if b != nil {
			n += uint32(b.count[s&255])
		}
		if n != 0 {
			sum -= float32(n) * log2(n)
			used++
		}
	}
	// Of a stream: its size, its table's head, the jump table or the last
	// byte's rest, and the work of making a table; of a symbol: its weight.
	const streamBits, symbolBits = 200, 7
	return sum + streamBits + symbolBits*float32(used)
}

// log2 is near enough for cost.
func log2(n uint32) float32 {
	if n < uint32(len(logs)) {
		return logs[n]
	}
	shift := bits.Len32(n) - 8
	return float32(shift) + logs[n>>shift]
}

var logs = func() (t [256]float32) {
	for i := range t {
		if i > 0 {
			t[i] = float32(math.Log2(float64(i)))
		}
	}
	return t
}()
