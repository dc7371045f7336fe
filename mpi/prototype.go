// SPDX-License-Identifier: Apache-2.0

package mpi

import "strings"

// Spelling writes C types in a prototype.
type Spelling interface {
	// Result returns the type of the result: "int".
	Result(t CType) string
	// Declare returns the declaration of a parameter: "const int counts[]".
	Declare(p *Param) string
}

// Native spells types as mpi.h does. A prototype spelt so needs mpi.h.
var Native Spelling = native{}

// Neutral spells types so that one prototype fits every MPI library's calling
// convention, with no mpi.h: a handle or callback by value, and a pointer to
// handles or statuses, is void *; MPI_Aint, MPI_Offset and MPI_Count are
// int64_t, MPI_Fint and the enumerations of MPI_T are int. The upper half of a
// handle's void * is not to be looked at where handles are ints. It needs
// <stdint.h>.
var Neutral Spelling = neutral{}

// Prototype returns the function's C prototype without a semicolon, under the
// given name (f.Name, or its profiling name "PMPI_Send").
func (f *Func) Prototype(name string, s Spelling) string {
	params := make([]string, len(f.Params))
	for i := range f.Params {
		params[i] = s.Declare(&f.Params[i])
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	result := s.Result(f.Return)
	if !strings.HasSuffix(result, "*") {
		result += " "
	}
	return result + name + "(" + strings.Join(params, ", ") + ")"
}

type native struct{}

func (native) Result(t CType) string { return t.String() }

func (native) Declare(p *Param) string {
	if p.Type == TCallback {
		return p.Callback + " *" + p.Name
	}
	return declare(p, p.Type.String(), p.Pointer)
}

type neutral struct{}

func (neutral) Result(t CType) string { return t.Neutral() }

func (neutral) Declare(p *Param) string {
	if p.Type.Opaque() {
		if p.Const {
			return "const void *" + p.Name
		}
		return "void *" + p.Name
	}
	return declare(p, p.Type.Neutral(), p.Pointer)
}

// declare writes a declaration with the given element type.
func declare(p *Param, typ string, pointer int) string {
	if p.Type == TVarargs {
		return "..."
	}
	var b strings.Builder
	if p.Const {
		b.WriteString("const ")
	}
	b.WriteString(typ)
	b.WriteByte(' ')
	suffix := ""
	if p.Array != nil {
		pointer--
		suffix = "[]"
		if p.Array.Rule == LenTriple {
			suffix = "[][3]"
		}
	}
	b.WriteString(strings.Repeat("*", pointer))
	b.WriteString(p.Name)
	b.WriteString(suffix)
	return b.String()
}

// Opaque reports whether values of the type differ between MPI libraries in
// size or layout: handles, statuses, callbacks. They are passed as void *,
// alone and behind a pointer.
func (t CType) Opaque() bool {
	switch t {
	case TStatus, TF08Status, TCallback:
		return true
	}
	return t.Handle()
}

// Handle reports whether the type is an opaque handle that is passed by value.
func (t CType) Handle() bool {
	switch t {
	case TComm, TDatatype, TRequest, TOp, TGroup, TWin, TFile, TInfo, TSession,
		TMessage, TErrhandler, TToolEnum, TToolCvarHandle, TToolPvarHandle,
		TToolPvarSession, TToolEventRegistration, TToolEventInstance:
		return true
	}
	return false
}

// Neutral returns the C type that stands for t where no mpi.h is included.
func (t CType) Neutral() string {
	switch t {
	case TAint, TCount, TOffset:
		return "int64_t"
	case TFint, TToolCbSafety, TToolSourceOrder:
		return "int"
	}
	if t.Opaque() {
		return "void *"
	}
	return t.String()
}
