// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"sort"

	"github.com/mpitrace/mpitrace/format"
)

// index finds definitions.
type index struct {
	processes map[int32]*format.Process
	summaries map[int32]*format.Summary
	comms     map[format.ID]*commIndex
	datatypes map[format.ID]*format.Datatype
	ops       map[format.ID]*format.Op
	wins      map[format.ID]*format.Win
	files     map[format.ID]*format.File
	modules   map[format.ID]*format.Module
	sites     map[format.ID]*format.Site
	texts     map[format.ID]*format.Text
}

func newIndex(d *format.Definitions) index {
	x := index{
		processes: map[int32]*format.Process{},
		summaries: map[int32]*format.Summary{},
		comms:     make(map[format.ID]*commIndex, len(d.Comms)),
		datatypes: make(map[format.ID]*format.Datatype, len(d.Datatypes)),
		ops:       make(map[format.ID]*format.Op, len(d.Ops)),
		wins:      make(map[format.ID]*format.Win, len(d.Wins)),
		files:     make(map[format.ID]*format.File, len(d.Files)),
		modules:   make(map[format.ID]*format.Module, len(d.Modules)),
		sites:     make(map[format.ID]*format.Site, len(d.Sites)),
		texts:     make(map[format.ID]*format.Text, len(d.Texts)),
	}
	for i := range d.Processes {
		x.processes[d.Processes[i].Rank] = &d.Processes[i]
	}
	for i := range d.Summaries {
		x.summaries[d.Summaries[i].Rank] = &d.Summaries[i]
	}
	for i := range d.Comms {
		c := &d.Comms[i]
		x.comms[c.ID] = &commIndex{c, newMembers(c.Group), newMembers(c.Remote)}
	}
	for i := range d.Datatypes {
		x.datatypes[d.Datatypes[i].ID] = &d.Datatypes[i]
	}
	for i := range d.Ops {
		x.ops[d.Ops[i].ID] = &d.Ops[i]
	}
	for i := range d.Wins {
		x.wins[d.Wins[i].ID] = &d.Wins[i]
	}
	for i := range d.Files {
		x.files[d.Files[i].ID] = &d.Files[i]
	}
	for i := range d.Modules {
		x.modules[d.Modules[i].ID] = &d.Modules[i]
	}
	for i := range d.Sites {
		x.sites[d.Sites[i].ID] = &d.Sites[i]
	}
	for i := range d.Texts {
		x.texts[d.Texts[i].ID] = &d.Texts[i]
	}
	return x
}

type commIndex struct {
	comm          *format.Comm
	group, remote members
}

// members finds the world rank of a rank in a group.
type members struct {
	runs  format.Ranks
	start []int64 // rank in the group of each run's first
}

func newMembers(runs format.Ranks) members {
	m := members{runs: runs, start: make([]int64, len(runs))}
	at := int64(0)
	for i, r := range runs {
		m.start[i] = at
		at += int64(max(r.Count, 0))
	}
	return m
}

// at returns the world rank of rank, or format.NoRank if the group has no such
// rank.
func (m *members) at(rank int32) int32 {
	i := sort.Search(len(m.start), func(i int) bool { return m.start[i] > int64(rank) }) - 1
	if rank < 0 || i < 0 {
		return format.NoRank
	}
	run, k := m.runs[i], int64(rank)-m.start[i]
	if k >= int64(run.Count) {
		return format.NoRank
	}
	return int32(int64(run.First) + k*int64(run.Stride))
}

// has tells whether a world rank is in the group.
func (m *members) has(world int32) bool {
	for _, r := range m.runs {
		d := int64(world) - int64(r.First)
		switch {
		case r.Count <= 0:
		case d == 0:
			return true
		case r.Stride != 0 && d%int64(r.Stride) == 0 && d/int64(r.Stride) > 0 && d/int64(r.Stride) < int64(r.Count):
			return true
		}
	}
	return false
}

// Comm returns the communicator with id, or nil.
func (t *Trace) Comm(id format.ID) *format.Comm {
	if c := t.index.comms[id]; c != nil {
		return c.comm
	}
	return nil
}

// CommName is the name of the communicator with id, or its number if it has
// none: "communicator 5". It is "" for 0.
func (t *Trace) CommName(id format.ID) string {
	if id == 0 {
		return ""
	}
	if c := t.Comm(id); c != nil {
		return commLabel(c)
	}
	return fmt.Sprintf("communicator %d", id)
}

// WorldRank is the rank in MPI_COMM_WORLD of whom rank calls peer on
// communicator comm. Wildcards, MPI_PROC_NULL and the like stay what they are;
// what cannot be told is format.NoRank.
func (t *Trace) WorldRank(comm format.ID, rank, peer int32) int32 {
	if peer < 0 {
		return peer
	}
	c := t.index.comms[comm]
	if c == nil {
		return format.NoRank
	}
	if c.comm.Kind == format.CommInter && c.group.has(rank) {
		return c.remote.at(peer)
	}
	return c.group.at(peer)
}

// Datatype returns the datatype with id, or nil.
func (t *Trace) Datatype(id format.ID) *format.Datatype { return t.index.datatypes[id] }

// Op returns the reduction operation with id, or nil.
func (t *Trace) Op(id format.ID) *format.Op { return t.index.ops[id] }

// Win returns the window with id, or nil.
func (t *Trace) Win(id format.ID) *format.Win { return t.index.wins[id] }

// File returns the MPI-IO file with id, or nil.
func (t *Trace) File(id format.ID) *format.File { return t.index.files[id] }

// Module returns the executable or shared object with id, or nil.
func (t *Trace) Module(id format.ID) *format.Module { return t.index.modules[id] }

// Site returns the call site with id, or nil.
func (t *Trace) Site(id format.ID) *format.Site { return t.index.sites[id] }

// Text returns the string with id, or "".
func (t *Trace) Text(id format.ID) string {
	if s := t.index.texts[id]; s != nil {
		return s.Text
	}
	return ""
}
