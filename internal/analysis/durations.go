// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A histogram of durations takes 58 KB whatever it counts: two significant
// digits (a bucket is at most 1 % of its value wide) from 1 ns to 146 years.
const (
	shortest          = 1
	longest           = 1 << 62
	significantDigits = 2
	bucketBits        = 8 // of a value's leading bits tell its bucket
)

// durations is the distribution of the times of calls that returned.
type durations struct{ hist *hdrhistogram.Histogram }

func newDurations() *durations {
	return &durations{hdrhistogram.New(shortest, longest, significantDigits)}
}

// add counts a call. A negative time (a damaged trace) counts as 0; so does a
// call of less than a nanosecond.
func (d *durations) add(time int64) {
	_ = d.hist.RecordValue(min(max(0, time), longest)) // fails only beyond longest
}

func (d *durations) merge(o *durations) { d.hist.Merge(o.hist) }

// quantile is the time that percent of the calls do not exceed, within 1 %: the
// middle of its bucket, but never outside the exact extremes.
func (d *durations) quantile(percent float64, least, most int64) int64 {
	highest := d.hist.ValueAtPercentile(percent) // of the bucket
	width := int64(1)
	if n := bits.Len64(uint64(highest)); n > bucketBits {
		width <<= n - bucketBits
	}
	return min(max(highest-(width-1)/2, least), most)
}

// mean is total/count, rounded.
func mean(total int64, count uint64) int64 {
	if count == 0 {
		return 0
	}
	return int64(math.Round(float64(total) / float64(count)))
}

// share is part/whole, and 0 of nothing.
func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
