// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"
	"time"

	"github.com/mpitrace/mpitrace/mpi"
)

func TestFilter(t *testing.T) {
	for _, tt := range []struct {
		filter string
		on     []string
		off    []string
	}{
		{"all", []string{"MPI_Send", "MPI_Bcast", "MPI_Init"}, nil},
		{"p2p", []string{"MPI_Send", "MPI_Iprobe", "MPI_Init", "MPI_Finalize", "MPI_Pcontrol"}, []string{"MPI_Bcast"}},
		{"p2p,-MPI_Iprobe", []string{"MPI_Send"}, []string{"MPI_Iprobe", "MPI_Bcast"}},
		{"-MPI_Iprobe", []string{"MPI_Send", "MPI_Bcast"}, []string{"MPI_Iprobe"}},
		{"-mpi_*probe", []string{"MPI_Send"}, []string{"MPI_Iprobe", "MPI_Probe", "MPI_Mprobe"}},
		{"-p2p,MPI_Send", []string{"MPI_Send", "MPI_Bcast"}, []string{"MPI_Recv"}},
		{"MPI_Comm_*", []string{"MPI_Comm_rank", "MPI_Comm_split"}, []string{"MPI_Send"}},
		{"MPI_?send", []string{"MPI_Isend", "MPI_Bsend"}, []string{"MPI_Send", "MPI_Isendrecv"}},
		{"Collective, IO", []string{"MPI_Bcast", "MPI_File_open"}, []string{"MPI_Send"}},
		{"-all,MPI_Wait", []string{"MPI_Wait"}, []string{"MPI_Init", "MPI_Send"}},
		{"p2p,-MPI_Pcontrol", []string{"MPI_Send"}, []string{"MPI_Pcontrol"}},
	} {
		f, err := ParseFilter(tt.filter)
		if err != nil {
			t.Errorf("%s: %v", tt.filter, err)
			continue
		}
		for _, name := range tt.on {
			if !f.Records(function(t, name)) {
				t.Errorf("%s leaves out %s", tt.filter, name)
			}
		}
		for _, name := range tt.off {
			if f.Records(function(t, name)) {
				t.Errorf("%s records %s", tt.filter, name)
			}
		}
	}
}

func TestZeroFilterRecordsAll(t *testing.T) {
	for i := range mpi.All() {
		if fn := &mpi.All()[i]; !(Filter{}).Records(fn) {
			t.Errorf("%s is left out", fn.Name)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true},
		{"*", "", true},
		{"A*", "a", true},
		{"A*C", "abcbc", true},
		{"A*C", "abcb", false},
		{"?", "", false},
		{"*?", "x", true},
		{"**X", "yyx", true},
		{"X", "xy", false},
	} {
		if got := match(tt.pattern, tt.name); got != tt.want {
			t.Errorf("match(%q, %q) = %v", tt.pattern, tt.name, got)
		}
	}
}

// A pattern of stars must not keep a job from starting.
func TestMatchIsNotExponential(t *testing.T) {
	begin := time.Now()
	if match(strings.Repeat("*A", 2000), strings.Repeat("a", 1999)+"b") {
		t.Error("a match")
	}
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func function(t *testing.T, name string) *mpi.Func {
	t.Helper()
	fn := mpi.ByName(name)
	if fn == nil {
		t.Fatalf("no row for %s", name)
	}
	return fn
}

func TestSelects(t *testing.T) {
	for _, c := range []struct {
		list, name string
		want       bool
	}{
		{"p2p", "MPI_Send", true},
		{"p2p", "MPI_Init", false},
		{"MPI_Init*", "MPI_Init", true},
		{"-p2p", "MPI_Init", true},
		{"-p2p", "MPI_Send", false},
	} {
		f, err := ParseFilter(c.list)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Selects(mpi.ByName(c.name)); got != c.want {
			t.Errorf("%q selects %s: %v, want %v", c.list, c.name, got, c.want)
		}
	}
	if !(Filter{}).Selects(mpi.ByName("MPI_Send")) {
		t.Error("the zero Filter leaves something out")
	}
}
