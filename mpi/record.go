// SPDX-License-Identifier: Apache-2.0

package mpi

// Plan says what the record of a function's call keeps, as indices into Params;
// -1 is nothing. The wrapper generator writes C code from it and the drain
// reads slots by it, so that both always agree. It is computed from the row.
type Plan struct {
	// Object is the communicator, window or file that the call is about.
	Object int
	// Peer and Tag are the envelope of a message (of the send, if there are
	// both), Root is a collective's root. Peer and Root share a place in a slot.
	Peer, Tag, Root int
	// Buffer is the first buffer whose extent is known; Count and Datatype say
	// how much of what it holds.
	Buffer, Count, Datatype int
	Op                      int
	// Second is set for calls with two sides, which have a slot for the other.
	Second *SecondPlan
	// Request is the request that the call creates.
	Request int
	// Requests is the request or array of requests that the call takes, and
	// NumRequests the parameter with their number (-1: one).
	Requests, NumRequests int
	// Status is the status or array of statuses that the call fills.
	Status int
	// Flag, Index, OutCount and Indices are the results that say what completed.
	Flag, Index, OutCount, Indices int
	// Receives is set where a status tells what the call itself received: its
	// actual source, tag and bytes.
	Receives bool
	// Args are the remaining arguments that are numbers or objects, and the
	// objects that the call made.
	Args []int
}

// SecondPlan is the other side of a call with two: what the receive of a
// Sendrecv, the receive buffer of a collective, the target of a one-sided
// operation or the place in a file is given by.
type SecondPlan struct {
	Peer, Tag               int
	Buffer, Count, Datatype int
	Disp                    int
}

const none = -1

// Plan returns what a record of f keeps.
func (f *Func) Plan() Plan {
	p := Plan{
		Object: none, Peer: none, Tag: none, Root: none, Buffer: none, Count: none, Datatype: none, Op: none,
		Request: none, Requests: none, NumRequests: none, Status: none,
		Flag: none, Index: none, OutCount: none, Indices: none,
	}
	if f.ID == FuncPcontrol {
		// The level, and the name behind it at the levels that have one.
		p.Args = []int{0, 1}
		return p
	}
	p.Object = f.object()
	if p.Peer = f.first(func(a *Param) bool { return a.Kind == KindRank && a.scalarIn() && a.Side != SideRecv }); p.Peer == none {
		p.Peer = f.first(func(a *Param) bool { return a.Kind == KindRank && a.scalarIn() })
	}
	p.Tag = f.first(func(a *Param) bool { return a.Kind == KindTag && a.scalarIn() })
	p.Root = f.first(func(a *Param) bool { return a.Kind == KindRoot && a.scalarIn() })
	p.Op = f.first(func(a *Param) bool { return a.Kind == KindOp && a.scalarIn() })
	if p.Root != none {
		p.Peer = none
	}
	p.Buffer = f.first((*Param).held)
	if p.Buffer != none {
		p.Count, p.Datatype = f.holding(p.Buffer)
	} else {
		p.Datatype = f.first(func(a *Param) bool { return a.Kind == KindDatatype && a.scalarIn() })
	}
	p.Second = f.second(&p)
	f.planRequests(&p)
	p.Receives = p.Status != none && p.Requests == none &&
		(f.Role&(RoleReceives|RoleProbes|RoleMatches) != 0 || f.Family == IO)
	p.Args = f.args(&p)
	return p
}

// Args returns the parameters whose values a record keeps beside those that it
// has a place for (format.Sig.Args), in this order.
func (f *Func) Args() []int {
	return f.Plan().Args
}

func (f *Func) first(is func(*Param) bool) int {
	for i := range f.Params {
		if is(&f.Params[i]) {
			return i
		}
	}
	return none
}

func (a *Param) scalarIn() bool { return a.Dir == In && a.Pointer == 0 }

func (a *Param) held() bool { return a.Kind == KindBuffer && a.Holds != nil }

func (f *Func) twoPeers() bool {
	n := 0
	for i := range f.Params {
		if f.Params[i].Kind == KindRank && f.Params[i].scalarIn() {
			n++
		}
	}
	return n > 1
}

// object is the communicator, else the window, else the file; by value, or by
// address where the call frees it.
func (f *Func) object() int {
	for _, t := range []CType{TComm, TWin, TFile} {
		i := f.first(func(a *Param) bool {
			return a.Type == t && (a.scalarIn() || a.Dir == InOut && a.Pointer == 1 && a.Array == nil)
		})
		if i != none && (t != TComm || f.Role&RoleCreates == 0 || f.Params[i].Pointer == 0) {
			return i
		}
	}
	return none
}

func (f *Func) index(name string) int {
	if name == "" {
		return none
	}
	return f.first(func(a *Param) bool { return a.Name == name })
}

func (f *Func) holding(buffer int) (count, datatype int) {
	h := f.Params[buffer].Holds
	return f.index(h.Count), f.index(h.Datatype)
}

// second finds the other side: another peer, another buffer of other extent,
// a target, or an offset in a file.
func (f *Func) second(p *Plan) *SecondPlan {
	s := SecondPlan{Peer: none, Tag: none, Buffer: none, Count: none, Datatype: none, Disp: none}
	target := func(k Kind) int {
		return f.first(func(a *Param) bool { return a.Kind == k && a.Side == SideTarget && a.Dir == In && a.Pointer == 0 })
	}
	s.Disp = f.first(func(a *Param) bool {
		return (a.Kind == KindOffset || a.Kind == KindDisplacement && f.Family == OneSided && a.Side == SideTarget) && a.scalarIn()
	})
	switch {
	case f.twoPeers() && p.Root == none && f.Role&RoleSends != 0:
		s.Peer = f.first(func(a *Param) bool { return a.Kind == KindRank && a.scalarIn() && a.Side == SideRecv })
		s.Tag = f.first(func(a *Param) bool { return a.Kind == KindTag && a.scalarIn() && a.Side == SideRecv })
		s.Buffer = f.otherBuffer(p, true)
		if s.Buffer == none {
			s.Buffer = p.Buffer
		}
	case target(KindCount) != none || target(KindDatatype) != none:
		s.Count, s.Datatype = target(KindCount), target(KindDatatype)
		return &s
	case f.Family == Collective || f.Family == Neighborhood:
		s.Buffer = f.otherBuffer(p, false)
	}
	if s.Buffer != none {
		s.Count, s.Datatype = f.holding(s.Buffer)
	}
	if s.Peer == none && s.Buffer == none && s.Disp == none {
		return nil
	}
	return &s
}

// otherBuffer is the next buffer after the plan's first that holds something
// else than that one does (same: or the same).
func (f *Func) otherBuffer(p *Plan, same bool) int {
	if p.Buffer == none {
		return none
	}
	a := f.Params[p.Buffer].Holds
	for i := p.Buffer + 1; i < len(f.Params); i++ {
		if !f.Params[i].held() {
			continue
		}
		b := f.Params[i].Holds
		if same || a.Count != b.Count || a.Datatype != b.Datatype || a.Own != b.Own || (a.Times == nil) != (b.Times == nil) {
			return i
		}
	}
	return none
}

func (f *Func) planRequests(p *Plan) {
	if f.Role&(RoleStarts|RoleInits) != 0 {
		p.Request = f.first(func(a *Param) bool { return a.Type == TRequest && a.Dir == Out && a.Array == nil })
	}
	if p.Request == none {
		p.Requests = f.first(func(a *Param) bool { return a.Type == TRequest && a.Dir != Out && a.Pointer <= 1 })
		if p.Requests != none {
			if a := f.Params[p.Requests].Array; a != nil {
				p.NumRequests = f.index(a.Param)
			}
		}
	}
	p.Status = f.first(func(a *Param) bool { return a.Type == TStatus && a.Dir == Out })
	if f.Role&(RoleTest|RoleInspects|RoleProbes) != 0 {
		p.Flag = f.first(func(a *Param) bool { return a.Kind == KindFlag && a.Dir == Out })
	}
	if p.NumRequests != none {
		p.Index = f.first(func(a *Param) bool { return a.Kind == KindIndex && a.Dir == Out && a.Array == nil })
		p.Indices = f.first(func(a *Param) bool { return a.Kind == KindIndex && a.Dir == Out && a.Array != nil })
		if p.Indices != none {
			p.OutCount = f.first(func(a *Param) bool { return a.Kind == KindCount && a.Dir == Out })
		}
	}
}

func (p *Plan) takes(i int) bool {
	for _, j := range []int{p.Object, p.Peer, p.Tag, p.Root, p.Count, p.Datatype, p.Op, p.Request, p.Requests, p.NumRequests} {
		if i == j {
			return true
		}
	}
	if s := p.Second; s != nil {
		for _, j := range []int{s.Peer, s.Tag, s.Count, s.Datatype, s.Disp} {
			if i == j {
				return true
			}
		}
	}
	return false
}

func (f *Func) args(p *Plan) []int {
	var args []int
	for i := range f.Params {
		a := &f.Params[i]
		if p.takes(i) || a.Array != nil {
			continue
		}
		switch a.Type {
		case TInt, TAint, TCount, TOffset:
			if a.scalarIn() {
				args = append(args, i)
			}
		case TComm, TDatatype, TWin, TFile:
			if a.scalarIn() || a.Dir == Out && a.Pointer == 1 && f.Role&RoleCreates != 0 {
				args = append(args, i)
			}
		}
	}
	return args
}
