// SPDX-License-Identifier: Apache-2.0

package format

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mpitrace/mpitrace/mpi"
)

// The files in testdata/traces/v1 were written by version 1.0 and must never
// change: every later version must read them, and say what their texts say.
// A new version gets a folder of its own, once, with -freeze.
var freeze = flag.Bool("freeze", false, "write the frozen files of this version, unless they are there")

const frozenRoot = "../testdata/traces"

func TestFrozenFilesAreRead(t *testing.T) {
	here := filepath.Join(frozenRoot, "v"+strconv.Itoa(Major))
	if *freeze {
		writeFrozen(t, here)
	}
	folders, err := filepath.Glob(filepath.Join(frozenRoot, "v*"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(here); err != nil {
		t.Fatalf("version %d has no frozen files: %v", Major, err)
	}
	for _, folder := range folders {
		texts, err := filepath.Glob(filepath.Join(folder, "*.txt"))
		if err != nil || len(texts) < 4 {
			t.Fatalf("%s: %d texts, %v", folder, len(texts), err)
		}
		for _, path := range texts {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file := strings.TrimSuffix(path, ".txt")
			r, err := Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var got strings.Builder
			if err := WriteText(&got, r); err != nil {
				t.Fatal(err)
			}
			if len(r.Problems()) != 0 || r.Complete() == strings.Contains(file, "unfinished") {
				t.Errorf("%s: complete %v, problems %+v", file, r.Complete(), r.Problems())
			}
			equal(t, file, strings.Split(got.String(), "\n"), strings.Split(string(want), "\n"))
		}
	}
}

// writeFrozen writes files with everything that this version can write.
func writeFrozen(t *testing.T, folder string) {
	if _, err := os.Stat(folder); err == nil {
		t.Fatalf("%s is there: frozen files are never changed", folder)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	save := func(name string, file []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), file, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".txt"), []byte(textOf(t, file)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	save("everything.0", sampleFile(t, KindRank, 1, 6))
	save("everything.mpt", sampleFile(t, KindMerged, 2, 6))

	halo := samples(t)["halo-8-openmpi"][:1]
	cut := halo[0].slice(0, 4000)
	for rank := range int32(2) {
		m := &buffer{}
		w, err := NewWriter(m, KindRank, sampleRun(), sampleProcess(rank))
		if err != nil {
			t.Fatal(err)
		}
		cut.Rank = rank
		if err := w.WriteCalls(cut); err != nil {
			t.Fatal(err)
		}
		name := "halo." + strconv.Itoa(int(rank))
		if rank == 1 {
			name, err = "halo-unfinished.1", w.Flush()
		} else {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		save(name, m.b)
	}

	m := &buffer{}
	w, err := NewWriter(m, KindRank, sampleRun(), sampleProcess(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range groupedCalls() {
		if err := w.WriteCalls(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	save("groups.0", m.b)
}

// groupedCalls are blocks for every way to group signatures and to code
// streams: a group each, hashed, by function; raw, the same, one stream, four.
func groupedCalls() []*Calls {
	rng := rand.New(rand.NewPCG(11, 12))
	var blocks []*Calls
	seq, now := uint64(0), int64(1000)
	for _, b := range []struct{ sigs, calls, functions int }{{1, 1, 1}, {3, 40, 2}, {40, 3000, 5}, {40, 3000, 1}, {500, 600, 3}, {600, 700, 60}} {
		c := &Calls{FirstSeq: seq}
		for i := range b.sigs {
			c.Sigs = append(c.Sigs, Sig{
				Func: mpi.FuncID(1 + i%b.functions), Comm: 1, Peer: int32(i), Tag: NoTag, Root: NoRank, Count: NoCount, Bytes: 1 << (i % 20),
			})
		}
		for i := range b.calls {
			x := uint32(i)
			if i >= b.sigs {
				x = uint32(rng.IntN(b.sigs))
			}
			begin := now + 22*rng.Int64N(10)
			now = begin + 22*int64(x%7) + 22*int64(rng.ExpFloat64()*20)
			c.Index = append(c.Index, x)
			c.Begin, c.End = append(c.Begin, begin), append(c.End, now)
		}
		seq += uint64(b.calls)
		blocks = append(blocks, c)
	}
	return blocks
}

func TestGroups(t *testing.T) {
	m := &buffer{}
	w, err := NewWriter(m, KindRank, Run{}, Process{})
	if err != nil {
		t.Fatal(err)
	}
	want := groupedCalls()
	for _, c := range want {
		if err := w.WriteCalls(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	equal(t, "calls", readAll(t, openBytes(t, m.b)), want)
}
