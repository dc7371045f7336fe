// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"slices"
)

// What a part of a drawn cell shows: a Class, or one of these.
const (
	partComputation = NumClasses + iota
	partOff
	partNone // the rank had not begun, or had ended
	numParts
)

// shares are the parts of a cell as fractions of 1, in the order in which they
// are stacked: classes, computation, not recorded, nothing.
func shares(c *Cell, whole int64) [numParts]float64 {
	var s [numParts]float64
	if whole <= 0 {
		s[partNone] = 1
		return s
	}
	recorded := float64(c.Recorded) / float64(whole)
	busy := 0.0
	for class := range NumClasses {
		s[class] = c.Share(class) * recorded
		busy += s[class]
	}
	s[partComputation] = max(0, recorded-busy)
	s[partOff] = float64(c.Off) / float64(whole)
	s[partNone] = max(0, 1-recorded-s[partOff])
	return s
}

// visible is the share of MPI from which on at least a sliver of it is drawn.
const visible = 0.02

// stack divides levels among the shares, by largest remainder. MPI that is
// there at all, from visible on, gets at least one.
func stack(s [numParts]float64, levels int) [numParts]int {
	var parts [numParts]int
	type remainder struct {
		part int
		rest float64
	}
	var rests []remainder
	left := levels
	for i, share := range s {
		exact := share * float64(levels)
		parts[i] = int(exact)
		left -= parts[i]
		rests = append(rests, remainder{i, exact - float64(parts[i])})
	}
	slices.SortStableFunc(rests, func(a, b remainder) int { return cmp.Compare(b.rest, a.rest) })
	for i := 0; left > 0; i, left = i+1, left-1 {
		parts[rests[i%len(rests)].part]++
	}

	drawn, best, mpi := 0, Class(0), 0.0
	for class := range NumClasses {
		drawn += parts[class]
		mpi += s[class]
		if s[class] > s[best] {
			best = class
		}
	}
	if drawn == 0 && mpi >= visible {
		for _, from := range []int{int(partComputation), int(partOff), int(partNone)} {
			if parts[from] > 0 {
				parts[from]--
				parts[best]++
				break
			}
		}
	}
	return parts
}

// settle makes the cell of a single rank that was there only in part of the
// bin (its first and its last) either whole or empty: a bar of half the height
// would look like half the load.
func settle(s [numParts]float64) [numParts]float64 {
	there := 1 - s[partNone]
	switch {
	case there >= 0.5:
		for i := range s {
			s[i] /= there
		}
		s[partNone] = 0
	default:
		s = [numParts]float64{}
		s[partNone] = 1
	}
	return s
}
