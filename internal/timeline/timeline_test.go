// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/mpi"
)

// open opens the trace that a merged text describes; its head is added.
func open(t *testing.T, text string) *trace.Trace {
	t.Helper()
	paths, err := format.CreateText(strings.NewReader("mpitrace-text 1 merged\n"+text), t.Name(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(paths, trace.Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// levelOf reads a text with a row for each rank.
func levelOf(t *testing.T, text string, w trace.Window, bins int) *Level {
	t.Helper()
	tr := open(t, text)
	var ranks []int32
	for _, r := range tr.Ranks() {
		ranks = append(ranks, r.Number())
	}
	return Read(tr, trace.Selection{Window: w}, GroupRanks(ranks, len(ranks)), bins, true, nil)
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// in makes the Classes of a cell.
func in(class Class, time int64) (c [NumClasses]int64) {
	c[class] = time
	return c
}

func TestCells(t *testing.T) {
	l := levelOf(t, `
rank 0
MPI_Init 0 10
MPI_Send 15 25 peer=1
MPI_Pcontrol 40 40 args=[0 0]
MPI_Pcontrol 55 55 args=[1 0]
MPI_Barrier 60 78
summary calls=5 end=90
`, trace.Window{Begin: 0, End: 100}, 10)
	equal(t, "cells", l.Rows[0].Cells, []Cell{
		{Classes: in(Setup, 10), Busy: 10, Recorded: 10},
		{Classes: in(PointToPoint, 5), Busy: 5, Recorded: 10},
		{Classes: in(PointToPoint, 5), Busy: 5, Recorded: 10},
		{Recorded: 10},
		{Off: 10},
		{Recorded: 5, Off: 5},
		{Classes: in(Collective, 10), Busy: 10, Recorded: 10},
		{Classes: in(Collective, 8), Busy: 8, Recorded: 10},
		{Recorded: 10},
		{},
	})
}

// The window's bins hold what lies in them of calls that begin before it.
func TestZoom(t *testing.T) {
	l := levelOf(t, `
rank 0
MPI_Recv 0 57 peer=1
MPI_Wait 57 61
MPI_Barrier 200 300
`, trace.Window{Begin: 50, End: 66}, 4)
	equal(t, "edges", l.edges, []int64{50, 54, 58, 62, 66})
	mixed := in(PointToPoint, 3)
	mixed[Completion] = 1
	equal(t, "cells", l.Rows[0].Cells, []Cell{
		{Classes: in(PointToPoint, 4), Busy: 4, Recorded: 4},
		{Classes: mixed, Busy: 4, Recorded: 4},
		{Classes: in(Completion, 3), Busy: 3, Recorded: 4},
		{Recorded: 4},
	})
}

func TestOpenCalls(t *testing.T) {
	l := levelOf(t, `
site id=1 file=/src/a.c line=7
rank 0
MPI_Recv 40 - peer=1 site=1
rank 1
MPI_Barrier 0 100
rank 2
MPI_Recv 20 - peer=1
MPI_Send 60 80 peer=1
`, trace.Window{Begin: 0, End: 100}, 5)
	equal(t, "rank 0", l.Rows[0].Cells, []Cell{
		{}, {},
		{Classes: in(PointToPoint, 20), Busy: 20, Recorded: 20, InFlight: 20},
		{Classes: in(PointToPoint, 20), Busy: 20, Recorded: 20, InFlight: 20},
		{Classes: in(PointToPoint, 20), Busy: 20, Recorded: 20, InFlight: 20},
	})
	equal(t, "rank 2 left its receive", l.Rows[2].Cells, []Cell{
		{},
		{Classes: in(PointToPoint, 20), Busy: 20, Recorded: 20},
		{Classes: in(PointToPoint, 20), Busy: 20, Recorded: 20},
		{Classes: in(PointToPoint, 20), Busy: 20, Recorded: 20},
		{},
	})
	equal(t, "open", l.Open, []Open{{Rank: 0, Function: "MPI_Recv", Site: "a.c:7", Begin: 40}})
	equal(t, "open calls of rows", []int{l.Rows[0].Open, l.Rows[1].Open, l.Rows[2].Open}, []int{1, 0, 0})
}

// Threads in MPI at once share the rank's time; calls from callbacks have none.
func TestThreadsAndNested(t *testing.T) {
	l := levelOf(t, `
rank 0
MPI_Recv 0 60 peer=1 thread=1
MPI_Barrier 20 80
MPI_Send 30 40 peer=1 flags=nested
MPI_Wait 90 100
`, trace.Window{Begin: 0, End: 100}, 1)
	want := in(PointToPoint, 60)
	want[Collective], want[Completion] = 60, 10
	c := l.Rows[0].Cells[0]
	equal(t, "cell", c, Cell{Classes: want, Busy: 90, Recorded: 100})
	equal(t, "share", c.Share(PointToPoint), 60.0/130*90/100)
	equal(t, "computation", c.Computation(), int64(10))
}

func TestRowsOfRanks(t *testing.T) {
	tr := open(t, `
rank 0
MPI_Barrier 0 10
rank 1
MPI_Barrier 0 4
MPI_Wait 4 10
rank 2
MPI_Barrier 0 10
`)
	rows := GroupRanks([]int32{0, 1, 2}, 2)
	equal(t, "rows", rows, [][]int32{{0, 1}, {2}})
	l := Read(tr, trace.Everything(), rows, 1, false, nil)
	want := in(Collective, 14)
	want[Completion] = 6
	equal(t, "two ranks", l.Rows[0].Cells, []Cell{{Classes: want, Busy: 20, Recorded: 20}})
	equal(t, "one rank", l.Rows[1].Cells, []Cell{{Classes: in(Collective, 10), Busy: 10, Recorded: 10}})
}

func TestGroupRanks(t *testing.T) {
	thousand := make([]int32, 1000)
	for i := range thousand {
		thousand[i] = int32(i)
	}
	for _, c := range []struct {
		ranks, rows, groups, size int
	}{{4, 10, 4, 1}, {4, 4, 4, 1}, {5, 4, 3, 2}, {1000, 40, 32, 32}, {1000, 1, 1, 1024}, {1000, 0, 1, 1024}, {0, 5, 0, 0}} {
		g := GroupRanks(thousand[:c.ranks], c.rows)
		if len(g) != c.groups || c.groups > 0 && len(g[0]) != min(c.size, c.ranks) {
			t.Errorf("%d ranks in %d rows: %d groups", c.ranks, c.rows, len(g))
		}
	}
}

func TestTinyRuns(t *testing.T) {
	for _, text := range []string{
		"", "process rank=0\nrank 0\n", "rank 0\nMPI_Barrier 5 5\n", "rank 0\nMPI_Barrier 5 6\n", "rank 0\nMPI_Recv 4 -\n",
		"rank 0\nMPI_Barrier -9223372036854775807 9223372036854775807\n",
		"rank 0\nMPI_Barrier 9223372036854775806 9223372036854775807\n",
	} {
		l := levelOf(t, text, trace.Always(), 20)
		for _, o := range []TextOptions{{Width: 40}, {Width: 40, ASCII: true}, {Width: 40, Lines: 2, Colors: Indexed}, {Width: 1, Lines: 1, Colors: Basic, ASCII: true}} {
			var b strings.Builder
			if err := l.WriteText(&b, o); err != nil {
				t.Errorf("%q: %v", text, err)
			}
			if o.ASCII && strings.IndexFunc(b.String(), func(r rune) bool { return r > 126 }) >= 0 {
				t.Errorf("%q is not drawn in ASCII:\n%s", text, b.String())
			}
		}
		if err := l.WriteSVG(&strings.Builder{}, SVGOptions{}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Cells agree with going through every nanosecond.
func TestCellsOfRandomRuns(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	functions := []mpi.FuncID{mpi.FuncSend, mpi.FuncWait, mpi.FuncBarrier, mpi.FuncInit}
	for run := range 200 {
		const length = 300
		var level [3][length]int // by thread: class of the call in progress + 1
		first, last := int64(math.MaxInt64), int64(0)
		type call struct {
			begin, end int64
			sig        uint32
		}
		var calls []call
		var sigs []format.Sig
		for thread := range uint32(3) {
			for now := random.Int63n(100); now < length; {
				end := min(now+random.Int63n(40), length)
				if random.Intn(3) > 0 {
					fn := functions[random.Intn(len(functions))]
					sigs = append(sigs, format.Sig{Func: fn, Thread: thread})
					calls = append(calls, call{now, end, uint32(len(sigs) - 1)})
					for i := now; i < end; i++ {
						level[thread][i] = int(classOf(fn)) + 1
					}
					first, last = min(first, now), max(last, end)
				}
				now = end + random.Int63n(30)
			}
		}
		c := &format.Calls{Sigs: sigs}
		for at := range int64(length + 1) {
			for _, x := range calls {
				if x.begin == at {
					c.Index = append(c.Index, x.sig)
					c.Begin = append(c.Begin, x.begin)
					c.End = append(c.End, x.end)
				}
			}
		}
		begin := random.Int63n(length - 1)
		w := trace.Window{Begin: begin, End: begin + 1 + random.Int63n(length-begin)}
		bins := 1 + random.Intn(20)
		b := NewBuilder(&format.Definitions{}, Spec{Window: w, Bins: bins, Rows: [][]int32{{0}}})
		walk := b.Walk(0)
		walk.Add(c)
		walk.Close(math.MaxInt64)
		l := b.Level()
		for i := range bins {
			var want Cell
			for at := l.edges[i]; at < l.edges[i+1]; at++ {
				if at < first || at >= last {
					continue
				}
				want.Recorded++
				busy := false
				for thread := range level {
					if class := level[thread][at]; class > 0 {
						want.Classes[class-1]++
						busy = true
					}
				}
				if busy {
					want.Busy++
				}
			}
			if d := cmp.Diff(want, l.Rows[0].Cells[i]); d != "" {
				t.Fatalf("run %d, bin %d (-want +got):\n%s", run, i, d)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		begin, end int64
		most       int
		want       []string
	}{
		{0, 1e9, 5, []string{"0", "200 ms", "400 ms", "600 ms", "800 ms"}},
		{0, 3e9, 6, []string{"0", "0.5 s", "1.0 s", "1.5 s", "2.0 s", "2.5 s"}},
		{0, 553e6, 6, []string{"0", "100 ms", "200 ms", "300 ms", "400 ms", "500 ms"}},
		{1_234_567_000, 1_234_667_000, 2, []string{"1.23460 s", "1.23465 s"}},
		{1_234_567_000, 1_234_567_100, 2, []string{"+0", "+50 ns"}},
		{150, 190, 4, []string{"150 ns", "160 ns", "170 ns", "180 ns"}},
		{0, 1, 4, []string{"0"}},
		{-100, 100, 2, []string{"-100 ns", "0"}},
	} {
		var got []string
		for _, x := range ticks(trace.Window{Begin: c.begin, End: c.end}, c.most) {
			got = append(got, x.label)
		}
		equal(t, "ticks", got, c.want)
	}
}

func TestStack(t *testing.T) {
	s := func(wait, computation, off float64) (x [numParts]float64) {
		x[Completion], x[partComputation], x[partOff] = wait, computation, off
		x[partNone] = 1 - wait - computation - off
		return x
	}
	for _, c := range []struct {
		wait, computation, off float64
		levels                 int
		want                   [3]int
	}{
		{0.5, 0.5, 0, 8, [3]int{4, 4, 0}},
		{1, 0, 0, 8, [3]int{8, 0, 0}},
		{0.03, 0.97, 0, 8, [3]int{1, 7, 0}}, // from two percent on MPI is seen
		{0.01, 0.99, 0, 8, [3]int{0, 8, 0}},
		{0.25, 0.25, 0.5, 16, [3]int{4, 4, 8}},
		{0, 0, 0, 8, [3]int{0, 0, 0}},
	} {
		got := stack(s(c.wait, c.computation, c.off), c.levels)
		equal(t, "stack", [3]int{got[Completion], got[partComputation], got[partOff]}, c.want)
		sum := 0
		for _, n := range got {
			sum += n
		}
		equal(t, "sum", sum, c.levels)
	}
}

func TestLetters(t *testing.T) {
	for _, c := range []struct {
		cell Cell
		want string
	}{
		{Cell{Classes: in(Collective, 100), Busy: 100, Recorded: 100}, "C"},
		{Cell{Classes: in(Collective, 50), Busy: 50, Recorded: 100}, "C"},
		{Cell{Classes: in(Collective, 49), Busy: 49, Recorded: 100}, "c"},
		{Cell{Classes: in(Collective, 9), Busy: 9, Recorded: 100}, "."},
		{Cell{Recorded: 100}, "."},
		{Cell{Off: 60, Recorded: 40}, "-"},
		{Cell{}, ""},
		{Cell{Classes: in(PointToPoint, 100), Busy: 100, Recorded: 100, InFlight: 60}, "!"},
		{Cell{Classes: in(OneSided, 20), Busy: 20, Recorded: 20}, ""}, // mostly not there
	} {
		drawn := make([]line, 1)
		(&text{}).cell(drawn, &c.cell, 100, true)
		equal(t, "letter", drawn[0].end(), c.want)
	}
}

func TestBlocks(t *testing.T) {
	indexed := &text{TextOptions: TextOptions{Colors: Indexed}}
	for _, c := range []struct {
		name string
		cell Cell
		want []string // from the lowest line
	}{
		{"all MPI", Cell{Classes: in(Completion, 100), Busy: 100, Recorded: 100}, []string{"\x1b[0;48;5;202m \x1b[0m"}},
		{"half MPI", Cell{Classes: in(Completion, 50), Busy: 50, Recorded: 100}, []string{"\x1b[0;38;5;202;48;5;244m▄\x1b[0m"}},
		{"half MPI, two lines", Cell{Classes: in(Completion, 50), Busy: 50, Recorded: 100},
			[]string{"\x1b[0;48;5;202m \x1b[0m", "\x1b[0;48;5;244m \x1b[0m"}},
		{"never returned", Cell{Classes: in(PointToPoint, 100), Busy: 100, Recorded: 100, InFlight: 100}, []string{"\x1b[0;1;97;48;5;33m!\x1b[0m"}},
		{"off", Cell{Off: 100}, []string{"\x1b[0;2m-\x1b[0m"}},
		{"nothing", Cell{}, []string{""}},
	} {
		lines := make([]line, len(c.want))
		indexed.cell(lines, &c.cell, 100, true)
		var got []string
		for i := range lines {
			got = append(got, lines[i].end())
		}
		equal(t, c.name, got, c.want)
	}
	basic := &text{TextOptions: TextOptions{Colors: Basic}}
	drawn := make([]line, 1)
	basic.cell(drawn, &Cell{Classes: in(Completion, 50), Busy: 50, Recorded: 100}, 100, true)
	equal(t, "sixteen colours", drawn[0].end(), "\x1b[0;31;100m▄\x1b[0m")
}

func TestRankList(t *testing.T) {
	equal(t, "ranks", rankList([]int32{0, 1, 2, 5, 7, 8}), "0-2,5,7-8")
}

func TestRegions(t *testing.T) {
	l := levelOf(t, `
text id=1 text=solve
text id=2 text=exchange
text id=3 text=größe
rank 0
MPI_Pcontrol 10 20 args=[9093 1]
MPI_Pcontrol 25 30 args=[9093 2]
MPI_Pcontrol 40 41 args=[9093 9] thread=1
MPI_Pcontrol 60 61 args=[9094 2]
MPI_Pcontrol 64 65 args=[9093 3]
MPI_Pcontrol 66 67 args=[9094 3]
MPI_Pcontrol 120 121 args=[9094 1]
MPI_Pcontrol 130 140 args=[9093 3]
MPI_Pcontrol 150 151 args=[9094 1]
MPI_Barrier 190 200
rank 1
MPI_Pcontrol 0 0 args=[9093 2]
`, trace.Window{Begin: 0, End: 200}, 20)
	r := l.Regions
	equal(t, "rank", r.Rank, int32(0))
	equal(t, "depths", len(r.Names), 2)
	equal(t, "outer", r.line(0, false), "  ├─solve──┤  ├größ┤")
	equal(t, "inner", r.line(1, false), "   ├e┤              ")
	equal(t, "ASCII", r.line(0, true), "  [-solve--]  [gr??]")
}

// Where several regions share a bin, the one that is most of it is shown, if it
// is half of the bin.
func TestRegionsInOneBin(t *testing.T) {
	l := levelOf(t, `
text id=1 text=a
text id=2 text=b
rank 0
MPI_Pcontrol 0 0 args=[9093 1]
MPI_Pcontrol 4 4 args=[9094 1]
MPI_Pcontrol 4 4 args=[9093 2]
MPI_Pcontrol 10 10 args=[9094 2]
MPI_Pcontrol 12 12 args=[9093 1]
MPI_Pcontrol 16 16 args=[9094 1]
MPI_Pcontrol 29 30 args=[5]
`, trace.Window{Begin: 0, End: 30}, 3)
	equal(t, "names", l.Regions.Names, [][]string{{"b", "", ""}})
}
