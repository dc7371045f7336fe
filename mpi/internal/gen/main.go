// SPDX-License-Identifier: Apache-2.0

// Command gen writes the Go form of the function table: it reads
// mpi/functions.txt and the names of families, roles and kinds from
// mpi/kinds.go, and writes table_gen.go, ids_gen.go and names_gen.go beside
// them. Run it with go generate ./mpi.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"maps"
)

func main() {
	dir := flag.String("dir", ".", "folder of package mpi")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := Generate(dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
