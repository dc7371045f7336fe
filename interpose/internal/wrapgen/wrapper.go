// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mpitrace/mpitrace/mpi"
)

// wrapper writes one function's wrapper.
type wrapper struct {
	f     *mpi.Func
	p     mpi.Plan
	b     bytes.Buffer
	depth int
}

func newWrapper(f *mpi.Func) *wrapper {
	return &wrapper{f: f, p: f.Plan()}
}

func (w *wrapper) line(format string, args ...any) {
	w.b.WriteString(strings.Repeat("\t", w.depth))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

// cType is a parameter's type without any mpi.h: handles are passed as they
// came in 64-bit slots, everything behind a pointer is the library's business.
func cType(a *mpi.Param) string {
	if a.Pointer > 0 || a.Array != nil {
		if a.Const {
			return "const void *"
		}
		return "void *"
	}
	switch a.Type {
	case mpi.TInt, mpi.TFint, mpi.TToolCbSafety, mpi.TToolSourceOrder:
		return "int "
	case mpi.TAint, mpi.TCount, mpi.TOffset:
		return "int64_t "
	case mpi.TDouble:
		return "double "
	}
	return "mpit_h "
}

func returnType(f *mpi.Func) string {
	switch f.Return {
	case mpi.TInt, mpi.TFint:
		return "int"
	case mpi.TDouble:
		return "double"
	case mpi.TAint, mpi.TCount, mpi.TOffset:
		return "int64_t"
	}
	return "mpit_h"
}

func (w *wrapper) params(names bool) string {
	if len(w.f.Params) == 0 {
		return "void"
	}
	var list []string
	for i := range w.f.Params {
		a := &w.f.Params[i]
		s := cType(a)
		if names {
			s += a.Name
		}
		list = append(list, strings.TrimSpace(s))
	}
	return strings.Join(list, ", ")
}

func (w *wrapper) name(i int) string { return w.f.Params[i].Name }

// call is the call of the real function; its status argument may be replaced.
func (w *wrapper) call(status string) string {
	var list []string
	for i := range w.f.Params {
		n := w.name(i)
		if i == w.p.Status && status != "" {
			n = status
		}
		list = append(list, n)
	}
	return fmt.Sprintf("MPIT_REAL(%s, %s, (%s))(%s)", short(w.f), returnType(w.f), w.params(false), strings.Join(list, ", "))
}

func (w *wrapper) text() string {
	f := w.f
	w.line("MPIT_WRAP(%s, %s, (%s))", short(f), returnType(f), w.params(true))
	w.line("{")
	w.depth++
	w.line("struct mpit_thread *t = mpit_self;")
	w.line("if (MPIT_UNLIKELY(t->state != MPIT_IDLE)) {")
	w.line("\tif (mpit_enter())")
	w.line("\t\treturn %s;", w.call(""))
	w.line("\tt = mpit_self;")
	w.line("}")
	w.line("t->state = MPIT_INSIDE;")
	w.line("struct mpit_slot *s = NULL;")
	w.declare()
	w.line("if (mpit_on[MPIT_ID_%s]) {", short(f))
	w.depth++
	w.before()
	w.depth--
	w.line("}")
	w.forget()
	if w.p.Status >= 0 {
		w.line("%s rc = %s;", returnType(f), w.call("status_"))
	} else {
		w.line("%s rc = %s;", returnType(f), w.call(""))
	}
	w.after()
	w.line("t->state = MPIT_IDLE;")
	w.line("return rc;")
	w.depth--
	w.line("}")
	return w.b.String()
}

// hasEntries tells whether records have a slot half for each request.
func (w *wrapper) hasEntries() bool { return w.p.Requests >= 0 }

func (w *wrapper) byValueRequest() bool {
	return w.hasEntries() && w.f.Params[w.p.Requests].Pointer == 0 && w.f.Params[w.p.Requests].Array == nil
}

func (w *wrapper) argSlots() int { return (len(w.p.Args) + 7) / 8 }

// fixedSlots is the length of the record without its requests.
func (w *wrapper) fixedSlots() int {
	n := 1 + w.argSlots()
	if w.p.Second != nil {
		n++
	}
	return n
}

func (w *wrapper) numRequests() string {
	if w.p.NumRequests >= 0 {
		return w.name(w.p.NumRequests)
	}
	return "1"
}

func (w *wrapper) declare() {
	if w.hasEntries() {
		w.line("struct mpit_done *done_ = NULL;")
		w.line("unsigned n_ = 0;")
	}
	if w.p.Status >= 0 {
		w.line("void *status_ = %s;", w.name(w.p.Status))
	}
}

// objectOf is the id of the object that argument i names.
func (w *wrapper) objectOf(i int, after bool) string {
	a := &w.f.Params[i]
	n := a.Name
	if a.Pointer > 0 {
		if a.Type == mpi.TFile {
			n = fmt.Sprintf("(mpit_h)*(const uint64_t *)%s", n)
		} else {
			n = fmt.Sprintf("(mpit_h)mpit_handle_at(%s, 0)", n)
		}
	}
	switch a.Type {
	case mpi.TComm:
		return fmt.Sprintf("mpit_comm_id(t, %s)", n)
	case mpi.TWin:
		return fmt.Sprintf("mpit_win_id(t, %s)", n)
	case mpi.TFile:
		return fmt.Sprintf("mpit_file_id(t, %s)", n)
	}
	return fmt.Sprintf("mpit_type_id(t, %s)", n)
}

// times is how often a buffer holds count elements, as a C expression.
func (w *wrapper) times(buffer int) string {
	h := w.f.Params[buffer].Holds
	if h.Times == nil {
		return ""
	}
	return w.length(h.Times)
}

func (w *wrapper) length(l *mpi.Length) string {
	switch l.Rule {
	case mpi.LenCommSize:
		return "info_->peers"
	case mpi.LenLocalSize:
		return "info_->size"
	case mpi.LenIndegree:
		return "info_->indegree"
	case mpi.LenOutdegree:
		return "info_->outdegree"
	case mpi.LenConst:
		return fmt.Sprint(l.Const)
	case mpi.LenParam:
		return l.Param
	}
	return "1"
}

// needsInfo tells whether the wrapper must know the communicator's size.
func (w *wrapper) needsInfo() (info, degrees bool) {
	look := func(l *mpi.Length) {
		if l == nil {
			return
		}
		switch l.Rule {
		case mpi.LenCommSize, mpi.LenLocalSize:
			info = true
		case mpi.LenIndegree, mpi.LenOutdegree:
			info, degrees = true, true
		}
	}
	if w.p.Object < 0 || w.f.Params[w.p.Object].Type != mpi.TComm {
		return false, false
	}
	for _, i := range w.buffers() {
		a := &w.f.Params[i]
		look(a.Holds.Times)
		if c := w.index(a.Holds.Count); c >= 0 {
			look(w.f.Params[c].Array)
		}
		info = info || a.Root || a.Holds.Own
	}
	return info, degrees
}

// buffers are those whose extent the record keeps.
func (w *wrapper) buffers() []int {
	var list []int
	if w.p.Buffer >= 0 {
		list = append(list, w.p.Buffer)
	}
	if s := w.p.Second; s != nil && s.Buffer >= 0 {
		list = append(list, s.Buffer)
	}
	return list
}

func (w *wrapper) index(name string) int {
	for i := range w.f.Params {
		if name != "" && w.name(i) == name {
			return i
		}
	}
	return -1
}

// amount writes the statements that set the C variables count, type and bytes
// of one side, and returns their names.
func (w *wrapper) amount(prefix string, buffer, count, datatype int) {
	c, t, n := prefix+"count_", prefix+"type_", prefix+"bytes_"
	w.line("int64_t %s = MPIT_NO_COUNT, %s = -1;", c, n)
	w.line("uint32_t %s = 0;", t)
	if count < 0 && datatype < 0 {
		return
	}
	guard := ""
	own := false
	times := ""
	if buffer >= 0 {
		a := &w.f.Params[buffer]
		own = a.Holds.Own
		times = w.times(buffer)
		if a.Root {
			guard = "root_"
		}
	}
	if guard != "" {
		w.line("if (%s) {", guard)
		w.depth++
	}
	typeArray := datatype >= 0 && w.f.Params[datatype].Array != nil
	switch {
	case typeArray:
		w.line("%s = mpit_type_id(t, (mpit_h)mpit_abi.type_byte);", t)
		w.line("%s = %s = mpit_sum_typed(t, %s, sizeof(%s), %s, %s);", c, n, w.name(count), w.element(count), w.name(datatype),
			w.length(w.f.Params[count].Array))
	case datatype >= 0:
		w.line("%s = mpit_type_id(t, %s);", t, w.name(datatype))
	}
	switch {
	case typeArray:
	case count < 0:
		w.line("%s = 1;", c)
	case w.f.Params[count].Array != nil && own:
		w.line("%s = mpit_element(%s, sizeof(%s), info_->rank);", c, w.name(count), w.element(count))
	case w.f.Params[count].Array != nil:
		w.line("%s = mpit_sum(%s, sizeof(%s), %s);", c, w.name(count), w.element(count), w.length(w.f.Params[count].Array))
	default:
		w.line("%s = %s;", c, w.name(count))
	}
	if !typeArray {
		size := fmt.Sprintf("mpit_type_size(%s)", t)
		if datatype < 0 {
			size = "1"
		}
		if times == "" {
			times = "1"
		}
		w.line("%s = mpit_amount(%s, %s, %s);", n, c, size, times)
	}
	if guard != "" {
		w.depth--
		w.line("}")
	}
}

func (w *wrapper) element(i int) string {
	switch w.f.Params[i].Type {
	case mpi.TInt:
		return "int"
	}
	return "int64_t"
}

func (w *wrapper) before() {
	f, p := w.f, &w.p
	object := "0"
	info, degrees := w.needsInfo()
	if p.Object >= 0 {
		w.line("uint32_t object_ = %s;", w.objectOf(p.Object, false))
		object = "object_"
	}
	if info {
		w.line("struct mpit_comm_info *info_ = mpit_comm_info(object_);")
		if degrees {
			w.line("mpit_degrees(info_, %s);", w.name(p.Object))
		}
		if p.Root >= 0 && w.anyRoot() {
			w.line("int root_ = info_->inter ? %s == mpit_abi.root : %s == info_->rank;", w.name(p.Root), w.name(p.Root))
		} else if w.anyRoot() {
			w.line("int root_ = 1;")
		}
	} else if w.anyRoot() {
		w.line("int root_ = 1;")
	}
	// With two sides the bytes of both are kept; with one the drain computes
	// them from count and datatype, once a signature.
	simple := p.Second == nil && !w.arrayCount(p.Count) && !w.rootBuffer(p.Buffer)
	count, datatype := "MPIT_NO_COUNT", "0"
	switch {
	case simple:
		if p.Datatype >= 0 && f.Params[p.Datatype].Array == nil {
			w.line("uint32_t type_ = mpit_type_id(t, %s);", w.name(p.Datatype))
			datatype = "type_"
		}
		switch {
		case p.Count >= 0:
			count = w.name(p.Count)
		case p.Buffer >= 0:
			count = "1"
		case p.NumRequests >= 0:
			count = w.name(p.NumRequests)
		}
	default:
		w.amount("", p.Buffer, p.Count, p.Datatype)
		count, datatype = "count_", "type_"
		if p.Second == nil {
			w.line("(void)bytes_;")
		}
	}
	if s := p.Second; s != nil {
		w.amount("other_", s.Buffer, s.Count, s.Datatype)
	}
	for k, i := range p.Args {
		a := &f.Params[i]
		if a.Dir == mpi.In && a.Type != mpi.TInt && a.Type != mpi.TAint && a.Type != mpi.TCount && a.Type != mpi.TOffset {
			w.line("uint32_t arg%d_ = %s;", k, w.objectOf(i, false))
		}
	}
	slots := fmt.Sprint(w.fixedSlots())
	if w.hasEntries() {
		w.line("n_ = mpit_requests_fit(t, %s);", w.numRequests())
		slots = fmt.Sprintf("%d + (n_ + 1) / 2", w.fixedSlots())
	}
	w.line("s = mpit_begin(t, MPIT_ID_%s, %s, __builtin_return_address(0));", short(f), slots)
	w.line("if (s) {")
	w.depth++
	peer := "0"
	if p.Peer >= 0 {
		peer = w.name(p.Peer)
	} else if p.Root >= 0 {
		peer = w.name(p.Root)
	}
	tag := "0"
	if p.Tag >= 0 {
		tag = w.name(p.Tag)
	}
	w.line("mpit_fill(s, %s, %s, %s, %s, %s);", object, datatype, peer, tag, count)
	if p.Op >= 0 {
		w.line("s->op = mpit_op_id(%s);", w.name(p.Op))
	}
	w.flags()
	at := 1
	if s := p.Second; s != nil {
		peer, tag, disp := "0", "0", "0"
		if s.Peer >= 0 {
			peer = w.name(s.Peer)
		}
		if s.Tag >= 0 {
			tag = w.name(s.Tag)
		}
		if s.Disp >= 0 {
			disp = w.name(s.Disp)
		}
		w.line("mpit_fill_side(s + %d, %s, %s, other_type_, other_count_, other_bytes_, %s, bytes_);", at, peer, tag, disp)
		at++
	}
	w.args(at, false)
	at += w.argSlots()
	if w.hasEntries() {
		w.line("done_ = (struct mpit_done *)(s + %d);", at)
		switch {
		case w.byValueRequest():
			w.line("mpit_request_value(done_, n_, %s);", w.name(p.Requests))
		default:
			w.line("mpit_requests(done_, n_, %s);", w.name(p.Requests))
		}
		w.line("if (MPIT_UNLIKELY(n_ < (unsigned)%s))", w.numRequests())
		w.line("\tmpit_truncated(t, s, (unsigned)%s - n_);", w.numRequests())
	}
	w.substitute()
	w.line("mpit_publish(t, s, %s);", slots)
	w.depth--
	w.line("}")
}

func (w *wrapper) arrayCount(i int) bool { return i >= 0 && w.f.Params[i].Array != nil }

func (w *wrapper) rootBuffer(i int) bool { return i >= 0 && w.f.Params[i].Root }

func (w *wrapper) anyRoot() bool {
	return w.rootBuffer(w.p.Buffer) || w.p.Second != nil && w.rootBuffer(w.p.Second.Buffer)
}

// flags marks wildcards and MPI_IN_PLACE.
func (w *wrapper) flags() {
	p := &w.p
	receive := w.f.Role&(mpi.RoleReceives|mpi.RoleProbes) != 0
	if receive && p.Second == nil && p.Peer >= 0 {
		w.line("mpit_wildcards(s, %s, %s);", w.name(p.Peer), orAny(w, p.Tag))
	}
	if receive && p.Second != nil && p.Second.Peer >= 0 {
		w.line("mpit_wildcards(s, %s, %s);", w.name(p.Second.Peer), orAny(w, p.Second.Tag))
	}
	if w.f.Family == mpi.Collective || w.f.Family == mpi.Neighborhood {
		for i := range w.f.Params {
			if a := &w.f.Params[i]; a.Kind == mpi.KindBuffer && a.Dir == mpi.In {
				w.line("if ((uint64_t)%s == mpit_abi.in_place)", a.Name)
				w.line("\ts->flags |= MPIT_F_IN_PLACE;")
			}
			if a := &w.f.Params[i]; a.Kind == mpi.KindBuffer && a.Root && a.Dir != mpi.In && w.f.Is(mpi.RoleRooted) && w.scatters() {
				w.line("if ((uint64_t)%s == mpit_abi.in_place)", a.Name)
				w.line("\ts->flags |= MPIT_F_IN_PLACE;")
			}
		}
	}
}

func (w *wrapper) scatters() bool { return strings.Contains(w.f.Name, "catter") }

func orAny(w *wrapper, i int) string {
	if i < 0 {
		return "0"
	}
	return w.name(i)
}

// args stores the remaining arguments, eight to a slot: before the call those
// that it is given, after it the objects that it made.
func (w *wrapper) args(at int, after bool) {
	for k, i := range w.p.Args {
		a := &w.f.Params[i]
		out := a.Dir == mpi.Out
		if out != after && !(out && !after) {
			continue
		}
		place := fmt.Sprintf("((int64_t *)(s + %d))[%d]", at, k)
		switch {
		case out && !after:
			w.line("%s = 0;", place)
		case out:
			w.line("%s = rc == 0 ? %s : 0;", place, w.objectOf(i, true))
		case a.Type == mpi.TInt || a.Type == mpi.TAint || a.Type == mpi.TCount || a.Type == mpi.TOffset:
			w.line("%s = %s;", place, a.Name)
		default:
			w.line("%s = arg%d_;", place, k)
		}
	}
	if !after {
		for k := len(w.p.Args); k < 8*w.argSlots(); k++ {
			w.line("((int64_t *)(s + %d))[%d] = 0;", at, k)
		}
	}
}

// substitute gives the call a status of our own where the program ignores it.
func (w *wrapper) substitute() {
	if w.p.Status < 0 || w.f.Params[w.p.Status].Dir != mpi.Out {
		return
	}
	ignore, n := "status_ignore", "1"
	if w.f.Params[w.p.Status].Array != nil {
		ignore, n = "statuses_ignore", w.numRequests()
	}
	w.line("if ((uint64_t)status_ == mpit_abi.%s && mpit_abi.status_source >= 0) {", ignore)
	w.line("\tvoid *own_ = mpit_scratch(t, (size_t)%s * mpit_abi.status_size);", n)
	w.line("\tif (own_)")
	w.line("\t\tstatus_ = own_;")
	w.line("}")
}

// forget drops the ids of an object before the call that frees it.
func (w *wrapper) forget() {
	if !w.f.Is(mpi.RoleFrees) {
		return
	}
	for i := range w.f.Params {
		a := &w.f.Params[i]
		if a.Dir != mpi.InOut || a.Pointer != 1 || a.Array != nil {
			continue
		}
		switch a.Type {
		case mpi.TComm, mpi.TDatatype, mpi.TWin, mpi.TOp:
			w.line("mpit_forget(mpit_handle_at(%s, 0));", a.Name)
		case mpi.TFile:
			w.line("mpit_forget(*(const uint64_t *)%s);", a.Name)
		}
	}
}

func (w *wrapper) after() {
	f, p := w.f, &w.p
	w.line("uint64_t end_ = s ? mpit_now() : 0;")
	w.created()
	w.line("if (s) {")
	w.depth++
	if p.Request >= 0 {
		w.line("s->aux = mpit_request_made(%s, rc);", w.name(p.Request))
	}
	switch {
	case w.hasEntries():
		w.completions()
	case p.Receives:
		flag := "1"
		if p.Flag >= 0 {
			flag = "*(int *)" + w.name(p.Flag)
		}
		switch {
		case p.Second != nil && p.Second.Peer >= 0:
			w.line("mpit_received_side(s, status_, rc);")
		case f.Family == mpi.IO:
			w.line("mpit_transferred(s, status_, rc);")
		default:
			w.line("mpit_received(s, status_, rc, %s);", flag)
		}
	case p.Flag >= 0:
		w.line("if (rc == 0 && !*(int *)%s)", w.name(p.Flag))
		w.line("\ts->flags |= MPIT_F_FALSE;")
	}
	at := 1
	if p.Second != nil {
		at++
	}
	w.args(at, true)
	rc := "(int)rc"
	if returnType(f) != "int" {
		rc = "0"
	} else {
		rc = "rc"
	}
	w.line("mpit_end(s, end_, %s);", rc)
	w.depth--
	w.line("}")
}

// completions says which requests the call completed, and with what.
func (w *wrapper) completions() {
	p := &w.p
	status := "NULL"
	if p.Status >= 0 {
		status = "status_"
	}
	fixed := w.fixedSlots()
	flag := func() string {
		if p.Flag >= 0 {
			return fmt.Sprintf("rc != 0 || *(int *)%s", w.name(p.Flag))
		}
		return "1"
	}()
	state := "MPIT_DONE_COMPLETE"
	switch {
	case w.f.Is(mpi.RoleInspects):
		state = "MPIT_DONE_INSPECTED"
	case w.f.Is(mpi.RoleActivates):
		state = "MPIT_DONE_STARTED"
	case w.f.Is(mpi.RoleFrees):
		state = "MPIT_DONE_FREED"
	case w.f.Is(mpi.RoleCancels):
		state = "MPIT_DONE_CANCEL"
	case !w.f.Is(mpi.RoleCompletes):
		// Names a request, does nothing to it: Pready, Parrived, Grequest_complete.
		if p.Flag >= 0 {
			w.line("if (rc == 0 && !*(int *)%s)", w.name(p.Flag))
			w.line("\ts->flags |= MPIT_F_FALSE;")
		}
		return
	}
	switch {
	case p.Indices >= 0:
		w.line("mpit_completed_some(t, s, %d, done_, n_, *(int *)%s, %s, %s, rc, %s);", fixed, w.name(p.OutCount), w.name(p.Indices), status, state)
	case p.Index >= 0:
		w.line("mpit_completed_any(t, s, %d, done_, n_, %s, *(int *)%s, %s, rc, %s);", fixed, flag, w.name(p.Index), status, state)
	case w.f.Is(mpi.RoleCompletes) || w.f.Is(mpi.RoleInspects):
		array := "0"
		if p.NumRequests >= 0 {
			array = "1"
		}
		w.line("mpit_completed_all(t, s, %d, done_, n_, %s, %s, rc, %s, %s);", fixed, flag, status, state, array)
	default:
		w.line("mpit_requests_state(done_, n_, rc, %s);", state)
	}
}

// created enters the objects that the call has made; also while recording is
// off, so that turning it on again finds them known.
func (w *wrapper) created() {
	f := w.f
	var lines []string
	if f.Is(mpi.RoleCreates) {
		for i := range f.Params {
			a := &f.Params[i]
			if a.Dir != mpi.Out || a.Pointer != 1 || a.Array != nil {
				continue
			}
			switch a.Type {
			case mpi.TComm:
				lines = append(lines, fmt.Sprintf("mpit_comm_created(t, MPIT_ID_%s, %s, %s, %d);", short(f), w.parent(mpi.TComm), a.Name, b2i(w.p.Request >= 0)))
			case mpi.TDatatype:
				lines = append(lines, fmt.Sprintf("mpit_type_created(t, MPIT_ID_%s, %s, %s);", short(f), w.parent(mpi.TDatatype), a.Name))
			case mpi.TOp:
				lines = append(lines, fmt.Sprintf("mpit_op_created(%s);", a.Name))
			case mpi.TWin:
				size, unit := "-1", "0"
				if w.index("size") >= 0 {
					size = "size"
				}
				if w.index("disp_unit") >= 0 {
					unit = "disp_unit"
				}
				lines = append(lines, fmt.Sprintf("mpit_win_created(t, MPIT_ID_%s, %s, %s, %s, %s);", short(f), w.parent(mpi.TComm), size, unit, a.Name))
			case mpi.TFile:
				lines = append(lines, fmt.Sprintf("mpit_file_opened(t, %s, filename, amode, %s);", w.parent(mpi.TComm), a.Name))
			}
		}
	}
	if f.Is(mpi.RoleNames) {
		for i := range f.Params {
			a := &f.Params[i]
			kind := map[mpi.CType]string{mpi.TComm: "COMM", mpi.TDatatype: "TYPE", mpi.TWin: "WIN"}[a.Type]
			if kind == "" || a.Pointer != 0 {
				continue
			}
			if n := f.Params[len(f.Params)-1]; n.Kind == mpi.KindString {
				lines = append(lines, fmt.Sprintf("mpit_named(MPIT_OBJECT_%s, mpit_handle(%s), %s);", kind, a.Name, n.Name))
			}
		}
	}
	if len(lines) == 0 {
		return
	}
	w.line("if (rc == 0) {")
	for _, l := range lines {
		w.line("\t%s", l)
	}
	w.line("}")
}

func (w *wrapper) parent(t mpi.CType) string {
	for i := range w.f.Params {
		a := &w.f.Params[i]
		if a.Type == t && a.Dir == mpi.In && a.Pointer == 0 {
			return a.Name
		}
	}
	return "NULL"
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
