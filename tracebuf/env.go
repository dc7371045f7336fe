// SPDX-License-Identifier: Apache-2.0

package tracebuf

import (
	"unsafe"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// ABI is what the recorded values mean in the MPI library that the process ran
// under. Its zero value interprets nothing.
type ABI struct {
	AnySource, AnyTag, ProcNull, Root int32
	RequestNull                       uint64
	Opaque                            bool
}

// Env is what the rings of one process share: what definitions said, the
// requests, the call sites.
type Env struct {
	ABI      ABI
	Requests *Requests
	// Site numbers the call site with this return address, in a call of fn.
	// It says no for a call that a library layer made on its own.
	Site func(address uint64, fn *mpi.Func) (format.ID, bool)

	plans     []plan
	longest   int // fixed slots of the longest record
	typeSizes map[format.ID]int64
	comms     map[format.ID]format.Comm
	wins      map[format.ID]format.Win
	refresh   func() // reads definitions that have come since
}

// plan is what the decoder needs of mpi.Plan, per function id.
type plan struct {
	fn       *mpi.Func
	fixed    int // slots before the requests
	second   bool
	args     int
	object   mpi.CType // TComm, TWin, TFile; TVoid: none
	request  bool      // aux is the handle of a new request
	requests bool
	peer     bool
	tag      bool
	root     bool
	count    bool
	got      bool // the message's source and tag are known from the status alone (Mrecv)
	sidePeer bool
	sideTag  bool
	sideSize bool
	probe    bool
	made     request // what a new request starts as
}

// NewEnv returns the environment of a process.
func NewEnv(abi ABI, site func(uint64, *mpi.Func) (format.ID, bool)) *Env {
	e := &Env{
		ABI: abi, Requests: NewRequests(), Site: site,
		typeSizes: make(map[format.ID]int64), comms: make(map[format.ID]format.Comm), wins: make(map[format.ID]format.Win),
	}
	all := mpi.All()
	e.plans = make([]plan, len(all)+1)
	for i := range all {
		p := newPlan(&all[i])
		e.plans[all[i].ID] = p
		e.longest = max(e.longest, p.fixed)
	}
	return e
}

func newPlan(f *mpi.Func) plan {
	m := f.Plan()
	p := plan{
		fn: f, fixed: 1, second: m.Second != nil, args: len(m.Args),
		request: m.Request >= 0, requests: m.Requests >= 0,
		peer: m.Peer >= 0, tag: m.Tag >= 0, root: m.Root >= 0,
		got:   m.Receives && m.Peer < 0,
		count: m.Count >= 0 || m.Buffer >= 0 || m.NumRequests >= 0,
		probe: f.Is(mpi.RoleProbes),
	}
	if m.Object >= 0 {
		p.object = f.Params[m.Object].Type
	}
	if p.second {
		p.fixed++
		p.sidePeer, p.sideTag = m.Second.Peer >= 0, m.Second.Tag >= 0
		p.sideSize = m.Second.Count >= 0 || m.Second.Datatype >= 0
	}
	p.fixed += (p.args + 7) / 8
	p.made = request{kind: doneKind(f), persistent: f.Is(mpi.RoleInits), active: f.Is(mpi.RoleStarts)}
	return p
}

func doneKind(f *mpi.Func) format.DoneKind {
	switch {
	case f.Family == mpi.IO:
		return format.DoneIO
	case f.Family == mpi.OneSided:
		return format.DoneOneSided
	case f.Family == mpi.Collective || f.Family == mpi.Neighborhood:
		return format.DoneCollective
	case f.Is(mpi.RoleReceives) || f.Is(mpi.RoleMatches):
		return format.DoneRecv
	case f.Is(mpi.RoleSends):
		return format.DoneSend
	}
	return format.DoneOther
}

// rank turns a library's rank constant into ours.
func (e *Env) rank(r int32) int32 {
	switch {
	case r >= 0 || e.ABI.Opaque:
		return r
	case r == e.ABI.AnySource:
		return format.AnySource
	case r == e.ABI.ProcNull:
		return format.ProcNull
	case r == e.ABI.Root:
		return format.RootRank
	}
	return r
}

func (e *Env) tag(t int32) int32 {
	if t == e.ABI.AnyTag && !e.ABI.Opaque {
		return format.AnyTag
	}
	return t
}

// bytes is count elements of a datatype, -1 if the size is not known.
func (e *Env) bytes(count int64, datatype uint32) int64 {
	if count < 0 || datatype == 0 {
		return 0
	}
	size, ok := e.typeSizes[format.ID(datatype)]
	if !ok && e.refresh != nil {
		e.refresh()
		size, ok = e.typeSizes[format.ID(datatype)]
	}
	if !ok || size < 0 {
		return 0
	}
	return count * size
}

// signature turns a record into what repeats of it; words are its slots.
func (e *Env) signature(words []uint64, p *plan) format.Sig {
	s := (*slot)(unsafe.Pointer(&words[0]))
	sig := format.Sig{
		Func: p.fn.ID, Datatype: format.ID(s.datatype), Op: format.ID(s.op), Error: s.error,
		Peer: format.NoRank, Tag: format.NoTag, Root: format.NoRank, Count: format.NoCount,
	}
	switch p.object {
	case mpi.TComm:
		sig.Comm = format.ID(s.object)
	case mpi.TWin:
		sig.Win = format.ID(s.object)
	case mpi.TFile:
		sig.File = format.ID(s.object)
	}
	if p.peer {
		sig.Peer = e.rank(s.peer)
	}
	if p.got && s.flags&slotBytes != 0 {
		sig.Peer, sig.Tag = e.rank(s.peer), e.tag(s.tag)
	}
	if p.root {
		sig.Root = e.rank(s.peer)
	}
	if p.tag {
		sig.Tag = e.tag(s.tag)
	}
	if p.count {
		sig.Count = s.count
	}
	at := SlotSize / 8
	switch {
	case s.flags&slotBytes != 0 && !p.request:
		sig.Bytes = max(int64(s.aux), 0)
	case p.second:
		sig.Bytes = max((*side)(unsafe.Pointer(&words[at])).firstBytes, 0)
	case p.fn.Is(mpi.RoleBlocking) && p.fn.Is(mpi.RoleReceives), p.probe:
		// Nothing was received.
	case p.count:
		sig.Bytes = e.bytes(s.count, s.datatype)
	}
	sig.Flags = e.flags(s)
	if p.second {
		sig.Second = e.second((*side)(unsafe.Pointer(&words[at])), p)
		at += SlotSize / 8
	}
	if p.args > 0 {
		sig.Args = make([]int64, p.args)
		for i := range sig.Args {
			sig.Args[i] = int64(words[at+i])
		}
	}
	return sig
}

func (e *Env) second(d *side, p *plan) *format.Side {
	s := &format.Side{Peer: format.NoRank, Tag: format.NoTag, Count: format.NoCount, Datatype: format.ID(d.datatype), Disp: d.disp}
	if p.sidePeer {
		s.Peer = e.rank(d.peer)
	}
	if p.sideTag {
		s.Tag = e.tag(d.tag)
	}
	if p.sideSize {
		s.Count = d.count
	}
	s.Bytes = max(d.bytes, 0)
	return s
}

func (e *Env) flags(s *slot) format.Flags {
	var f format.Flags
	for _, m := range [...]struct {
		slot uint8
		flag format.Flags
	}{
		{slotAnySource, format.FlagAnySource}, {slotAnyTag, format.FlagAnyTag}, {slotInPlace, format.FlagInPlace},
		{slotFalse, format.FlagFalse}, {slotTruncated, format.FlagTruncated}, {slotCancelled, format.FlagCancelled},
	} {
		if s.flags&m.slot != 0 {
			f |= m.flag
		}
	}
	return f
}
