// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// writeTable writes the functions by id, the ids by name, and what is left out.
func writeTable(w *bytes.Buffer, t *table) {
	fmt.Fprintf(w, "// NumFuncs is the number of functions; ids run from 1 to NumFuncs.\nconst NumFuncs = %d\n\n", len(t.funcs)-1)
	w.WriteString("// funcs is the table, indexed by id.\nvar funcs = [NumFuncs + 1]Func{\n")
	for _, f := range t.funcs[1:] {
		fmt.Fprintf(w, "%d: {\nID: %d, Name: %q, Family: %s", f.ID, f.ID, f.Name.Text, f.family)
		if len(f.roles) > 0 {
			fmt.Fprintf(w, ", Role: %s", strings.Join(f.roles, "|"))
		}
		fmt.Fprintf(w, ", Return: %s, Result: %s,\n", f.ret, f.result)
		if len(f.params) > 0 {
			w.WriteString("Params: []Param{\n")
			for _, p := range f.params {
				writeParam(w, p)
			}
			w.WriteString("},\n")
		}
		w.WriteString("},\n")
	}
	w.WriteString("}\n\n// byName holds the ids in the order of the names.\nvar byName = [NumFuncs]FuncID{\n")
	sorted := slices.Clone(t.funcs[1:])
	slices.SortFunc(sorted, func(a, b function) int { return strings.Compare(a.Name.Text, b.Name.Text) })
	for _, f := range sorted {
		w.WriteString(goName(f) + ",\n")
	}
	w.WriteString("}\n\n// leftOut holds the names that have no row.\nvar leftOut = [...]LeftOut{\n")
	for _, l := range t.left {
		fmt.Fprintf(w, "{Name: %q, Reason: %q},\n", l.Name.Text, l.Reason)
	}
	w.WriteString("}\n")
}

// writeParam writes one element of Params.
func writeParam(w *bytes.Buffer, p parameter) {
	fmt.Fprintf(w, "{Name: %q, Kind: %s, Dir: %s, Type: %s", p.Name, p.kind, p.dir, p.typ)
	if p.pointer > 0 {
		w.WriteString(", Pointer: " + strconv.Itoa(p.pointer))
	}
	if p.Const {
		w.WriteString(", Const: true")
	}
	if p.array != "" {
		w.WriteString(", Array: &" + p.array)
	}
	if p.RootOnly {
		w.WriteString(", Root: true")
	}
	if p.side != "SideNone" {
		w.WriteString(", Side: " + p.side)
	}
	if p.holds != "" {
		w.WriteString(", Holds: &" + p.holds)
	}
	if p.callback != "" {
		fmt.Fprintf(w, ", Callback: %q", p.callback)
	}
	if p.Note != "" {
		fmt.Fprintf(w, ", Note: %q", p.Note)
	}
	w.WriteString("},\n")
}

// writeIDs writes one constant per function.
func writeIDs(w *bytes.Buffer, t *table) {
	w.WriteString("// The functions' ids.\nconst (\n")
	for _, f := range t.funcs[1:] {
		fmt.Fprintf(w, "%s FuncID = %d // %s\n", goName(f), f.ID, f.Name.Text)
	}
	w.WriteString(")\n")
}

// goName is the constant of a function: FuncIsend, FuncAllreduce_c, FuncT_init_thread.
func goName(f function) string { return "Func" + strings.TrimPrefix(f.Name.Text, "MPI_") }

// writeNames writes the String method of each enumeration.
func writeNames(w *bytes.Buffer, e enums) {
	for _, typ := range enumTypes {
		v := strings.ToLower(typ[:1]) + typ[1:] + "Names"
		fmt.Fprintf(w, "// %s holds the names of the constants of %s, in order.\nvar %s = [...]string{\n", v, typ, v)
		for _, name := range e[typ].names {
			fmt.Fprintf(w, "%q,\n", name)
		}
		w.WriteString("}\n\n")
	}
}
