// SPDX-License-Identifier: Apache-2.0

// Package dump writes calls for other programs, one a line. The keys of the
// JSON form and the columns of the CSV form are stable; new ones may be added.
package dump

import (
	"io"
	"strconv"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/terminal"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/mpi"
)

// JSONLines writes the selected calls as one JSON object a line, in the order
// of time. The error is w's.
func JSONLines(w io.Writer, t *trace.Trace, s trace.Selection) error {
	e := jsonEncoder{names: newNames(t)}
	for c := range t.InOrder(s) {
		e.b = e.b[:0]
		e.call(c)
		e.b = append(e.b, '\n')
		if _, err := w.Write(e.b); err != nil {
			return err
		}
	}
	return nil
}

// names turns ids into what is written for them, each once.
type names struct {
	trace                                     *trace.Trace
	comms, datatypes, ops, wins, files, sites map[format.ID]name
}

// name is how a definition is written: as its name, or as its number if it has
// none.
type name struct {
	json []byte
	text string
}

func newNames(t *trace.Trace) *names {
	return &names{
		trace: t, comms: map[format.ID]name{}, datatypes: map[format.ID]name{}, ops: map[format.ID]name{},
		wins: map[format.ID]name{}, files: map[format.ID]name{}, sites: map[format.ID]name{},
	}
}

// of returns the name of id among known, which get finds out the first time.
func (*names) of(known map[format.ID]name, id format.ID, get func() string) name {
	n, ok := known[id]
	if !ok {
		text := get()
		if text == "" {
			text = strconv.FormatUint(uint64(id), 10)
			n = name{[]byte(text), text}
		} else {
			n = name{appendString(nil, text), terminal.Clean(text)}
		}
		known[id] = n
	}
	return n
}

func (n *names) comm(id format.ID) name {
	return n.of(n.comms, id, func() string {
		if c := n.trace.Comm(id); c != nil {
			return c.Name
		}
		return ""
	})
}

func (n *names) datatype(id format.ID) name {
	return n.of(n.datatypes, id, func() string {
		if d := n.trace.Datatype(id); d != nil {
			return d.Name
		}
		return ""
	})
}

func (n *names) op(id format.ID) name {
	return n.of(n.ops, id, func() string {
		if o := n.trace.Op(id); o != nil {
			return o.Name
		}
		return ""
	})
}

func (n *names) win(id format.ID) name {
	return n.of(n.wins, id, func() string {
		if w := n.trace.Win(id); w != nil {
			return w.Name
		}
		return ""
	})
}

func (n *names) file(id format.ID) name {
	return n.of(n.files, id, func() string {
		if f := n.trace.File(id); f != nil {
			return f.Name
		}
		return ""
	})
}

func (n *names) site(id format.ID) name {
	site, ok := n.sites[id]
	if !ok {
		// A site that nothing is known of has no number that would help.
		text := n.trace.SiteName(id)
		site = name{appendString(nil, text), terminal.Clean(text)}
		n.sites[id] = site
	}
	return site
}

// function names a function; one that this program does not know yet is named
// by its number.
func function(id mpi.FuncID) string {
	if f := mpi.ByID(id); f != nil {
		return f.Name
	}
	return "function " + strconv.Itoa(int(id))
}

// commOf is the communicator that the ranks in a call are ranks of: the call's,
// or that of its window.
func (n *names) commOf(s *format.Sig) format.ID {
	if s.Comm == 0 && s.Win != 0 {
		if w := n.trace.Win(s.Win); w != nil {
			return w.Comm
		}
	}
	return s.Comm
}

// world is the world rank of a peer of a call, false if it is none or unknown.
func (n *names) world(c *trace.Call, peer int32) (int32, bool) {
	if peer < 0 {
		return 0, false
	}
	w := n.trace.WorldRank(n.commOf(c.Sig), c.Rank, peer)
	return w, w >= 0
}

// hasBytes tells whether a call's bytes mean something: it moved data, or was
// to. What a receive gets is known when it has it:
// of a nonblocking one, where it completes.
func hasBytes(s *format.Sig) bool {
	if f := mpi.ByID(s.Func); f != nil && f.Is(mpi.RoleReceives) && !f.Is(mpi.RoleSends) &&
		(f.IsAny(mpi.RoleStarts|mpi.RoleInits) || s.Flags&format.FlagInFlight != 0) {
		return false
	}
	return s.Bytes != 0 || s.Count != format.NoCount && (s.Datatype != 0 || s.Second != nil)
}

// hasMatch tells whether a call has a counterpart to be matched with: it sends
// or receives a message.
func hasMatch(s *format.Sig) bool {
	f := mpi.ByID(s.Func)
	return f != nil && f.Family == mpi.P2P && f.IsAny(mpi.RoleSends|mpi.RoleReceives) && s.Peer != format.ProcNull &&
		!f.IsAny(mpi.RoleInits|mpi.RoleProbes)
}
