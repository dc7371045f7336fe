// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace/tracetest"
)

func mustOpen(t *testing.T, o Options, paths ...string) *Trace {
	t.Helper()
	tr, err := Open(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// listing writes calls as "rank.thread#seq begin-end".
func listing(tr *Trace, s Selection, budget int) []string {
	var lines []string
	for c := range tr.inOrder(s, budget, 10*budget) {
		lines = append(lines, fmt.Sprintf("%d.%d#%d %d-%d", c.Rank, c.Sig.Thread, c.Seq, c.Begin, c.End))
	}
	return lines
}

func problems(tr *Trace) (lines []string) { return Summarise(tr.Problems()) }

func TestOpenIsOneTraceHoweverItIsNamed(t *testing.T) {
	dir := t.TempDir()
	paths := tracetest.WriteRun(t, dir, 1, 3, nil)
	want := []string{
		"0.0#0 0-5", "1.0#0 10-15", "2.0#0 20-25",
		"0.0#1 1000-1010", "1.0#1 1010-1020", "2.0#1 1020-1030",
		"0.0#2 2000-2005", "1.0#2 2010-2015", "2.0#2 2020-2025",
	}
	slices.Reverse(paths)
	for name, args := range map[string][]string{"files": paths, "directory": {dir}, "both": append([]string{dir}, paths...)} {
		tr := mustOpen(t, Options{}, args...)
		if diff := cmp.Diff(want, listing(tr, Everything(), orderBudget)); diff != "" {
			t.Errorf("%s: calls differ (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]string{}, problems(tr)); diff != "" {
			t.Errorf("%s: problems:\n%s", name, diff)
		}
		d := tr.Definitions()
		if d.Run.Start != tracetest.Day+1000 {
			t.Errorf("%s: time 0 is %d ns after the day's start, want 1000", name, d.Run.Start-tracetest.Day)
		}
		if len(d.Comms) != 1 || len(d.Datatypes) != 1 || len(d.Sites) != 1 || len(d.Modules) != 1 {
			t.Errorf("%s: definitions were not made one: %+v", name, d)
		}
		if s := d.Sites[0]; s.ID != 1 || s.Module != 1 || s.Address != 0x1042 {
			t.Errorf("%s: site is %+v, want the first rank's address", name, s)
		}
		if got := tr.Span(); got != (Window{0, 2025}) {
			t.Errorf("%s: span %v", name, got)
		}
		if got := tr.Rank(1).Summary().End; got != 2_000_000_000-1000 {
			t.Errorf("%s: rank 1 ended at %d", name, got)
		}
		if tr.Rank(3) != nil || tr.Rank(-1) != nil {
			t.Errorf("%s: there are ranks that are not there", name)
		}
	}
}

func TestIdsBecomeTheTraces(t *testing.T) {
	tr := mustOpen(t, Options{}, tracetest.WriteRun(t, t.TempDir(), 1, 2, nil)...)
	for c := range tr.InOrder(Everything()) {
		if c.Sig.Comm != 1 || c.Sig.Datatype != 1 || c.Sig.Site != 1 {
			t.Fatalf("rank %d: comm %d, datatype %d, site %d; want 1 each", c.Rank, c.Sig.Comm, c.Sig.Datatype, c.Sig.Site)
		}
	}
	if got := tr.CommName(1); got != "MPI_COMM_WORLD" {
		t.Errorf("comm 1 is %s", got)
	}
	if got := tr.WorldRank(1, 0, 1); got != 1 {
		t.Errorf("world rank of 1 is %d", got)
	}
}

func TestThreadsBecomeOneStream(t *testing.T) {
	dir := t.TempDir()
	paths := tracetest.WriteRun(t, dir, 1, 1, func(f *tracetest.Fixture) {
		f.Blocks = []*format.Calls{
			f.Calls(0, 0, 100, 400, 150, 160, 500, 510), // 150 is nested in 100
			f.Calls(1, 0, 90, 95, 155, 600),
			f.Calls(1, 2, 700, 710),
			f.Calls(0, 3, 690, 720, 800, 801),
			f.Calls(2, 0, 100, 101, 800, 802),
		}
	})
	want := []string{
		"0.1#0 0-5", "0.0#1 10-310", "0.2#2 10-11", "0.0#3 60-70", "0.1#4 65-510", "0.0#5 410-420",
		"0.0#6 600-630", "0.1#7 610-620", "0.0#8 710-711", "0.2#9 710-712",
	}
	tr := mustOpen(t, Options{}, paths...)
	for _, budget := range []int{orderBudget, 4, 1} {
		if diff := cmp.Diff(want, listing(tr, Everything(), budget)); diff != "" {
			t.Errorf("budget %d: calls differ (-want +got):\n%s", budget, diff)
		}
	}
	some := Everything()
	some.Window = Window{300, 605}
	wantSome := []string{"0.0#1 10-310", "0.1#4 65-510", "0.0#5 410-420", "0.0#6 600-630"}
	if diff := cmp.Diff(wantSome, listing(tr, some, 1)); diff != "" {
		t.Errorf("in a window calls differ (-want +got):\n%s", diff)
	}
}

// Many blocks of many threads: the stream is in order and whole, whatever the
// cuts, and the same block by block.
func TestManyThreads(t *testing.T) {
	dir := t.TempDir()
	const threads, calls = 7, 20_000
	paths := tracetest.WriteRun(t, dir, 1, 1, func(f *tracetest.Fixture) {
		f.Blocks = []*format.Calls{}
		for th := range threads {
			at, seq := int64(th), uint64(0)
			for seq < calls {
				n := min(calls-seq, uint64(500*(th+1)))
				var times []int64
				for range n {
					times = append(times, at, at+3)
					at += int64(5 + th)
				}
				f.Blocks = append(f.Blocks, f.Calls(uint32(th), seq, times...))
				seq += n
			}
		}
	})
	tr := mustOpen(t, Options{}, paths...)
	r := tr.Rank(0)
	if !r.woven {
		t.Fatal("overlapping blocks are not woven")
	}
	next, last := uint64(0), int64(-1)
	perThread := map[uint32]int{}
	for b := range r.Blocks(Always()) {
		if len(b.Index) > format.MaxBlockCalls {
			t.Fatalf("block of %d calls", len(b.Index))
		}
		if b.FirstSeq != next {
			t.Fatalf("block begins with call %d, want %d", b.FirstSeq, next)
		}
		next += uint64(len(b.Index))
		for c := range Each(b) {
			if c.Begin < last {
				t.Fatalf("call %d begins at %d, before %d", c.Seq, c.Begin, last)
			}
			last = c.Begin
			perThread[c.Sig.Thread]++
		}
	}
	for th := range uint32(threads) {
		if perThread[th] != calls {
			t.Errorf("thread %d has %d calls, want %d", th, perThread[th], calls)
		}
	}
	whole := listing(tr, Everything(), orderBudget)
	if len(whole) != threads*calls {
		t.Fatalf("%d calls in order, want %d", len(whole), threads*calls)
	}
	for _, limits := range [][2]int{{3000, 0}, {3000, 5000}, {100_000, 20_000}, {20_000, orderHeld}} {
		var lines []string
		for c := range tr.inOrder(Everything(), limits[0], limits[1]) {
			lines = append(lines, fmt.Sprintf("%d.%d#%d %d-%d", c.Rank, c.Sig.Thread, c.Seq, c.Begin, c.End))
		}
		if !slices.Equal(whole, lines) {
			t.Errorf("the order depends on the limits %v", limits)
		}
	}
	for i, line := range whole {
		if !strings.Contains(line, fmt.Sprintf("#%d ", i)) {
			t.Fatalf("call %d is %s", i, line)
		}
	}
}

func TestMissingRanks(t *testing.T) {
	paths := tracetest.WriteRun(t, t.TempDir(), 1, 6, nil)
	tr := mustOpen(t, Options{}, paths[0], paths[2], paths[4])
	want := []string{"3 of 6 ranks are missing: ranks 1,3,5"}
	if diff := cmp.Diff(want, problems(tr)); diff != "" {
		t.Error(diff)
	}
	if n := len(tr.Ranks()); n != 3 {
		t.Errorf("%d ranks", n)
	}
}

func TestSeveralRuns(t *testing.T) {
	old, new := t.TempDir(), t.TempDir()
	tracetest.WriteRun(t, old, 1, 2, nil)
	tracetest.WriteRun(t, new, 2, 3, nil)
	tr := mustOpen(t, Options{}, old, new)
	if got := RunID(tr.Run().ID)[:4]; got != "02cd" || len(tr.Ranks()) != 3 {
		t.Errorf("run %s with %d ranks, want the newer one", got, len(tr.Ranks()))
	}
	want := []string{"left out 2 files of an older run (01cd0000, begun 2023-11-14 22:13:21 UTC); choose it with --run 01cd0000"}
	if diff := cmp.Diff(want, problems(tr)); diff != "" {
		t.Error(diff)
	}
	tr = mustOpen(t, Options{Run: "01C"}, old, new)
	if got := RunID(tr.Run().ID)[:4]; got != "01cd" || len(tr.Ranks()) != 2 {
		t.Errorf("run %s with %d ranks, want the chosen one", got, len(tr.Ranks()))
	}
	if p := problems(tr); len(p) != 1 || !strings.Contains(p[0], "a newer run") {
		t.Errorf("problems %q", p)
	}
	for _, bad := range []string{"ff", "0", "xyz"} {
		if _, err := Open([]string{old, new}, Options{Run: bad}); !errors.Is(err, ErrNoRun) {
			t.Errorf("run %q: %v", bad, err)
		}
	}
}

func TestDuplicateRanks(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	tracetest.WriteRun(t, a, 1, 2, nil)
	tracetest.WriteRun(t, b, 1, 1, func(f *tracetest.Fixture) { f.Size = 2; f.Open = true })
	tr := mustOpen(t, Options{}, b, a)
	want := []string{filepath.Join(b, "trace.0") + ": a second file of rank 0, besides " + filepath.Join(a, "trace.0") + "; left out"}
	if diff := cmp.Diff(want, problems(tr)); diff != "" {
		t.Error(diff)
	}
}

func TestOtherFiles(t *testing.T) {
	dir := t.TempDir()
	paths := tracetest.WriteRun(t, dir, 1, 1, nil)
	text, newer, empty := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "trace.9"), filepath.Join(dir, "trace.8")
	whole, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	write(t, text, []byte("this is no trace, however long it may be\n"))
	write(t, empty, nil)
	write(t, newer, tracetest.NewerVersion(whole))

	// In a directory, what does not look like a trace is nobody's business.
	tr := mustOpen(t, Options{}, dir)
	got := problems(tr)
	if len(got) != 2 || !strings.Contains(got[0], "trace.8: ") || !strings.Contains(got[0], "the file is empty; left out") ||
		!strings.Contains(got[1], "trace.9: ") || !strings.Contains(got[1], "version") {
		t.Errorf("problems %q", got)
	}
	// Named, it is left out with a word.
	tr = mustOpen(t, Options{}, paths[0], text)
	if got := problems(tr); len(got) != 1 || !strings.Contains(got[0], "notes.txt: ") || !strings.Contains(got[0], "not an mpitrace file") {
		t.Errorf("problems %q", got)
	}
	// Alone, each is an error that names it.
	for path, want := range map[string]error{text: format.ErrNotTrace, empty: format.ErrNotTrace, newer: format.ErrVersion, filepath.Join(dir, "none"): os.ErrNotExist} {
		if _, err := Open([]string{path}, Options{}); !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if _, err := Open([]string{text, empty}, Options{}); !errors.Is(err, format.ErrNotTrace) {
		t.Errorf("two that are none: %v", err)
	}
	if _, err := Open([]string{t.TempDir()}, Options{}); !errors.Is(err, ErrNoTrace) {
		t.Errorf("empty directory: %v", err)
	}
	only := t.TempDir()
	write(t, filepath.Join(only, "README"), []byte("hello"))
	if _, err := Open([]string{only}, Options{}); !errors.Is(err, ErrNoTrace) {
		t.Errorf("directory without traces: %v", err)
	}
	if _, err := Open(nil, Options{}); !errors.Is(err, ErrNoTrace) {
		t.Errorf("no files: %v", err)
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestCutFiles(t *testing.T) {
	dir := t.TempDir()
	paths := tracetest.WriteRun(t, dir, 1, 1, nil)
	whole, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut")
	most := 0
	for n := range whole {
		write(t, cut, whole[:n])
		tr, err := Open([]string{cut}, Options{})
		if err != nil {
			if most > 0 {
				t.Fatalf("of %d bytes nothing can be read, of fewer something can: %v", n, err)
			}
			continue
		}
		calls := len(listing(tr, Everything(), orderBudget))
		if calls < most {
			t.Fatalf("of %d bytes only %d calls can be read, of fewer %d", n, calls, most)
		}
		most = calls
		// Without its index but with all else nothing is lost.
		if len(tr.Problems()) == 0 && (calls < 3 || tr.Rank(0).Summary() == nil) {
			t.Fatalf("a file cut at %d of %d bytes has no problems", n, len(whole))
		}
		tr.Close()
	}
	if most != 3 {
		t.Errorf("%d calls, want 3", most)
	}
}

func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	paths := tracetest.WriteRun(t, dir, 1, 1, nil)
	whole, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad")
	for at := range whole {
		flipped := slices.Clone(whole)
		flipped[at] ^= 0x10
		write(t, bad, flipped)
		tr, err := Open([]string{bad}, Options{})
		if err != nil {
			continue
		}
		n := len(listing(tr, Everything(), orderBudget))
		if n < 3 && len(tr.Problems()) == 0 {
			t.Errorf("byte %d of %d flipped: %d calls of 3, and no problem", at, len(whole), n)
		}
		tr.Close()
	}
}

func TestUnfinished(t *testing.T) {
	paths := tracetest.WriteRun(t, t.TempDir(), 1, 4, func(f *tracetest.Fixture) {
		f.Open = f.Rank != 2
		c := f.Calls(0, 0, 100, 200, 300, 0)
		c.Sigs = append(c.Sigs, c.Sigs[0])
		c.Sigs[1].Func, c.Sigs[1].Flags = tracetest.Recv, format.FlagInFlight
		c.Index[1], c.End[1] = 1, 0
		f.Blocks = []*format.Calls{c}
	})
	tr := mustOpen(t, Options{}, paths...)
	want := []string{"ranks 0-1,3: recording did not end in order: the process was killed, or is still running"}
	if diff := cmp.Diff(want, problems(tr)); diff != "" {
		t.Error(diff)
	}
	if got := tr.Rank(1).Span(); got != (Window{0, 200}) {
		t.Errorf("span %v, want from the first begin to the last begin or end", got)
	}
	// A call that never returned is there however late one looks.
	late := Everything()
	late.Window = Window{1_000_000, 2_000_000}
	late.Ranks = RanksOf([]int32{1})
	if diff := cmp.Diff([]string{"1.0#1 200-0"}, listing(tr, late, orderBudget)); diff != "" {
		t.Error(diff)
	}
	n := 0
	for b := range tr.Rank(1).Blocks(late.Window) {
		n += len(b.Index)
	}
	if n != 1 {
		t.Errorf("%d calls touch the window, want the one in flight", n)
	}
}

func TestHosts(t *testing.T) {
	const apart = 1_000_000_000_000 // between the hosts' CLOCK_MONOTONIC
	host := func(name, boot string, skew int64) func(*tracetest.Fixture) {
		return func(f *tracetest.Fixture) {
			f.Host, f.Boot = "node1", "b1"
			if f.Rank == 1 {
				f.Host, f.Boot, f.ToDay = name, boot, tracetest.Day+skew
				f.Blocks = []*format.Calls{f.Calls(0, 0, 5000-skew, 5010-skew)}
			}
		}
	}
	t.Run("two machines", func(t *testing.T) {
		tr := mustOpen(t, Options{}, tracetest.WriteRun(t, t.TempDir(), 1, 2, host("node2", "b2", -apart))...)
		if !tr.Unaligned() {
			t.Error("hosts put together by their times of tracetest.Day count as aligned")
		}
		if p := problems(tr); len(p) != 1 || !strings.Contains(p[0], "2 hosts (node1, node2)") {
			t.Errorf("problems %q", p)
		}
		if got := tr.Rank(1).Span(); got != (Window{4000, 4010}) {
			t.Errorf("rank 1 at %v", got)
		}
		want := []Host{{Name: "node1", Ranks: []int32{0}, Aligned: true}, {Name: "node2", Ranks: []int32{1}, Shift: -apart}}
		if diff := cmp.Diff(want, tr.Hosts()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("two containers on one machine", func(t *testing.T) {
		tr := mustOpen(t, Options{}, tracetest.WriteRun(t, t.TempDir(), 1, 2, host("pod2", "b1", 300))...)
		if tr.Unaligned() || len(problems(tr)) > 0 {
			t.Errorf("one kernel's clock is not aligned with itself: %q", problems(tr))
		}
	})
	t.Run("no measurement", func(t *testing.T) {
		tr := mustOpen(t, Options{}, tracetest.WriteRun(t, t.TempDir(), 1, 2, func(f *tracetest.Fixture) { f.NoClock = f.Rank == 1 })...)
		if p := problems(tr); len(p) != 1 || !strings.Contains(p[0], "no clock measurement") {
			t.Errorf("problems %q", p)
		}
		if got := tr.Rank(1).Span(); got != (Window{0, 2005}) {
			t.Errorf("rank 1 at %v", got)
		}
	})
}
