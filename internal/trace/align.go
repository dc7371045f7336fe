// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mpitrace/mpitrace/format"
)

// Host is a machine (or container) that ranks ran on: they share its clocks.
type Host struct {
	Name  string
	Ranks []int32
	// Shift is what was added to the host's CLOCK_MONOTONIC to put it on the
	// clock of the first host, in nanoseconds. 0 in a merged file.
	Shift int64
	// Aligned tells whether Shift is known to be right, and not only as good as
	// the hosts' times of day.
	Aligned bool
}

// sameKernel is how far apart in nanoseconds two hosts' ideas of the time of
// day against CLOCK_MONOTONIC may be for them to be one machine under two
// names, if their boot ids are equal.
const sameKernel = 10_000

// align puts the ranks of rank files on one clock, whose 0 is the earliest
// begin of a call, and returns 0's absolute time in nanoseconds since 1970.
//
// Ranks of one host share CLOCK_MONOTONIC, so that they are right against each
// other to the error of their clock points. Hosts are put together by their
// times of day.
func (t *Trace) align() (start int64) {
	type key struct{ name, boot string }
	hosts := map[key]int{}
	points := make([][]format.ClockPoint, 0)
	boots := []string{}
	var floating []*Rank
	rankHost := make([]int, len(t.ranks))
	for i, r := range t.ranks {
		p := r.Process()
		k := key{p.Host, p.Boot}
		h, ok := hosts[k]
		if !ok {
			h = len(t.hosts)
			hosts[k] = h
			t.hosts = append(t.hosts, Host{Name: p.Host})
			points = append(points, nil)
			boots = append(boots, p.Boot)
		}
		rankHost[i] = h
		t.hosts[h].Ranks = append(t.hosts[h].Ranks, r.number)
		clockPoints := r.source.reader.Definitions().Clock
		points[h] = append(points[h], clockPoints...)
		if len(clockPoints) == 0 {
			floating = append(floating, r)
		}
	}

	// Time of day minus CLOCK_MONOTONIC, where it was read most exactly.
	toDay := make([]int64, len(t.hosts))
	reference := -1
	for h := range t.hosts {
		if len(points[h]) == 0 {
			continue
		}
		best := slices.MinFunc(points[h], func(a, b format.ClockPoint) int {
			return cmp.Or(cmp.Compare(a.Error, b.Error), cmp.Compare(a.Monotonic, b.Monotonic))
		})
		toDay[h] = best.Realtime - best.Monotonic
		if reference < 0 {
			reference = h
		}
	}
	var unaligned []string
	for h := range t.hosts {
		host := &t.hosts[h]
		if reference < 0 || len(points[h]) == 0 {
			continue
		}
		difference := toDay[h] - toDay[reference]
		switch {
		case h == reference:
			host.Aligned = true
		case boots[h] != "" && boots[h] == boots[reference] && max(difference, -difference) <= sameKernel:
			host.Aligned = true
		default:
			host.Shift = difference
			unaligned = append(unaligned, host.Name)
		}
	}
	if len(unaligned) > 0 {
		t.unaligned = true
		t.problems = append(t.problems, Problem{
			Kind: ProblemUnaligned, Rank: format.NoRank, Count: uint64(len(unaligned) + 1),
			Text: fmt.Sprintf("the clocks of %d hosts (%s) were not measured against each other; put together by their times of day, which may be milliseconds apart",
				len(unaligned)+1, someNames(t.hosts)),
		})
	}

	for i, r := range t.ranks {
		r.clock.offset = t.hosts[rankHost[i]].Shift
	}
	zero := int64(math.MaxInt64)
	for _, r := range t.ranks {
		if begin, ok := r.firstTick(); ok && !slices.Contains(floating, r) {
			zero = min(zero, r.clock.at(begin))
		}
	}
	if zero == math.MaxInt64 {
		zero = 0
		if reference >= 0 {
			zero = points[reference][0].Monotonic
		}
	}
	for _, r := range t.ranks {
		r.clock.offset = add(r.clock.offset, -zero)
	}
	for _, r := range floating {
		r.clock.offset = 0
		if begin, ok := r.firstTick(); ok {
			r.clock.offset = -r.clock.raw(begin)
		}
		t.unaligned = t.unaligned || len(t.ranks) > 1
		t.problems = append(t.problems, Problem{
			Kind: ProblemClock, Rank: r.number, File: r.source.path,
			Text: "no clock measurement in the file; its first call was put at the run's start",
		})
	}
	if reference < 0 {
		return t.defs.Run.Start
	}
	return add(zero, toDay[reference])
}

// firstTick returns the smallest begin of the rank's calls, in ticks.
func (r *Rank) firstTick() (int64, bool) {
	blocks := r.source.reader.Blocks()
	if len(blocks) == 0 {
		return 0, false
	}
	first := int64(math.MaxInt64)
	for _, b := range blocks {
		first = min(first, b.TimeMin)
	}
	return first, true
}

func someNames(hosts []Host) string {
	var names []string
	for i, h := range hosts {
		if i == 4 {
			names = append(names, "…")
			break
		}
		names = append(names, h.Name)
	}
	return strings.Join(names, ", ")
}
