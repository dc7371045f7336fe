// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"math"
	"testing"
)

func TestParseRanks(t *testing.T) {
	for _, c := range []struct {
		in, out string
		has     []int32
		not     []int32
	}{
		{"", "", []int32{0, 7, math.MaxInt32}, nil},
		{"3", "3", []int32{3}, []int32{0, 2, 4}},
		{"0,2-5", "0,2-5", []int32{0, 2, 3, 5}, []int32{1, 6}},
		{" 5-6 , 1,2 ", "1-2,5-6", []int32{1, 2, 5, 6}, []int32{0, 3, 4, 7}},
		{"4-9,2-5,10", "2-10", []int32{2, 10}, []int32{1, 11}},
		{"8-", "8-", []int32{8, math.MaxInt32}, []int32{7}},
		{"1,1,1", "1", []int32{1}, []int32{0, 2}},
	} {
		set, err := ParseRanks(c.in)
		if err != nil {
			t.Errorf("ParseRanks(%q): %v", c.in, err)
			continue
		}
		if got := set.String(); got != c.out {
			t.Errorf("ParseRanks(%q) is %q, want %q", c.in, got, c.out)
		}
		for _, r := range c.has {
			if !set.Has(r) {
				t.Errorf("ParseRanks(%q) lacks %d", c.in, r)
			}
		}
		for _, r := range c.not {
			if set.Has(r) {
				t.Errorf("ParseRanks(%q) has %d", c.in, r)
			}
		}
	}
	for _, bad := range []string{"a", "1,", ",", "-", "-3", "5-2", "1-2-3", "1.5", "99999999999", "0x1", "+1"} {
		if set, err := ParseRanks(bad); err == nil {
			t.Errorf("ParseRanks(%q) gave %q, want an error", bad, set)
		}
	}
	if none := RanksOf(nil); none.All() || none.Has(0) {
		t.Error("the set of no ranks is not empty")
	}
}

func TestParseTime(t *testing.T) {
	for in, want := range map[string]int64{
		"0":                     0,
		"1":                     1e9,
		"1.5":                   15e8,
		"1.5s":                  15e8,
		".25s":                  25e7,
		"2.s":                   2e9,
		"20ms":                  20e6,
		"300us":                 300e3,
		"300µs":                 300e3,
		"300μs":                 300e3,
		"12ns":                  12,
		"12.9ns":                12,
		"-3ms":                  -3e6,
		"0.123456789123s":       123456789,
		"9223372036.854775807s": math.MaxInt64,
		"3 ms":                  3e6,
	} {
		if got, err := ParseTime(in); err != nil || got != want {
			t.Errorf("ParseTime(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "s", ".", "1m", "1h", "1e3s", "--1", "1.2.3", "0x10", "9223372036.854775808s", "+1", "1_000", "ms"} {
		if got, err := ParseTime(bad); err == nil {
			t.Errorf("ParseTime(%q) = %d, want an error", bad, got)
		}
	}
}

func TestParseWindow(t *testing.T) {
	for in, want := range map[string]Window{
		"":            Always(),
		":":           Always(),
		"1:2":         {1e9, 2e9},
		"1.5s:2000ms": {15e8, 2e9},
		"20ms:":       {20e6, math.MaxInt64},
		":300us":      {math.MinInt64, 300e3},
		" 1 : 2 ":     {1e9, 2e9},
	} {
		if got, err := ParseWindow(in); err != nil || got != want {
			t.Errorf("ParseWindow(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, bad := range []string{"1", "2:1", "1:1", "a:b", "1:2:3", "1s:x"} {
		if got, err := ParseWindow(bad); err == nil {
			t.Errorf("ParseWindow(%q) = %v, want an error", bad, got)
		}
	}
}

func TestWindowTouches(t *testing.T) {
	w := Window{100, 200}
	for _, c := range []struct {
		begin, end int64
		want       bool
	}{
		{0, 50, false}, {0, 100, false}, {0, 101, true}, {100, 100, true}, {150, 160, true},
		{0, 1000, true}, {199, 500, true}, {200, 200, false}, {200, 300, false}, {99, 99, false},
	} {
		if got := w.Touches(c.begin, c.end); got != c.want {
			t.Errorf("call %d to %d touches %v: %v, want %v", c.begin, c.end, w, got, c.want)
		}
	}
	if !Always().Touches(math.MinInt64, 0) || !Always().Touches(5, 5) {
		t.Error("Always leaves something out")
	}
}

func FuzzParseRanks(f *testing.F) {
	for _, s := range []string{"", "0,2-5", "8-", "1,1,1", "-", "99999999999-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		set, err := ParseRanks(s)
		if err != nil {
			return
		}
		again, err := ParseRanks(set.String())
		if err != nil || again.String() != set.String() {
			t.Fatalf("%q is %q, which reads as %q, %v", s, set, again, err)
		}
		for _, sp := range set.spans {
			if !set.Has(sp.first) || !set.Has(sp.last) || sp.last < sp.first {
				t.Fatalf("%q has the span %v", s, sp)
			}
		}
	})
}

func FuzzParseWindow(f *testing.F) {
	for _, s := range []string{"", ":", "1.5s:2s", "20ms:", ":300us", "-1:1", "9223372036.9:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w, err := ParseWindow(s)
		if err == nil && w.Begin >= w.End {
			t.Fatalf("%q is %v", s, w)
		}
	})
}
