// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"testing"
)

func TestFindGranule(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   uint64
	}{
		{nil, 1},
		{[]int64{0, 0}, 1},
		{[]int64{7}, 7},
		{[]int64{2, 4, 6}, 2},
		{[]int64{38, 76, 0, 380, -114}, 38},
		{[]int64{22 * 1000, 22 * 1001, 22}, 22},
		{[]int64{6, 3}, 3},
		{[]int64{12, 18, 5}, 1},
		{[]int64{math.MinInt64, 1 << 40}, 1 << 40},
		{[]int64{math.MaxInt64, math.MinInt64}, 1},
	} {
		all := uint64(0)
		for _, v := range c.values {
			all |= uint64(v)
		}
		g := findGranule(c.values, all)
		if g.value != c.want {
			t.Errorf("%v: %d, want %d", c.values, g.value, c.want)
		}
		for _, v := range c.values {
			if u := magnitude(v); u>>g.shift*g.inverse != u/g.value {
				t.Errorf("%v: %d is divided to %d, want %d", c.values, v, u>>g.shift*g.inverse, u/g.value)
			}
		}
	}
}
