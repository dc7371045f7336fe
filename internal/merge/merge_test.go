// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/internal/trace/tracetest"
)

// randomRun writes the files of a run whose ranks have several threads, blocks
// of all sizes, requests, completions and a call in flight.
func randomRun(t testing.TB, dir string, seed uint64, ranks int32) []string {
	rng := rand.New(rand.NewPCG(seed, 1))
	return tracetest.WriteRun(t, dir, 1, ranks, func(f *tracetest.Fixture) {
		f.Open = f.Rank == 1
		f.Blocks = []*format.Calls{}
		for thread := range uint32(f.Rank%3 + 1) {
			at, seq, request := int64(1000+rng.IntN(50)), uint64(0), uint64(0)
			for range 1 + rng.IntN(12) {
				n := 1 + rng.IntN(1<<(1+rng.IntN(11)))
				var times []int64
				for range n {
					end := at + rng.Int64N(30)
					times = append(times, at, end)
					at = end + rng.Int64N(20)
				}
				c := f.Calls(thread, seq, times...)
				vary(rng, c, &request)
				seq += uint64(n)
				f.Blocks = append(f.Blocks, c)
			}
			if f.Open && thread == 0 {
				c := f.Calls(thread, seq, at, at)
				c.Sigs[0].Flags, c.End[0] = format.FlagInFlight, 0
				f.Blocks = append(f.Blocks, c)
			}
		}
	})
}

// vary gives calls several signatures, requests and completions.
func vary(rng *rand.Rand, c *format.Calls, request *uint64) {
	starts, waits := c.Sigs[0], c.Sigs[0]
	starts.Flags, starts.Second = format.FlagRequest, &format.Side{Peer: 1, Tag: 2, Datatype: 3, Count: 4, Bytes: 5}
	waits.NDone, waits.Args = 2, []int64{7, 8}
	c.Sigs = append(c.Sigs, starts, waits)
	c.DoneSigs = []format.DoneSig{{Kind: format.DoneRecv, Source: 1, Tag: 2, Bytes: 8}, {Kind: format.DoneSend}}
	for i := range c.Index {
		switch c.Index[i] = uint32(rng.IntN(3)); c.Index[i] {
		case 1:
			*request++
			c.Request = append(c.Request, *request)
		case 2:
			for range 2 {
				c.DoneIndex = append(c.DoneIndex, uint32(rng.IntN(2)))
				c.DoneRequest = append(c.DoneRequest, rng.Uint64N(*request+1))
			}
		}
	}
}

func open(t testing.TB, o trace.Options, paths ...string) *trace.Trace {
	t.Helper()
	tr, err := trace.Open(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// listing writes every call with all that is in it.
func listing(tr *trace.Trace) []string {
	var lines []string
	for c := range tr.InOrder(trace.Everything()) {
		sig := *c.Sig
		second := ""
		if sig.Second != nil {
			second = fmt.Sprint(*sig.Second)
			sig.Second = nil
		}
		line := fmt.Sprintf("%d#%d %d-%d %+v %s %d", c.Rank, c.Seq, c.Begin, c.End, sig, second, c.Request)
		for i := range c.Done() {
			r, d := c.Completed(i)
			line += fmt.Sprintf(" %d:%v", r, *d)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestMergedIsTheSameTrace(t *testing.T) {
	for seed := range uint64(3) {
		dir := t.TempDir()
		from := open(t, trace.Options{}, randomRun(t, dir, seed, 5)...)
		var first []byte
		for jobs := 1; jobs <= 4; jobs += 3 {
			path := filepath.Join(dir, fmt.Sprintf("merged%d.mpt", jobs))
			progress := uint64(0)
			stats, err := File(t.Context(), from, path, Options{Jobs: jobs, Progress: func(n uint64) { progress += n }})
			if err != nil {
				t.Fatal(err)
			}
			if stats.Calls != from.Calls() || progress != stats.Calls {
				t.Errorf("%d calls written, %d of them told as progress; want %d", stats.Calls, progress, from.Calls())
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b
			}
			if !bytes.Equal(first, b) {
				t.Errorf("seed %d: %d goroutines write another file than one", seed, jobs)
			}
		}
		to := open(t, trace.Options{}, filepath.Join(dir, "merged1.mpt"))
		if diff := firstDifference(listing(from), listing(to)); diff != "" {
			t.Fatalf("seed %d: the merged trace has other calls (-rank files +merged):\n%.2000s", seed, diff)
		}
		if diff := cmp.Diff(from.Definitions(), to.Definitions()); diff != "" {
			t.Errorf("seed %d: definitions (-rank files +merged):\n%s", seed, diff)
		}
		if from.Span() != to.Span() {
			t.Errorf("seed %d: span %v, merged %v", seed, from.Span(), to.Span())
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestDamageIsCarriedOn(t *testing.T) {
	dir := t.TempDir()
	paths := randomRun(t, dir, 7, 3)
	b, err := os.ReadFile(paths[2])
	if err != nil {
		t.Fatal(err)
	}
	r, err := format.Open(paths[2])
	if err != nil {
		t.Fatal(err)
	}
	block := r.Blocks()[len(r.Blocks())/2]
	r.Close()
	b[block.Offset+block.Size-1] ^= 1
	if err := os.WriteFile(paths[2], b, 0o666); err != nil {
		t.Fatal(err)
	}
	from := open(t, trace.Options{}, paths...)
	path := filepath.Join(dir, "merged.mpt")
	stats, err := File(t.Context(), from, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := from.Calls() - uint64(block.Calls); stats.Calls != want {
		t.Errorf("%d calls merged, want all but the damaged block's: %d", stats.Calls, want)
	}
	to := open(t, trace.Options{}, path)
	found := false
	for _, line := range trace.Summarise(to.Problems()) {
		found = found || strings.Contains(line, paths[2]) && strings.Contains(line, fmt.Sprintf("offset %d", block.Offset)) &&
			strings.Contains(line, fmt.Sprintf("%d calls lost", block.Calls))
	}
	if !found {
		t.Errorf("the merged file does not tell of the damage: %q", trace.Summarise(to.Problems()))
	}
	if diff := firstDifference(listing(from), listing(to)); diff != "" {
		t.Errorf("calls differ (-rank files +merged):\n%.2000s", diff)
	}
}

func TestUnalignedIsCarriedOn(t *testing.T) {
	dir := t.TempDir()
	from := open(t, trace.Options{}, tracetest.WriteRun(t, dir, 1, 2, func(f *tracetest.Fixture) {
		f.Host = fmt.Sprint("node", f.Rank)
		f.Boot = f.Host
	})...)
	path := filepath.Join(dir, "merged.mpt")
	if _, err := File(t.Context(), from, path, Options{}); err != nil {
		t.Fatal(err)
	}
	if to := open(t, trace.Options{}, path); !to.Unaligned() {
		t.Error("the merged file's hosts count as aligned")
	}
}

func TestNothingElseIsReplaced(t *testing.T) {
	dir := t.TempDir()
	paths := tracetest.WriteRun(t, dir, 1, 2, nil)
	other := tracetest.WriteRun(t, t.TempDir(), 2, 1, nil)[0]
	text := filepath.Join(dir, "thesis.tex")
	if err := os.WriteFile(text, []byte("three years of work"), 0o666); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.mpt")
	if err := os.Symlink(paths[1], link); err != nil {
		t.Fatal(err)
	}
	from := open(t, trace.Options{}, paths...)
	for _, path := range []string{paths[0], other, text, link, dir} {
		before, _ := os.ReadFile(path)
		if _, err := File(t.Context(), from, path, Options{}); !errors.Is(err, ErrInTheWay) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", path)
		}
	}
	merged := filepath.Join(dir, "merged.mpt")
	for range 2 {
		if _, err := File(t.Context(), from, merged, Options{}); err != nil {
			t.Errorf("a merged file cannot be replaced: %v", err)
		}
	}
}

func TestAfterAnErrorThereIsNoFile(t *testing.T) {
	dir := t.TempDir()
	from := open(t, trace.Options{}, randomRun(t, dir, 3, 4)...)
	path := filepath.Join(dir, "merged.mpt")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := File(ctx, from, path, Options{Progress: func(uint64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*merged*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := File(t.Context(), from, filepath.Join(dir, "none", "merged.mpt"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such directory: %v", err)
	}
	full := errors.New("no space left")
	if _, err := Write(t.Context(), from, &failing{after: 3000, err: full}, Options{}); !errors.Is(err, full) {
		t.Errorf("disk full: %v", err)
	}
}

// failing is a file on a disk that becomes full.
type failing struct {
	after int
	err   error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, f.err
	}
	return len(b), nil
}

func TestNoCalls(t *testing.T) {
	dir := t.TempDir()
	from := open(t, trace.Options{}, tracetest.WriteRun(t, dir, 1, 2, func(f *tracetest.Fixture) { f.Blocks = []*format.Calls{} })...)
	path := filepath.Join(dir, "merged.mpt")
	if _, err := File(t.Context(), from, path, Options{}); err != nil {
		t.Fatal(err)
	}
	to := open(t, trace.Options{}, path)
	if len(to.Ranks()) != 2 || to.Calls() != 0 || len(listing(to)) != 0 || to.Span() != (trace.Window{}) {
		t.Errorf("%d ranks, %d calls, span %v", len(to.Ranks()), to.Calls(), to.Span())
	}
}

// firstDifference is where two listings part, "" if they do not.
func firstDifference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return cmp.Diff(a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d and %d calls", len(a), len(b))
	}
	return ""
}
