// SPDX-License-Identifier: Apache-2.0

// Package tracegen writes traces of runs that never were: real rank files of
// any size, the same each time, for tests and benchmarks of what reads them.
// Messages and collectives fit together over the ranks, and nothing arrives
// before it was sent.
//
// It must not be imported by anything that is shipped. The files' format is
// specified in package format.
package tracegen

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/mpitrace/mpitrace/format"
)

// Pattern is what the ranks do in each iteration.
type Pattern string

// The patterns.
const (
	Halo      Pattern = "halo"      // 4 Irecv, 4 Isend, Waitall, Allreduce
	PingPong  Pattern = "pingpong"  // Send and Recv between pairs of ranks
	Irregular Pattern = "irregular" // peers, tags and sizes at random; wildcards, probes, broadcasts
)

// Patterns are all patterns.
var Patterns = []Pattern{Halo, PingPong, Irregular}

// Options say what to write.
type Options struct {
	Dir     string // folder for trace.0, trace.1, …
	Ranks   int    // at least 1
	Calls   int64  // of each rank, roughly: iterations are whole
	Pattern Pattern
	Seed    uint64 // also makes the run's id
	Threads int    // of each rank; 0 is 1
	Hosts   int    // that the ranks are spread over, each with a clock of its own; 0 is 1
	// Unfinished leaves the files as they are when the run is killed: the
	// last call never returns, there is no summary and no footer.
	Unfinished bool
	// Cut is how many bytes to take off the end of each file.
	Cut int64
}

// Result tells what was written.
type Result struct {
	Paths []string // by rank
	Calls uint64   // of all ranks
	Bytes int64
}

// Generate writes the files, several at a time.
func Generate(o Options) (Result, error) {
	o.Threads, o.Hosts = max(o.Threads, 1), max(o.Hosts, 1)
	if o.Ranks < 1 || o.Calls < 0 {
		return Result{}, fmt.Errorf("%d ranks with %d calls", o.Ranks, o.Calls)
	}
	if !slices.Contains(Patterns, o.Pattern) {
		return Result{}, fmt.Errorf("unknown pattern %q: there are %v", o.Pattern, Patterns)
	}
	result := Result{Paths: make([]string, o.Ranks)}
	errs := make([]error, o.Ranks)
	ranks := make(chan int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(o.Ranks, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for r := range ranks {
				path := filepath.Join(o.Dir, fmt.Sprintf("trace.%d", r))
				stats, err := generate(&o, int32(r), path)
				mu.Lock()
				result.Paths[r], errs[r] = path, err
				result.Calls += stats.Calls
				result.Bytes += stats.Bytes
				mu.Unlock()
			}
		})
	}
	for r := range o.Ranks {
		ranks <- r
	}
	close(ranks)
	wg.Wait()
	return result, errors.Join(errs...)
}

// generate writes one rank.
func generate(o *Options, rank int32, path string) (format.Stats, error) {
	f, err := os.Create(path)
	if err != nil {
		return format.Stats{}, err
	}
	defer f.Close()
	g := newRank(o, rank)
	w, err := format.NewWriter(keepOpen{f}, format.KindRank, g.run(), g.process())
	if err != nil {
		return format.Stats{}, err
	}
	g.w = w
	err = g.write()
	if err == nil && !o.Unfinished {
		err = w.Close()
	}
	stats := w.Stats()
	if err == nil && o.Cut > 0 {
		stats.Bytes = max(stats.Bytes-o.Cut, 0)
		err = f.Truncate(stats.Bytes)
	}
	return stats, cmp.Or(err, f.Close())
}

// keepOpen hides Close, so that an unfinished file can be cut.
type keepOpen struct{ f *os.File }

func (k keepOpen) Write(b []byte) (int, error) { return k.f.Write(b) }
func (k keepOpen) Truncate(size int64) error   { return k.f.Truncate(size) }
