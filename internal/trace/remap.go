// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"github.com/mpitrace/mpitrace/format"
)

// remap turns the ids of one rank file into the trace's. nil leaves ids alone:
// those of a merged file are the trace's.
type remap struct {
	comms, datatypes, ops, wins, files, sites, texts idMap
}

// idMap maps ids of one kind. What was never defined maps to 0.
type idMap struct {
	dense []format.ID // by id
	rare  map[format.ID]format.ID
}

// sparse is how far beyond the ids so far an id may be for the slice to grow up
// to it. Recorders number from 1; a made-up file must not take memory by a
// number.
const sparse = 1024

func (m *idMap) set(from, to format.ID) {
	if uint64(from) > 2*uint64(len(m.dense))+sparse {
		if m.rare == nil {
			m.rare = map[format.ID]format.ID{}
		}
		m.rare[from] = to
		return
	}
	if int(from) >= len(m.dense) {
		m.dense = append(m.dense, make([]format.ID, int(from)+1-len(m.dense))...)
	}
	m.dense[from] = to
}

// get returns what id maps to, and false if it was never defined.
func (m *idMap) get(id format.ID) (format.ID, bool) {
	if id == 0 {
		return 0, true
	}
	var to format.ID
	if int(id) < len(m.dense) {
		to = m.dense[id]
	}
	if to == 0 {
		to = m.rare[id] // perhaps from when the slice was shorter
	}
	return to, to != 0
}

// apply rewrites the signatures of a block in place and returns how many ids
// in them were never defined.
func (m *remap) apply(calls *format.Calls) (undefined int) {
	one := func(ids *idMap, id *format.ID) {
		to, ok := ids.get(*id)
		if !ok {
			undefined++
		}
		*id = to
	}
	for i := range calls.Sigs {
		s := &calls.Sigs[i]
		one(&m.comms, &s.Comm)
		one(&m.wins, &s.Win)
		one(&m.files, &s.File)
		one(&m.datatypes, &s.Datatype)
		one(&m.ops, &s.Op)
		one(&m.sites, &s.Site)
		if s.Second != nil {
			one(&m.datatypes, &s.Second.Datatype)
		}
		if len(s.Args) > 0 {
			undefined += m.args(s)
		}
	}
	return undefined
}
