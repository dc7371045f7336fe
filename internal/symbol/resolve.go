// SPDX-License-Identifier: Apache-2.0

// Package symbol finds out where in its source a program called MPI: it turns
// the return address of a call into function, file and line, from the debug
// information of the executable or shared object, or else from its symbols.
//
// It reads files of this machine only, no network, and runs nothing. A module
// that is not the one that ran (its build id differs) is not used.
package symbol

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpitrace/mpitrace/format"
)

// Location is a place in a program. Function is demangled; without debug
// information File is "", and Function may be a symbol and an offset.
type Location struct {
	Function string
	File     string
	Line     int32
}

// Resolve fills in Function, File and Line of the call sites in d that lack
// them, as far as they can be found out, and returns what is to be said about
// the modules of the others, a line each.
func Resolve(d *format.Definitions) (warnings []string) {
	modules := map[format.ID]*format.Module{}
	for i := range d.Modules {
		modules[d.Modules[i].ID] = &d.Modules[i]
	}
	byModule := map[format.ID][]*format.Site{}
	for i := range d.Sites {
		s := &d.Sites[i]
		if s.Function == "" && s.File == "" && s.Address != 0 && modules[s.Module] != nil {
			byModule[s.Module] = append(byModule[s.Module], s)
		}
	}
	var noLines []string
	for _, id := range sortedKeys(byModule) {
		m, sites := modules[id], byModule[id]
		addresses := make([]uint64, len(sites))
		for i, s := range sites {
			// A return address is that of the instruction after the call.
			addresses[i] = s.Address - m.Base - 1
		}
		locations, err := Lookup(m.Path, m.BuildID, addresses)
		switch {
		case errors.Is(err, errNoDebug):
			noLines = append(noLines, filepath.Base(m.Path))
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("no call sites of %s: %v", m.Path, err))
		}
		for i, l := range locations {
			sites[i].Function, sites[i].File, sites[i].Line = l.Function, l.File, l.Line
		}
	}
	if len(noLines) > 0 {
		warnings = append(warnings, fmt.Sprintf("no source lines of %s: without debug information; compile with -g to see file and line", strings.Join(noLines, ", ")))
	}
	return warnings
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// errNoDebug is Lookup's error for a module without debug information; what
// its symbols tell is returned all the same.
var errNoDebug = errors.New("no debug information")

// Lookup finds the addresses, as they are in the module's file, in the module
// at path. buildID is the one that the module has to have, "" if it had none.
// The result has a Location for each address, empty where nothing is known.
func Lookup(path, buildID string, addresses []uint64) (locations []Location, err error) {
	// The file may be anybody's; the standard library's parsers are not made
	// for malice.
	defer func() {
		if p := recover(); p != nil {
			locations, err = make([]Location, len(addresses)), fmt.Errorf("its debug information is damaged (%v)", p)
		}
	}()
	o, err := openObject(path, buildID)
	if err != nil {
		return make([]Location, len(addresses)), err
	}
	defer o.close()
	locations = make([]Location, len(addresses))
	o.symbolise(addresses, locations)
	if o.debug == nil {
		return locations, errNoDebug
	}
	return locations, o.lines(addresses, locations)
}
