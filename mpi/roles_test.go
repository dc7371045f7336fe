// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// has reports whether f has a parameter for which ok holds.
func has(f *Func, ok func(p Param) bool) bool { return slices.ContainsFunc(f.Params, ok) }

// object reports whether a parameter stands for an MPI object that can be
// created and freed, requests, messages and statuses apart.
func object(p Param) bool {
	if p.Kind == KindKeyval || p.Kind == KindTool && p.Type.Handle() {
		return true
	}
	return p.Type.Handle() && p.Type != TRequest && p.Type != TMessage
}

type roleRule struct {
	name string
	ok   func(f *Func) bool
}

// roleRules say what must hold for every function: each is broken where ok
// returns false.
var roleRules = []roleRule{
	{"starts or inits a request <=> has one request to write", func(f *Func) bool {
		n := 0
		for _, p := range f.Params {
			if p.Kind == KindRequest && p.Dir == Out && p.Array == nil {
				n++
			}
		}
		return n == 0 && !f.IsAny(RoleStarts|RoleInits) || n == 1 && f.Is(RoleStarts) != f.Is(RoleInits)
	}},
	{"changes requests <=> activates, completes or frees", func(f *Func) bool {
		changes := has(f, func(p Param) bool { return p.Kind == KindRequest && p.Dir == InOut })
		frees := f.ID == FuncRequest_free && f.Is(RoleFrees)
		return changes == (f.IsAny(RoleActivates|RoleCompletes) || frees)
	}},
	{"completes => statuses", func(f *Func) bool {
		return !f.Is(RoleCompletes) || has(f, func(p Param) bool { return p.Kind == KindStatus && p.Dir == Out })
	}},
	{"completes and inspects are family completion", func(f *Func) bool {
		return !f.IsAny(RoleCompletes|RoleInspects|RoleCancels) || f.Family == Completion
	}},
	{"inspects => requests to read, statuses to write", func(f *Func) bool {
		return !f.Is(RoleInspects) || has(f, func(p Param) bool { return p.Kind == KindRequest && p.Dir == In }) &&
			has(f, func(p Param) bool { return p.Kind == KindStatus && p.Dir == Out })
	}},
	{"waits block, tests do not", func(f *Func) bool {
		return !f.Is(RoleCompletes) || f.Is(RoleBlocking) != f.Is(RoleTest) &&
			f.Is(RoleBlocking) == strings.HasPrefix(f.Name, "MPI_Wait")
	}},
	{"test => flag or number of completed", func(f *Func) bool {
		return !f.Is(RoleTest) || has(f, func(p Param) bool {
			return p.Dir == Out && (p.Kind == KindFlag || p.Name == "outcount")
		})
	}},
	{"several requests => count, and where not all: index or indices", func(f *Func) bool {
		i := slices.IndexFunc(f.Params, func(p Param) bool { return p.Kind == KindRequest && p.Array != nil })
		if i < 0 {
			return true
		}
		partial := strings.HasSuffix(f.Name, "any") || strings.HasSuffix(f.Name, "some")
		return f.Params[i].Array.Rule == LenParam && partial == has(f, func(p Param) bool { return p.Kind == KindIndex && p.Dir == Out })
	}},
	{"at most one of blocking, starting, initialising, testing, splitting", func(f *Func) bool {
		n := 0
		for _, r := range []Role{RoleBlocking, RoleStarts, RoleInits, RoleTest, RoleSplitBegin, RoleActivates} {
			if f.Is(r) {
				n++
			}
		}
		return n <= 1
	}},
	{"nonblocking <=> starts, or probes and returns at once", func(f *Func) bool {
		return f.Is(RoleNonblocking) == (f.Is(RoleStarts) || f.Is(RoleProbes|RoleTest))
	}},
	{"persistent <=> inits", func(f *Func) bool { return f.Is(RolePersistent) == f.Is(RoleInits) }},
	{"partitioned <=> named P...", func(f *Func) bool {
		return f.Is(RolePartitioned) == regexp.MustCompile(`^MPI_P(send|recv|ready|arrived)`).MatchString(f.Name)
	}},
	{"sends => side send: buffer, rank, tag; communicator", func(f *Func) bool {
		return !f.Is(RoleSends) || f.Family == P2P && side(f, KindBuffer, SideSend) && side(f, KindRank, SideSend) &&
			side(f, KindTag, SideSend) && f.Find(KindComm, SideNone) >= 0
	}},
	{"receives => side recv: buffer; rank, tag and communicator, or message", func(f *Func) bool {
		if !f.Is(RoleReceives) {
			return true
		}
		named := side(f, KindRank, SideRecv) && side(f, KindTag, SideRecv) && f.Find(KindComm, SideNone) >= 0
		return f.Family == P2P && side(f, KindBuffer, SideRecv) && named != f.Is(RoleMatches)
	}},
	{"receives and blocks => status", func(f *Func) bool {
		return !f.Is(RoleReceives|RoleBlocking) || has(f, func(p Param) bool { return p.Kind == KindStatus && p.Dir == Out })
	}},
	{"probes => rank, tag, communicator to read, status to write", func(f *Func) bool {
		return !f.Is(RoleProbes) || f.Find(KindRank, SideNone) >= 0 && f.Find(KindTag, SideNone) >= 0 &&
			f.Find(KindComm, SideNone) >= 0 && f.Find(KindStatus, SideNone) >= 0
	}},
	{"changes a message <=> matches", func(f *Func) bool {
		return f.Is(RoleMatches) == has(f, func(p Param) bool { return p.Kind == KindMessage && p.Dir == InOut })
	}},
	{"returns a message => probes and creates", func(f *Func) bool {
		out := has(f, func(p Param) bool { return p.Kind == KindMessage && p.Dir == Out })
		return !out || f.Is(RoleProbes|RoleCreates)
	}},
	{"rooted <=> has a root", func(f *Func) bool {
		return f.Is(RoleRooted) == has(f, func(p Param) bool { return p.Kind == KindRoot })
	}},
	{"rooted => collective", func(f *Func) bool { return !f.Is(RoleRooted) || f.Is(RoleCollective) }},
	{"root-only arguments need a root or a leader", func(f *Func) bool {
		only := has(f, func(p Param) bool { return p.Root })
		return !only || f.Is(RoleRooted) || strings.HasPrefix(f.Name, "MPI_Intercomm_create")
	}},
	{"root-only, unless broadcast: something only matters on the root", func(f *Func) bool {
		return !f.Is(RoleRooted) || strings.Contains(strings.ToLower(f.Name), "bcast") || has(f, func(p Param) bool { return p.Root })
	}},
	{"collective => says over what", func(f *Func) bool {
		if !f.Is(RoleCollective) || f.IsAny(RoleSetup) || f.ID == FuncComm_join {
			return true
		}
		return has(f, func(p Param) bool {
			return slices.Contains([]Kind{KindComm, KindWin, KindFile, KindGroup}, p.Kind) && p.Dir != Out
		})
	}},
	{"families collective and neighborhood are collective, but for operations and Reduce_local", func(f *Func) bool {
		if f.Family != Collective && f.Family != Neighborhood {
			return true
		}
		local := strings.HasPrefix(f.Name, "MPI_Op_") || strings.HasPrefix(f.Name, "MPI_Reduce_local")
		return f.Is(RoleCollective) != local
	}},
	{"collective data says what it sends and receives", func(f *Func) bool {
		if f.Family != Collective && f.Family != Neighborhood || !f.Is(RoleCollective) || f.Is(RoleSync) {
			return true
		}
		if strings.Contains(strings.ToLower(f.Name), "bcast") {
			return has(f, func(p Param) bool { return p.Kind == KindBuffer && p.Dir == InOut && p.Side == SideNone })
		}
		return has(f, func(p Param) bool { return p.Kind == KindBuffer && p.Side == SideSend && p.Dir == In && p.Holds != nil }) &&
			has(f, func(p Param) bool {
				return p.Kind == KindBuffer && p.Side == SideRecv && p.Dir == Out && p.Holds != nil
			})
	}},
	{"one-sided communication has a target, and the origin's data", func(f *Func) bool {
		if f.Family != OneSided || !has(f, func(p Param) bool { return p.Side == SideTarget }) {
			return true
		}
		return side(f, KindRank, SideTarget) && side(f, KindDisplacement, SideTarget) &&
			has(f, func(p Param) bool { return p.Kind == KindBuffer && p.Side == SideOrigin }) && f.Find(KindWin, SideNone) >= 0
	}},
	{"frees => takes an object and takes it away", func(f *Func) bool {
		byValue := slices.Contains([]FuncID{FuncT_event_handle_free, FuncRemove_error_class, FuncRemove_error_code}, f.ID)
		return !f.Is(RoleFrees) || byValue || has(f, func(p Param) bool { return p.Dir == InOut && (object(p) || p.Kind == KindRequest) })
	}},
	{"takes an object away => frees", func(f *Func) bool {
		return !has(f, func(p Param) bool { return p.Dir == InOut && object(p) }) || f.Is(RoleFrees) || f.ID == FuncType_commit
	}},
	{"creates or obtains <=> returns an object", func(f *Func) bool {
		returns := has(f, func(p Param) bool { return p.Dir == Out && (object(p) || p.Kind == KindMessage) })
		if f.ID == FuncAdd_error_class || f.ID == FuncAdd_error_code {
			returns = true
		}
		return returns == f.IsAny(RoleCreates|RoleObtains)
	}},
	{"names => a string to read", func(f *Func) bool {
		sets := regexp.MustCompile(`_set_name$`).MatchString(f.Name)
		return f.Is(RoleNames) == sets && (!sets || f.Find(KindString, SideNone) >= 0)
	}},
	{"sync => no data", func(f *Func) bool {
		return !f.Is(RoleSync) || !has(f, func(p Param) bool { return p.Kind == KindBuffer })
	}},
	{"large <=> named _c", func(f *Func) bool {
		return f.Is(RoleLarge) == (strings.HasSuffix(f.Name, "_c") && f.Family != Conversion)
	}},
	{"leave alone <=> conversion <=> named so", func(f *Func) bool {
		named := regexp.MustCompile(`_(c2f|f2c|c2f08|f082c|f082f|f2f08|toint|fromint)$`).MatchString(f.Name)
		return f.Is(RoleLeaveAlone) == named && (f.Family == Conversion) == named
	}},
	{"split collectives are I/O and collective", func(f *Func) bool {
		return !f.IsAny(RoleSplitBegin|RoleSplitEnd) || f.Family == IO && f.Is(RoleCollective)
	}},
	{"I/O that transfers data has a file", func(f *Func) bool {
		return f.Family != IO || f.Find(KindBuffer, SideNone) < 0 || f.Find(KindFile, SideNone) >= 0
	}},
	{"allowed at any time => needs no communicator, window or file", func(f *Func) bool {
		return !f.Is(RoleAnytime) || !has(f, func(p Param) bool {
			return p.Dir != Out && slices.Contains([]Kind{KindComm, KindWin, KindFile}, p.Kind)
		})
	}},
	{"returns int unless it converts, or tells a time or an address", func(f *Func) bool {
		special := f.Family == Conversion || slices.Contains([]FuncID{FuncWtime, FuncWtick, FuncAint_add, FuncAint_diff}, f.ID)
		return special || f.Return == TInt && f.Result == KindErrorCode
	}},
	{"the name's prefix fits the family", func(f *Func) bool {
		for prefix, families := range map[string][]Family{
			"MPI_File_":    {IO, ErrorHandling, Conversion},
			"MPI_Win_":     {OneSided, ErrorHandling, Attribute, Conversion},
			"MPI_Type_":    {DatatypeFamily, Attribute, Conversion},
			"MPI_Group_":   {GroupFamily, Conversion},
			"MPI_Info_":    {InfoFamily, Conversion},
			"MPI_Session_": {SessionFamily, P2P, ErrorHandling, Conversion},
			"MPI_Comm_":    {Communicator, Process, P2P, ErrorHandling, Attribute, Conversion},
			"MPI_T_":       {Tool},
			"MPI_Cart":     {Topology},
			"MPI_Graph":    {Topology},
		} {
			if strings.HasPrefix(f.Name, prefix) && !slices.Contains(families, f.Family) {
				return false
			}
		}
		return true
	}},
}

// side reports whether f has a parameter of this kind for this side.
func side(f *Func, k Kind, s Side) bool { return f.Find(k, s) >= 0 }

func TestRoles(t *testing.T) {
	for _, rule := range roleRules {
		for i := range All() {
			if f := &All()[i]; !rule.ok(f) {
				t.Errorf("%s breaks the rule: %s\n\tfamily %s, roles %s\n\t%s", f.Name, rule.name, f.Family, f.Role, f.Prototype(f.Name, Native))
			}
		}
	}
}

// TestRulesNoticeMistakes breaks rows in the ways in which rows get broken, and
// sees to it that a rule notices each.
func TestRulesNoticeMistakes(t *testing.T) {
	for _, c := range []struct {
		what   string
		id     FuncID
		damage func(f *Func)
	}{
		{"a role is missing", FuncIrecv, func(f *Func) { f.Role &^= RoleStarts }},
		{"a role is missing", FuncWaitall, func(f *Func) { f.Role &^= RoleCompletes }},
		{"a role is missing", FuncComm_dup, func(f *Func) { f.Role &^= RoleCreates }},
		{"a role is missing", FuncComm_free, func(f *Func) { f.Role &^= RoleFrees }},
		{"a role is missing", FuncAllreduce, func(f *Func) { f.Role &^= RoleCollective }},
		{"a role is missing", FuncMrecv, func(f *Func) { f.Role &^= RoleMatches }},
		{"a role is missing", FuncSend_c, func(f *Func) { f.Role &^= RoleLarge }},
		{"a role is missing", FuncRequest_get_status_all, func(f *Func) { f.Role &^= RoleTest; f.Role |= RoleSplitEnd }},
		{"a role too many", FuncSend, func(f *Func) { f.Role |= RoleStarts }},
		{"a role too many", FuncComm_rank, func(f *Func) { f.Role |= RoleFrees }},
		{"a role too many", FuncBarrier, func(f *Func) { f.Role |= RoleRooted }},
		{"a role too many", FuncComm_rank, func(f *Func) { f.Role |= RoleAnytime }},
		{"wrong family", FuncWin_create, func(f *Func) { f.Family = IO }},
		{"wrong family", FuncWait, func(f *Func) { f.Family = P2P }},
		{"wrong direction", FuncIsend, func(f *Func) { f.Params[6].Dir = InOut }},
		{"wrong direction", FuncWin_free, func(f *Func) { f.Params[0].Dir = Out }},
		{"wrong kind", FuncBcast, func(f *Func) { f.Params[3].Kind = KindRank }},
		{"wrong side", FuncPut, func(f *Func) { f.Params[3].Side = SideOrigin }},
		{"wrong side", FuncSendrecv, func(f *Func) { f.Params[4].Side = SideRecv }},
		{"no root-only", FuncGather, func(f *Func) {
			for i := range f.Params {
				f.Params[i].Root = false
			}
		}},
		{"holds nothing", FuncAlltoallv, func(f *Func) { f.Params[0].Holds = nil }},
	} {
		f := *ByID(c.id)
		f.Params = slices.Clone(f.Params)
		c.damage(&f)
		if !slices.ContainsFunc(roleRules, func(rule roleRule) bool { return !rule.ok(&f) }) {
			t.Errorf("%s: %s, and no rule notices", f.Name, c.what)
		}
	}
}

// TestEveryRoleInUse: a role that no function has is a role that was forgotten.
func TestEveryRoleInUse(t *testing.T) {
	var all Role
	for _, f := range All() {
		all |= f.Role
	}
	for i := range roleNames {
		if all&(1<<i) == 0 {
			t.Errorf("no function has the role %s", Role(1<<i))
		}
	}
}

// shape returns the parameters with what a _c form changes evened out.
func shape(params []Param) []Param {
	out := slices.Clone(params)
	for i := range out {
		switch out[i].Type {
		case TInt, TCount, TAint:
			out[i].Type = TInt
		}
		out[i].Callback = strings.TrimSuffix(out[i].Callback, "_c")
	}
	return out
}

// TestLargeForms: the _c form of a function is like the function itself.
func TestLargeForms(t *testing.T) {
	for _, f := range All() {
		if !f.Is(RoleLarge) {
			continue
		}
		small := ByName(strings.TrimSuffix(f.Name, "_c"))
		if small == nil {
			t.Errorf("%s has no small form", f.Name)
			continue
		}
		if small.Role|RoleLarge != f.Role || small.Family != f.Family {
			t.Errorf("%s: family %s, roles %s\n%s: family %s, roles %s", f.Name, f.Family, f.Role, small.Name, small.Family, small.Role)
		}
		if f.ID == FuncType_get_contents_c || f.ID == FuncType_get_envelope_c {
			continue // these have one more parameter, by the standard
		}
		if diff := cmp.Diff(shape(small.Params), shape(f.Params)); diff != "" {
			t.Errorf("%s and %s differ:\n%s", small.Name, f.Name, diff)
		}
	}
}

// TestForms: the nonblocking and the persistent form of a function take what
// the blocking form takes, and a request instead of a status.
func TestForms(t *testing.T) {
	n := 0
	for _, f := range All() {
		if !f.IsAny(RoleStarts | RoleInits) {
			continue
		}
		base, form := "", "nonblocking"
		switch suffix := map[bool]string{true: "_c"}[f.Is(RoleLarge)]; {
		case f.Is(RoleInits):
			form = "persistent"
			base = strings.TrimSuffix(strings.TrimSuffix(f.Name, suffix), "_init") + suffix
		case strings.HasPrefix(f.Name, "MPI_I"):
			base = "MPI_" + strings.ToUpper(f.Name[5:6]) + f.Name[6:]
		case strings.HasPrefix(f.Name, "MPI_File_i"):
			base = strings.Replace(f.Name, "_i", "_", 1)
		case strings.HasPrefix(f.Name, "MPI_R"):
			base = "MPI_" + strings.ToUpper(f.Name[5:6]) + f.Name[6:]
		case strings.Contains(f.Name, "_i"):
			base = strings.Replace(f.Name, "_i", "_", 1)
		default:
			continue // Grequest_start stands alone
		}
		b := ByName(base)
		if b == nil {
			if !f.Is(RolePartitioned) {
				t.Errorf("%s is the %s form of %s, which is not there", f.Name, form, base)
			}
			continue
		}
		n++
		want := b.Role &^ RoleBlocking
		if form == "persistent" {
			want |= RoleInits | RolePersistent
		} else {
			want |= RoleStarts | RoleNonblocking
		}
		if f.Role != want || f.Family != b.Family {
			t.Errorf("%s: family %s, roles %s, want %s, %s as %s", f.Name, f.Family, f.Role, b.Family, want, b.Name)
		}
		rest := f.Params[:len(f.Params)-1] // the request
		if form == "persistent" && f.Is(RoleCollective) {
			rest = rest[:len(rest)-1] // the info
		}
		blocking := b.Params
		if k := len(blocking); k > 0 && blocking[k-1].Kind == KindStatus {
			blocking = blocking[:k-1]
		}
		if diff := cmp.Diff(append([]Param{}, blocking...), append([]Param{}, rest...)); diff != "" {
			t.Errorf("%s and %s differ:\n%s", b.Name, f.Name, diff)
		}
	}
	if n < 145 {
		t.Errorf("only %d functions were compared", n)
	}
}

// TestSplitPairs: who begins also ends.
func TestSplitPairs(t *testing.T) {
	for _, f := range All() {
		if f.Is(RoleSplitBegin) && !f.Is(RoleLarge) {
			end := ByName(strings.TrimSuffix(f.Name, "_begin") + "_end")
			if end == nil || !end.Is(RoleSplitEnd) {
				t.Errorf("%s has no end", f.Name)
			}
		}
	}
}
