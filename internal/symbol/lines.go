// SPDX-License-Identifier: Apache-2.0

package symbol

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"sort"
)

// unit is a stretch of addresses of a compile unit.
type unit struct {
	start, end uint64
	offset     dwarf.Offset
}

// lines looks the addresses up in the debug information. Each compile unit
// that has one of them is read once; of the others only the head is.
func (o *object) lines(addresses []uint64, locations []Location) error {
	d, err := o.debug.DWARF()
	if err != nil {
		return fmt.Errorf("its debug information cannot be read: %w", err)
	}
	units, err := unitsOf(d)
	if err != nil {
		return err
	}
	wanted := map[dwarf.Offset][]int{}
	var order []dwarf.Offset
	for i, a := range addresses {
		u, ok := find(units, a)
		if !ok {
			continue
		}
		if wanted[u] == nil {
			order = append(order, u)
		}
		wanted[u] = append(wanted[u], i)
	}
	for _, u := range order {
		if err := lookupUnit(d, u, wanted[u], addresses, locations); err != nil {
			return err
		}
	}
	return nil
}

// unitsOf lists the addresses of all compile units, in ascending order.
func unitsOf(d *dwarf.Data) ([]unit, error) {
	var units []unit
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("its debug information cannot be read: %w", err)
		}
		if e == nil {
			break
		}
		if e.Tag == dwarf.TagCompileUnit {
			ranges, err := d.Ranges(e)
			if err != nil {
				return nil, fmt.Errorf("its debug information cannot be read: %w", err)
			}
			for _, x := range ranges {
				if x[0] < x[1] {
					units = append(units, unit{x[0], x[1], e.Offset})
				}
			}
		}
		r.SkipChildren()
	}
	sort.SliceStable(units, func(i, j int) bool { return units[i].start < units[j].start })
	return units, nil
}

func find(units []unit, a uint64) (dwarf.Offset, bool) {
	i := sort.Search(len(units), func(i int) bool { return units[i].start > a }) - 1
	// Stretches do not overlap in sane files; look back a little in others.
	for k := i; k >= 0 && k > i-4; k-- {
		if a < units[k].end {
			return units[k].offset, true
		}
	}
	return 0, false
}

// lookupUnit looks up those of the addresses that places lists, all in one
// compile unit.
func lookupUnit(d *dwarf.Data, offset dwarf.Offset, places []int, addresses []uint64, locations []Location) error {
	r := d.Reader()
	r.Seek(offset)
	e, err := r.Next()
	if err != nil || e == nil {
		return errors.Join(errors.New("its debug information contradicts itself"), err)
	}
	table, err := d.LineReader(e)
	if err == nil && table != nil {
		err = readLines(table, places, addresses, locations)
	}
	if err != nil {
		return fmt.Errorf("its line table cannot be read: %w", err)
	}
	return readFunctions(d, r, e, places, addresses, locations)
}

// readLines goes through a unit's line table once.
func readLines(table *dwarf.LineReader, places []int, addresses []uint64, locations []Location) error {
	var row, before, named dwarf.LineEntry // named is the last row with a line number
	for first := true; ; {
		err := table.Next(&row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !first {
			for _, i := range places {
				if a := addresses[i]; before.Address <= a && a < row.Address {
					from := before
					if from.Line == 0 {
						from = named
					}
					if from.File != nil && from.Line > 0 {
						locations[i].File, locations[i].Line = from.File.Name, int32(from.Line)
					}
				}
			}
		}
		before, first = row, row.EndSequence
		switch {
		case row.EndSequence:
			named = dwarf.LineEntry{}
		case row.Line > 0:
			named = row
		}
	}
}

// readFunctions names the innermost function, inlined ones included, that each
// address is in.
func readFunctions(d *dwarf.Data, r *dwarf.Reader, unit *dwarf.Entry, places []int, addresses []uint64, locations []Location) error {
	fortran := isFortran(unit)
	var modules []string // names of the enclosing scopes, "" for those without
	depth := 0
	for {
		e, err := r.Next()
		if err != nil {
			return fmt.Errorf("its debug information cannot be read: %w", err)
		}
		if e == nil || e.Tag == dwarf.TagCompileUnit {
			return nil
		}
		if e.Tag == 0 {
			if depth == 0 {
				return nil
			}
			depth--
			modules = modules[:depth]
			continue
		}
		if e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine {
			ranges, err := d.Ranges(e)
			if err != nil {
				ranges = nil
			}
			name := ""
			for _, i := range places {
				for _, x := range ranges {
					if x[0] <= addresses[i] && addresses[i] < x[1] {
						if name == "" {
							name = functionName(d, e, fortran, scope(modules))
						}
						if name != "" {
							locations[i].Function = name
						}
					}
				}
			}
		}
		if e.Children {
			depth++
			if depth > 10_000 {
				return errors.New("its debug information is nested too deeply")
			}
			name := ""
			if e.Tag == dwarf.TagModule {
				name, _ = e.Val(dwarf.AttrName).(string)
			}
			modules = append(modules, name)
		}
	}
}

func scope(modules []string) string {
	for i := len(modules) - 1; i >= 0; i-- {
		if modules[i] != "" {
			return modules[i] + "::"
		}
	}
	return ""
}

// attrMIPSLinkageName is what compilers used before DW_AT_linkage_name.
const attrMIPSLinkageName = dwarf.Attr(0x2007)

// functionName names a function as the source does. An inlined or out-of-line
// instance refers to what it is an instance of.
func functionName(d *dwarf.Data, e *dwarf.Entry, fortran bool, scope string) string {
	plain := ""
	for range 8 {
		linkage, ok := e.Val(dwarf.AttrLinkageName).(string)
		if !ok {
			linkage, _ = e.Val(attrMIPSLinkageName).(string)
		}
		if name, ok := e.Val(dwarf.AttrName).(string); ok && plain == "" {
			plain = name
		}
		if linkage != "" {
			if p, ok := demangled(linkage); ok {
				return p
			}
			if m := gfortranModule.FindStringSubmatch(linkage); m != nil {
				return m[1] + "::" + m[2]
			}
		}
		if fortran && plain != "" {
			return scope + fortranName(plain)
		}
		origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if origin, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				break
			}
		}
		r := d.Reader()
		r.Seek(origin)
		next, err := r.Next()
		if err != nil || next == nil {
			break
		}
		e = next
	}
	return plain
}

// isFortran tells whether a compile unit was written in Fortran.
func isFortran(unit *dwarf.Entry) bool {
	language, _ := unit.Val(dwarf.AttrLanguage).(int64)
	switch language {
	case 0x07, 0x08, 0x0e, 0x22, 0x23, 0x2d: // 77, 90, 95, 2003, 2008, 2018
		return true
	}
	return false
}
