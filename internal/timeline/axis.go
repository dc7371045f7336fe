// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"math"
	"strconv"
	"strings"

	"github.com/mpitrace/mpitrace/internal/trace"
)

// tick is a mark of the time axis.
type tick struct {
	time  int64
	label string // "1.5 s", or "+20 µs" relative to the axis' begin
}

// axisUnits, from the longest.
var axisUnits = []struct {
	ns   int64
	name string
}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}

// longestLabel is how long an absolute label may be; beyond it labels are
// relative to the begin of the axis.
const longestLabel = 10

// ticks returns at most most marks at round times (1, 2 or 5 times a power of
// ten) in the window.
func ticks(w trace.Window, most int) []tick {
	step := roundStep(w.Length(), max(1, most))
	absolute := ticksFrom(w, 0, step, "")
	for _, t := range absolute {
		if len([]rune(t.label)) > longestLabel {
			return ticksFrom(w, w.Begin, step, "+")
		}
	}
	return absolute
}

// roundStep is the smallest round step of which at most most fit in length.
func roundStep(length int64, most int) int64 {
	for power := int64(1); ; power *= 10 {
		for _, digit := range []int64{1, 2, 5} {
			step := digit * power
			if (length-1)/step < int64(most) || power > math.MaxInt64/100 {
				return step
			}
		}
	}
}

// ticksFrom has a tick at each multiple of step, counted from origin, in the
// window.
func ticksFrom(w trace.Window, origin, step int64, sign string) []tick {
	first := (w.Begin - origin) / step * step
	if first < w.Begin-origin {
		first += step
	}
	end := w.End - origin
	last := (end - 1) / step * step
	unit := axisUnits[len(axisUnits)-1]
	for _, u := range axisUnits {
		if max(last, -first) >= u.ns {
			unit = u
			break
		}
	}
	var list []tick
	for at := first; at < end; at += step {
		label := sign + "0"
		if at != 0 {
			label = sign + decimal(at, unit.ns, step) + " " + unit.name
		}
		list = append(list, tick{at + origin, label})
	}
	return list
}

// decimal writes at in the unit, with as many decimals as multiples of step
// need.
func decimal(at, unit, step int64) string {
	decimals := 0
	for one := unit; one > step || step%one != 0; one /= 10 {
		if one == 1 {
			break
		}
		decimals++
	}
	s := strconv.FormatFloat(float64(at)/float64(unit), 'f', decimals, 64)
	return strings.TrimSuffix(s, ".")
}
