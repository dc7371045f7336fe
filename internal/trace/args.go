// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"sync"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// ArgKind says what the number of an argument in Sig.Args means.
type ArgKind uint8

// The kinds of arguments.
const (
	ArgNumber ArgKind = iota
	ArgComm           // the id of a communicator
	ArgDatatype
	ArgWin
	ArgFile
	ArgText // the id of a string
)

// Arg is one of the arguments that a function's Sig.Args holds.
type Arg struct {
	Name string // as in the standard: "newcomm"
	Kind ArgKind
}

// Args returns what a function's Sig.Args holds, in order. It must not be
// changed.
func Args(id mpi.FuncID) []Arg {
	if table := argTable(); int(id) < len(table) {
		return table[id]
	}
	return nil
}

var argTable = sync.OnceValue(func() [][]Arg {
	functions := mpi.All()
	table := make([][]Arg, len(functions)+1)
	for i := range functions {
		f := &functions[i]
		for _, p := range f.Args() {
			table[f.ID] = append(table[f.ID], Arg{f.Params[p].Name, argKind(&f.Params[p])})
		}
	}
	// MPI_Pcontrol(level, ...): behind the level is the name of a region or
	// marker, if there is one.
	table[mpi.FuncPcontrol] = []Arg{{"level", ArgNumber}, {"name", ArgText}}
	return table
})

func argKind(p *mpi.Param) ArgKind {
	switch p.Type {
	case mpi.TComm:
		return ArgComm
	case mpi.TDatatype:
		return ArgDatatype
	case mpi.TWin:
		return ArgWin
	case mpi.TFile:
		return ArgFile
	}
	return ArgNumber
}

// args rewrites the ids among a signature's arguments and returns how many
// were never defined. Args is shared with nobody: a decoder makes it anew for
// each block.
func (m *remap) args(s *format.Sig) (undefined int) {
	for i, a := range Args(s.Func) {
		if i == len(s.Args) {
			break
		}
		var ids *idMap
		switch a.Kind {
		case ArgComm:
			ids = &m.comms
		case ArgDatatype:
			ids = &m.datatypes
		case ArgWin:
			ids = &m.wins
		case ArgFile:
			ids = &m.files
		case ArgText:
			ids = &m.texts
		default:
			continue
		}
		id := format.ID(s.Args[i])
		if int64(id) != s.Args[i] {
			undefined++
			s.Args[i] = 0
			continue
		}
		to, ok := ids.get(id)
		if !ok {
			undefined++
		}
		s.Args[i] = int64(to)
	}
	return undefined
}
