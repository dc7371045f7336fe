// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// What an Encoder packs and a Writer writes is, byte for byte, what the Writer
// would have written.
func TestEncoderWritesWhatTheWriterWrites(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	defs := sampleDefinitions(2)
	dir := t.TempDir()
	paths := [2]string{filepath.Join(dir, "direct"), filepath.Join(dir, "encoded")}
	var writers [2]*Writer
	for i, p := range paths {
		w, err := CreateMerged(p, defs.Run, defs.Processes)
		if err != nil {
			t.Fatal(err)
		}
		w.Define(&defs)
		writers[i] = w
	}
	e, err := NewEncoder()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	seq := uint64(0)
	for _, n := range []int{1, 500, MaxBlockCalls, 2*MaxBlockCalls + 7, 3} {
		c := randomCalls(rng, 2, seq, n)
		if err := writers[0].WriteCalls(c); err != nil {
			t.Fatal(err)
		}
		c.FirstSeq = 0
		b, err := e.Append(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		if err := writers[1].WriteEncoded(b, seq); err != nil {
			t.Fatal(err)
		}
		seq += uint64(n)
	}
	var files [2]string
	for i, w := range writers {
		if w.Stats().Calls != seq {
			t.Errorf("%s: %d calls, want %d", paths[i], w.Stats().Calls, seq)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(paths[i])
		if err != nil {
			t.Fatal(err)
		}
		files[i] = string(b)
	}
	if files[0] != files[1] {
		t.Errorf("the files differ: %d and %d bytes", len(files[0]), len(files[1]))
	}
}

func TestWriteEncodedRefusesOtherBytes(t *testing.T) {
	w, err := CreateMerged(filepath.Join(t.TempDir(), "f"), Run{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, b := range []string{"x", blockMarker, string(make([]byte, 100))} {
		if err := w.WriteEncoded([]byte(b), 0); err == nil {
			t.Errorf("%q was written", b)
		}
	}
}

func TestBlockWithCallInFlightIsOpenEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	w, err := Create(path, Run{}, Process{})
	if err != nil {
		t.Fatal(err)
	}
	c := &Calls{
		Sigs:  []Sig{{Func: 1}, {Func: 2, Flags: FlagInFlight}},
		Index: []uint32{0, 1}, Begin: []int64{10, 20}, End: []int64{15, 0},
	}
	if err := w.WriteCalls(c); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if x := r.Blocks()[0]; x.TimeMin != 10 || x.TimeMax != math.MaxInt64 {
		t.Errorf("block covers %d to %d, want 10 to the end of time", x.TimeMin, x.TimeMax)
	}
}

func TestDefine(t *testing.T) {
	defs := sampleDefinitions(2)
	path := filepath.Join(t.TempDir(), "f")
	w, err := CreateMerged(path, defs.Run, defs.Processes)
	if err != nil {
		t.Fatal(err)
	}
	w.Define(&defs)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	equal(t, "definitions", *r.Definitions(), defs)
}
