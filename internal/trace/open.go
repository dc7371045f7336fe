// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mpitrace/mpitrace/format"
)

// Options says how to open a trace.
type Options struct {
	// Run is the beginning of the id of the run to read, in hexadecimal. If it
	// is empty and the files are of several runs, the newest is read.
	Run string
	// RankFiles leaves merged files out: what merging needs.
	RankFiles bool
	// Jobs is how many goroutines open and read files, 0 for one a core.
	Jobs int
}

func (o Options) jobs() int { return cmp.Or(max(o.Jobs, 0), runtime.GOMAXPROCS(0)) }

// Errors that Open's errors wrap, besides those of package format and os.
var (
	ErrNoTrace = errors.New("no trace found")
	ErrNoRun   = errors.New("no such run")
	ErrMerged  = errors.New("already a merged file")
)

// RunID writes a run's id as people see it and as Options.Run takes it.
func RunID(id [16]byte) string { return hex.EncodeToString(id[:]) }

// source is one file of the trace.
type source struct {
	path   string
	listed bool // found in a directory, not named by the user
	size   int64
	reader *format.Reader
	rank   int32 // of a rank file
}

func (s *source) run() *format.Run { return &s.reader.Definitions().Run }

func (s *source) calls() (n uint64) {
	for _, b := range s.reader.Blocks() {
		n += uint64(b.Calls)
	}
	return n
}

// Open opens rank files, directories of them, or a merged file as one trace.
//
// An error means that there is nothing to read: a named file does not exist,
// no file is a trace, no run fits Options.Run. Whatever else is wrong is among
// Trace.Problems.
func Open(paths []string, o Options) (*Trace, error) {
	files, err := expand(paths)
	if err != nil {
		return nil, err
	}
	pool := newFilePool(maxOpenFiles)
	t, err := open(files, o, pool)
	if err != nil {
		pool.close()
		return nil, err
	}
	return t, nil
}

func open(files []*source, o Options, pool *filePool) (*Trace, error) {
	t := &Trace{pool: pool, jobs: o.jobs()}
	sources, err := t.openAll(files)
	if err != nil {
		return nil, err
	}
	if sources, err = t.chooseRun(sources, o.Run); err != nil {
		return nil, err
	}
	if sources, err = t.chooseFiles(sources, o.RankFiles); err != nil {
		return nil, err
	}
	t.sources = sources
	if t.merged = sources[0].reader.Kind() == format.KindMerged; t.merged {
		t.loadMerged()
	} else {
		t.loadRankFiles()
	}
	t.check()
	sortProblems(t.problems)
	return t, nil
}

// expand lists the files that paths name, the contents of directories
// included.
func expand(paths []string) ([]*source, error) {
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: no files given; name trace files, a directory of them or a merged file", ErrNoTrace)
	}
	var files []*source
	seen := map[string]bool{}
	add := func(path string, size int64, listed bool) {
		if !seen[path] {
			seen[path] = true
			files = append(files, &source{path: path, size: size, listed: listed})
		}
	}
	for _, p := range paths {
		st, err := os.Stat(p)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, notFound(p)
		case err != nil:
			return nil, err
		case st.Mode().IsRegular():
			add(filepath.Clean(p), st.Size(), false)
		case st.IsDir():
			entries, err := os.ReadDir(p)
			if err != nil {
				return nil, err
			}
			before := len(files)
			for _, e := range entries {
				if strings.HasPrefix(e.Name(), ".") {
					continue
				}
				name := filepath.Join(p, e.Name())
				if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() {
					add(name, st.Size(), true)
				}
			}
			if len(files) == before {
				return nil, fmt.Errorf("%s: the directory is empty: %w", p, ErrNoTrace)
			}
		default:
			return nil, fmt.Errorf("%s: neither a file nor a directory: %w", p, ErrNoTrace)
		}
	}
	return files, nil
}

// notFound is the error for a path that is not there. It is os.ErrNotExist.
type notFound string

func (p notFound) Error() string {
	return string(p) + ": no such file or directory; trace files are named trace.0, trace.1, … unless MPITRACE_OUTPUT said otherwise"
}

func (notFound) Is(target error) bool { return target == os.ErrNotExist }

// openAll opens the files and keeps those that are traces.
func (t *Trace) openAll(files []*source) ([]*source, error) {
	errs := make([]error, len(files))
	t.parallel(len(files), func(i int) {
		f := files[i]
		f.reader, errs[i] = format.NewReader(t.pool.reader(f.path), f.size, f.path)
		if errs[i] == nil {
			f.rank, errs[i] = rankOf(f.reader)
		}
	})
	var good []*source
	var failed []error
	quiet := 0
	for i, f := range files {
		err := errs[i]
		if err == nil {
			good = append(good, f)
			continue
		}
		if f.listed && errors.Is(err, format.ErrNotTrace) && !looksLikeTrace(f.path) {
			quiet++
			continue
		}
		failed = append(failed, err)
		kind := ProblemUnreadable
		switch {
		case errors.Is(err, format.ErrNotTrace):
			kind = ProblemNotTrace
		case errors.Is(err, format.ErrVersion):
			kind = ProblemVersion
		}
		t.problems = append(t.problems, Problem{
			Kind: kind, Rank: format.NoRank, File: f.path, Count: 1,
			Text: strings.TrimPrefix(err.Error(), f.path+": ") + "; left out",
		})
	}
	if len(good) > 0 {
		return good, nil
	}
	switch len(failed) {
	case 0:
		return nil, fmt.Errorf("none of %d files is a trace: %w; name the trace files, or the directory that the job wrote them to", quiet, ErrNoTrace)
	case 1:
		return nil, failed[0]
	}
	return nil, fmt.Errorf("%w (and %d more files, none of them a trace)", failed[0], len(failed)-1+quiet)
}

// looksLikeTrace tells whether a file's name makes people expect a trace.
func looksLikeTrace(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, "trace.") || strings.HasSuffix(base, ".mpt")
}

// rankOf finds out whose file r is.
func rankOf(r *format.Reader) (int32, error) {
	if r.Kind() == format.KindMerged {
		return format.NoRank, nil
	}
	if p := r.Definitions().Processes; len(p) > 0 {
		return p[0].Rank, nil
	}
	if b := r.Blocks(); len(b) > 0 {
		return b[0].Rank, nil
	}
	return 0, fmt.Errorf("%s: %w: nothing in it can be read, not even whose it is", r.Name(), format.ErrCorrupt)
}

// chooseRun keeps the files of one run.
func (t *Trace) chooseRun(files []*source, prefix string) ([]*source, error) {
	byRun := map[[16]byte][]*source{}
	start := map[[16]byte]int64{}
	var ids [][16]byte
	for _, f := range files {
		run := f.run()
		if byRun[run.ID] == nil {
			ids = append(ids, run.ID)
		}
		byRun[run.ID] = append(byRun[run.ID], f)
		start[run.ID] = max(start[run.ID], run.Start)
	}
	// Newest first.
	slices.SortFunc(ids, func(a, b [16]byte) int {
		return cmp.Or(cmp.Compare(start[b], start[a]), strings.Compare(RunID(a), RunID(b)))
	})
	chosen := ids[0]
	if prefix != "" {
		var fit [][16]byte
		for _, id := range ids {
			if strings.HasPrefix(RunID(id), strings.ToLower(prefix)) {
				fit = append(fit, id)
			}
		}
		switch {
		case len(fit) == 0:
			return nil, fmt.Errorf("run %s: %w; there is %s", prefix, ErrNoRun, describeRuns(ids, start))
		case len(fit) > 1:
			return nil, fmt.Errorf("run %s: %w that is meant alone; there is %s", prefix, ErrNoRun, describeRuns(fit, start))
		}
		chosen = fit[0]
	}
	for _, id := range ids {
		if id == chosen {
			continue
		}
		what := "an older run"
		if start[id] > start[chosen] {
			what = "a newer run"
		}
		n := len(byRun[id])
		t.problems = append(t.problems, Problem{
			Kind: ProblemOtherRun, Rank: format.NoRank, Count: uint64(n),
			Text: fmt.Sprintf("left out %s of %s (%s, begun %s)", plural(n, "file"), what, RunID(id)[:8], startTime(start[id])),
			Hint: fmt.Sprintf("choose it with --run %s", RunID(id)[:8]),
		})
	}
	return byRun[chosen], nil
}

func describeRuns(ids [][16]byte, start map[[16]byte]int64) string {
	var list []string
	for i, id := range ids {
		if i == 5 {
			list = append(list, fmt.Sprintf("and %d more", len(ids)-i))
			break
		}
		list = append(list, fmt.Sprintf("%s (begun %s)", RunID(id), startTime(start[id])))
	}
	return strings.Join(list, ", ")
}

func startTime(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05 UTC")
}

// plural writes "1 file", "2 files".
func plural[N ~int | ~int32 | ~int64 | ~uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// chooseFiles picks, of the files of one run, either one merged file or one
// file for each rank.
func (t *Trace) chooseFiles(files []*source, rankFiles bool) ([]*source, error) {
	var merged, ranks []*source
	for _, f := range files {
		if f.reader.Kind() == format.KindMerged {
			merged = append(merged, f)
		} else {
			ranks = append(ranks, f)
		}
	}
	ranks = t.onePerRank(ranks)
	if len(merged) == 0 {
		return ranks, nil
	}
	byCalls := func(a, b *source) int {
		return cmp.Or(cmp.Compare(a.calls(), b.calls()), strings.Compare(b.path, a.path))
	}
	best := slices.MaxFunc(merged, byCalls)
	if rankFiles {
		if len(ranks) == 0 {
			return nil, fmt.Errorf("%s: %w: give merge the rank files (trace.0, trace.1, …), or read this one as it is: mpitrace-view report %s", best.path, ErrMerged, best.path)
		}
		for _, f := range merged {
			// In a directory it is what merging before left there.
			if !f.listed {
				t.leftOut(ProblemMergedFile, f, "a merged file, not merged again; left out")
			}
		}
		return ranks, nil
	}
	var calls uint64
	for _, f := range ranks {
		calls += f.calls()
	}
	if calls > best.calls() {
		for _, f := range merged {
			t.leftOut(ProblemMergedFile, f, "has fewer calls than the rank files beside it; read those instead")
		}
		return ranks, nil
	}
	for _, f := range merged {
		if f != best {
			t.leftOut(ProblemMergedFile, f, fmt.Sprintf("another merged file of the same run as %s; left out", best.path))
		}
	}
	return []*source{best}, nil
}

// onePerRank drops second files of a rank: the one that ended in order stays,
// else the one with more calls. The result is in the order of ranks.
func (t *Trace) onePerRank(files []*source) []*source {
	better := func(a, b *source) int {
		whole := func(s *source) int { return len(s.reader.Definitions().Summaries) }
		return cmp.Or(
			cmp.Compare(a.rank, b.rank),
			cmp.Compare(whole(b), whole(a)),
			cmp.Compare(b.calls(), a.calls()),
			strings.Compare(a.path, b.path),
		)
	}
	slices.SortFunc(files, better)
	var kept []*source
	for _, f := range files {
		if n := len(kept); n > 0 && kept[n-1].rank == f.rank {
			t.leftOut(ProblemDuplicate, f, fmt.Sprintf("a second file of rank %d, besides %s; left out", f.rank, kept[n-1].path))
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

func (t *Trace) leftOut(kind ProblemKind, f *source, text string) {
	t.problems = append(t.problems, Problem{Kind: kind, Rank: format.NoRank, File: f.path, Count: 1, Text: text})
}

// parallel calls f(0) to f(n-1) from t.jobs goroutines.
func (t *Trace) parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(t.jobs, n) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
