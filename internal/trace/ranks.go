// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// RankSet is a set of world ranks. The zero value holds every rank.
type RankSet struct {
	spans []span // disjoint, ascending; nil is everything
}

// span is first to last, both in it.
type span struct{ first, last int32 }

// ParseRanks reads "0,2-5,8-": single ranks and ranges, whose last rank may be
// left out. The empty string is every rank.
func ParseRanks(s string) (RankSet, error) {
	if strings.TrimSpace(s) == "" {
		return RankSet{}, nil
	}
	var set RankSet
	for _, part := range strings.Split(s, ",") {
		part = strings.TrimSpace(part)
		low, high, isRange := strings.Cut(part, "-")
		first, err := parseRank(low)
		if err != nil {
			return RankSet{}, fmt.Errorf("bad ranks %q: %q is no rank; write it as in 0,2-5", s, part)
		}
		last := first
		switch {
		case isRange && strings.TrimSpace(high) == "":
			last = math.MaxInt32
		case isRange:
			if last, err = parseRank(high); err != nil {
				return RankSet{}, fmt.Errorf("bad ranks %q: %q is no range; write it as in 0,2-5", s, part)
			}
		}
		if last < first {
			return RankSet{}, fmt.Errorf("bad ranks %q: %q runs backwards", s, part)
		}
		set.spans = append(set.spans, span{first, last})
	}
	set.normalise()
	return set, nil
}

func parseRank(s string) (int32, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31)
	return int32(n), err
}

// normalise sorts the spans and joins those that touch.
func (s *RankSet) normalise() {
	slices.SortFunc(s.spans, func(a, b span) int { return int(int64(a.first) - int64(b.first)) })
	joined := s.spans[:0]
	for _, next := range s.spans {
		if n := len(joined); n > 0 && int64(next.first) <= int64(joined[n-1].last)+1 {
			joined[n-1].last = max(joined[n-1].last, next.last)
			continue
		}
		joined = append(joined, next)
	}
	s.spans = joined
}

// All tells whether the set holds every rank.
func (s RankSet) All() bool { return s.spans == nil }

// Has tells whether rank is in the set.
func (s RankSet) Has(rank int32) bool {
	if s.spans == nil {
		return true
	}
	i, found := slices.BinarySearchFunc(s.spans, rank, func(sp span, r int32) int {
		switch {
		case sp.last < r:
			return -1
		case sp.first > r:
			return 1
		}
		return 0
	})
	return found && i < len(s.spans)
}

// String writes the set as ParseRanks reads it; every rank is "".
func (s RankSet) String() string {
	var b strings.Builder
	for i, sp := range s.spans {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", sp.first)
		switch {
		case sp.last == math.MaxInt32 && sp.first != sp.last:
			b.WriteByte('-')
		case sp.last != sp.first:
			fmt.Fprintf(&b, "-%d", sp.last)
		}
	}
	return b.String()
}

// RanksOf makes a set of the ranks listed; none gives a set that is empty.
func RanksOf(ranks []int32) RankSet {
	set := RankSet{spans: []span{}}
	for _, r := range ranks {
		set.spans = append(set.spans, span{r, r})
	}
	set.normalise()
	return set
}
