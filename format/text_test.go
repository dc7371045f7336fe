// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/mpitrace/mpitrace/mpi"
)

// buffer is a file in memory.
type buffer struct{ b []byte }

func (m *buffer) Write(p []byte) (int, error) { m.b = append(m.b, p...); return len(p), nil }

// textOf returns the text of a file.
func textOf(t testing.TB, file []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, openBytes(t, file)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fileOf returns the file of a document.
func fileOf(t testing.TB, d *Document) []byte {
	t.Helper()
	m := &buffer{}
	w, err := NewWriter(m, d.Kind, d.Definitions.Run, d.Definitions.Processes...)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(w); err != nil {
		t.Fatal(err)
	}
	return m.b
}

// sampleFile makes a file with some of everything and so many blocks of calls.
func sampleFile(t testing.TB, kind Kind, seed uint64, blocks int) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	m := &buffer{}
	defs := sampleDefinitions(0)
	if kind == KindMerged {
		defs.Processes = append(defs.Processes, sampleProcess(1), sampleProcess(2))
		defs.Comms[0].Rank = NoRank
	}
	w, err := NewWriter(m, kind, defs.Run, defs.Processes...)
	if err != nil {
		t.Fatal(err)
	}
	w.Define(&defs)
	seq := map[int32]uint64{}
	for i := range blocks {
		rank := int32(0)
		if kind == KindMerged {
			rank = int32(i % 3)
		}
		c := randomCalls(rng, rank, seq[rank], 1+rng.IntN(4*blocks))
		seq[rank] += uint64(len(c.Index))
		if err := w.WriteCalls(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m.b
}

func TestTextIsLossless(t *testing.T) {
	for _, kind := range []Kind{KindRank, KindMerged} {
		for seed := range uint64(6) {
			first := sampleFile(t, kind, seed, 12)
			text := textOf(t, first)
			docs, err := ParseText(strings.NewReader(text), "text")
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if len(docs) != 1 {
				t.Fatalf("%d documents", len(docs))
			}
			second := fileOf(t, docs[0])
			equal(t, "text", textOf(t, second), text)
			a, b := openBytes(t, first), openBytes(t, second)
			equal(t, "definitions", *b.Definitions(), *a.Definitions())
			equal(t, "calls", expand(readAll(t, b)), expand(readAll(t, a)))
		}
	}
}

// plainCall is a call with its signature, whatever the dictionary was like.
type plainCall struct {
	Rank       int32
	Seq        uint64
	Sig        Sig
	Begin, End int64
	Request    uint64
	Done       []DoneSig
	DoneNumber []uint64
}

func expand(blocks []*Calls) []plainCall {
	var all []plainCall
	for _, c := range blocks {
		request, done := 0, 0
		for i, x := range c.Index {
			p := plainCall{Rank: c.Rank, Seq: c.FirstSeq + uint64(i), Sig: c.Sigs[x], Begin: c.Begin[i], End: c.End[i]}
			if p.Sig.Flags&FlagRequest != 0 {
				p.Request = c.Request[request]
				request++
			}
			for range p.Sig.NDone {
				p.Done = append(p.Done, c.DoneSigs[c.DoneIndex[done]])
				p.DoneNumber = append(p.DoneNumber, c.DoneRequest[done])
				done++
			}
			all = append(all, p)
		}
	}
	return all
}

const handWritten = `mpitrace-text 1 rank
# What is before the first section is every rank's.
comm id=1 name=MPI_COMM_WORLD group=0-1
comm id=2 name="back to front" group=1:2:-1 parent=1
datatype id=1 name=MPI_DOUBLE size=8 extent=8

rank 0
MPI_Init 0 100
MPI_Isend 110 120 comm=1 peer=1 tag=7 count=4 datatype=1 bytes=32 request=1
MPI_Waitall 130 200 done=[1:send]
MPI_Barrier 210 - comm=2                     # never returned
summary calls=4

rank 1
MPI_Init 0 90
MPI_Recv 100 220 comm=1 peer=0 tag=7 count=8 datatype=1 bytes=32 flags=any-source|any-tag
MPI_Send 230 240 comm=1 peer=null thread=1
MPI_Send 250 260 comm=1 peer=null thread=1
MPI_Waitany 300 310 done=[4:recv,source=0,tag=9,bytes=8,flags=cancelled 5:pending]
`

func TestTextByHand(t *testing.T) {
	docs, err := ParseText(strings.NewReader(handWritten), "hand.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 2 {
		t.Fatalf("%d documents, want 2", len(docs))
	}
	zero, one := docs[0], docs[1]
	equal(t, "run", one.Definitions.Run, Run{Size: 2})
	equal(t, "processes", one.Definitions.Processes, []Process{{Rank: 1}})
	equal(t, "summaries", zero.Definitions.Summaries, []Summary{{Calls: 4}})
	equal(t, "comms of rank 1", one.Definitions.Comms, []Comm{
		{ID: 1, Name: "MPI_COMM_WORLD", Rank: 1, Group: Ranks{{0, 2, 1}}},
		{ID: 2, Name: "back to front", Rank: 0, Parent: 1, Group: Ranks{{1, 2, -1}}},
	})
	plain := Sig{Peer: NoRank, Tag: NoTag, Root: NoRank, Count: NoCount}
	with := func(name string, change func(*Sig)) Sig {
		s := plain
		s.Func = mpi.ByName(name).ID
		change(&s)
		return s
	}
	nothing := func(*Sig) {}
	equal(t, "calls of rank 0", expand(zero.Calls), []plainCall{
		{Seq: 0, Sig: with("MPI_Init", nothing), End: 100},
		{Seq: 1, Sig: with("MPI_Isend", func(s *Sig) {
			s.Comm, s.Peer, s.Tag, s.Count, s.Datatype, s.Bytes, s.Flags = 1, 1, 7, 4, 1, 32, FlagRequest
		}), Begin: 110, End: 120, Request: 1},
		{Seq: 2, Sig: with("MPI_Waitall", func(s *Sig) { s.NDone = 1 }), Begin: 130, End: 200, Done: []DoneSig{{Kind: DoneSend, Source: NoRank, Tag: NoTag}}, DoneNumber: []uint64{1}},
		{Seq: 3, Sig: with("MPI_Barrier", func(s *Sig) { s.Comm = 2; s.Flags = FlagInFlight }), Begin: 210},
	})
	var seqs []uint64
	for _, c := range expand(one.Calls) {
		seqs = append(seqs, uint64(c.Sig.Thread)*100+c.Seq)
	}
	equal(t, "numbers of rank 1", seqs, []uint64{0, 1, 100, 101, 2})

	paths, err := CreateText(strings.NewReader(handWritten), "hand.txt", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, path, expand(readAll(t, openBytes(t, file))), expand(docs[i].Calls))
	}
}

func TestTextErrors(t *testing.T) {
	const head = "mpitrace-text 1 rank\n"
	for _, c := range []struct{ text, want string }{
		{"", `x:1:1: the text is empty: it must begin with "mpitrace-text 1 rank"`},
		{"hello", `x:1:1: the first line must be "mpitrace-text 1 rank" or "mpitrace-text 1 merged"`},
		{"mpitrace-text 2 rank", "x:1:15: the text has version 2, this program reads version 1"},
		{"mpitrace-text 1 file", `x:1:17: "file" is neither "rank" nor "merged"`},
		{head + "frob a=1", `x:2:1: "frob" is neither a kind of definition nor a function`},
		{head + "MPI_Frob 1 2", "x:2:1: no function MPI_Frob"},
		{head + "MPI_Send 1", "x:2:1: should be: MPI_Send BEGIN END …, END - for a call that never returned"},
		{head + "MPI_Send one 2", `x:2:10: "one" is no integer within the limits of this field`},
		{head + "MPI_Send 1 2 peer=x", `x:2:14: peer: "x" is no integer within the limits of this field`},
		{head + "MPI_Send 1 2 pear=3", "x:2:14: a call has no pear"},
		{head + "MPI_Send 1 2 peer=3 peer=4", "x:2:21: peer is given twice"},
		{head + "MPI_Send 1 2 done=7", "x:2:14: done should be a list in brackets"},
		{head + "MPI_Send 1 2 done=[7", "x:2:14: list without end"},
		{head + "MPI_Send 1 2 done=[7:gone]", `x:2:20: "gone" is none of unknown, send, recv, collective, one-sided, io, other, freed, pending, started`},
		{head + "MPI_Send 1 2 flags=big", `x:2:14: flags: "big" is no flag: there are any-source, any-tag, in-flight, nested, in-place, truncated, request, false, cancelled`},
		{head + "comm id=1 name=\"World", "x:2:16: string without end, or with a bad escape"},
		{head + "comm id=1 group=5-3", `x:2:11: group: "5-3" is no range of ranks`},
		{head + "comm id=4294967296", `x:2:6: id: "4294967296" is no number within the limits of this field`},
		{head + "run id=12", "x:2:5: id: should be 32 hexadecimal digits"},
		{head + "process config=[A B]", "x:2:9: config should be a list of name, value, and set or default"},
		{head + "summary finalized=maybe", `x:2:9: finalized: "maybe" is neither yes nor no`},
		{head + "rank", "x:2:1: should be: rank N"},
		{head + "block sequence=4", "x:2:7: a block has no sequence"},
		{head + "=3", "x:2:1: unexpected '='"},
		{head + "a=3", "x:2:1: a line begins with a word or a function, not with a="},
	} {
		_, err := ParseText(strings.NewReader(c.text), "x")
		var te *TextError
		if !errors.As(err, &te) || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// Several rank files are one text, which is several rank files again.
func TestTextOfSeveralRankFiles(t *testing.T) {
	dir, again := t.TempDir(), t.TempDir()
	paths, err := CreateText(strings.NewReader(handWritten), "text", dir)
	if err != nil {
		t.Fatal(err)
	}
	text := func(paths []string) string {
		var readers []*Reader
		for _, p := range paths {
			r, err := Open(p)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			readers = append(readers, r)
		}
		var out strings.Builder
		if err := WriteText(&out, readers...); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	first := text(paths)
	paths, err = CreateText(strings.NewReader(first), "text", again)
	if err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	if len(paths) != 2 {
		t.Fatalf("%d files from the text of 2", len(paths))
	}
	equal(t, "text", text(paths), first)
}
