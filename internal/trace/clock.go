// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"math"
	"math/bits"
	"slices"

	"github.com/mpitrace/mpitrace/format"
)

// minBaseline is how far apart in nanoseconds two clock points must be for
// their slope to be trusted beyond them. Closer points carry more of the error
// of reading the clocks than of the clock's rate.
const minBaseline = 10_000_000

// clock turns a rank's ticks into nanoseconds of its host's CLOCK_MONOTONIC,
// and those into the trace's time by one offset. It is piecewise linear through
// the points at which both were read, exact at each point, and never runs
// backwards. Beyond the points it goes on at the mean rate.
type clock struct {
	lines  []line // ascending by tick; at least one
	offset int64  // what to add to get nanoseconds since the run's start
}

// line goes through (tick, ns) that rises num every den ticks; it holds
// from tick on to the next line's.
type line struct {
	tick, ns int64
	num, den uint64
}

// identity is the clock of times that are in nanoseconds since the run's start
// already.
func identity() *clock {
	return &clock{lines: []line{{tick: 0, ns: 0, num: 1, den: 1}}}
}

// newClock makes the clock of one rank. dropped is how many points do not fit
// the others (one of the clocks stands still or runs backwards). Without any
// usable point the ticks are counted at hz from zero.
func newClock(points []format.ClockPoint, hz float64) (c *clock, dropped int) {
	kept := make([]format.ClockPoint, 0, len(points))
	for _, p := range points {
		if n := len(kept); n > 0 && (p.Tick <= kept[n-1].Tick || p.Monotonic < kept[n-1].Monotonic) {
			if p != kept[n-1] {
				dropped++
			}
			continue
		}
		kept = append(kept, p)
	}
	nominalNum, nominalDen := rate(hz)
	c = &clock{}
	if len(kept) == 0 {
		c.lines = []line{{num: nominalNum, den: nominalDen}}
		return c, dropped
	}
	first, last := kept[0], kept[len(kept)-1]
	num, den := nominalNum, nominalDen
	if last.Monotonic-first.Monotonic >= minBaseline || hz <= 0 && len(kept) > 1 {
		num, den = uint64(last.Monotonic-first.Monotonic), uint64(last.Tick)-uint64(first.Tick)
	}
	// Before the first point the line through it is followed backwards.
	c.lines = append(c.lines, line{math.MinInt64, first.Monotonic, num, den})
	for i := range kept[:len(kept)-1] {
		a, b := kept[i], kept[i+1]
		c.lines = append(c.lines, line{a.Tick, a.Monotonic, uint64(b.Monotonic - a.Monotonic), uint64(b.Tick) - uint64(a.Tick)})
	}
	c.lines = append(c.lines, line{last.Tick, last.Monotonic, num, den})
	return c, dropped
}

// rate turns ticks a second into nanoseconds per tick as a fraction.
func rate(hz float64) (num, den uint64) {
	if !(hz >= 1 && hz <= 1e12) {
		return 1, 1
	}
	// A millihertz is finer than any clock keeps its rate.
	return 1e12, uint64(math.Round(hz * 1e3))
}

// at returns the trace's time at tick.
func (c *clock) at(tick int64) int64 { return add(c.raw(tick), c.offset) }

// raw returns the host's nanoseconds at tick.
func (c *clock) raw(tick int64) int64 {
	return c.lines[c.find(tick)].at(tick, c.anchor())
}

// anchor is the tick that the first line counts back from.
func (c *clock) anchor() int64 {
	if len(c.lines) > 1 {
		return c.lines[1].tick
	}
	return c.lines[0].tick
}

// find returns the line that holds at tick.
func (c *clock) find(tick int64) int {
	i, found := slices.BinarySearchFunc(c.lines, tick, func(p line, t int64) int {
		switch {
		case p.tick < t:
			return -1
		case p.tick > t:
			return 1
		}
		return 0
	})
	if found {
		return i
	}
	return max(i-1, 0)
}

// at follows the line to tick. One that starts before all time
// counts back from anchor.
func (p *line) at(tick, anchor int64) int64 {
	from := p.tick
	if from == math.MinInt64 {
		from = anchor
	}
	if tick >= from {
		return add(p.ns, scale(uint64(tick)-uint64(from), p.num, p.den, false))
	}
	return add(p.ns, -scale(uint64(from)-uint64(tick), p.num, p.den, true))
}

// scale returns n*num/den, rounded down or up, at most the largest int64.
func scale(n, num, den uint64, up bool) int64 {
	hi, lo := bits.Mul64(n, num)
	if hi >= den {
		return math.MaxInt64
	}
	var q, r uint64
	if hi == 0 {
		q, r = lo/den, lo%den
	} else {
		q, r = bits.Div64(hi, lo, den)
	}
	if up && r > 0 {
		q++
	}
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(q)
}

// add adds, and stays at the ends of the number line instead of going round.
func add(a, b int64) int64 {
	s := a + b
	switch {
	case a > 0 && b > 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && s >= 0:
		return math.MinInt64
	}
	return s
}

// convert turns the ticks of a block of calls, in place, into the trace's
// time. The end of a call in flight stays 0.
func (c *clock) convert(calls *format.Calls) {
	cur := cursor{clock: c}
	for i, tick := range calls.Begin {
		calls.Begin[i] = cur.at(tick)
	}
	for i, tick := range calls.End {
		if calls.Sigs[calls.Index[i]].Flags&format.FlagInFlight != 0 {
			calls.End[i] = 0
			continue
		}
		calls.End[i] = cur.at(tick)
	}
}

// cursor remembers the line that the last tick was on: ticks come nearly in
// order, and all calls of a block are usually on one line.
type cursor struct {
	clock    *clock
	line     line
	from, to int64 // the ticks on line: from <= tick < to
}

func (c *cursor) at(tick int64) int64 {
	if tick < c.from || tick >= c.to {
		i := c.clock.find(tick)
		c.line = c.clock.lines[i]
		c.from, c.to = c.line.tick, math.MaxInt64
		if i+1 < len(c.clock.lines) {
			c.to = c.clock.lines[i+1].tick
		}
	}
	return add(c.line.at(tick, c.clock.anchor()), c.clock.offset)
}
