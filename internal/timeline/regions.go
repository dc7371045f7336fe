// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/terminal"
)

// regionDepth is how many levels of nested regions are kept.
const regionDepth = 3

// The MPI_Pcontrol levels that begin and end a named region.
const (
	levelRegionBegin = 9093
	levelRegionEnd   = 9094
)

// Regions are one rank's regions over time: by depth, the outermost first, and
// by bin, the region that took most of the bin, or "" if none took half of it.
type Regions struct {
	Rank  int32
	Names [][]string
}

// regionWalk follows the regions of a rank's first thread that has some.
type regionWalk struct {
	text   func(format.ID) string
	thread uint32
	found  bool
	stack  []openRegion
	times  [regionDepth][]map[string]int64 // by bin: how long which region
}

type openRegion struct {
	name  string
	begin int64
}

func newRegionWalk(bins int, text func(format.ID) string) *regionWalk {
	r := &regionWalk{text: text}
	for depth := range r.times {
		r.times[depth] = make([]map[string]int64, bins)
	}
	return r
}

// control follows the MPI_Pcontrol that begin and end regions. Like the
// profile, it takes a region to be from the return of the one to the begin of
// the other, and an end to end all that is inside it.
func (r *regionWalk) control(w *Walk, sig *format.Sig, begin, end int64) {
	level, name := sig.Args[0], ""
	if len(sig.Args) > 1 {
		name = r.text(format.ID(sig.Args[1]))
	}
	if level != levelRegionBegin && level != levelRegionEnd || r.found && sig.Thread != r.thread {
		return
	}
	r.found, r.thread = true, sig.Thread
	if level == levelRegionBegin {
		r.stack = append(r.stack, openRegion{cmp.Or(name, "(unnamed)"), end})
		return
	}
	at := len(r.stack) - 1
	for at >= 0 && name != "" && r.stack[at].name != name {
		at--
	}
	if at >= 0 {
		r.close(w, at, begin)
	}
}

// close ends the regions from depth on at now.
func (r *regionWalk) close(w *Walk, depth int, now int64) {
	for len(r.stack) > depth {
		last := len(r.stack) - 1
		if last < regionDepth {
			bins := r.times[last]
			w.spread(r.stack[last].begin, now, func(bin int, time int64) {
				if bins[bin] == nil {
					bins[bin] = make(map[string]int64, 1)
				}
				bins[bin][r.stack[last].name] += time
			})
		}
		r.stack = r.stack[:last]
	}
}

// regions reduces the times to names.
func (r *regionWalk) regions(l *Level, rank int32) *Regions {
	list := &Regions{Rank: rank}
	for _, bins := range r.times {
		names := make([]string, len(bins))
		for i, times := range bins {
			var most int64
			for _, name := range slices.Sorted(maps.Keys(times)) {
				if t := times[name]; t > most && 2*t >= l.Bin(i).Length() {
					names[i], most = name, t
				}
			}
		}
		if !slices.ContainsFunc(names, func(s string) bool { return s != "" }) {
			break
		}
		list.Names = append(list.Names, names)
	}
	if len(list.Names) == 0 {
		return nil
	}
	return list
}

// line draws the regions of one depth: each from its bin to its last with its
// name in between, as far as there is room.
func (r *Regions) line(depth int, ascii bool) string {
	left, middle, right, single := "├", "─", "┤", "│"
	if ascii {
		left, middle, right, single = "[", "-", "]", "|"
	}
	var b strings.Builder
	names := r.Names[depth]
	for from := 0; from < len(names); {
		to := from + 1
		for to < len(names) && names[to] == names[from] {
			to++
		}
		switch width := to - from; {
		case names[from] == "":
			b.WriteString(strings.Repeat(" ", width))
		case width == 1:
			b.WriteString(single)
		default:
			name := []rune(terminal.Clean(names[from]))
			if ascii {
				name = []rune(strings.Map(toASCII, string(name)))
			}
			name = name[:min(len(name), width-2)]
			before := (width - 2 - len(name)) / 2
			b.WriteString(left + strings.Repeat(middle, before) + string(name))
			b.WriteString(strings.Repeat(middle, width-2-len(name)-before) + right)
		}
		from = to
	}
	return b.String()
}

func toASCII(r rune) rune {
	if r > 126 {
		return '?'
	}
	return r
}
