// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"math/bits"
	"slices"

	"github.com/mpitrace/mpitrace/internal/trace"
)

// Level is a run at one level of detail: rows of ranks, each divided into the
// same bins of time.
type Level struct {
	Window  trace.Window
	Rows    []Row
	Open    []Open   // calls that never returned
	Regions *Regions // of one rank; nil if not wanted, or if there are none
	edges   []int64  // bin i is from edges[i] to edges[i+1]
}

// Row is some ranks together.
type Row struct {
	Ranks []int32 // ascending
	Cells []Cell  // by bin
	Open  int     // calls that never returned
}

// Cell is what the ranks of a row did in a bin of time: nanoseconds, added up
// over the ranks.
type Cell struct {
	Classes  [NumClasses]int64 // thread time in calls of each class
	Busy     int64             // in which at least one of a rank's threads was in MPI
	Recorded int64             // in which the rank was recorded; at least Busy
	Off      int64             // between MPI_Pcontrol(0) and (1)
	InFlight int64             // of Busy, in calls that never returned
}

// Open is a call that never returned.
type Open struct {
	Rank     int32
	Function string
	Site     string
	Begin    int64
}

// Bins is into how many bins the time is divided.
func (l *Level) Bins() int { return len(l.edges) - 1 }

// Bin is the time of bin i.
func (l *Level) Bin(i int) trace.Window { return trace.Window{Begin: l.edges[i], End: l.edges[i+1]} }

// Total is all cells of the level together.
func (l *Level) Total() Cell {
	var total Cell
	for i := range l.Rows {
		for j := range l.Rows[i].Cells {
			total.add(&l.Rows[i].Cells[j])
		}
	}
	return total
}

func (c *Cell) add(o *Cell) {
	for i := range c.Classes {
		c.Classes[i] += o.Classes[i]
	}
	c.Busy += o.Busy
	c.Recorded += o.Recorded
	c.Off += o.Off
	c.InFlight += o.InFlight
}

// Computation is the time outside MPI.
func (c *Cell) Computation() int64 { return c.Recorded - c.Busy }

// Share is the class's part of the recorded time, as a fraction of 1. Where
// several threads of a rank were in MPI at once they share the time.
func (c *Cell) Share(class Class) float64 {
	var calls int64
	for _, time := range c.Classes {
		calls += time
	}
	if calls == 0 || c.Recorded == 0 {
		return 0
	}
	return float64(c.Classes[class]) / float64(calls) * float64(c.Busy) / float64(c.Recorded)
}

// GroupRanks puts ranks, in ascending order, into at most rows groups of
// consecutive ones: all of one size, a power of two, but for the last.
func GroupRanks(ranks []int32, rows int) [][]int32 {
	size := 1
	for (len(ranks)+size-1)/size > max(1, rows) {
		size *= 2
	}
	return slices.Collect(slices.Chunk(ranks, size))
}

// divide divides a window into bins of the same length, give or take a
// nanosecond.
func divide(w trace.Window, bins int) []int64 {
	edges := make([]int64, bins+1)
	length := uint64(w.End) - uint64(w.Begin)
	for i := range edges {
		high, low := bits.Mul64(length, uint64(i))
		part, _ := bits.Div64(high, low, uint64(bins))
		edges[i] = int64(uint64(w.Begin) + part)
	}
	return edges
}
