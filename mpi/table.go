// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"slices"
	"strings"
)

// LeftOut is a name that MPI libraries export among their functions and that
// has no row, and why.
type LeftOut struct{ Name, Reason string }

// All returns the functions by id: All()[i].ID is i+1. The slice and what it
// points to are shared and must not be changed.
func All() []Func { return funcs[1:] }

// ByID returns the function with this id, nil if there is none. It must not be
// changed.
func ByID(id FuncID) *Func {
	if id == 0 || int(id) >= len(funcs) {
		return nil
	}
	return &funcs[id]
}

// ByName returns the function of this name ("MPI_Send"), nil if there is none.
// It must not be changed.
func ByName(name string) *Func {
	i, ok := slices.BinarySearchFunc(byName[:], name, func(id FuncID, name string) int {
		return strings.Compare(funcs[id].Name, name)
	})
	if !ok {
		return nil
	}
	return &funcs[byName[i]]
}

// AllLeftOut returns the names that have no row, and why. The slice is shared
// and must not be changed.
func AllLeftOut() []LeftOut { return leftOut[:] }

// Is reports whether the function has all the given roles.
func (f *Func) Is(r Role) bool { return f.Role&r == r }

// IsAny reports whether the function has one of the given roles.
func (f *Func) IsAny(r Role) bool { return f.Role&r != 0 }

// Param returns the parameter of this name, nil if there is none.
func (f *Func) Param(name string) *Param {
	if i := f.ParamIndex(name); i >= 0 {
		return &f.Params[i]
	}
	return nil
}

// ParamIndex returns the index in Params of the parameter of this name, -1 if
// there is none.
func (f *Func) ParamIndex(name string) int {
	return slices.IndexFunc(f.Params, func(p Param) bool { return p.Name == name })
}

// Find returns the index in Params of the first parameter of this kind and
// side, -1 if there is none. A parameter without a side serves both.
func (f *Func) Find(kind Kind, side Side) int {
	return slices.IndexFunc(f.Params, func(p Param) bool {
		return p.Kind == kind && (p.Side == side || p.Side == SideNone || side == SideNone)
	})
}
