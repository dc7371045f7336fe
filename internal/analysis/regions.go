// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/mpitrace/mpitrace/internal/trace"

// regionCell is what a rank spent in the regions of one name.
type regionCell struct {
	visits               uint64
	inclusive, exclusive int64
	mpi                  int64
	max                  int64
	unclosed, unmatched  uint64
}

// openRegion is a region that a thread is in.
type openRegion struct {
	name     string
	begin    int64
	children int64 // inclusive time of the regions inside
	mpi      int64 // the thread's MPI time when it began
	again    bool  // inside a region of the same name: its inclusive time is counted there
}

// regionStack is the regions that a thread is in, outermost first. Regions of
// one thread nest: the end of an outer region ends those inside it.
type regionStack []openRegion

func (s *regionStack) begin(name string, now, mpi int64) {
	again := false
	for i := range *s {
		again = again || (*s)[i].name == name
	}
	*s = append(*s, openRegion{name: name, begin: now, mpi: mpi, again: again})
}

// regionCells are a rank's regions by name. Only what lies in the window is
// counted.
type regionCells struct {
	cells  map[string]*regionCell
	window trace.Window
}

func (r *regionCells) of(name string) *regionCell {
	c := r.cells[name]
	if c == nil {
		c = &regionCell{}
		r.cells[name] = c
	}
	return c
}

// end ends the stack's innermost region called name, or simply the innermost
// one if name is "". Regions inside it that were not ended count as unclosed,
// an end without a begin as unmatched.
func (r *regionCells) end(s *regionStack, name string, now, mpi int64) {
	at := len(*s) - 1
	for at >= 0 && name != "" && (*s)[at].name != name {
		at--
	}
	if at < 0 {
		if r.window.Touches(now, now) {
			r.of(name).unmatched++
		}
		return
	}
	r.abandon(s, at+1, now, mpi)
	r.pop(s, now, mpi)
}

// abandon ends the stack's regions from depth on as unclosed.
func (r *regionCells) abandon(s *regionStack, depth int, now, mpi int64) {
	for len(*s) > depth {
		top := (*s)[len(*s)-1]
		if r.window.Touches(top.begin, now) {
			r.of(top.name).unclosed++
		}
		r.pop(s, now, mpi)
	}
}

func (r *regionCells) pop(s *regionStack, now, mpi int64) {
	top := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	if !r.window.Touches(top.begin, now) {
		return
	}
	time := max(0, min(now, r.window.End)-max(top.begin, r.window.Begin))
	if n := len(*s); n > 0 {
		(*s)[n-1].children += time
	}
	c := r.of(top.name)
	c.visits++
	c.exclusive += time - top.children
	c.max = max(c.max, time)
	if !top.again {
		c.inclusive += time
		c.mpi += mpi - top.mpi
	}
}
