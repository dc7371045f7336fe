// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/bits"
)

// findGranule finds what all values are multiples of: clocks advance in steps
// (2 ticks under some hypervisors, 20 to 40 on some processors). all has a bit
// set where any value has.
func findGranule(values []int64, all uint64) granule {
	if all == 0 {
		return newGranule(1)
	}
	shift := uint(bits.TrailingZeros64(all))
	var odd granule
	for _, v := range values {
		u := magnitude(v)
		if u == 0 || odd.value != 0 && odd.divides(u) {
			continue
		}
		u >>= bits.TrailingZeros64(u)
		if odd = newGranule(gcd(odd.value, u)); odd.value == 1 {
			return newGranule(1 << shift)
		}
	}
	return newGranule(odd.value << shift)
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// A granule divides exactly, with a shift and a multiplication by the inverse of
// the odd part modulo 2^64.
type granule struct {
	value   uint64
	shift   uint
	inverse uint64
	limit   uint64 // largest quotient by the odd part
}

func newGranule(value uint64) granule {
	shift := uint(bits.TrailingZeros64(value))
	odd := value >> shift
	inverse := odd // right in the lowest 3 bits; each step doubles them
	for range 5 {
		inverse *= 2 - odd*inverse
	}
	return granule{value, shift, inverse, math.MaxUint64 / odd}
}

// divides says whether the odd part divides v.
func (g granule) divides(v uint64) bool { return v*g.inverse <= g.limit }
