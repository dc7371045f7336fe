// SPDX-License-Identifier: Apache-2.0

package format

// definer collects records into Definitions. A later record of the same thing
// replaces an earlier one; clock points, drains and losses add up.
type definer struct {
	defs Definitions
	at   map[definerKey]int // index into its slice
}

type definerKey struct {
	kind recordKind
	rank int32 // for what is a rank's own
	id   uint32
}

func newDefiner() *definer { return &definer{at: map[definerKey]int{}} }

func (c *definer) add(r record) {
	d := &c.defs
	switch r := r.(type) {
	case *Run:
		d.Run = *r
	case *Process:
		put(c, &d.Processes, definerKey{recProcess, r.Rank, 0}, *r)
	case *Thread:
		put(c, &d.Threads, definerKey{recThread, r.Rank, r.ID}, *r)
	case *Comm:
		put(c, &d.Comms, definerKey{recComm, 0, uint32(r.ID)}, *r)
	case *Datatype:
		put(c, &d.Datatypes, definerKey{recDatatype, 0, uint32(r.ID)}, *r)
	case *Op:
		put(c, &d.Ops, definerKey{recOp, 0, uint32(r.ID)}, *r)
	case *Win:
		put(c, &d.Wins, definerKey{recWin, 0, uint32(r.ID)}, *r)
	case *File:
		put(c, &d.Files, definerKey{recFile, 0, uint32(r.ID)}, *r)
	case *Module:
		put(c, &d.Modules, definerKey{recModule, 0, uint32(r.ID)}, *r)
	case *Site:
		put(c, &d.Sites, definerKey{recSite, 0, uint32(r.ID)}, *r)
	case *Text:
		put(c, &d.Texts, definerKey{recText, 0, uint32(r.ID)}, *r)
	case *ClockPoint:
		d.Clock = append(d.Clock, *r)
	case *Drain:
		d.Drains = append(d.Drains, *r)
	case *Loss:
		d.Losses = append(d.Losses, *r)
	case *Summary:
		put(c, &d.Summaries, definerKey{recSummary, r.Rank, 0}, *r)
	case *Note:
		d.Notes = append(d.Notes, *r)
	}
}

func put[T any](c *definer, to *[]T, k definerKey, v T) {
	if i, ok := c.at[k]; ok {
		(*to)[i] = v
		return
	}
	c.at[k] = len(*to)
	*to = append(*to, v)
}

// each calls f with every record, run and processes first.
func (d *Definitions) each(f func(record)) {
	f(&d.Run)
	all(d.Processes, func(r *Process) { f(r) })
	all(d.Threads, func(r *Thread) { f(r) })
	all(d.Modules, func(r *Module) { f(r) })
	all(d.Comms, func(r *Comm) { f(r) })
	all(d.Datatypes, func(r *Datatype) { f(r) })
	all(d.Ops, func(r *Op) { f(r) })
	all(d.Wins, func(r *Win) { f(r) })
	all(d.Files, func(r *File) { f(r) })
	all(d.Sites, func(r *Site) { f(r) })
	all(d.Texts, func(r *Text) { f(r) })
	all(d.Clock, func(r *ClockPoint) { f(r) })
	all(d.Drains, func(r *Drain) { f(r) })
	all(d.Losses, func(r *Loss) { f(r) })
	all(d.Summaries, func(r *Summary) { f(r) })
	all(d.Notes, func(r *Note) { f(r) })
}

func all[T any](s []T, f func(*T)) {
	for i := range s {
		f(&s[i])
	}
}
