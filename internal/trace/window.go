// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Window is a stretch of time, in nanoseconds since the run's start: Begin is
// in it, End is not, unless it is the largest int64: then the window is open.
type Window struct{ Begin, End int64 }

// Always is the window that everything is in.
var always = Window{math.MinInt64, math.MaxInt64}

// Always returns the window that everything is in.
func Always() Window { return always }

// All tells whether everything is in the window.
func (w Window) All() bool { return w == always }

// Touches tells whether a call from begin to end was in progress at some time
// in the window. A call of no length counts where it begins.
func (w Window) Touches(begin, end int64) bool {
	return (begin < w.End || w.End == math.MaxInt64) && (end > w.Begin || begin >= w.Begin)
}

// Length is End-Begin.
func (w Window) Length() int64 { return w.End - w.Begin }

// ParseWindow reads "A:B". A and B are times since the run's start: a number,
// fractions allowed, with s, ms, us (or µs) or ns behind it, seconds if there
// is none. Either may be left out. The empty string is Always.
func ParseWindow(s string) (Window, error) {
	if strings.TrimSpace(s) == "" {
		return always, nil
	}
	from, to, ok := strings.Cut(s, ":")
	if !ok {
		return Window{}, fmt.Errorf("bad time range %q: write it as A:B, as in 1.5s:2s, 20ms: or :300us", s)
	}
	w := always
	var err error
	if from = strings.TrimSpace(from); from != "" {
		if w.Begin, err = ParseTime(from); err != nil {
			return Window{}, fmt.Errorf("bad time range %q: %w", s, err)
		}
	}
	if to = strings.TrimSpace(to); to != "" {
		if w.End, err = ParseTime(to); err != nil {
			return Window{}, fmt.Errorf("bad time range %q: %w", s, err)
		}
	}
	if w.End <= w.Begin {
		return Window{}, fmt.Errorf("bad time range %q: it ends before it begins", s)
	}
	return w, nil
}

// timeUnits by suffix, longer suffixes first. digits is the unit's power of
// ten in nanoseconds.
var timeUnits = []struct {
	suffix string
	digits int
}{
	{"ns", 0}, {"us", 3}, {"µs", 3}, {"μs", 3}, {"ms", 6}, {"s", 9}, {"", 9},
}

// ParseTime reads a time such as 1.5s, 20ms, 300us, 12ns or 0.25 (seconds) and
// returns nanoseconds, exactly; digits below a nanosecond are cut off.
func ParseTime(s string) (int64, error) {
	bad := func() (int64, error) {
		return 0, fmt.Errorf("%q is no time; write it as 1.5s, 20ms, 300us or 12ns", s)
	}
	rest, negative := strings.CutPrefix(s, "-")
	var number string
	var digits int
	for _, u := range timeUnits {
		if n, ok := strings.CutSuffix(rest, u.suffix); ok {
			number, digits = strings.TrimSpace(n), u.digits
			break
		}
	}
	whole, fraction, _ := strings.Cut(number, ".")
	if whole == "" && fraction == "" || !allDigits(whole) || !allDigits(fraction) {
		return bad()
	}
	if len(fraction) > digits {
		fraction = fraction[:digits]
	}
	fraction += strings.Repeat("0", digits-len(fraction))
	n, err := strconv.ParseInt("0"+whole+fraction, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is out of range", s)
	}
	if negative {
		n = -n
	}
	return n, nil
}

func allDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
