// SPDX-License-Identifier: Apache-2.0

// Command cmd writes generated traces: go run ./internal/tracegen/cmd -h.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/mpitrace/mpitrace/internal/tracegen"
)

func main() {
	var o tracegen.Options
	var pattern string
	flag.StringVar(&o.Dir, "o", ".", "`folder` to write trace.0, trace.1, … to")
	flag.IntVar(&o.Ranks, "ranks", 4, "`number` of ranks")
	flag.Int64Var(&o.Calls, "calls", 100_000, "`number` of calls of each rank")
	flag.StringVar(&pattern, "pattern", string(tracegen.Halo), fmt.Sprintf("what the ranks do, one of %v", tracegen.Patterns))
	flag.Uint64Var(&o.Seed, "seed", 1, "`number` that the noise comes from")
	flag.IntVar(&o.Threads, "threads", 1, "`number` of threads of each rank")
	flag.IntVar(&o.Hosts, "hosts", 1, "`number` of hosts")
	flag.BoolVar(&o.Unfinished, "unfinished", false, "leave files as a killed run does")
	flag.Int64Var(&o.Cut, "cut", 0, "`bytes` to take off the end of each file")
	flag.Parse()
	o.Pattern = tracegen.Pattern(pattern)
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "tracegen: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		fail(err)
	}
	start := time.Now()
	result, err := tracegen.Generate(o)
	if err != nil {
		fail(err)
	}
	fmt.Fprintf(os.Stderr, "tracegen: %d calls in %d files, %d bytes (%.2f a call), %v\n",
		result.Calls, len(result.Paths), result.Bytes, float64(result.Bytes)/float64(max(result.Calls, 1)), time.Since(start).Round(time.Millisecond))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "tracegen:", err)
	os.Exit(1)
}
