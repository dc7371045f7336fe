// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strings"

	"github.com/mpitrace/mpitrace/mpi"
)

// flow says where a call's bytes go.
type flow uint8

const (
	flowNone flow = iota
	flowSend
	flowReceive
	flowRoot // sent by the root, received by the others
)

// result says who gets as much from a collective as everybody gives to it.
type result uint8

const (
	forNobody result = iota
	forRoot          // MPI_Reduce
	forAll           // MPI_Allreduce, MPI_Scan
)

// sizeClass is a column of the message-size histogram.
type sizeClass uint8

const (
	classSend sizeClass = iota
	classReceive
	classCollective
	classOneSided
	classIO
	numClasses
	classNone = numClasses
)

// trait is what the profile needs to know of an MPI function, worked out of
// its row in the table once.
type trait struct {
	name   string
	family mpi.Family

	begins  bool // MPI_Init, MPI_Init_thread, MPI_Session_init
	ends    bool // MPI_Finalize, MPI_Session_finalize
	control bool // MPI_Pcontrol

	first  flow      // of Sig.Bytes
	second flow      // of Sig.Second.Bytes
	class  sizeClass // of Sig.Bytes
	result result    // of a collective without Sig.Second

	inits     bool // creates a persistent request: its bytes move when it is started
	activates bool // starts persistent requests
}

// special tells whether the calls of the function need more than counting.
func (t *trait) special() bool {
	return t.begins || t.ends || t.control || t.inits || t.activates
}

// setup tells whether the function begins or ends MPI.
func (t *trait) setup() bool { return t.begins || t.ends }

// newTraits has the traits of all functions by id; the first is what calls of
// functions count as that the table does not have (a newer recorder's).
func newTraits() []trait {
	traits := []trait{{name: "(unknown function)", class: classNone}}
	for i := range mpi.All() {
		traits = append(traits, newTrait(&mpi.All()[i]))
	}
	return traits
}

func newTrait(f *mpi.Func) trait {
	t := trait{name: f.Name, family: f.Family, class: classNone}
	has := f.IsAny
	// What a receive got that does not block is known when it completes.
	later := has(mpi.RoleNonblocking | mpi.RoleStarts | mpi.RoleInits)
	if has(mpi.RoleSetup) {
		t.ends = strings.Contains(f.Name, "inalize")
		t.begins = !t.ends
	}
	t.control = f.Name == "MPI_Pcontrol"
	t.activates = has(mpi.RoleActivates)
	t.inits = has(mpi.RoleInits)
	switch {
	case has(mpi.RoleSends):
		t.first, t.class = flowSend, classSend
		if has(mpi.RoleReceives) && !later {
			t.second = flowReceive
		}
	case has(mpi.RoleReceives):
		if !later {
			t.first, t.class = flowReceive, classReceive
		}
	case f.Family == mpi.Collective || f.Family == mpi.Neighborhood:
		if first, ok := bufferFlow(f); ok {
			t.first, t.second, t.class, t.result = first, flowReceive, classCollective, resultOf(f)
		}
	case f.Family == mpi.OneSided && moves(f):
		t.first, _ = bufferFlow(f)
		t.class = classOneSided
	case f.Family == mpi.IO && moves(f):
		t.first, _ = bufferFlow(f)
		t.class = classIO
	}
	return t
}

// bufferFlow is the flow of a function's first buffer: what it reads is sent,
// what it writes is received; a buffer that is both (MPI_Bcast) is sent by the
// root.
func bufferFlow(f *mpi.Func) (flow, bool) {
	for _, p := range f.Params {
		if p.Kind != mpi.KindBuffer {
			continue
		}
		switch p.Dir {
		case mpi.In:
			return flowSend, true
		case mpi.Out:
			return flowReceive, true
		default:
			if f.Is(mpi.RoleRooted) {
				return flowRoot, true
			}
			return flowSend, true
		}
	}
	return flowNone, false
}

// resultOf compares a collective's two buffers: if one count is for both of
// them, the call records it once.
func resultOf(f *mpi.Func) result {
	give, get := f.Find(mpi.KindBuffer, mpi.SideSend), f.Find(mpi.KindBuffer, mpi.SideRecv)
	if give < 0 || get < 0 || give == get {
		return forNobody
	}
	a, b := f.Params[give].Holds, f.Params[get].Holds
	if a == nil || b == nil || a.Count != b.Count || a.Own || b.Own || a.Times != nil || b.Times != nil {
		return forNobody
	}
	if f.Params[get].Root {
		return forRoot
	}
	return forAll
}

// moves tells whether a function takes a buffer together with a datatype.
func moves(f *mpi.Func) bool {
	buffer, datatype := false, false
	for _, p := range f.Params {
		buffer = buffer || p.Kind == mpi.KindBuffer
		datatype = datatype || p.Kind == mpi.KindDatatype
	}
	return buffer && datatype
}
