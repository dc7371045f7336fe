// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The header is C and C++ of any age, whichever MPI's mpi.h stands before it,
// needs nothing to be linked, and can be turned off.
func TestHeader(t *testing.T) {
	const source = `
#include <mpitrace.h>
#include <mpi.h>
#include <mpitrace.h>

int main(int argc, char **argv)
{
	const char *name = "solve";
	MPI_Init(&argc, &argv);
	MPITRACE_DISABLE();
	MPITRACE_ENABLE();
	MPITRACE_REGION_BEGIN(name);
	if (argc > 5)
		MPITRACE_MARKER("many arguments");
	else
		MPITRACE_MARKER_NUMBER(7);
	MPITRACE_REGION_END(name);
	MPITRACE_FLUSH();
	MPI_Finalize();
	return 0;
}
`
	for _, m := range implementations {
		for _, language := range []struct{ compiler, suffix, standard string }{
			{"mpicc.", ".c", "-std=c99"},
			{"mpicxx.", ".cc", "-std=c++11"},
		} {
			compiler := language.compiler + m.name
			if _, err := exec.LookPath(compiler); err != nil {
				require(t, "%s is not installed", compiler)
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "use"+language.suffix)
			if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
				t.Fatal(err)
			}
			// -isystem keeps the MPI's own headers from being judged; ours is.
			for _, off := range []string{"-UMPITRACE_OFF", "-DMPITRACE_OFF"} {
				args := []string{language.standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-long-long", "-Wno-unused-variable",
					"-Wno-cast-function-type", off, "-I", root("include"), "-o", filepath.Join(dir, "use"), path}
				if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
					t.Errorf("%s %s: %v\n%s", compiler, off, err, out)
				}
			}
		}
	}
}
