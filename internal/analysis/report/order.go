// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"

	"github.com/mpitrace/mpitrace/internal/analysis"
)

// Order is what the tables of functions and call sites are sorted by.
type Order string

// The orders. All but ByName are from the greatest down; rows that are equal
// keep the profile's order: most time first, then by name.
const (
	ByTime      Order = "time"
	ByCalls     Order = "calls"
	ByMean      Order = "mean"
	ByMax       Order = "max"
	ByBytes     Order = "bytes"
	ByImbalance Order = "imbalance"
	ByName      Order = "name"
)

// Orders are all orders; the first is the default.
var Orders = []Order{ByTime, ByCalls, ByMean, ByMax, ByBytes, ByImbalance, ByName}

func (o Order) functions(rows []analysis.Function) []analysis.Function {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b analysis.Function) int {
		return o.compare(keys{a.Time, a.Calls, a.Mean, a.Max, a.Traffic, a.Factor, a.Name},
			keys{b.Time, b.Calls, b.Mean, b.Max, b.Traffic, b.Factor, b.Name})
	})
	return rows
}

func (o Order) sites(rows []analysis.Site) []analysis.Site {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b analysis.Site) int {
		return o.compare(keys{a.Time, a.Calls, a.Mean, a.Max, a.Traffic, a.Factor, a.Place},
			keys{b.Time, b.Calls, b.Mean, b.Max, b.Traffic, b.Factor, b.Place})
	})
	return rows
}

// keys are what a row can be sorted by.
type keys struct {
	time    int64
	calls   uint64
	mean    int64
	max     int64
	traffic analysis.Traffic
	factor  float64
	name    string
}

func (o Order) compare(a, b keys) int {
	switch o {
	case ByCalls:
		return cmp.Compare(b.calls, a.calls)
	case ByMean:
		return cmp.Compare(b.mean, a.mean)
	case ByMax:
		return cmp.Compare(b.max, a.max)
	case ByBytes:
		return cmp.Compare(b.traffic.Sent+b.traffic.Received, a.traffic.Sent+a.traffic.Received)
	case ByImbalance:
		return cmp.Compare(b.factor, a.factor)
	case ByName:
		return cmp.Compare(a.name, b.name)
	}
	return cmp.Compare(b.time, a.time)
}
