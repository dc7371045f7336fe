// SPDX-License-Identifier: Apache-2.0

package tracegen

import (
	"os"
	"testing"

	"github.com/mpitrace/mpitrace/format"
)

type message struct {
	from, to, tag int32
}

// Every message that is received was sent, not later than it arrived, and as
// large; every rank makes the same collectives, which nobody leaves before the
// last has come.
func TestPatternsFitTogether(t *testing.T) {
	for _, pattern := range Patterns {
		for _, o := range []Options{
			{Ranks: 1, Calls: 500},
			{Ranks: 2, Calls: 5_000},
			{Ranks: 6, Calls: 3_000, Threads: 3},
		} {
			o.Dir, o.Pattern, o.Seed = t.TempDir(), pattern, 7
			result, err := Generate(o)
			if err != nil {
				t.Fatal(err)
			}
			type part struct{ time, bytes int64 }
			sent, received := map[message][]part{}, map[message][]part{}
			type instance struct {
				calls               int
				lastBegin, firstEnd int64
			}
			var collectives []instance
			calls := uint64(0)
			for rank, path := range result.Paths {
				at := 0
				each(t, path, func(c *format.Calls, s *format.Sig, begin, end int64, done []format.DoneSig) {
					calls++
					if end < begin {
						t.Fatalf("%v: rank %d: a call of %d ends %d before it begins", pattern, rank, s.Func, begin-end)
					}
					switch s.Func {
					case funcSend, funcIsend:
						m := message{int32(rank), s.Peer, s.Tag}
						sent[m] = append(sent[m], part{begin, s.Bytes})
					case funcRecv:
						m := message{s.Peer, int32(rank), s.Tag}
						received[m] = append(received[m], part{end, s.Bytes})
					case funcAllreduce, funcBcast:
						if at == len(collectives) {
							collectives = append(collectives, instance{firstEnd: end})
						}
						x := &collectives[at]
						x.calls++
						x.lastBegin, x.firstEnd = max(x.lastBegin, begin), min(x.firstEnd, end)
						at++
					}
					for _, d := range done {
						if d.Kind == format.DoneRecv {
							m := message{d.Source, int32(rank), d.Tag}
							received[m] = append(received[m], part{end, d.Bytes})
						}
					}
				})
			}
			if calls != result.Calls || calls < uint64(o.Calls)*uint64(o.Ranks) {
				t.Errorf("%v: %d calls, reported %d, asked for %d each", pattern, calls, result.Calls, o.Calls)
			}
			if o.Ranks > 1 && len(sent) == 0 {
				t.Errorf("%v: no messages", pattern)
			}
			for m, parts := range received {
				if len(sent[m]) != len(parts) {
					t.Fatalf("%v: %+v: %d sent, %d received", pattern, m, len(sent[m]), len(parts))
				}
				for i, p := range parts {
					if s := sent[m][i]; s.time > p.time || s.bytes != p.bytes {
						t.Fatalf("%v: %+v: message %d sent at %d with %d bytes, received at %d with %d", pattern, m, i, s.time, s.bytes, p.time, p.bytes)
					}
				}
				delete(sent, m)
			}
			if len(sent) > 0 {
				t.Errorf("%v: messages never received: %v", pattern, sent)
			}
			for i, x := range collectives {
				if x.calls != o.Ranks || x.lastBegin > x.firstEnd {
					t.Errorf("%v: collective %d: %+v", pattern, i, x)
				}
			}
		}
	}
}

// each calls f with every call of a file.
func each(t *testing.T, path string, f func(c *format.Calls, s *format.Sig, begin, end int64, done []format.DoneSig)) {
	t.Helper()
	r, err := format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var c format.Calls
	for i := range r.Blocks() {
		if err := r.ReadCalls(i, &c); err != nil {
			t.Fatal(err)
		}
		at := 0
		for k, x := range c.Index {
			s := &c.Sigs[x]
			var done []format.DoneSig
			for range s.NDone {
				done = append(done, c.DoneSigs[c.DoneIndex[at]])
				at++
			}
			f(&c, s, c.Begin[k], c.End[k], done)
		}
	}
}

func TestTheSameEachTime(t *testing.T) {
	var files [2][]byte
	for i := range files {
		result, err := Generate(Options{Dir: t.TempDir(), Ranks: 2, Calls: 20_000, Pattern: Irregular, Seed: 3, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		if files[i], err = os.ReadFile(result.Paths[1]); err != nil {
			t.Fatal(err)
		}
	}
	if string(files[0]) != string(files[1]) {
		t.Error("two runs with the same options differ")
	}
}

func TestUnfinishedAndCut(t *testing.T) {
	o := Options{Dir: t.TempDir(), Ranks: 1, Calls: 20_000, Pattern: Halo, Unfinished: true}
	whole, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := format.Open(whole.Paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Complete() || len(r.Definitions().Summaries) != 0 || len(r.Problems()) != 0 {
		t.Errorf("complete %v, summaries %v, problems %v", r.Complete(), r.Definitions().Summaries, r.Problems())
	}
	inFlight := 0
	each(t, whole.Paths[0], func(_ *format.Calls, s *format.Sig, _, _ int64, _ []format.DoneSig) {
		if s.Flags&format.FlagInFlight != 0 {
			inFlight++
		}
	})
	if inFlight != 1 {
		t.Errorf("%d calls in flight, want 1", inFlight)
	}

	o.Cut = 10
	cut, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := format.Open(cut.Paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if cut.Bytes != whole.Bytes-10 || c.Size() != cut.Bytes || len(c.Problems()) != 1 || c.Problems()[0].LostCalls <= 0 {
		t.Errorf("%d bytes of %d, problems %v", cut.Bytes, whole.Bytes, c.Problems())
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{{Pattern: Halo}, {Ranks: 1, Pattern: "stencil"}, {Ranks: 1, Calls: -1, Pattern: Halo}} {
		if _, err := Generate(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
