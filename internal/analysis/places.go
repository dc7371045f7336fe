// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"path/filepath"

	"github.com/mpitrace/mpitrace/format"
)

// place is where a call site is, for people: file:line if that is known, else
// the symbol or the module and the offset in it.
type place struct {
	file   string
	line   int32
	caller string
	text   string
}

// noPlace is the place of calls whose site was not recorded.
const noPlace = "(unknown)"

func (p *Profiler) place(id format.ID) place {
	s := p.trace.Site(id)
	if s == nil {
		return place{text: noPlace}
	}
	if s.File != "" {
		text := filepath.Base(s.File)
		if s.Line > 0 {
			text = fmt.Sprintf("%s:%d", text, s.Line)
		}
		return place{s.File, s.Line, s.Function, text}
	}
	m := p.trace.Module(s.Module)
	if s.Function != "" { // a symbol and an offset
		where := place{text: s.Function}
		if m != nil {
			where.file = m.Path
		}
		return where
	}
	if m == nil {
		if s.Address == 0 {
			return place{text: noPlace}
		}
		return place{text: fmt.Sprintf("0x%x", s.Address)}
	}
	return place{
		file: m.Path,
		text: fmt.Sprintf("%s+0x%x", filepath.Base(m.Path), s.Address-m.Base),
	}
}

// describeOpen says which call never returned.
func (p *Profiler) describeOpen(rank int32, o *openCall, time int64, left bool) Unfinished {
	u := Unfinished{
		Rank:     rank,
		Thread:   o.sig.Thread,
		Function: p.trait(o.sig.Func).name,
		Begin:    o.begin,
		Time:     time,
		Comm:     p.trace.CommName(o.sig.Comm),
		Site:     p.place(o.sig.Site).text,
		Nested:   o.sig.Flags&format.FlagNested != 0,
		Left:     left,
	}
	if o.sig.Peer != format.NoRank {
		u.Peer = &o.sig.Peer
	}
	if o.sig.Tag != format.NoTag {
		u.Tag = &o.sig.Tag
	}
	return u
}
