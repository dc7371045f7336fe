// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"unicode"
)

// enum is one enumeration of kinds.go.
type enum struct {
	typ    string            // "Kind"
	consts []string          // Go constants in order
	names  []string          // the name of each: what functions.txt says
	byName map[string]string // constant by name
}

// enums holds the enumerations by type: Dir, Side, Family, Role, CType, Kind.
type enums map[string]*enum

// enumTypes are the enumerations that the generator needs, in the order in
// which their names are written.
var enumTypes = [...]string{"Dir", "Side", "Family", "Role", "CType", "Kind"}

// readEnums reads the constants of kinds.go. A constant's name is the comment
// behind it, up to a colon; a role's name is its constant's in lower case with hyphens.
func readEnums(path string) (enums, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	out := make(enums)
	for _, decl := range file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		var e *enum
		for _, spec := range block.Specs {
			spec := spec.(*ast.ValueSpec)
			if typ, ok := spec.Type.(*ast.Ident); ok {
				e = &enum{typ: typ.Name, byName: make(map[string]string)}
				out[typ.Name] = e
			}
			ident := spec.Names[0].Name
			if e == nil || strings.HasPrefix(ident, "Num") {
				continue
			}
			name, _, _ := strings.Cut(strings.TrimSpace(spec.Comment.Text()), ":")
			if e.typ == "Role" {
				name = hyphenate(strings.TrimPrefix(ident, "Role"))
			}
			if name == "" {
				return nil, fmt.Errorf("%s: constant %s has no name in a comment behind it", fset.Position(spec.Pos()), ident)
			}
			if other := e.byName[name]; other != "" {
				return nil, fmt.Errorf("%s: %s and %s are both named %q", fset.Position(spec.Pos()), other, ident, name)
			}
			e.consts = append(e.consts, ident)
			e.names = append(e.names, name)
			e.byName[name] = ident
		}
	}
	for _, typ := range enumTypes {
		if out[typ] == nil {
			return nil, fmt.Errorf("%s: no constants of type %s", path, typ)
		}
	}
	return out, nil
}

// hyphenate turns "SplitBegin" into "split-begin".
func hyphenate(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
