// SPDX-License-Identifier: Apache-2.0

// Bench measures what recording and merging cost, and prints the tables of the
// README.
//
// Every figure of recording is a difference: programs that time themselves run
// without and with the recorder in turn, and the medians are compared. Nothing
// else should run on the machine meanwhile; the spread says whether that was so.
//
//	go run ./bench [-rounds N] [-mpi openmpi,mpich] [-only calls,size,start,true,merge] [-calls 100000000]
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// bench is one run of the benchmarks.
type bench struct {
	rounds  int
	root    string // of the source tree
	library string
	scratch string
	mpis    []string
	only    map[string]bool // sections; empty for all
	calls   int64           // of the trace that is merged
}

func run() error {
	b := bench{only: map[string]bool{}}
	mpis := flag.String("mpi", "openmpi,mpich", "the MPIs to measure with, as in mpirun.`NAME`")
	only := flag.String("only", "", "measure these sections only: calls,sustained,size,start,true,merge")
	flag.IntVar(&b.rounds, "rounds", 9, "runs of each kind")
	flag.Int64Var(&b.calls, "calls", 100_000_000, "`calls` of the trace that is merged")
	flag.Parse()
	if flag.NArg() > 0 || b.rounds < 1 || b.calls < 1 {
		flag.Usage()
		os.Exit(2)
	}
	for _, section := range strings.FieldsFunc(*only, comma) {
		b.only[section] = true
	}
	var err error
	if b.root, err = sourceTree(); err != nil {
		return err
	}
	b.library = os.Getenv("MPITRACE_LIB")
	if b.library == "" {
		b.library = filepath.Join(b.root, "lib", "libmpitrace.so")
	}
	if _, err := os.Stat(b.library); err != nil {
		return fmt.Errorf("%w (make lib builds it)", err)
	}
	for _, mpi := range strings.FieldsFunc(*mpis, comma) {
		if _, err := exec.LookPath("mpirun." + mpi); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is not installed, left out\n", mpi)
			continue
		}
		b.mpis = append(b.mpis, mpi)
	}
	if b.scratch, err = os.MkdirTemp("", "mpitrace-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)

	fmt.Println(machine(b.mpis))
	for _, section := range []struct {
		name    string
		measure func() (table, error)
	}{
		{"calls", b.callCost},
		{"sustained", b.sustainedCost},
		{"size", b.traceSize},
		{"start", b.startCost},
		{"true", b.trueCost},
		{"merge", b.mergeSpeed},
	} {
		if len(b.only) > 0 && !b.only[section.name] {
			continue
		}
		t, err := section.measure()
		if err != nil {
			return fmt.Errorf("%s: %w", section.name, err)
		}
		fmt.Println(t)
	}
	return nil
}

func comma(r rune) bool { return r == ',' }

// sourceTree is the folder with go.mod.
func sourceTree() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	mod := strings.TrimSpace(string(out))
	if !strings.HasSuffix(mod, "go.mod") {
		return "", fmt.Errorf("not in the source tree")
	}
	return filepath.Dir(mod), nil
}
