// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// threeBlocks makes a rank file with three blocks of 10, 20 and 30 calls of one
// thread and returns also the offsets of the blocks.
func threeBlocks(t testing.TB, complete bool) (file []byte, want []*Calls, blocks []BlockInfo) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	m := &buffer{}
	defs := sampleDefinitions(0)
	w, err := NewWriter(m, KindRank, defs.Run, defs.Processes[0])
	if err != nil {
		t.Fatal(err)
	}
	w.Define(&defs)
	seq := uint64(0)
	for _, n := range []int{10, 20, 30} {
		c := randomCalls(rng, 0, seq, n)
		for i := range c.Sigs {
			c.Sigs[i].Thread = 0
		}
		seq += uint64(n)
		want = append(want, c)
		if err := w.WriteCalls(c); err != nil {
			t.Fatal(err)
		}
	}
	if complete {
		err = w.Close()
	} else {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return m.b, want, openBytes(t, m.b).Blocks()
}

// readable returns the numbers of the first calls of the blocks that can be
// read, after checking them.
func readable(t *testing.T, r *Reader, want []*Calls) (seqs []uint64) {
	t.Helper()
	for i, x := range r.Blocks() {
		var c Calls
		if err := r.ReadCalls(i, &c); err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTruncated) {
				t.Fatalf("block at %d: %v", x.Offset, err)
			}
			if len(c.Index) != 0 {
				t.Fatalf("block at %d: calls after an error", x.Offset)
			}
			continue
		}
		for _, w := range want {
			if w.FirstSeq == c.FirstSeq {
				if got, want := expand([]*Calls{&c}), expand([]*Calls{w}); !reflect.DeepEqual(got, want) {
					t.Fatal(cmp.Diff(want, got))
				}
			}
		}
		seqs = append(seqs, c.FirstSeq)
	}
	return seqs
}

func TestTruncatedFile(t *testing.T) {
	for _, complete := range []bool{false, true} {
		file, want, blocks := threeBlocks(t, complete)
		for n := range len(file) {
			r, err := NewReader(bytes.NewReader(file[:n]), int64(n), "cut")
			if n < fileHeaderSize {
				wanted := ErrNotTrace
				if n >= len(fileMagic) {
					wanted = ErrTruncated
				}
				if !errors.Is(err, wanted) {
					t.Fatalf("%d bytes: %v, want %v", n, err, wanted)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			var whole []uint64
			for _, x := range blocks {
				if x.Offset+x.Size <= int64(n) {
					whole = append(whole, x.FirstSeq)
				}
			}
			if got := readable(t, r, want); !cmp.Equal(got, whole) {
				t.Fatalf("%d bytes: blocks %v, want %v", n, got, whole)
			}
			for _, p := range r.Problems() {
				if !errors.Is(p.Err, ErrTruncated) {
					t.Fatalf("%d bytes: %+v, want a truncation", n, p)
				}
			}
			// A block that lost only its payload says how many calls are gone.
			for _, x := range blocks {
				if int64(n) >= x.Offset+blockHeaderSize && int64(n) < x.Offset+x.Size {
					if p := r.Problems(); len(p) != 1 || p[0].LostCalls != int64(x.Calls) || p[0].Offset != x.Offset {
						t.Fatalf("%d bytes: problems %+v, want %d calls lost at %d", n, p, x.Calls, x.Offset)
					}
				}
			}
		}
	}
}

func TestFlippedBits(t *testing.T) {
	for _, complete := range []bool{false, true} {
		file, want, blocks := threeBlocks(t, complete)
		for at := range file {
			bad := bytes.Clone(file)
			bad[at] ^= 1 << (at % 8)
			r, err := NewReader(bytes.NewReader(bad), int64(len(bad)), "flipped")
			if at < len(fileMagic) {
				if !errors.Is(err, ErrNotTrace) {
					t.Fatalf("byte %d: %v, want %v", at, err, ErrNotTrace)
				}
				continue
			}
			if err != nil {
				t.Fatalf("byte %d: %v", at, err)
			}
			var whole []uint64
			lost := int64(0)
			for _, x := range blocks {
				if int64(at) >= x.Offset && int64(at) < x.Offset+x.Size {
					lost = int64(x.Calls)
					if !complete && x.FirstSeq == 30 && int64(at) < x.Offset+blockHeaderSize {
						lost = -1 // nothing after tells how many there were
					}
				} else {
					whole = append(whole, x.FirstSeq)
				}
			}
			if got := readable(t, r, want); !cmp.Equal(got, whole) {
				t.Fatalf("byte %d: blocks %v, want %v", at, got, whole)
			}
			p := r.Problems()
			if trailer := complete && at >= len(file)-trailerSize; len(p) != 1 && !trailer {
				t.Fatalf("byte %d: problems %+v, want one", at, p)
			}
			if lost != 0 && p[0].LostCalls != lost {
				t.Fatalf("byte %d: %+v, want %d calls lost", at, p[0], lost)
			}
		}
	}
}

// fullDisk is a file that takes so many bytes and then, like a full disk, a
// part of a write.
type fullDisk struct {
	buffer
	room int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if n := d.room - len(d.b); n < len(p) {
		d.b = append(d.b, p[:max(n, 0)]...)
		return max(n, 0), syscall.ENOSPC
	}
	return d.buffer.Write(p)
}

func (d *fullDisk) Truncate(size int64) error { d.b = d.b[:size]; return nil }

func TestFullDisk(t *testing.T) {
	whole, want, blocks := threeBlocks(t, true)
	defs := sampleDefinitions(0)
	for room := 0; room < len(whole); room += 7 {
		d := &fullDisk{room: room}
		w, err := NewWriter(d, KindRank, defs.Run, defs.Processes[0])
		if err == nil {
			w.Define(&defs)
			for _, c := range want {
				if werr := w.WriteCalls(c); err == nil {
					err = werr
				} else if !errors.Is(werr, syscall.ENOSPC) {
					t.Fatalf("room %d: later call returns %v, want the same error", room, werr)
				}
			}
			if cerr := w.Close(); err == nil {
				err = cerr
			} else if !errors.Is(cerr, syscall.ENOSPC) {
				t.Fatalf("room %d: Close returns %v", room, cerr)
			}
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("room %d: error %v, want %v", room, err, syscall.ENOSPC)
		}
		if len(d.b) == 0 {
			continue
		}
		r := openBytes(t, d.b)
		if p := r.Problems(); len(p) != 0 {
			t.Fatalf("room %d: problems %+v", room, p)
		}
		n := 0
		for _, x := range blocks {
			if x.Offset+x.Size <= int64(room) {
				n++
			}
		}
		if got := readable(t, r, want); len(got) != n {
			t.Fatalf("room %d: %d blocks, want %d", room, len(got), n)
		}
	}
}

// withVersion changes a file's version.
func withVersion(file []byte, major uint16, minor uint8) []byte {
	b := bytes.Clone(file)
	binary.LittleEndian.PutUint16(b[8:], major)
	b[10] = minor
	binary.LittleEndian.PutUint32(b[12:], checksum(b[:12]))
	return b
}

func TestVersions(t *testing.T) {
	file, _, _ := threeBlocks(t, true)
	newer := withVersion(file, 7, 3)
	_, err := NewReader(bytes.NewReader(newer), int64(len(newer)), "new.mpt")
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "new.mpt") || !strings.Contains(err.Error(), "7.3") || !strings.Contains(err.Error(), "1.x") {
		t.Errorf("newer version: %v", err)
	}
	minor := openBytes(t, withVersion(file, Major, 200))
	if len(minor.Blocks()) != 3 {
		t.Errorf("newer minor version: %d blocks, want 3", len(minor.Blocks()))
	}
}

// What a newer minor version adds is skipped and counted.
func TestUnknownPartsAreSkipped(t *testing.T) {
	m := &buffer{}
	w, err := NewWriter(m, KindRank, Run{Size: 1}, Process{})
	if err != nil {
		t.Fatal(err)
	}
	w.Site(Site{ID: 1, Line: 5})
	w.pending = append(w.pending, 200, 3, 1, 2, 3)               // a record of an unknown kind
	w.pending = append(w.pending, byte(recOp), 4, 9, 1, 'x', 77) // an op with a further field
	w.records += 2
	w.writeRecords(BlockDefinitions)
	w.pending, w.records = append(w.pending, "what a future version says"...), 1
	w.writeRecords(BlockMessages)
	if err := w.WriteCalls(&Calls{Sigs: []Sig{{Func: 3}}, Index: []uint32{0}, Begin: []int64{1}, End: []int64{2}}); err != nil {
		t.Fatal(err)
	}
	for _, complete := range []bool{false, true} {
		if complete {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		r := openBytes(t, m.b)
		if u := r.Unknown(); u != (Unknown{Blocks: 1, Records: 1}) {
			t.Errorf("unknown %+v", u)
		}
		equal(t, "ops", r.Definitions().Ops, []Op{{ID: 9, Name: "x"}})
		equal(t, "sites", r.Definitions().Sites, []Site{{ID: 1, Line: 5}})
		if n := len(readAll(t, r)); n != 1 || len(r.Problems()) != 0 {
			t.Errorf("%d blocks, problems %+v", n, r.Problems())
		}
	}
}

func TestNotATrace(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\nexec echo no trace, but long enough for a header\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{text: ErrNotTrace, empty: ErrNotTrace, dir: ErrNotTrace, filepath.Join(dir, "none"): os.ErrNotExist} {
		if _, err := Open(path); !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

func TestWriterRefusesContradictions(t *testing.T) {
	w, err := NewWriter(&buffer{}, KindRank, Run{}, Process{})
	if err != nil {
		t.Fatal(err)
	}
	good := func() *Calls {
		return &Calls{
			Sigs:  []Sig{{Func: 1, Flags: FlagRequest, NDone: 1}},
			Index: []uint32{0}, Begin: []int64{1}, End: []int64{2}, Request: []uint64{1},
			DoneSigs: []DoneSig{{}}, DoneIndex: []uint32{0}, DoneRequest: []uint64{1},
		}
	}
	for name, change := range map[string]func(*Calls){
		"index":        func(c *Calls) { c.Index[0] = 1 },
		"begin":        func(c *Calls) { c.Begin = nil },
		"end":          func(c *Calls) { c.End = append(c.End, 1) },
		"request":      func(c *Calls) { c.Request = nil },
		"done index":   func(c *Calls) { c.DoneIndex[0] = 1 },
		"done request": func(c *Calls) { c.DoneRequest = nil },
		"done":         func(c *Calls) { c.Sigs[0].NDone = 2 },
	} {
		c := good()
		change(c)
		if err := w.WriteCalls(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if err := w.WriteCalls(good()); err != nil {
			t.Errorf("%s: afterwards: %v", name, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteCalls(good()); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := w.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
}

// Calls that are too many for a block, or complete too many requests, are
// spread over several.
func TestSplit(t *testing.T) {
	const n, each = 3 * MaxBlockCalls, 200
	c := &Calls{Sigs: []Sig{{Func: 1, Flags: FlagRequest}, {Func: 2, NDone: each}}, DoneSigs: []DoneSig{{Kind: DoneRecv}, {Kind: DoneSend}}}
	for i := range n {
		x := uint32(i % 2)
		c.Index = append(c.Index, x)
		c.Begin, c.End = append(c.Begin, int64(10*i)), append(c.End, int64(10*i+3))
		if x == 0 {
			c.Request = append(c.Request, uint64(7*i))
			continue
		}
		for k := range each {
			c.DoneIndex = append(c.DoneIndex, uint32(k%2))
			c.DoneRequest = append(c.DoneRequest, uint64(i*k))
		}
	}
	m := &buffer{}
	w, err := NewWriter(m, KindRank, Run{}, Process{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteCalls(c); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := openBytes(t, m.b)
	if !reflect.DeepEqual(expand([]*Calls{c}), expand(readAll(t, r))) {
		t.Error("the calls differ")
	}
	giant := &Calls{
		Sigs: []Sig{{NDone: MaxBlockDone + 1}}, Index: []uint32{0}, Begin: []int64{1}, End: []int64{1}, DoneSigs: []DoneSig{{}},
		DoneIndex: make([]uint32, MaxBlockDone+1), DoneRequest: make([]uint64, MaxBlockDone+1),
	}
	w, err = NewWriter(&buffer{}, KindRank, Run{}, Process{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteCalls(giant); !errors.Is(err, ErrTooLarge) {
		t.Errorf("giant: %v, want %v", err, ErrTooLarge)
	}
}
