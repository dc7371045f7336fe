// SPDX-License-Identifier: Apache-2.0

// Package human writes numbers for people: three significant digits and a
// unit. What programs read is written as plain integers instead.
package human

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// timeUnits, longest first, up to what a unit is worth.
var timeUnits = []struct {
	ns   float64
	name string
}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}

// Duration writes nanoseconds: "0", "42 ns", "1.23 µs", "45.6 ms", "789 s",
// "2h 46m".
func Duration(ns int64) string {
	if ns == 0 {
		return "0"
	}
	if ns < 0 {
		return "-" + Duration(positive(ns))
	}
	if ns < 1000 {
		return strconv.FormatInt(ns, 10) + " ns"
	}
	if ns >= 10_000*1e9 {
		minutes := ns / 60e9
		if ns%60e9 >= 30e9 {
			minutes++
		}
		return fmt.Sprintf("%dh %02dm", minutes/60, minutes%60)
	}
	for _, u := range timeUnits {
		if v := float64(ns) / u.ns; v >= 0.9995 {
			return Digits(v) + " " + u.name
		}
	}
	return strconv.FormatInt(ns, 10) + " ns"
}

// positive is -n, but for the least int64 the greatest.
func positive(n int64) int64 {
	if n == math.MinInt64 {
		return math.MaxInt64
	}
	return -n
}

// Digits writes v with three significant digits, more if its whole part has
// more: "1.23", "45.6", "789", "1234".
func Digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

var byteUnits = []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// Bytes writes a number of bytes: "0", "512 B", "1.50 KiB", "23.4 MiB".
func Bytes(n int64) string {
	switch {
	case n < 0:
		return "-" + Bytes(positive(n))
	case n == 0:
		return "0"
	case n < 1024:
		return strconv.FormatInt(n, 10) + " B"
	}
	v, unit := float64(n)/1024, 0
	for v >= 999.5 && unit < len(byteUnits)-1 {
		v /= 1024
		unit++
	}
	return Digits(v) + " " + byteUnits[unit]
}

// Size writes a power of two as message sizes are written: "512 B", "8 KiB".
// Other numbers are written as Bytes writes them.
func Size(n int64) string {
	for unit := len(byteUnits) - 1; unit >= 0; unit-- {
		if one := int64(1) << (10 * (unit + 1)); n >= one && n%one == 0 {
			return strconv.FormatInt(n/one, 10) + " " + byteUnits[unit]
		}
	}
	return Bytes(n)
}

// Count writes a count: exact with separators up to 9,999,999, then "12.3 M".
func Count(n uint64) string {
	switch {
	case n >= 999.5e9:
		return Digits(float64(n)/1e12) + " T"
	case n >= 9.995e9:
		return Digits(float64(n)/1e9) + " G"
	case n >= 10e6:
		return Digits(float64(n)/1e6) + " M"
	}
	return Separated(n)
}

// Separated writes n with a comma between each three digits.
func Separated(n uint64) string {
	s := strconv.FormatUint(n, 10)
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// Percent writes a fraction of 1 as percent, without the sign: "12.0", "<0.1",
// "0", "100".
func Percent(fraction float64) string {
	p := fraction * 100
	switch {
	case p == 0:
		return "0"
	case p > 0 && p < 0.05:
		return "<0.1"
	case p < 100 && p >= 99.95:
		return ">99.9"
	}
	if p >= 99.95 {
		return strconv.FormatFloat(p, 'f', 0, 64)
	}
	return strconv.FormatFloat(p, 'f', 1, 64)
}

// Plural writes a count and what is counted: "1 rank", "4 ranks".
func Plural(n uint64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + one + "s"
}
