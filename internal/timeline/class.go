// SPDX-License-Identifier: Apache-2.0

package timeline

import "github.com/mpitrace/mpitrace/mpi"

// Class is a group of families of MPI functions that a drawing tells apart.
// There are few, because people have to tell their colours apart.
type Class uint8

// The classes, in the order in which drawings stack them.
const (
	PointToPoint Class = iota
	Completion
	Collective
	OneSided
	IO
	Setup
	Other
	NumClasses
)

// style is how a class, or what is no MPI, looks.
type style struct {
	name   string
	letter byte // in drawings without colours
	ansi   int  // xterm's 256 colours
	basic  int  // the 16 colours that every terminal has
	hex    string
}

// styles are by Class. The colours stay apart for people who do not see red or
// green, on dark and on light ground.
var styles = [NumClasses]style{
	PointToPoint: {"point-to-point", 'P', 33, 4, "#2f7ed8"},
	Completion:   {"wait and test", 'W', 202, 1, "#e4572e"},
	Collective:   {"collective", 'C', 134, 5, "#9b51c9"},
	OneSided:     {"one-sided", 'R', 36, 6, "#12a594"},
	IO:           {"file I/O", 'F', 220, 3, "#e8b30c"},
	Setup:        {"init, finalize and setup", 'S', 137, 2, "#b08968"},
	Other:        {"other MPI", 'O', 175, 7, "#d98cb3"},
}

var (
	computation = style{"computation", '.', 244, 8, "#d3d9df"}
	inFlight    = style{"never returned", '!', 196, 1, "#c40018"}
	notRecorded = style{"not recorded", '-', 0, 0, "#ffffff"}
)

// String is the class's name in legends.
func (c Class) String() string {
	if c < NumClasses {
		return styles[c].name
	}
	return "no class"
}

// classes are the functions' classes by id.
var classes = func() []Class {
	list := []Class{Other}
	for i := range mpi.All() {
		list = append(list, ClassOf(mpi.All()[i].Family))
	}
	return list
}()

// ClassOf is the class that a family belongs to.
func ClassOf(f mpi.Family) Class {
	switch f {
	case mpi.P2P:
		return PointToPoint
	case mpi.Completion:
		return Completion
	case mpi.Collective, mpi.Neighborhood:
		return Collective
	case mpi.OneSided:
		return OneSided
	case mpi.IO:
		return IO
	case mpi.Environment, mpi.SessionFamily, mpi.Process, mpi.Communicator,
		mpi.GroupFamily, mpi.Topology, mpi.DatatypeFamily:
		return Setup
	}
	return Other
}

func classOf(id mpi.FuncID) Class {
	if int(id) >= len(classes) {
		return Other
	}
	return classes[id]
}
