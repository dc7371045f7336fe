// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The first frozenIDs lines of testdata/ids.txt are in trace files and must
// never change; frozenSum is their SHA-256.
const (
	frozenIDs = 703
	frozenSum = "2c5dd3e2873c65e179dcfa029086ada7ff4c19da75ab3c9bbe14fc9e6a2a23a3"
)

// TestIDsOnlyGrow holds the table against the list of ids that were given out.
func TestIDsOnlyGrow(t *testing.T) {
	text, err := os.ReadFile("testdata/ids.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	if len(lines) < frozenIDs {
		t.Fatalf("testdata/ids.txt has %d lines, there were %d once", len(lines), frozenIDs)
	}
	sum := sha256.Sum256([]byte(strings.Join(lines[:frozenIDs], "")))
	if got := hex.EncodeToString(sum[:]); got != frozenSum {
		t.Errorf("the first %d lines of testdata/ids.txt were changed: their SHA-256 is %s, want %s", frozenIDs, got, frozenSum)
	}
	if len(lines) != NumFuncs {
		t.Errorf("testdata/ids.txt has %d functions, the table %d: a new row needs its \"ID NAME\" at the end of ids.txt", len(lines), NumFuncs)
	}
	for i, line := range lines {
		var id FuncID
		var name string
		if _, err := fmt.Sscanf(line, "%d %s\n", &id, &name); err != nil || int(id) != i+1 {
			t.Fatalf("testdata/ids.txt:%d: %q is not %d and a name", i+1, line, i+1)
		}
		f := ByID(id)
		if f == nil {
			t.Errorf("%s (id %d) has lost its row", name, id)
		} else if f.Name != name {
			t.Errorf("id %d was %s's and is now %s's", id, name, f.Name)
		}
	}
}

func TestLookup(t *testing.T) {
	if len(All()) != NumFuncs {
		t.Errorf("All has %d functions, want %d", len(All()), NumFuncs)
	}
	for i := range All() {
		f := &All()[i]
		if int(f.ID) != i+1 {
			t.Errorf("All()[%d] is id %d", i, f.ID)
		}
		if ByID(f.ID) != f {
			t.Errorf("ByID(%d) is not %s", f.ID, f.Name)
		}
		if ByName(f.Name) != f {
			t.Errorf("ByName(%s) finds %v", f.Name, ByName(f.Name))
		}
	}
	for _, name := range []string{"", "MPI_", "MPI_Sen", "MPI_Sendx", "PMPI_Send", "mpi_send", "~"} {
		if f := ByName(name); f != nil {
			t.Errorf("ByName(%q) finds %s", name, f.Name)
		}
	}
	for _, id := range []FuncID{0, NumFuncs + 1, 1<<16 - 1} {
		if f := ByID(id); f != nil {
			t.Errorf("ByID(%d) finds %s", id, f.Name)
		}
	}
	if ByName("MPI_Isend").ID != FuncIsend || ByName("MPI_Allreduce_c").ID != FuncAllreduce_c {
		t.Error("the constants are not the ids")
	}
	send := ByName("MPI_Send")
	if p := send.Param("dest"); p == nil || p.Kind != KindRank {
		t.Errorf("MPI_Send's dest is %v", p)
	}
	if send.Param("nothing") != nil || send.ParamIndex("tag") != 4 {
		t.Error("Param or ParamIndex finds the wrong parameter")
	}
	if !send.Is(RoleSends|RoleBlocking) || send.Is(RoleSends|RoleStarts) || !send.IsAny(RoleStarts|RoleSends) || send.IsAny(RoleStarts) {
		t.Errorf("MPI_Send's roles are %s", send.Role)
	}
	sendrecv := ByName("MPI_Sendrecv")
	if s, r := sendrecv.Find(KindTag, SideSend), sendrecv.Find(KindTag, SideRecv); sendrecv.Params[s].Name != "sendtag" || sendrecv.Params[r].Name != "recvtag" {
		t.Errorf("Find takes parameters %d and %d for MPI_Sendrecv's tags", s, r)
	}
	if i := send.Find(KindWin, SideNone); i != -1 {
		t.Errorf("Find takes parameter %d for MPI_Send's window", i)
	}
}

// TestNames: every constant has a name of its own, and ParseFamily knows all.
func TestNames(t *testing.T) {
	check := func(what string, n int, name func(int) string) {
		seen := make(map[string]int)
		for i := range n {
			s := name(i)
			if s == "" || strings.Contains(s, "(") {
				t.Errorf("%s %d has the name %q", what, i, s)
			}
			if j, ok := seen[s]; ok {
				t.Errorf("%s %d and %d are both named %q", what, i, j, s)
			}
			seen[s] = i
		}
		if got, want := name(n), fmt.Sprintf("%s(%d)", what, n); got != want {
			t.Errorf("the unknown %s is named %q, want %q", what, got, want)
		}
	}
	check("dir", int(NumDirs), func(i int) string { return Dir(i).String() })
	check("side", int(NumSides), func(i int) string { return Side(i).String() })
	check("family", int(NumFamilies), func(i int) string { return Family(i).String() })
	check("ctype", int(NumCTypes), func(i int) string { return CType(i).String() })
	check("kind", int(NumKinds), func(i int) string { return Kind(i).String() })
	check("role", len(roleNames), func(i int) string { return Role(1 << i).String() })
	for f := FamilyNone + 1; f < NumFamilies; f++ {
		if got, err := ParseFamily(f.String()); err != nil || got != f {
			t.Errorf("ParseFamily(%q) is %v, %v", f, got, err)
		}
	}
	for _, name := range []string{"", "none", "P2P", "sends"} {
		if f, err := ParseFamily(name); err == nil {
			t.Errorf("ParseFamily(%q) is %v", name, f)
		} else if !strings.Contains(err.Error(), "one-sided") {
			t.Errorf("the message does not list the families: %v", err)
		}
	}
	if got, want := (RoleStarts | RoleSends | RoleNonblocking).String(), "starts sends nonblocking"; got != want {
		t.Errorf("roles are written %q, want %q", got, want)
	}
}

// TestFamiliesInUse: no family is empty, none is missing.
func TestFamiliesInUse(t *testing.T) {
	var n [NumFamilies]int
	for _, f := range All() {
		n[f.Family]++
	}
	if n[FamilyNone] != 0 {
		t.Errorf("%d functions have no family", n[FamilyNone])
	}
	for f := FamilyNone + 1; f < NumFamilies; f++ {
		if n[f] == 0 {
			t.Errorf("no function is of family %s", f)
		}
	}
}

// TestParams checks each parameter by itself and what it refers to.
func TestParams(t *testing.T) {
	for _, f := range All() {
		for _, p := range f.Params {
			fail := func(format string, args ...any) {
				t.Helper()
				t.Errorf("%s, %s: %s", f.Name, p.Name, fmt.Sprintf(format, args...))
			}
			if p.Kind == KindNone {
				fail("has no kind")
			}
			if p.Dir != In && (p.Pointer == 0 || p.Const) {
				fail("is %s, but passed by value or const", p.Dir)
			}
			if (p.Type == TCallback) != (p.Callback != "") || (p.Type == TCallback) != (p.Kind == KindCallback) {
				fail("is half a callback")
			}
			if (p.Type == TVarargs) != (p.Kind == KindVarargs) {
				fail("is half a varargs")
			}
			if want, ok := kindOfHandle[p.Type]; ok && p.Kind != want {
				fail("is a %s of kind %s", p.Type, p.Kind)
			}
			for typ, kind := range kindOfHandle {
				if p.Kind == kind && p.Type != typ {
					fail("is of kind %s and type %s", p.Kind, p.Type)
				}
			}
			if p.Type == TVoid && p.Pointer == 0 {
				fail("is a void")
			}
			if p.Kind == KindBuffer && (p.Holds == nil) == (p.Note == "") {
				fail("is a buffer: it needs count*datatype, or else a note that says why not")
			}
			if p.Kind != KindBuffer && p.Holds != nil {
				fail("holds something but is no buffer")
			}
			if p.Kind == KindString && p.Array == nil {
				fail("is a string without a length")
			}
			if p.Type == TStatus && p.Pointer != 1 {
				fail("is a status with %d pointers", p.Pointer)
			}
			if p.Array != nil {
				checkLength(f, p, p.Array, fail)
			}
			if h := p.Holds; h != nil {
				checkHolding(f, h, fail)
			}
		}
	}
}

// kindOfHandle are the kinds that go with one C type only.
var kindOfHandle = map[CType]Kind{
	TComm: KindComm, TDatatype: KindDatatype, TRequest: KindRequest, TOp: KindOp, TGroup: KindGroup, TWin: KindWin,
	TFile: KindFile, TInfo: KindInfo, TSession: KindSession, TMessage: KindMessage, TErrhandler: KindErrhandler,
}

func checkLength(f Func, p Param, l *Length, fail func(string, ...any)) {
	other := f.Param(l.Param)
	switch l.Rule {
	case LenParam, LenSum, LenLast, LenTriple:
		if other == nil {
			fail("its length refers to %q, which is no parameter", l.Param)
			return
		}
		isArray := other.Array != nil
		if isArray != (l.Rule == LenSum || l.Rule == LenLast) {
			fail("its length is by rule %d of %s, which is an array: %v", l.Rule, l.Param, isArray)
		}
		if !slices.Contains([]Kind{KindCount, KindStringLength, KindIndex}, other.Kind) {
			fail("its length is in %s, which is of kind %s", l.Param, other.Kind)
		}
		if p.Dir != Out && other.Dir == Out {
			fail("is read, but its length %s is only known after the call", l.Param)
		}
		if other.Root && !p.Root && f.ID != FuncComm_spawn && f.ID != FuncComm_spawn_multiple {
			fail("matters on all ranks, but its length %s on the root only", l.Param)
		}
	case LenLimit:
		if !strings.HasPrefix(l.Param, "MPI_MAX_") || p.Kind != KindString || p.Dir != Out {
			fail("has the limit %q", l.Param)
		}
	case LenConst:
		if l.Const < 1 {
			fail("has %d elements", l.Const)
		}
	case LenOther:
		if p.Note == "" {
			fail("has a length by a rule that is not said")
		}
	case LenNulString:
		if p.Type != TChar || p.Dir != In {
			fail("is no string to read, but ends at a NUL")
		}
	case LenNulList:
		if p.Pointer < 2 {
			fail("is no list of pointers, but ends at a null pointer")
		}
	case LenCommSize, LenLocalSize, LenDims:
		if f.Find(KindComm, SideNone) < 0 {
			fail("its length depends on a communicator; there is none")
		}
	case LenIndegree, LenOutdegree:
		if f.Family != Neighborhood {
			fail("its length is a number of neighbours")
		}
	}
	if l.Filled != "" {
		if filled := f.Param(l.Filled); filled == nil || filled.Dir != Out || p.Dir != Out {
			fail("how much of it is written is said to be in %q", l.Filled)
		}
	}
}

func checkHolding(f Func, h *Holding, fail func(string, ...any)) {
	if h.Count != "" {
		count := f.Param(h.Count)
		if count == nil || count.Kind != KindCount && count.Kind != KindSize || count.Dir != In {
			fail("its count is in %q", h.Count)
			return
		}
		if h.Own && count.Array == nil {
			fail("holds an own element of %s, which is no array", h.Count)
		}
		if count.Array != nil && h.Times != nil {
			fail("holds an array of counts several times")
		}
	}
	if h.Datatype == "" {
		return
	}
	datatype := f.Param(h.Datatype)
	if datatype == nil || datatype.Kind != KindDatatype {
		fail("its datatype is in %q", h.Datatype)
		return
	}
	if datatype.Array != nil && f.Param(h.Count).Array == nil {
		fail("has many datatypes and one count")
	}
	if h.Times != nil && h.Times.Param != "" && f.Param(h.Times.Param) == nil {
		fail("holds its count %q times", h.Times.Param)
	}
}

// TestLeftOut: a name has a row or a reason, not both.
func TestLeftOut(t *testing.T) {
	seen := make(map[string]bool)
	for _, l := range AllLeftOut() {
		if ByName(l.Name) != nil || l.Reason == "" || seen[l.Name] {
			t.Errorf("%s: has a row, no reason, or stands twice", l.Name)
		}
		seen[l.Name] = true
	}
	if len(seen) == 0 {
		t.Error("no names are left out")
	}
}
