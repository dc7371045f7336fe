// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mpitrace/mpitrace/format"
)

// definer makes the definitions of many rank files into one set with global
// ids. Files are added in the order of their ranks, so that the ids do not
// depend on anything else. Ids start at 1.
//
// What makes two definitions the same: communicators their Global id; modules
// build id and path; sites module and address within the module's file;
// windows and the program's own operations their place in the order in which
// the rank made them; all others their content.
type definer struct {
	defs format.Definitions

	comms     map[commKey]format.ID
	datatypes map[format.Datatype]format.ID
	ops       map[opKey]format.ID
	wins      map[winKey]format.ID
	files     map[format.File]format.ID
	modules   map[moduleKey]format.ID
	sites     map[siteKey]format.ID
	texts     map[string]format.ID

	commRank []int32 // by comm id-1: the rank that Name was taken from
	problems []Problem
}

type commKey struct {
	global uint64
	rank   int32 // only of a communicator without a Global id: nobody else's
	id     format.ID
}

type opKey struct {
	name string
	nth  int // among the rank's operations of this name
}

type winKey struct {
	comm format.ID
	name string
	nth  int
}

type moduleKey struct{ buildID, path string }

type siteKey struct {
	module         format.ID
	address        uint64 // in the module's file; of the process if the module is not known
	function, file string
	line           int32
}

func newDefiner() *definer {
	return &definer{
		comms:     map[commKey]format.ID{},
		datatypes: map[format.Datatype]format.ID{},
		ops:       map[opKey]format.ID{},
		wins:      map[winKey]format.ID{},
		files:     map[format.File]format.ID{},
		modules:   map[moduleKey]format.ID{},
		sites:     map[siteKey]format.ID{},
		texts:     map[string]format.ID{},
	}
}

// intern returns the id of what key stands for, and whether it is new; then
// the caller appends it to list.
func intern[K comparable, T any](m map[K]format.ID, key K, list *[]T) (id format.ID, isNew bool) {
	if id, ok := m[key]; ok {
		return id, false
	}
	id = format.ID(len(*list) + 1)
	m[key] = id
	return id, true
}

// add takes over the definitions of one rank and returns how its ids map.
// Clock points, drains, losses and summaries keep their ticks.
func (d *definer) add(rank int32, in *format.Definitions) *remap {
	m := &remap{}
	d.defs.Processes = append(d.defs.Processes, in.Processes...)
	d.defs.Threads = append(d.defs.Threads, in.Threads...)
	d.defs.Clock = append(d.defs.Clock, in.Clock...)
	d.defs.Losses = append(d.defs.Losses, in.Losses...)
	d.addComms(rank, in, m)
	d.addDatatypes(in, m)
	d.addOps(in, m)
	d.addWins(in, m)
	d.addFiles(in, m)
	d.addSites(in, m)
	for _, t := range in.Texts {
		id, isNew := intern(d.texts, t.Text, &d.defs.Texts)
		if isNew {
			d.defs.Texts = append(d.defs.Texts, format.Text{ID: id, Text: t.Text})
		}
		m.texts.set(t.ID, id)
	}
	return m
}

func (d *definer) addComms(rank int32, in *format.Definitions, m *remap) {
	// Ids first: a parent may be defined after its child.
	for _, c := range in.Comms {
		key := commKey{global: c.Global}
		if c.Global == 0 {
			key.rank, key.id = rank, c.ID
		}
		id, isNew := intern(d.comms, key, &d.defs.Comms)
		if isNew {
			d.defs.Comms = append(d.defs.Comms, format.Comm{ID: id})
			d.commRank = append(d.commRank, format.NoRank)
		}
		m.comms.set(c.ID, id)
	}
	for _, c := range in.Comms {
		id, _ := m.comms.get(c.ID)
		if id == 0 {
			continue // 0 is no communicator, whatever the file says
		}
		c.ID, c.Rank = id, format.NoRank
		c.Parent, _ = m.comms.get(c.Parent)
		have := &d.defs.Comms[id-1]
		if d.commRank[id-1] == format.NoRank {
			*have = c
			d.commRank[id-1] = rank
			continue
		}
		if have.Name == "" {
			have.Name = c.Name
		}
		if have.Parent == 0 {
			have.Parent = c.Parent
		}
		if !sameMembers(have, &c) {
			d.problems = append(d.problems, Problem{
				Kind: ProblemDefinitions, Rank: rank,
				Text: fmt.Sprintf("members of %s differ from what rank %d recorded", commLabel(have), d.commRank[id-1]),
			})
		}
	}
}

// sameMembers tells whether two definitions of a communicator agree on who is
// in it. The two sides of an intercommunicator each call their own group the
// local one.
func sameMembers(a, b *format.Comm) bool {
	if a.Kind != b.Kind {
		return false
	}
	if slices.Equal(a.Group, b.Group) && slices.Equal(a.Remote, b.Remote) {
		return true
	}
	return a.Kind == format.CommInter && slices.Equal(a.Group, b.Remote) && slices.Equal(a.Remote, b.Group)
}

func (d *definer) addDatatypes(in *format.Definitions, m *remap) {
	byID := make(map[format.ID]*format.Datatype, len(in.Datatypes))
	for i := range in.Datatypes {
		byID[in.Datatypes[i].ID] = &in.Datatypes[i]
	}
	var add func(id format.ID, depth int) format.ID
	add = func(id format.ID, depth int) format.ID {
		if to, ok := m.datatypes.get(id); ok {
			return to
		}
		t := byID[id]
		// No program nests types so deep; a made-up file may have a circle.
		if t == nil || depth > 1000 {
			return 0
		}
		global := *t
		global.ID, global.Base = 0, add(t.Base, depth+1)
		to, isNew := intern(d.datatypes, global, &d.defs.Datatypes)
		if isNew {
			global.ID = to
			d.defs.Datatypes = append(d.defs.Datatypes, global)
		}
		m.datatypes.set(id, to)
		return to
	}
	for _, t := range in.Datatypes {
		add(t.ID, 0)
	}
}

func (d *definer) addOps(in *format.Definitions, m *remap) {
	nth := map[string]int{}
	for _, op := range in.Ops {
		key := opKey{op.Name, nth[op.Name]}
		nth[op.Name]++
		id, isNew := intern(d.ops, key, &d.defs.Ops)
		if isNew {
			d.defs.Ops = append(d.defs.Ops, format.Op{ID: id, Name: op.Name})
		}
		m.ops.set(op.ID, id)
	}
}

func (d *definer) addWins(in *format.Definitions, m *remap) {
	nth := map[winKey]int{}
	for _, w := range in.Wins {
		local := w.ID
		w.Comm, _ = m.comms.get(w.Comm)
		key := winKey{comm: w.Comm, name: w.Name}
		key.nth = nth[key]
		nth[winKey{comm: w.Comm, name: w.Name}]++
		id, isNew := intern(d.wins, key, &d.defs.Wins)
		if isNew {
			w.ID = id
			d.defs.Wins = append(d.defs.Wins, w)
		} else {
			// Each process may expose another size; the largest stands for all.
			have := &d.defs.Wins[id-1]
			have.Size = max(have.Size, w.Size)
		}
		m.wins.set(local, id)
	}
}

func (d *definer) addFiles(in *format.Definitions, m *remap) {
	for _, f := range in.Files {
		local := f.ID
		f.ID = 0
		f.Comm, _ = m.comms.get(f.Comm)
		id, isNew := intern(d.files, f, &d.defs.Files)
		if isNew {
			f.ID = id
			d.defs.Files = append(d.defs.Files, f)
		}
		m.files.set(local, id)
	}
}

func (d *definer) addSites(in *format.Definitions, m *remap) {
	type local struct {
		global format.ID
		base   uint64
	}
	modules := make(map[format.ID]local, len(in.Modules))
	for _, mod := range in.Modules {
		id, isNew := intern(d.modules, moduleKey{mod.BuildID, mod.Path}, &d.defs.Modules)
		modules[mod.ID] = local{id, mod.Base}
		if isNew {
			mod.ID = id
			d.defs.Modules = append(d.defs.Modules, mod)
		}
	}
	for _, s := range in.Sites {
		from := s.ID
		mod := modules[s.Module]
		s.Module = mod.global
		s.Address -= mod.base
		id, isNew := intern(d.sites, siteKey{s.Module, s.Address, s.Function, s.File, s.Line}, &d.defs.Sites)
		if isNew {
			s.ID = id
			if s.Module != 0 {
				s.Address += d.defs.Modules[s.Module-1].Base
			}
			d.defs.Sites = append(d.defs.Sites, s)
		}
		m.sites.set(from, id)
	}
}

// commLabel names a communicator for people.
func commLabel(c *format.Comm) string {
	return cmp.Or(c.Name, fmt.Sprintf("communicator %d", c.ID))
}
