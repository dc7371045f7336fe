// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// program is a program of testdata/mpi and how it is run.
type program struct {
	source string
	ranks  int
	args   []string
	// expects is where what it does is written down, if not by itself.
	expects string
}

var programs = []program{
	{source: "bindings.c", ranks: 3},
	{source: "bindings.cc", ranks: 3, expects: "bindings.c"},
	{source: "bindings.f", ranks: 3, expects: "bindings.c"},
	{source: "bindings.f90", ranks: 3, expects: "bindings.c"},
	{source: "bindings_f08.f90", ranks: 3, expects: "bindings.c"},
	{source: "collectives.c", ranks: 4},
	{source: "comm_rank.c", ranks: 2, args: []string{"1000"}},
	{source: "comms.c", ranks: 4},
	{source: "errors.c", ranks: 2},
	{source: "halo.c", ranks: 4, args: []string{"20", "64", "50"}},
	{source: "io.c", ranks: 3, args: []string{"data"}},
	{source: "pcontrol.c", ranks: 2},
	{source: "persistent.c", ranks: 3},
	{source: "pingpong.c", ranks: 2, args: []string{"500", "1000"}},
	{source: "probe.c", ranks: 2},
	{source: "requests.c", ranks: 2},
	{source: "rma.c", ranks: 3},
	{source: "sendrecv.c", ranks: 3},
	{source: "status_ignore.c", ranks: 2},
	{source: "threads.c", ranks: 2},
	{source: "types.c", ranks: 2},
}

// measured are figures in a program's output that differ from run to run.
var measured = regexp.MustCompile(`(ns_per_call) [0-9.]+`)

// Each program does under the recorder what it does without it, and the trace
// tells what it did: each rank's file by itself, all files as they are, and
// merged.
func TestPrograms(t *testing.T) {
	each(t, func(t *testing.T, m implementation) {
		for _, p := range programs {
			t.Run(p.source, func(t *testing.T) {
				t.Parallel()
				path := compile(t, m, p.source)
				expectations := t.TempDir()
				j := job{ranks: p.ranks, program: path, args: p.args}
				if p.expects != "" {
					other := job{ranks: p.ranks, program: compile(t, m, p.expects), args: p.args, settings: []string{"EXPECT_DIR=" + expectations}}
					m.run(t, other).ok(t)
				}
				without := m.run(t, j)
				if without.code == 77 {
					t.Skip("the MPI does not offer what the program needs")
				}
				without.ok(t)

				j.preload = library(t)
				if p.expects == "" {
					j.settings = []string{"EXPECT_DIR=" + expectations}
				}
				with := m.run(t, j)
				if with.code != without.code {
					t.Fatalf("exit code %d, %d without the recorder\n%s%s", with.code, without.code, with.out, with.errors)
				}
				if a, b := measured.ReplaceAllString(with.out, "$1"), measured.ReplaceAllString(without.out, "$1"); a != b {
					t.Errorf("standard output differs\nwith    %q\nwithout %q", a, b)
				}
				checkLines(t, with.errors)
				files := with.traces(t, p.ranks)
				want, anyOrder := written(t, expectations, p.ranks)
				compare(t, dump(t, files...), want, anyOrder)

				merged := filepath.Join(with.dir, "merged.mpt")
				view(t, append([]string{"merge", "-o", merged}, files...)...)
				compare(t, dump(t, merged), want, anyOrder)
			})
		}
	})
}

// checkLines looks at what the recorder says: one line at the begin, which
// names tool, version, MPI and output, and one at the end.
func checkLines(t *testing.T, errors string) {
	t.Helper()
	var ours []string
	for _, line := range strings.Split(errors, "\n") {
		if strings.HasPrefix(line, "mpitrace") {
			ours = append(ours, line)
		}
	}
	if len(ours) != 2 {
		t.Errorf("the recorder said %d lines, want 2:\n%s", len(ours), strings.Join(ours, "\n"))
	}
}
