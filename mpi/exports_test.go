// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// libraryOf returns the shared library with the C functions that a wrapper
// compiler links programs with.
func libraryOf(t *testing.T, compiler string) string {
	t.Helper()
	out, err := exec.Command(compiler, "-show").Output()
	if err != nil {
		t.Fatalf("%s -show: %v", compiler, err)
	}
	var dirs, names []string
	words := strings.Fields(string(out))
	for _, w := range words {
		if dir, ok := strings.CutPrefix(w, "-L"); ok {
			dirs = append(dirs, dir)
		} else if name, ok := strings.CutPrefix(w, "-l"); ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		file := "lib" + name + ".so"
		for _, dir := range dirs {
			if path := filepath.Join(dir, file); exports(t, path)["MPI_Init"] {
				return path
			}
		}
		// The compiler knows the directories that need no -L.
		if path, err := exec.Command(words[0], "-print-file-name="+file).Output(); err == nil {
			if path := strings.TrimSpace(string(path)); exports(t, path)["MPI_Init"] {
				return path
			}
		}
	}
	t.Fatalf("%s -show names no library with MPI_Init: %s", compiler, out)
	return ""
}

// exports returns the functions named MPI_... that a library exports, nothing
// if there is no such library.
func exports(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := elf.Open(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	names := make(map[string]bool)
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "MPI_") && elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF {
			names[s.Name] = true
		}
	}
	return names
}

// TestEveryExportHasARow: whatever function an installed MPI library exports,
// the table knows it, or says why not.
func TestEveryExportHasARow(t *testing.T) {
	for _, compiler := range compilers {
		t.Run(compiler, func(t *testing.T) {
			path := libraryOf(t, needTool(t, compiler))
			leftOut := make(map[string]bool)
			for _, l := range AllLeftOut() {
				leftOut[l.Name] = true
			}
			names := exports(t, path)
			if len(names) < 400 {
				t.Fatalf("%s exports only %d MPI functions: the search is broken", path, len(names))
			}
			rows, left := 0, 0
			for name := range names {
				switch {
				case ByName(name) != nil:
					rows++
				case leftOut[name]:
					left++
				default:
					t.Errorf("%s exports %s, which has no row in functions.txt", path, name)
				}
			}
			t.Logf("%s: %d functions with a row, %d left out for a reason", path, rows, left)
		})
	}
}
