// SPDX-License-Identifier: Apache-2.0

// Command wrapgen writes the recorder's generated C from the table of MPI
// functions: ids and names (functions_gen.h), the wrappers (wrappers_gen.c) and
// the strong references of a static link (static_gen.h). It is run by go
// generate in interpose/; what it writes is committed.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for name, text := range Files() {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			fmt.Fprintln(os.Stderr, "wrapgen:", err)
			os.Exit(1)
		}
	}
}
