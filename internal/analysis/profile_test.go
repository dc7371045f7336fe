// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
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

func profileOf(t *testing.T, text string) *Profile {
	t.Helper()
	return Read(open(t, text), trace.Everything(), nil)
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// function returns a row of the table of functions.
func function(t *testing.T, p *Profile, name string) Function {
	t.Helper()
	for _, f := range p.Functions {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("the profile has no %s", name)
	return Function{}
}

// states are how a rank's time is divided.
type states struct{ Begin, End, Computation, MPI, Recorder, Off int64 }

func statesOf(r Rank) states {
	return states{r.Begin, r.End, r.Computation, r.MPI, r.Recorder, r.Off}
}

const twoRanks = `
comm id=1 name=MPI_COMM_WORLD group=0-1
datatype id=1 name=MPI_DOUBLE size=8 extent=8
site id=1 file=/src/main.c line=10 function=main
site id=2 file=/src/halo.c line=42 function=exchange
process rank=0 host=a
process rank=1 host=b
`

func TestShares(t *testing.T) {
	p := profileOf(t, twoRanks+`
rank 0
MPI_Init 0 100 site=1
MPI_Send 150 160 comm=1 peer=1 tag=7 count=4 datatype=1 bytes=32 site=2
MPI_Send 200 230 comm=1 peer=1 tag=7 count=8 datatype=1 bytes=64 site=2
MPI_Barrier 300 400 comm=1 site=1
MPI_Finalize 500 510 site=1
summary calls=5 end=510 finalized=yes
rank 1
MPI_Init 0 120 site=1
MPI_Recv 120 170 comm=1 peer=0 tag=7 count=4 datatype=1 bytes=32 site=2
MPI_Recv 180 240 comm=1 peer=0 tag=7 count=8 datatype=1 bytes=64 site=2
MPI_Barrier 380 400 comm=1 site=1
MPI_Finalize 500 512 site=1
summary calls=5 end=512 finalized=yes
`)
	// Rank 0 from 100 to 500: in MPI 10+30+100; rank 1 from 120 to 500: 50+60+20.
	equal(t, "rank 0", statesOf(p.Ranks[0]), states{100, 500, 260, 140, 0, 0})
	equal(t, "rank 1", statesOf(p.Ranks[1]), states{120, 500, 250, 130, 0, 0})
	equal(t, "traffic of rank 0", p.Ranks[0].Traffic, Traffic{Sent: 96})
	equal(t, "traffic of rank 1", p.Ranks[1].Traffic, Traffic{Received: 96})
	equal(t, "hosts", p.Ranks[1].Host, "b")
	equal(t, "wall", p.Run.Wall, int64(400))
	equal(t, "calls", p.Run.Calls, uint64(10))
	equal(t, "efficiency", p.Efficiency, Efficiency{
		Time: 780, Computation: 510, MPI: 270,
		MPIShare:      270.0 / 780,
		Parallel:      255.0 / 400,
		LoadBalance:   255.0 / 260,
		Communication: 260.0 / 400,
	})
	equal(t, "MPI_Send", function(t, p, "MPI_Send"), Function{
		Name: "MPI_Send", Family: "p2p", Calls: 2, Returned: 2, Time: 40,
		ShareApp: 40.0 / 780, ShareMPI: 40.0 / 270,
		Durations: Durations{Mean: 20, Min: 10, Median: 10, P99: 30, Max: 30},
		Imbalance: Imbalance{Factor: 2, Rank: 0, RankTime: 40, Ranks: 1},
		Traffic:   Traffic{Sent: 96},
	})
	equal(t, "MPI_Barrier", function(t, p, "MPI_Barrier"), Function{
		Name: "MPI_Barrier", Family: "collective", Calls: 2, Returned: 2, Time: 120,
		ShareApp: 120.0 / 780, ShareMPI: 120.0 / 270,
		Durations: Durations{Mean: 60, Min: 20, Median: 20, P99: 100, Max: 100},
		Imbalance: Imbalance{Factor: 100.0 / 60, Rank: 0, RankTime: 100, Ranks: 2},
	})
	init := function(t, p, "MPI_Init")
	equal(t, "MPI_Init", init, Function{
		Name: "MPI_Init", Family: "environment", Setup: true, Calls: 2, Returned: 2, Time: 220,
		Durations: Durations{Mean: 110, Min: 100, Median: 100, P99: 120, Max: 120},
		Imbalance: Imbalance{Factor: 120.0 / 110, Rank: 1, RankTime: 120, Ranks: 2},
	})
	equal(t, "order of functions", []string{p.Functions[0].Name, p.Functions[1].Name}, []string{"MPI_Init", "MPI_Barrier"})
	equal(t, "losses", p.Losses, Losses{Problems: []trace.Problem{}, Waits: []Wait{}, Unfinished: []Unfinished{}})

	var places []string
	for _, s := range p.Sites {
		places = append(places, s.Function+" "+s.Place+" "+s.Caller)
	}
	equal(t, "sites", places, []string{
		"MPI_Init main.c:10 main", "MPI_Barrier main.c:10 main", "MPI_Recv halo.c:42 exchange",
		"MPI_Send halo.c:42 exchange", "MPI_Finalize main.c:10 main",
	})
}

// Two sites with different addresses on the same line are one row, and two
// functions called there two.
func TestSitesJoin(t *testing.T) {
	p := profileOf(t, `
module id=1 path=/opt/app base=0x1000
site id=1 file=/src/a.c line=5 function=main module=1 address=0x1010
site id=2 file=/src/a.c line=5 function=main module=1 address=0x1020
site id=3 module=1 address=0x1030
site id=4 function=main+0x44 module=1 address=0x1044
rank 0
MPI_Barrier 0 10 site=1
MPI_Barrier 20 50 site=2
MPI_Barrier 60 61 site=3
MPI_Barrier 70 72 site=4
MPI_Barrier 80 83
MPI_Bcast 90 94 site=1
`)
	type row struct {
		Function, Place string
		Calls           uint64
		Time, Min, Max  int64
	}
	var rows []row
	for _, s := range p.Sites {
		rows = append(rows, row{s.Function, s.Place, s.Calls, s.Time, s.Min, s.Max})
	}
	equal(t, "sites", rows, []row{
		{"MPI_Barrier", "a.c:5", 2, 40, 10, 30},
		{"MPI_Bcast", "a.c:5", 1, 4, 4, 4},
		{"MPI_Barrier", "(unknown)", 1, 3, 3, 3},
		{"MPI_Barrier", "main+0x44", 1, 2, 2, 2},
		{"MPI_Barrier", "app+0x30", 1, 1, 1, 1},
	})
}

func TestTinyRuns(t *testing.T) {
	for _, c := range []struct {
		name, text string
		calls      uint64
		want       []states
	}{
		{"no calls", "rank 0\n", 0, nil},
		{"a rank without calls", "process rank=0\nrank 0\n", 0, []states{{}}},
		{"a rank without calls that ended", "process rank=0\nrank 0\nsummary calls=0 end=500 finalized=yes\n", 0, []states{{}}},
		{"one call", "rank 0\nMPI_Barrier 5 9\n", 1, []states{{5, 9, 0, 4, 0, 0}}},
		{"one call, then a while", "rank 0\nMPI_Barrier 5 9\nsummary calls=1 end=20\n", 1, []states{{5, 20, 11, 4, 0, 0}}},
		{"a call without length", "rank 0\nMPI_Barrier 7 7\n", 1, []states{{7, 7, 0, 0, 0, 0}}},
		{"only init", "rank 0\nMPI_Init 3 8\n", 1, []states{{8, 8, 0, 0, 0, 0}}},
		{"init and finalize", "rank 0\nMPI_Init 3 8\nMPI_Finalize 8 9\n", 2, []states{{8, 8, 0, 0, 0, 0}}},
		{"only a call in flight", "rank 0\nMPI_Recv 4 -\n", 1, []states{{4, 4, 0, 0, 0, 0}}},
		{"before 0", "rank 0\nMPI_Barrier -9 -5\n", 1, []states{{-9, -5, 0, 4, 0, 0}}},
		{"calls before init do not count", "rank 0\nMPI_Initialized 1 2\nMPI_Init 10 20\nMPI_Barrier 25 35\nMPI_Finalize 40 45\nMPI_Finalized 50 51\n", 5,
			[]states{{20, 40, 10, 10, 0, 0}}},
		{"a session begins again", "rank 0\nMPI_Session_init 0 10\nMPI_Session_finalize 20 25\nMPI_Session_init 30 40\nMPI_Barrier 50 60\nMPI_Session_finalize 70 75\n", 5,
			[]states{{10, 70, 35, 25, 0, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := profileOf(t, c.text)
			var got []states
			for _, r := range p.Ranks {
				got = append(got, statesOf(r))
			}
			equal(t, "ranks", got, c.want)
			equal(t, "calls", p.Run.Calls, c.calls)
			for _, x := range []float64{p.Efficiency.MPIShare, p.Efficiency.Parallel, p.Efficiency.LoadBalance, p.Efficiency.Communication} {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("efficiency %+v", p.Efficiency)
				}
			}
		})
	}
}

// A call from a callback is a call, with its bytes, but its time is its
// caller's.
func TestNested(t *testing.T) {
	p := profileOf(t, twoRanks+`
rank 0
MPI_Allreduce 100 200 comm=1 count=1 datatype=1 bytes=8 second.count=1 second.datatype=1 second.bytes=8
MPI_Send 120 150 comm=1 peer=1 tag=1 bytes=16 flags=nested
MPI_Send 300 310 comm=1 peer=1 tag=1 bytes=16
`)
	equal(t, "rank", statesOf(p.Ranks[0]), states{100, 310, 100, 110, 0, 0})
	send := function(t, p, "MPI_Send")
	equal(t, "MPI_Send", []any{send.Calls, send.Returned, send.Time, send.Nested, send.NestedTime, send.Max, send.Sent},
		[]any{uint64(2), uint64(1), int64(10), uint64(1), int64(30), int64(10), int64(32)})
	equal(t, "share", send.ShareMPI, 10.0/110)
}

func TestUnfinished(t *testing.T) {
	p := profileOf(t, twoRanks+`
rank 0
MPI_Init 0 10
MPI_Recv 50 - comm=1 peer=1 tag=9 count=4 datatype=1 site=2
rank 1
MPI_Init 0 10
MPI_Barrier 20 110 comm=1
`)
	// Rank 0 is in MPI_Recv from 50 to the end of the run at 110.
	equal(t, "rank 0", statesOf(p.Ranks[0]), states{10, 110, 40, 60, 0, 0})
	recv := function(t, p, "MPI_Recv")
	equal(t, "MPI_Recv", []any{recv.Calls, recv.Returned, recv.Time, recv.Mean, recv.Min, recv.Max, recv.Unfinished, recv.Received},
		[]any{uint64(1), uint64(0), int64(60), int64(0), int64(0), int64(0), uint64(1), int64(0)})
	peer, tag := int32(1), int32(9)
	equal(t, "unfinished", p.Losses.Unfinished, []Unfinished{{
		Rank: 0, Function: "MPI_Recv", Begin: 50, Time: 60, Peer: &peer, Tag: &tag, Comm: "MPI_COMM_WORLD", Site: "halo.c:42",
	}})
	if len(p.Losses.Problems) == 0 {
		t.Error("ranks without a summary are not among the problems")
	}
}

// A call that was left by a jump lasted, as far as is known, until its thread
// called again.
func TestLeft(t *testing.T) {
	p := profileOf(t, `
rank 0
MPI_Recv 50 - peer=1
MPI_Send 80 90 peer=1
`)
	equal(t, "rank", statesOf(p.Ranks[0]), states{50, 90, 0, 40, 0, 0})
	equal(t, "left", []any{p.Losses.Unfinished[0].Left, p.Losses.Unfinished[0].Time}, []any{true, int64(30)})
	equal(t, "MPI_Recv", function(t, p, "MPI_Recv").Time, int64(30))
}

// Two threads in MPI at once are one rank in MPI once.
func TestThreads(t *testing.T) {
	p := profileOf(t, `
rank 0
MPI_Init 0 10
MPI_Recv 20 60 thread=1
MPI_Send 30 50
MPI_Send 55 80
MPI_Recv 90 100 thread=1
MPI_Finalize 110 120
`)
	// In MPI from 20 to 80 and from 90 to 100 of 10 to 110.
	equal(t, "rank", statesOf(p.Ranks[0]), states{10, 110, 30, 70, 0, 0})
	equal(t, "threads", p.Ranks[0].Threads, []Thread{{ID: 0, Calls: 4, MPI: 10 + 20 + 25 + 10}, {ID: 1, Calls: 2, MPI: 50}})
	equal(t, "threaded", p.Run.Threaded, true)
	equal(t, "share", function(t, p, "MPI_Recv").ShareMPI, 50.0/95)
}

// While one thread is in a call that never returns, the rank is in MPI.
func TestThreadInFlight(t *testing.T) {
	p := profileOf(t, `
rank 0
MPI_Recv 20 - thread=1
MPI_Send 30 50
MPI_Send 70 100
`)
	equal(t, "rank", statesOf(p.Ranks[0]), states{20, 100, 0, 80, 0, 0})
	equal(t, "MPI_Recv", function(t, p, "MPI_Recv").Time, int64(80))
}

func TestRecordingOff(t *testing.T) {
	p := profileOf(t, `
text id=1 text=solve
rank 0
MPI_Init 0 10
MPI_Barrier 20 30
MPI_Pcontrol 40 41 args=[0 0]
MPI_Pcontrol 90 92 args=[1 0]
MPI_Barrier 95 100
MPI_Pcontrol 110 111 args=[0 0]
MPI_Finalize 150 160
`)
	// 10 to 150: MPI 10+1+2+5+1; off 41 to 90 and 111 to 150; the rest computes.
	equal(t, "rank", statesOf(p.Ranks[0]), states{10, 150, 140 - 19 - 49 - 39, 19, 0, 49 + 39})
}

// What the recorder needs between two calls is not the program's computation;
// what it needs inside a call is that call's time already.
func TestDrains(t *testing.T) {
	p := profileOf(t, `
rank 0
MPI_Init 0 10
MPI_Barrier 20 30
MPI_Pcontrol 60 80 args=[2 0]
MPI_Barrier 90 100
MPI_Finalize 110 120
drain kind=inline begin=32 end=40 calls=7
drain kind=inline begin=38 end=45 thread=1
drain kind=flush begin=62 end=78
drain kind=background begin=102 end=104
`)
	equal(t, "rank", statesOf(p.Ranks[0]), states{10, 110, 100 - 40 - 13, 40, 13, 0})
	equal(t, "waits", p.Losses.Waits, []Wait{
		{Kind: "inline", Count: 2, Time: 15, Max: 8, Ranks: 1},
		{Kind: "flush", Count: 1, Time: 16, Max: 16, Ranks: 1},
	})
}

func TestRegions(t *testing.T) {
	p := profileOf(t, `
text id=1 text=solve
text id=2 text=exchange
rank 0
MPI_Init 0 10
MPI_Pcontrol 20 21 args=[9093 1]
MPI_Send 30 34 peer=1
MPI_Pcontrol 40 42 args=[9093 2]
MPI_Send 50 58 peer=1
MPI_Pcontrol 60 61 args=[9094 2]
MPI_Pcontrol 70 71 args=[9093 2]
MPI_Pcontrol 75 76 args=[9094 2]
MPI_Pcontrol 80 81 args=[9094 1]
MPI_Pcontrol 85 86 args=[9094 2]
MPI_Pcontrol 90 91 args=[5]
MPI_Pcontrol 92 93 args=[5]
MPI_Finalize 100 110
rank 1
MPI_Init 0 10
MPI_Pcontrol 20 21 args=[9093 1]
MPI_Pcontrol 30 31 args=[9093 2]
MPI_Pcontrol 61 62 args=[9094 1]
MPI_Pcontrol 70 71 args=[9093]
MPI_Finalize 90 95
`)
	// solve: rank 0 from 21 to 80, rank 1 from 21 to 61 (ends exchange, begun at 31, too).
	// exchange: rank 0 from 42 to 60 and from 71 to 75, rank 1 from 31 to 61.
	// MPI in solve: rank 0 4+2+8+1+1+1 = 17, rank 1 1; in exchange: 8.
	// The nameless region of rank 1: from 71 to the rank's last time, 95, with MPI_Finalize.
	equal(t, "regions", p.Regions, []Region{
		{Name: "solve", Visits: 2, Inclusive: 59 + 40, Exclusive: 59 - 22 + 40 - 30, MPI: 17 + 1, Max: 59,
			Imbalance: Imbalance{Factor: 59 / 49.5, Rank: 0, RankTime: 59, Ranks: 2}},
		{Name: "exchange", Visits: 3, Inclusive: 22 + 30, Exclusive: 52, MPI: 8, Max: 30, Unclosed: 1, Unmatched: 1,
			Imbalance: Imbalance{Factor: 30.0 / 26, Rank: 1, RankTime: 30, Ranks: 2}},
		{Name: "(unnamed)", Visits: 1, Inclusive: 24, Exclusive: 24, MPI: 5, Max: 24, Unclosed: 1,
			Imbalance: Imbalance{Factor: 2, Rank: 1, RankTime: 24, Ranks: 1}},
	})
	equal(t, "markers", p.Markers, []Marker{{Level: 5, Count: 2, Ranks: 1, First: 90, Last: 92}})
}

// A region inside one of the same name counts once.
func TestRecursiveRegion(t *testing.T) {
	p := profileOf(t, `
text id=1 text=f
rank 0
MPI_Pcontrol 10 10 args=[9093 1]
MPI_Pcontrol 20 20 args=[9093 1]
MPI_Pcontrol 30 30 args=[9094 1]
MPI_Pcontrol 50 50 args=[9094 1]
`)
	r := p.Regions[0]
	equal(t, "region", []any{r.Visits, r.Inclusive, r.Exclusive}, []any{uint64(2), int64(40), int64(40)})
}

// Regions nest within a thread, not across threads.
func TestRegionsOfThreads(t *testing.T) {
	p := profileOf(t, `
text id=1 text=a
text id=2 text=b
rank 0
MPI_Pcontrol 10 10 args=[9093 1]
MPI_Pcontrol 20 20 args=[9093 2] thread=1
MPI_Pcontrol 30 30 args=[9094 1]
MPI_Pcontrol 50 50 args=[9094 2] thread=1
`)
	equal(t, "a", []any{p.Regions[1].Name, p.Regions[1].Inclusive, p.Regions[1].Exclusive, p.Regions[1].Unclosed}, []any{"a", int64(20), int64(20), uint64(0)})
	equal(t, "b", []any{p.Regions[0].Name, p.Regions[0].Inclusive, p.Regions[0].Exclusive, p.Regions[0].Unmatched}, []any{"b", int64(30), int64(30), uint64(0)})
}

func TestTraffic(t *testing.T) {
	p := profileOf(t, twoRanks+`
rank 0
MPI_Send_init 0 1 comm=1 peer=1 tag=1 count=2 datatype=1 bytes=16 request=1
MPI_Recv_init 2 3 comm=1 peer=1 tag=1 count=2 datatype=1 bytes=16 request=2
MPI_Start 4 5 request=1
MPI_Startall 6 7 done=[1:pending 2:pending]
MPI_Waitall 8 9 done=[1:send 2:recv,source=1,tag=1,bytes=12]
MPI_Irecv 10 11 comm=1 peer=any tag=1 count=100 datatype=1 bytes=800 request=3
MPI_Irecv 12 13 comm=1 peer=any tag=1 count=100 datatype=1 bytes=800 request=4
MPI_Waitall 14 15 done=[3:recv,source=1,tag=1,bytes=80 4:recv,source=1,tag=1,bytes=80,flags=cancelled]
MPI_Isend 16 17 comm=1 peer=null tag=1 bytes=8 request=5
MPI_Sendrecv 18 19 comm=1 peer=1 tag=1 bytes=24 second.peer=1 second.tag=1 second.bytes=40
MPI_Bcast 20 21 comm=1 root=0 count=4 datatype=1 bytes=32
MPI_Bcast 22 23 comm=1 root=1 count=8 datatype=1 bytes=64
MPI_Allreduce 24 25 comm=1 count=1 datatype=1 bytes=8
MPI_Reduce 25 26 comm=1 root=0 count=1 datatype=1 bytes=8
MPI_Reduce 25 26 comm=1 root=1 count=1 datatype=1 bytes=8
MPI_Gather 25 26 comm=1 root=0 count=1 datatype=1 bytes=8 second.count=1 second.datatype=1 second.bytes=16
MPI_Gather 25 26 comm=1 root=1 count=1 datatype=1 bytes=8
MPI_Scatter 25 26 comm=1 root=1 second.count=1 second.datatype=1 second.bytes=8
MPI_Put 26 27 peer=1 count=1 datatype=1 bytes=128
MPI_Get 28 29 peer=1 count=1 datatype=1 bytes=256
MPI_File_write 30 31 file=1 bytes=1000
MPI_File_read_at 32 33 file=1 bytes=3000
MPI_Barrier 34 35 comm=1
MPI_Send 36 37 comm=1 peer=1 tag=1 bytes=0
`)
	equal(t, "rank", p.Ranks[0].Traffic, Traffic{
		Sent:     16 + 16 + 24 + 32 + 8 + 16 + 16 + 128,
		Received: 12 + 80 + 40 + 64 + 8 + 8 + 16 + 8 + 256,
		Written:  1000, Read: 3000,
	})
	traffic := map[string]Traffic{}
	for _, f := range p.Functions {
		if f.Traffic != (Traffic{}) {
			traffic[f.Name] = f.Traffic
		}
	}
	equal(t, "functions", traffic, map[string]Traffic{
		"MPI_Start":        {Sent: 16},
		"MPI_Startall":     {Sent: 16},
		"MPI_Waitall":      {Received: 92},
		"MPI_Sendrecv":     {Sent: 24, Received: 40},
		"MPI_Bcast":        {Sent: 32, Received: 64},
		"MPI_Allreduce":    {Sent: 8, Received: 8},
		"MPI_Reduce":       {Sent: 16, Received: 8},
		"MPI_Gather":       {Sent: 16, Received: 16},
		"MPI_Scatter":      {Received: 8},
		"MPI_Put":          {Sent: 128},
		"MPI_Get":          {Received: 256},
		"MPI_File_write":   {Written: 1000},
		"MPI_File_read_at": {Read: 3000},
	})
	sizes := map[int64]Size{}
	for _, s := range p.Sizes {
		sizes[s.Low] = s
	}
	equal(t, "smallest", p.Sizes[0], Size{Low: 0, High: 1, Sends: Count{1, 0}})
	equal(t, "8 to 16", sizes[8], Size{Low: 8, High: 16, Receives: Count{1, 12}, Collectives: Count{5, 40}})
	equal(t, "16 to 32", sizes[16], Size{Low: 16, High: 32, Sends: Count{3, 56}, Collectives: Count{1, 16}})
	equal(t, "32 to 64", sizes[32], Size{Low: 32, High: 64, Receives: Count{1, 40}, Collectives: Count{1, 32}})
	equal(t, "64 to 128", sizes[64], Size{Low: 64, High: 128, Receives: Count{1, 80}, Collectives: Count{1, 64}})
	equal(t, "128 to 256", sizes[128], Size{Low: 128, High: 256, OneSided: Count{1, 128}})
	equal(t, "256 to 512", sizes[256], Size{Low: 256, High: 512, OneSided: Count{1, 256}})
	equal(t, "2048 to 4096", sizes[2048], Size{Low: 2048, High: 4096, IO: Count{1, 3000}})
	equal(t, "rows", len(p.Sizes), 13)
}

func TestErrors(t *testing.T) {
	p := profileOf(t, `
rank 0
MPI_Send 0 1 peer=1 error=15
MPI_Send 2 3 peer=1
`)
	equal(t, "errors", []any{function(t, p, "MPI_Send").Errors, p.Ranks[0].Errors}, []any{uint64(1), uint64(1)})
}

func TestWindow(t *testing.T) {
	tr := open(t, `
text id=1 text=solve
rank 0
MPI_Init 0 10
MPI_Pcontrol 20 20 args=[9093 1]
MPI_Barrier 30 50
MPI_Barrier 60 64
MPI_Barrier 75 95
MPI_Pcontrol 100 100 args=[9094 1]
MPI_Finalize 110 120
`)
	p := Read(tr, trace.Selection{Window: trace.Window{Begin: 40, End: 80}}, nil)
	// From 40 to 80: MPI 40–50, 60–64 and 75–80.
	equal(t, "rank", statesOf(p.Ranks[0]), states{40, 80, 21, 19, 0, 0})
	barrier := function(t, p, "MPI_Barrier")
	equal(t, "MPI_Barrier", []any{barrier.Calls, barrier.Time, barrier.Min, barrier.Max}, []any{uint64(3), int64(19), int64(4), int64(10)})
	equal(t, "functions", len(p.Functions), 1)
	equal(t, "region", []int64{p.Regions[0].Inclusive, p.Regions[0].MPI}, []int64{40, 19})

	p = Read(tr, trace.Selection{Window: trace.Window{Begin: 51, End: 59}}, nil)
	equal(t, "a window between two calls", statesOf(p.Ranks[0]), states{51, 59, 8, 0, 0, 0})
	p = Read(tr, trace.Selection{Window: trace.Window{Begin: 500, End: 600}}, nil)
	equal(t, "a window behind the end", statesOf(p.Ranks[0]), states{500, 500, 0, 0, 0, 0})
}

func TestKeep(t *testing.T) {
	tr := open(t, twoRanks+`
rank 0
MPI_Send 0 10 comm=1 peer=1 bytes=8
MPI_Barrier 20 40 comm=1
rank 1
MPI_Barrier 20 40 comm=1
`)
	send := func(_ int32, sig *format.Sig) bool { return sig.Peer == 1 }
	ranks, err := trace.ParseRanks("0")
	if err != nil {
		t.Fatal(err)
	}
	p := Read(tr, trace.Selection{Ranks: ranks, Window: trace.Always(), Keep: send}, nil)
	equal(t, "functions", len(p.Functions), 1)
	equal(t, "ranks", len(p.Ranks), 1)
	equal(t, "all calls divide the time", statesOf(p.Ranks[0]), states{0, 40, 10, 30, 0, 0})
	equal(t, "counted calls", p.Ranks[0].Calls, uint64(1))
}

// The quantiles are within one percent whatever the distribution.
func TestQuantiles(t *testing.T) {
	d := newDurations()
	for i := int64(1); i <= 1000; i++ {
		d.add(i * 1_000_003)
	}
	for _, q := range []float64{50, 99} {
		want := q * 10 * 1_000_003
		got := float64(d.quantile(q, 0, math.MaxInt64))
		if math.Abs(got-want) > 0.01*want {
			t.Errorf("quantile %g is %g, want %g within 1 %%", q, got, want)
		}
	}
	d = newDurations()
	for _, x := range []int64{0, -5, math.MaxInt64} {
		d.add(x)
	}
	equal(t, "of extremes", d.hist.TotalCount(), int64(3))
}
