// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// String returns the direction as functions.txt writes it.
func (d Dir) String() string { return nameOf(dirNames[:], "dir", int(d)) }

// String returns the side as functions.txt writes it.
func (s Side) String() string { return nameOf(sideNames[:], "side", int(s)) }

// String returns the family as filters and functions.txt write it.
func (f Family) String() string { return nameOf(familyNames[:], "family", int(f)) }

// String returns the type's spelling in C; see Spelling for whole parameters.
func (t CType) String() string { return nameOf(cTypeNames[:], "ctype", int(t)) }

// String returns the kind as functions.txt writes it.
func (k Kind) String() string { return nameOf(kindNames[:], "kind", int(k)) }

// String returns the roles of the set, separated by blanks.
func (r Role) String() string {
	var names []string
	for r != 0 {
		i := bits.TrailingZeros64(uint64(r))
		r &^= 1 << i
		names = append(names, nameOf(roleNames[:], "role", i))
	}
	return strings.Join(names, " ")
}

// nameOf returns names[i], and "what(i)" for a number that has no name.
func nameOf(names []string, what string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

// ParseFamily returns the family of this name ("p2p", "one-sided").
func ParseFamily(name string) (Family, error) {
	if i := slices.Index(familyNames[1:], name); i >= 0 {
		return Family(i + 1), nil
	}
	return FamilyNone, fmt.Errorf("no family is named %q; there are: %s", name, strings.Join(familyNames[1:], ", "))
}
