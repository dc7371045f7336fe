// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mpitrace/mpitrace/mpi"
)

// Filter says which functions are recorded. The zero Filter records all.
type Filter struct {
	text  string
	terms []term
}

// term is one element of the list. Exactly one of all, family and pattern is set.
type term struct {
	leaveOut bool
	all      bool
	family   mpi.Family
	pattern  string // upper case
}

// ParseFilter reads a list of names, patterns and families. Case does not
// matter. A list that begins with what to leave out begins with everything.
func ParseFilter(s string) (Filter, error) {
	f := Filter{text: s}
	for _, word := range strings.Split(s, ",") {
		t, err := parseTerm(strings.TrimSpace(word))
		if err != nil {
			return Filter{}, err
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

func parseTerm(word string) (term, error) {
	var t term
	name, leaveOut := strings.CutPrefix(word, "-")
	t.leaveOut = leaveOut
	if name == "" {
		return t, errors.New("an empty name in the list (want function names, patterns and families: p2p,-MPI_Iprobe)")
	}
	if strings.EqualFold(name, "all") {
		t.all = true
		return t, nil
	}
	for fam := mpi.FamilyNone + 1; fam < mpi.NumFamilies; fam++ {
		if strings.EqualFold(name, fam.String()) {
			t.family = fam
			return t, nil
		}
	}
	t.pattern = strings.ToUpper(name)
	for i := range mpi.All() {
		if match(t.pattern, mpi.All()[i].Name) {
			return t, nil
		}
	}
	return t, fmt.Errorf("%q is no MPI function and no family", name)
}

// String is the list as it was given, or "all".
func (f Filter) String() string {
	if f.text == "" {
		return "all"
	}
	return f.text
}

// Records tells whether calls of fn are recorded. MPI_Init, MPI_Finalize and
// MPI_Pcontrol are unless the list leaves them out by name: a trace without
// its begin, its end and its regions is of little use.
func (f Filter) Records(fn *mpi.Func) bool {
	on := len(f.terms) == 0 || f.terms[0].leaveOut ||
		fn.Family == mpi.Control || fn.Role&mpi.RoleSetup != 0
	for i := range f.terms {
		if f.terms[i].matches(fn) {
			on = !f.terms[i].leaveOut
		}
	}
	return on
}

// Selects tells whether the list names fn, without Records' exceptions: what a
// reader of a trace asks for. The zero Filter selects every function.
func (f Filter) Selects(fn *mpi.Func) bool {
	on := len(f.terms) == 0 || f.terms[0].leaveOut
	for i := range f.terms {
		if f.terms[i].matches(fn) {
			on = !f.terms[i].leaveOut
		}
	}
	return on
}

func (t *term) matches(fn *mpi.Func) bool {
	switch {
	case t.all:
		return true
	case t.family != mpi.FamilyNone:
		return fn.Family == t.family
	}
	return match(t.pattern, fn.Name)
}

// MatchName tells whether a function's name is of the form of pattern, as
// MPITRACE_FILTER takes it.
func MatchName(pattern, name string) bool {
	return match(strings.ToUpper(pattern), name)
}

// match tells whether name is of the form of pattern, which is upper case: *
// stands for any bytes, ? for one. It takes time in proportion to the product
// of the lengths, whatever the pattern.
func match(pattern, name string) bool {
	p, n := 0, 0
	star, resume := -1, 0 // the latest * and where in name to go on after it
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == upper(name[n])):
			p++
			n++
		case star >= 0:
			resume++
			p, n = star+1, resume
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}
