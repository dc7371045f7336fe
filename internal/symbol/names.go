// SPDX-License-Identifier: Apache-2.0

package symbol

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// The names that Fortran compilers give to module procedures (gfortran, the
// Intel compilers), to external procedures and to the main program.
var (
	gfortranModule = regexp.MustCompile(`^__([a-z0-9_]+?)_MOD_([a-z0-9_]+)$`)
	intelModule    = regexp.MustCompile(`^([a-z0-9_]+?)_mp_([a-z0-9_]+?)_$`)
	fortranPlain   = regexp.MustCompile(`^([a-z][a-z0-9_]*[a-z0-9])_{1,2}$`)
)

// prettySymbol writes a linker's name as the programmer would: C++ and Rust
// demangled, without parameters; Fortran without its underscores.
func prettySymbol(name string) string {
	if p, ok := demangled(name); ok {
		return p
	}
	if name == fortranMain {
		return fortranName(name)
	}
	for _, form := range []*regexp.Regexp{gfortranModule, intelModule} {
		if m := form.FindStringSubmatch(name); m != nil {
			return m[1] + "::" + m[2]
		}
	}
	if m := fortranPlain.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// fortranMain is what gfortran calls the main program.
const fortranMain = "MAIN__"

// fortranName writes the name that debug information has for a Fortran
// procedure.
func fortranName(name string) string {
	if name == fortranMain {
		return "main program"
	}
	return strings.ToLower(name)
}

// demangled writes a mangled C++ or Rust name as in the source.
func demangled(name string) (string, bool) {
	// A longer name is nobody's own.
	if !strings.HasPrefix(name, "_") || len(name) > 16<<10 {
		return "", false
	}
	p, err := demangle.ToString(name, demangle.NoParams, demangle.NoClones)
	return p, err == nil
}
