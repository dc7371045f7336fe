// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpitrace/mpitrace/mpi/internal/rows"
)

// TestFresh: the generated files are what the sources give.
func TestFresh(t *testing.T) {
	const dir = "../.."
	files, err := Generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 {
		t.Errorf("%d files are generated, want 3", len(files))
	}
	for name, want := range files {
		have, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(have, want) {
			t.Errorf("mpi/%s is stale: run go generate ./mpi", name)
		}
	}
}

// TestResolveErrors: mistakes that only the names behind the words reveal are
// told with their line and column.
func TestResolveErrors(t *testing.T) {
	enums, err := readEnums("../../kinds.go")
	if err != nil {
		t.Fatal(err)
	}
	const send = "1 MPI_Send p2p sends:\n    int (const void *buf {buffer send count*datatype}, int count {count}, MPI_Datatype datatype)\n"
	for _, c := range []struct{ text, want string }{
		{"1 MPI_X p3p:\n int (void)\n", `f:1:9: no family is named "p3p"; there are: none, p2p,`},
		{"1 MPI_X p2p sendz:\n int (void)\n", `f:1:13: no role is named "sendz"`},
		{"1 MPI_X p2p:\n integer (void)\n", `f:2:2: no ctype is named "integer"`},
		{"1 MPI_X p2p:\n double (void)\n", `f:2:2: MPI_X returns double: its kind must follow in braces`},
		{"1 MPI_X p2p:\n int (int a {kount})\n", `f:2:14: no kind is named "kount"`},
		{"1 MPI_X p2p:\n int (int a)\n", `f:2:7: parameter a needs a kind in braces`},
		{"1 MPI_X p2p:\n int (long a {count})\n", `f:2:7: unknown type "long"`},
		{"1 MPI_X p2p:\n int (int *a {count})\n", `f:2:7: a is a pointer and not const: say in, out or inout`},
		{"1 MPI_X p2p:\n int (int a {count out})\n", `f:2:20: a is passed by value: it cannot be out`},
		{"1 MPI_X p2p:\n int (const int *a {count out})\n", `f:2:27: a is const: it cannot be out`},
		{"1 MPI_X p2p:\n int (int a {count}, int a {count})\n", `f:2:22: MPI_X has two parameters a`},
		{"1 MPI_X p2p:\n int (const int a[b] {count})\n", `f:2:19: no parameter is named "b"`},
		{"1 MPI_X p2p:\n int (const int a[sum(b)] {count}, int b {count})\n", `f:2:19: b is no array`},
		{"1 MPI_X p2p:\n int (const int a[@many] {count})\n", `f:2:19: unknown length @many`},
		{"1 MPI_X p2p:\n int (const int a[@other] {count})\n", `f:2:19: a length @other needs its rule in a "note"`},
		{"1 MPI_X p2p:\n int (int n {count}, const int a[n][2] {count})\n", `f:2:22: a: the only second dimension`},
		{"1 MPI_X p2p:\n int (int a {count a*b})\n", `f:2:20: a is no buffer, yet holds something`},
		{"1 MPI_X p2p:\n int (const void *a {buffer n*byte})\n", `f:2:29: no parameter is named "n"`},
		{"1 MPI_X p2p:\n int (const void *a {buffer n*n}, int n {count})\n", `f:2:29: n is no datatype`},
		{strings.Replace(send, "1 ", "2 ", 1), `f:1:1: id 2 leaves a gap: 1 rows have the ids 1 to 1`},
		{send + strings.Replace(send, "1 ", "2 ", 1), `f:3:3: MPI_Send has a row in line 1 already`},
		{send + strings.Replace(send, "_Send", "_Sent", 1), `f:3:1: id 1 is MPI_Send's already, in line 1`},
		{send + "- MPI_Send because\n", `f:3:3: MPI_Send is left out, but has a row in line 1`},
	} {
		file, err := rows.Parse("f", c.text)
		if err != nil {
			t.Errorf("%q does not parse: %v", c.text, err)
			continue
		}
		_, err = resolve("f", file, enums)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error is %v, want %s", c.text, err, c.want)
		}
	}
	file, err := rows.Parse("f", send)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resolve("f", file, enums); err != nil {
		t.Errorf("a right row is refused: %v", err)
	}
}

// TestReadEnumsErrors: kinds.go that lacks a name, or has one twice, is told.
func TestReadEnumsErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"package mpi\ntype Kind int\nconst (\n\tA Kind = iota\n)\n", "A has no name"},
		{"package mpi\ntype Kind int\nconst (\n\tA Kind = iota // x\n\tB // x\n)\n", `A and B are both named "x"`},
		{"package mpi\n", "no constants of type Dir"},
		{"package", "expected 'IDENT'"},
	} {
		path := filepath.Join(t.TempDir(), "kinds.go")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readEnums(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error is %v, want %s", c.text, err, c.want)
		}
	}
}
