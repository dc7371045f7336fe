// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/mpitrace/mpitrace/format"
)

func points(pairs ...int64) (p []format.ClockPoint) {
	for i := 0; i < len(pairs); i += 2 {
		p = append(p, format.ClockPoint{Tick: pairs[i], Monotonic: pairs[i+1]})
	}
	return p
}

func TestClock(t *testing.T) {
	for _, c := range []struct {
		name    string
		points  []format.ClockPoint
		hz      float64
		dropped int
		at      map[int64]int64
	}{
		{"no points: counted at the nominal rate", nil, 2e9, 0, map[int64]int64{0: 0, 10: 5, -10: -5, 3: 1, -3: -2}},
		{"nothing known at all: ticks are nanoseconds", nil, 0, 0, map[int64]int64{7: 7}},
		{"one point: the nominal rate from there", points(1000, 500), 2e9, 0, map[int64]int64{1000: 500, 1010: 505, 990: 495, 989: 494}},
		{"two points far apart: their rate", points(0, 0, 30e9, 10e9), 2e9, 0, map[int64]int64{0: 0, 3: 1, 4: 1, 5: 1, 6: 2, 30e9: 10e9, 30e9 + 3: 10e9 + 1, -3: -1, -4: -2}},
		{"two points close together: beyond them the nominal rate", points(0, 0, 1000, 400), 2e9, 0, map[int64]int64{500: 200, 1000: 400, 1200: 500, -200: -100}},
		{"a bend", points(0, 0, 10e6, 10e6, 20e6, 30e6), 1e9, 0, map[int64]int64{5e6: 5e6, 15e6: 20e6, 20e6 + 2: 30e6 + 3}},
		{"a clock that stands still and one that runs backwards", points(0, 0, 0, 5, 10e6, 10e6, 15e6, 5e6, 20e6, 20e6), 1e9, 2, map[int64]int64{15e6: 15e6}},
		{"the same point twice is no contradiction", points(5, 5, 5, 5), 1e9, 0, map[int64]int64{6: 6}},
		{"ends of the number line", points(0, math.MaxInt64-10), 1e9, 0, map[int64]int64{5: math.MaxInt64 - 5, 1000: math.MaxInt64, math.MaxInt64: math.MaxInt64}},
	} {
		clock, dropped := newClock(c.points, c.hz)
		if dropped != c.dropped {
			t.Errorf("%s: %d points dropped, want %d", c.name, dropped, c.dropped)
		}
		for tick, want := range c.at {
			if got := clock.at(tick); got != want {
				t.Errorf("%s: tick %d is %d, want %d", c.name, tick, got, want)
			}
		}
	}
}

// Between two points every tick is at the exact quotient, rounded down, and
// the clock never runs backwards, wherever it is read.
func TestClockIsExactAndMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var pts []format.ClockPoint
		tick, ns := rng.Int64N(1e18)-5e17, rng.Int64N(1e18)
		for range 1 + rng.IntN(5) {
			pts = append(pts, format.ClockPoint{Tick: tick, Monotonic: ns})
			tick += 1 + rng.Int64N(1e15)
			ns += rng.Int64N(1e15)
		}
		c, _ := newClock(pts, 1e6+rng.Float64()*5e9)
		c.offset = rng.Int64N(1000)
		last, lastTick := int64(math.MinInt64), int64(math.MinInt64)
		cur := cursor{clock: c}
		for at := pts[0].Tick - 1e9; at < tick+1e9; at += 1 + rng.Int64N(1e14) {
			got := c.at(at)
			if got != cur.at(at) {
				t.Fatalf("cursor says %d at tick %d, clock %d", cur.at(at), at, got)
			}
			if got < last {
				t.Fatalf("tick %d is at %d, the earlier %d at %d", at, got, lastTick, last)
			}
			last, lastTick = got, at
			for i := 1; i < len(pts); i++ {
				if a, b := pts[i-1], pts[i]; a.Tick <= at && at < b.Tick {
					x := new(big.Int).Mul(big.NewInt(at-a.Tick), big.NewInt(b.Monotonic-a.Monotonic))
					x.Div(x, big.NewInt(b.Tick-a.Tick))
					if want := a.Monotonic + x.Int64() + c.offset; got != want {
						t.Fatalf("tick %d is at %d, want %d", at, got, want)
					}
				}
			}
		}
		for _, p := range pts {
			if got := c.at(p.Tick); got != p.Monotonic+c.offset {
				t.Fatalf("the point at tick %d is at %d, want %d", p.Tick, got, p.Monotonic+c.offset)
			}
		}
	}
}

func FuzzClock(f *testing.F) {
	f.Add(int64(0), int64(0), int64(1), int64(1), 1e9, int64(0), int64(1))
	f.Add(int64(math.MinInt64), int64(math.MinInt64), int64(math.MaxInt64), int64(math.MaxInt64), 3e9, int64(math.MinInt64), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, t0, n0, t1, n1 int64, hz float64, a, b int64) {
		c, _ := newClock(points(t0, n0, t1, n1), hz)
		if a > b {
			a, b = b, a
		}
		if x, y := c.at(a), c.at(b); x > y {
			t.Fatalf("tick %d is at %d, the later %d at %d", a, x, b, y)
		}
	})
}
