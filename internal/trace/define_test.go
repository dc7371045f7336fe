// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace/tracetest"
)

// fromText opens the rank files that a text describes.
func fromText(t *testing.T, text string) *Trace {
	t.Helper()
	paths, err := format.CreateText(strings.NewReader("mpitrace-text 1 rank\n"+text), "text", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, Options{}, paths...)
}

// Two ranks that made the same things in another order, and some of their own.
const twoRanks = `
run size=4
rank 0
comm id=1 name=MPI_COMM_WORLD global=0x1 group=0-3
comm id=2 name=MPI_COMM_SELF global=0xa0 group=0-0
comm id=3 global=0x33 parent=1 group=1:2:-1 maker=MPI_Comm_split
comm id=4 kind=inter global=0x44 group=0-1 remote=2-3
comm id=5 group=0-0
datatype id=1 name=MPI_INT size=4 extent=4
datatype id=2 size=8 extent=8 maker=MPI_Type_contiguous base=1
datatype id=3 size=16 extent=16 maker=MPI_Type_contiguous base=2
op id=1 name=MPI_SUM
op id=2
op id=3
win id=1 name=w comm=3 size=10
win id=2 name=w comm=3 size=10
file id=1 name=a comm=1 mode=2
text id=1 text=solve
text id=2 text=setup
module id=1 path=/app buildid=aa base=0x1000 start=0x1000 end=0x2000
site id=1 module=1 address=0x1010
site id=2 address=0x99
clock tick=0 monotonic=0 realtime=5
MPI_Bcast 10 20 comm=3 datatype=3 op=2 site=1 root=0
MPI_Comm_dup 30 40 comm=1 args=[4]
MPI_Pcontrol 50 60 args=[9093 2]
MPI_Pcontrol 70 80 args=[3 0]
MPI_Type_vector 90 91 args=[2 3]

rank 2
comm id=9 name=MPI_COMM_WORLD global=0x1 group=0-3
comm id=7 name=halo global=0x33 parent=9 group=1:2:-1 maker=MPI_Comm_split
comm id=4 kind=inter global=0x44 group=2-3 remote=0-1
comm id=2 name=MPI_COMM_SELF global=0xa2 group=2-2
comm id=5 group=2-2
datatype id=5 size=16 extent=16 maker=MPI_Type_contiguous base=6
datatype id=6 size=8 extent=8 maker=MPI_Type_contiguous base=7
datatype id=7 name=MPI_INT size=4 extent=4
op id=4
op id=5 name=MPI_SUM
win id=3 name=w comm=7 size=30
file id=2 name=a comm=9 mode=2
text id=1 text=setup
module id=3 path=/app buildid=aa base=0x5000 start=0x5000 end=0x6000
site id=8 module=3 address=0x5010
clock rank=2 tick=0 monotonic=0 realtime=5
MPI_Bcast 10 20 comm=7 datatype=5 op=4 site=8 root=0
MPI_Pcontrol 50 60 args=[9093 1]
`

func TestDefinitionsBecomeOne(t *testing.T) {
	tr := fromText(t, strings.ReplaceAll(twoRanks, "buildid", "build-id"))
	d := tr.Definitions()
	want := []format.Comm{
		{ID: 1, Name: "MPI_COMM_WORLD", Global: 1, Rank: format.NoRank, Group: format.Ranks{{First: 0, Count: 4, Stride: 1}}},
		{ID: 2, Name: "MPI_COMM_SELF", Global: 0xa0, Rank: format.NoRank, Group: format.Ranks{{First: 0, Count: 1, Stride: 1}}},
		{ID: 3, Name: "halo", Global: 0x33, Parent: 1, Maker: "MPI_Comm_split", Rank: format.NoRank, Group: format.Ranks{{First: 1, Count: 2, Stride: -1}}},
		{ID: 4, Kind: format.CommInter, Global: 0x44, Rank: format.NoRank, Group: format.Ranks{{First: 0, Count: 2, Stride: 1}}, Remote: format.Ranks{{First: 2, Count: 2, Stride: 1}}},
		{ID: 5, Rank: format.NoRank, Group: format.Ranks{{First: 0, Count: 1, Stride: 1}}},
		{ID: 6, Name: "MPI_COMM_SELF", Global: 0xa2, Rank: format.NoRank, Group: format.Ranks{{First: 2, Count: 1, Stride: 1}}},
		{ID: 7, Rank: format.NoRank, Group: format.Ranks{{First: 2, Count: 1, Stride: 1}}},
	}
	if diff := cmp.Diff(want, d.Comms); diff != "" {
		t.Errorf("communicators:\n%s", diff)
	}
	if len(d.Datatypes) != 3 || len(d.Ops) != 3 || len(d.Wins) != 2 || len(d.Files) != 1 || len(d.Texts) != 2 || len(d.Modules) != 1 || len(d.Sites) != 2 {
		t.Errorf("definitions: %+v", d)
	}
	if d.Wins[0].Size != 30 || d.Wins[0].Comm != 3 || d.Wins[1].Size != 10 {
		t.Errorf("windows: %+v", d.Wins)
	}
	type ids struct {
		Comm, Datatype, Op, Site format.ID
		Args                     string
	}
	var got []ids
	for c := range tr.InOrder(Everything()) {
		got = append(got, ids{c.Sig.Comm, c.Sig.Datatype, c.Sig.Op, c.Sig.Site, fmt.Sprint(c.Sig.Args)})
	}
	wantIDs := []ids{
		{3, 3, 2, 1, "[]"}, {3, 3, 2, 1, "[]"}, // both broadcasts are alike now
		{1, 0, 0, 0, "[4]"},
		{0, 0, 0, 0, "[9093 2]"}, {0, 0, 0, 0, "[9093 2]"},
		{0, 0, 0, 0, "[3 0]"},
		{0, 0, 0, 0, "[2 3]"},
	}
	if diff := cmp.Diff(wantIDs, got); diff != "" {
		t.Errorf("ids in calls:\n%s", diff)
	}
	for _, c := range []struct {
		comm       format.ID
		rank, peer int32
		want       int32
	}{
		{1, 0, 3, 3}, {3, 0, 0, 1}, {3, 0, 1, 0}, {3, 0, 2, format.NoRank},
		{4, 0, 0, 2}, {4, 3, 1, 1}, // the peers of an intercommunicator are on the other side
		{1, 0, format.AnySource, format.AnySource}, {1, 0, format.ProcNull, format.ProcNull}, {99, 0, 1, format.NoRank},
	} {
		if got := tr.WorldRank(c.comm, c.rank, c.peer); got != c.want {
			t.Errorf("peer %d of rank %d on communicator %d is %d, want %d", c.peer, c.rank, c.comm, got, c.want)
		}
	}
	if got := tr.SiteName(1); got != "app+0x10" {
		t.Errorf("site 1 is %s", got)
	}
	if p := problems(tr); len(p) != 2 || !strings.Contains(p[0], "2 of 4 ranks are missing") {
		t.Errorf("problems: %q", p)
	}
}

func TestDefinitionsThatContradict(t *testing.T) {
	tr := fromText(t, `
run size=2
rank 0
comm id=1 name=MPI_COMM_WORLD global=0x1 group=0-1
datatype id=1 size=4 base=2
datatype id=2 size=4 base=1
clock tick=0 monotonic=0 realtime=5
summary calls=2 finalized=yes
MPI_Barrier 1 2 comm=1
MPI_Barrier 3 4 comm=8 datatype=1

rank 1
comm id=1 name=MPI_COMM_WORLD global=0x1 group=0-5
clock rank=1 tick=0 monotonic=0 realtime=5
summary rank=1 calls=5
MPI_Barrier 1 2 comm=1
MPI_Pcontrol 3 4 args=[-1 77]
`)
	for range tr.InOrder(Everything()) {
	}
	got := strings.Join(problems(tr), "\n")
	for _, want := range []string{"3 calls of 5 are not in the file", "ended without MPI_Finalize", "members of MPI_COMM_WORLD differ from what rank 0 recorded", "definitions are missing"} {
		if !strings.Contains(got, want) {
			t.Errorf("no problem says %q:\n%s", want, got)
		}
	}
}

func TestManyMoreRanksThanOpenFiles(t *testing.T) {
	dir := t.TempDir()
	paths := tracetest.WriteRun(t, dir, 1, 40, nil)
	files, err := expand(paths)
	if err != nil {
		t.Fatal(err)
	}
	pool := newFilePool(3)
	tr, err := open(files, Options{Jobs: 4}, pool)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(listing(tr, Everything(), 7)); n != 120 {
		t.Errorf("%d calls, want 120", n)
	}
	// More than the limit may be open only while they are being read.
	if n := pool.used.Len(); n > 4 {
		t.Errorf("%d files are open, want about 3", n)
	}
	var wg sync.WaitGroup
	for _, r := range tr.Ranks() {
		wg.Go(func() {
			for range r.Blocks(Always()) {
			}
		})
	}
	wg.Wait()
	tr.Close()
	if n := pool.used.Len(); n > 0 {
		t.Errorf("%d files are open after Close", n)
	}
	if len(tr.Problems()) > 0 {
		t.Errorf("problems: %q", problems(tr))
	}
}

// A file that goes away while it is read is a problem, not the end.
func TestFileThatVanishes(t *testing.T) {
	dir := t.TempDir()
	tr := mustOpen(t, Options{}, tracetest.WriteRun(t, dir, 1, 2, nil)...)
	tr.pool.close()
	if err := os.Remove(filepath.Join(dir, "trace.1")); err != nil {
		t.Fatal(err)
	}
	if n := len(listing(tr, Everything(), orderBudget)); n != 3 {
		t.Errorf("%d calls, want those of the other rank", n)
	}
	if p := problems(tr); len(p) == 0 || !strings.Contains(p[0], "trace.1") {
		t.Errorf("problems: %q", p)
	}
}

func TestMergedFileBesideRankFiles(t *testing.T) {
	dir := t.TempDir()
	paths := tracetest.WriteRun(t, dir, 1, 2, nil)
	from := mustOpen(t, Options{}, paths...)
	merged := filepath.Join(dir, "merged.mpt")
	w, err := format.CreateMerged(merged, *from.Run(), from.Definitions().Processes)
	if err != nil {
		t.Fatal(err)
	}
	w.Define(from.Definitions())
	for _, r := range from.Ranks() {
		for c := range r.Blocks(Always()) {
			if err := w.WriteCalls(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tr := mustOpen(t, Options{}, dir)
	if !tr.Merged() || len(problems(tr)) > 0 {
		t.Errorf("of a merged file and its rank files the rank files are read: %q", problems(tr))
	}
	tr = mustOpen(t, Options{RankFiles: true}, dir)
	if p := problems(tr); tr.Merged() || len(p) > 0 {
		t.Errorf("merging a directory again is not worth a word: %q", p)
	}
	tr = mustOpen(t, Options{RankFiles: true}, append(paths, merged)...)
	if p := problems(tr); tr.Merged() || len(p) != 1 || !strings.Contains(p[0], "merged.mpt: a merged file, not merged again") {
		t.Errorf("to merge, the rank files are wanted: %q", p)
	}
	// A merged file that lacks calls of the rank files is out of date.
	f := &tracetest.Fixture{Run: 1, Start: from.Run().Start, Size: 3, Rank: 2, Host: "node1", Boot: "b1"}
	f.Blocks = []*format.Calls{f.Calls(0, 0, 1, 2)}
	f.Write(t, filepath.Join(dir, "trace.2"))
	tr = mustOpen(t, Options{}, dir)
	if p := problems(tr); tr.Merged() || len(p) == 0 || !strings.Contains(p[0], "fewer calls than the rank files") {
		t.Errorf("an outdated merged file is read: %q", p)
	}
}

func TestSummarise(t *testing.T) {
	cut := func(rank int32) Problem {
		return Problem{Kind: ProblemUnfinished, Rank: rank, File: fmt.Sprintf("trace.%d", rank), Text: "cut off", Hint: "run salvage"}
	}
	got := Summarise([]Problem{
		cut(1), cut(2), cut(5), {Kind: ProblemLoss, Rank: 3, Text: "1 call dropped"},
		{Kind: ProblemNotTrace, Rank: format.NoRank, File: "a", Text: "no trace"}, {Kind: ProblemNotTrace, Rank: format.NoRank, File: "b", Text: "no trace"},
		{Kind: ProblemMissing, Rank: format.NoRank, Text: "rank 4 is missing"},
	})
	want := []string{"ranks 1-2,5: cut off; run salvage", "rank 3: 1 call dropped", "a: no trace", "b: no trace", "rank 4 is missing"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A file with much damage is told of in a few lines that add up.
func TestMuchDamage(t *testing.T) {
	dir := t.TempDir()
	paths := tracetest.WriteRun(t, dir, 1, 1, func(f *tracetest.Fixture) {
		f.Blocks = []*format.Calls{}
		for i := range uint64(50) {
			at := int64(i) * 100
			f.Blocks = append(f.Blocks, f.Calls(0, i, at, at+5))
		}
	})
	r, err := format.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	blocks := r.Blocks()
	r.Close()
	b, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range blocks[:40] {
		b[x.Offset+x.Size-1] ^= 1
	}
	write(t, paths[0], b)
	tr := mustOpen(t, Options{}, paths...)
	if n := len(listing(tr, Everything(), orderBudget)); n != 10 {
		t.Errorf("%d calls, want 10", n)
	}
	lost := uint64(0)
	for _, p := range tr.Problems() {
		lost += p.Count
	}
	if p := problems(tr); len(p) != damageShown+1 || lost != 40 || !strings.Contains(p[damageShown], "37 more damaged places; 37 calls lost") {
		t.Errorf("%d calls lost, problems:\n%s", lost, strings.Join(p, "\n"))
	}
}
