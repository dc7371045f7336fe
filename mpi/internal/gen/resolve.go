// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mpitrace/mpitrace/mpi/internal/rows"
)

// table is functions.txt with all names resolved to Go constants.
type table struct {
	funcs []function // by id, funcs[0] is empty
	left  []rows.LeftOut
}

type function struct {
	rows.Row
	family string   // Go constant
	roles  []string // Go constants
	ret    string
	result string
	params []parameter
}

type parameter struct {
	rows.Param
	typ, kind, dir, side string // Go constants
	callback             string // C type, "" if none
	pointer              int
	array                string // Go literal, "" if none
	holds                string // Go literal, "" if none
}

// defaultKinds are the kinds of arguments whose C type tells them.
var defaultKinds = map[string]string{
	"TComm": "KindComm", "TDatatype": "KindDatatype", "TRequest": "KindRequest",
	"TStatus": "KindStatus", "TF08Status": "KindStatus", "TOp": "KindOp",
	"TGroup": "KindGroup", "TWin": "KindWin", "TFile": "KindFile",
	"TInfo": "KindInfo", "TSession": "KindSession", "TMessage": "KindMessage",
	"TErrhandler": "KindErrhandler", "TCallback": "KindCallback",
	"TVarargs": "KindVarargs", "TToolEnum": "KindTool",
	"TToolCvarHandle": "KindTool", "TToolPvarHandle": "KindTool",
	"TToolPvarSession": "KindTool", "TToolEventRegistration": "KindTool",
	"TToolEventInstance": "KindTool",
}

// atLengths are the lengths written as @word.
var atLengths = map[string]string{
	"size": "LenCommSize", "localsize": "LenLocalSize", "indegree": "LenIndegree", "outdegree": "LenOutdegree",
	"nul": "LenNulString", "nullptr": "LenNulList", "dims": "LenDims", "other": "LenOther",
}

// resolver turns the words of one file into constants.
type resolver struct {
	file  string
	enums enums
}

func (r *resolver) errorf(at rows.Pos, format string, args ...any) error {
	return &rows.Error{File: r.file, Pos: at, Msg: fmt.Sprintf(format, args...)}
}

// resolve checks the rows and orders them by id.
func resolve(file string, f *rows.File, e enums) (*table, error) {
	r := &resolver{file: file, enums: e}
	t := &table{funcs: make([]function, len(f.Rows)+1), left: f.Left}
	names := make(map[string]int)
	var errs []error
	for _, row := range f.Rows {
		if other := names[row.Name.Text]; other != 0 {
			errs = append(errs, r.errorf(row.Name.Pos, "%s has a row in line %d already", row.Name.Text, other))
			continue
		}
		names[row.Name.Text] = row.Line
		if row.ID >= len(t.funcs) {
			errs = append(errs, r.errorf(row.Pos, "id %d leaves a gap: %d rows have the ids 1 to %d", row.ID, len(f.Rows), len(f.Rows)))
			continue
		}
		if other := t.funcs[row.ID]; other.ID != 0 {
			errs = append(errs, r.errorf(row.Pos, "id %d is %s's already, in line %d", row.ID, other.Name.Text, other.Line))
			continue
		}
		fn, err := r.function(row)
		if err != nil {
			errs = append(errs, err)
		}
		t.funcs[row.ID] = fn
	}
	for _, left := range f.Left {
		if line := names[left.Name.Text]; line != 0 {
			errs = append(errs, r.errorf(left.Name.Pos, "%s is left out, but has a row in line %d", left.Name.Text, line))
		}
	}
	return t, errors.Join(errs...)
}

// lookup finds the constant that a word of the file names.
func (r *resolver) lookup(typ string, w rows.Word) (string, error) {
	e := r.enums[typ]
	if c := e.byName[w.Text]; c != "" {
		return c, nil
	}
	return "", r.errorf(w.Pos, "no %s is named %q; there are: %s", strings.ToLower(typ), w.Text, strings.Join(e.names, ", "))
}

func (r *resolver) function(row rows.Row) (function, error) {
	fn := function{Row: row, result: "KindErrorCode"}
	var err error
	if fn.family, err = r.lookup("Family", row.Family); err != nil {
		return fn, err
	}
	for _, w := range row.Roles {
		role, err := r.lookup("Role", w)
		if err != nil {
			return fn, err
		}
		fn.roles = append(fn.roles, role)
	}
	if fn.ret, err = r.lookup("CType", row.Return); err != nil {
		return fn, err
	}
	if kind := defaultKinds[fn.ret]; kind != "" {
		fn.result = kind
	}
	if row.Result.Text != "" {
		if fn.result, err = r.lookup("Kind", row.Result); err != nil {
			return fn, err
		}
	} else if fn.ret != "TInt" && fn.result == "KindErrorCode" {
		return fn, r.errorf(row.Return.Pos, "%s returns %s: its kind must follow in braces", row.Name.Text, row.Return.Text)
	}
	params := make(map[string]rows.Param)
	for _, p := range row.Params {
		if _, twice := params[p.Name]; twice {
			return fn, r.errorf(p.Pos, "%s has two parameters %s", row.Name.Text, p.Name)
		}
		params[p.Name] = p
	}
	for _, p := range row.Params {
		param, err := r.param(p, params)
		if err != nil {
			return fn, err
		}
		fn.params = append(fn.params, param)
	}
	return fn, nil
}

func (r *resolver) param(p rows.Param, params map[string]rows.Param) (parameter, error) {
	out := parameter{Param: p, side: "SideNone", dir: "In", pointer: p.Stars}
	var err error
	if out.typ = r.enums["CType"].byName[p.Type]; out.typ == "" {
		if !strings.HasPrefix(p.Type, "MPI_") || !strings.Contains(p.Type, "_function") {
			return out, r.errorf(p.Pos, "unknown type %q; callbacks are named MPI_..._function", p.Type)
		}
		out.typ, out.callback, out.pointer = "TCallback", p.Type, 0
	}
	if out.typ == "TVarargs" {
		out.Name = "varargs"
	}
	if p.Kind.Text != "" {
		if out.kind, err = r.lookup("Kind", p.Kind); err != nil {
			return out, err
		}
	} else if out.kind = defaultKinds[out.typ]; out.kind == "" {
		return out, r.errorf(p.Pos, "parameter %s needs a kind in braces", p.Name)
	}
	if p.Array != nil {
		out.pointer++
		if out.array, err = r.length(p.Array, p, params); err != nil {
			return out, err
		}
		if p.Inner != 0 && p.Inner != 3 {
			return out, r.errorf(p.Pos, "%s: the only second dimension there is, is [3] of group ranges", p.Name)
		}
	}
	switch {
	case p.Dir.Text != "":
		if out.dir, err = r.lookup("Dir", p.Dir); err != nil {
			return out, err
		}
		if out.pointer == 0 && out.dir != "In" {
			return out, r.errorf(p.Dir.Pos, "%s is passed by value: it cannot be %s", p.Name, p.Dir.Text)
		}
		if p.Const && out.dir != "In" {
			return out, r.errorf(p.Dir.Pos, "%s is const: it cannot be %s", p.Name, p.Dir.Text)
		}
	case out.pointer > 0 && !p.Const:
		return out, r.errorf(p.Pos, "%s is a pointer and not const: say in, out or inout", p.Name)
	}
	if p.Side.Text != "" {
		if out.side, err = r.lookup("Side", p.Side); err != nil {
			return out, err
		}
	}
	if p.Holds != nil {
		if out.kind != "KindBuffer" {
			return out, r.errorf(p.Holds.Pos, "%s is no buffer, yet holds something", p.Name)
		}
		if out.holds, err = r.holding(p, params); err != nil {
			return out, err
		}
	}
	return out, nil
}

// other finds the parameter that a length or a holding refers to.
func (r *resolver) other(at rows.Pos, name string, params map[string]rows.Param, array bool) error {
	p, ok := params[name]
	if !ok {
		return r.errorf(at, "no parameter is named %q", name)
	}
	if array && p.Array == nil {
		return r.errorf(at, "%s is no array", name)
	}
	return nil
}

// length returns the Go literal of a Length.
func (r *resolver) length(l *rows.Length, p rows.Param, params map[string]rows.Param) (string, error) {
	rule, param := "", l.Name
	switch l.Form {
	case rows.FormParam:
		rule = "LenParam"
		if err := r.other(l.Pos, l.Name, params, false); err != nil {
			return "", err
		}
		if p.Inner == 3 {
			rule = "LenTriple"
		}
	case rows.FormNumber:
		rule = "LenConst"
	case rows.FormLimit:
		rule = "LenLimit"
	case rows.FormSum, rows.FormLast:
		rule = map[rows.LengthForm]string{rows.FormSum: "LenSum", rows.FormLast: "LenLast"}[l.Form]
		if err := r.other(l.Pos, l.Name, params, true); err != nil {
			return "", err
		}
	case rows.FormAt:
		if rule = atLengths[l.Name]; rule == "" {
			return "", r.errorf(l.Pos, "unknown length @%s", l.Name)
		}
		if rule == "LenOther" && p.Note == "" {
			return "", r.errorf(l.Pos, "a length @other needs its rule in a \"note\"")
		}
		param = ""
	}
	var b strings.Builder
	b.WriteString("Length{Rule: " + rule)
	if param != "" {
		b.WriteString(", Param: " + strconv.Quote(param))
	}
	if l.Plus != 0 {
		b.WriteString(", Const: " + strconv.Itoa(l.Plus))
	}
	if l.Filled != "" {
		if err := r.other(l.Pos, l.Filled, params, false); err != nil {
			return "", err
		}
		b.WriteString(", Filled: " + strconv.Quote(l.Filled))
	}
	return b.String() + "}", nil
}

// holding returns the Go literal of a Holding.
func (r *resolver) holding(p rows.Param, params map[string]rows.Param) (string, error) {
	h := p.Holds
	var fields []string
	if h.Count != "1" {
		if err := r.other(h.Pos, h.Count, params, h.Own); err != nil {
			return "", err
		}
		fields = append(fields, "Count: "+strconv.Quote(h.Count))
	}
	if h.Own {
		fields = append(fields, "Own: true")
	}
	if h.Datatype != "byte" {
		if err := r.other(h.Pos, h.Datatype, params, false); err != nil {
			return "", err
		}
		if params[h.Datatype].Type != "MPI_Datatype" {
			return "", r.errorf(h.Pos, "%s is no datatype", h.Datatype)
		}
		fields = append(fields, "Datatype: "+strconv.Quote(h.Datatype))
	}
	if h.Times != nil {
		times, err := r.length(h.Times, rows.Param{}, params)
		if err != nil {
			return "", err
		}
		fields = append(fields, "Times: &"+times)
	}
	return "Holding{" + strings.Join(fields, ", ") + "}", nil
}
