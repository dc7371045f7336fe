// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateCorpus = flag.Bool("update-corpus", false, "write the committed corpora of the fuzz targets anew")

// repair makes all checksums right, so that what is behind them is fuzzed too.
func repair(file []byte) []byte {
	b := bytes.Clone(file)
	le := binary.LittleEndian
	if len(b) >= fileHeaderSize {
		le.PutUint32(b[12:], checksum(b[:12]))
	}
	for at := 0; ; {
		k := bytes.Index(b[at:], []byte(blockMarker))
		if k < 0 || at+k+blockHeaderSize > len(b) {
			break
		}
		h := b[at+k:]
		at += k + len(blockMarker)
		if stored := int(le.Uint32(h[8:])); stored <= len(h)-blockHeaderSize {
			le.PutUint32(h[36:], checksum(h[blockHeaderSize:blockHeaderSize+stored]))
		}
		le.PutUint32(h[60:], checksum(h[:60]))
	}
	if n := len(b); n >= trailerSize && string(b[n-len(endMagic):]) == endMagic {
		t := b[n-trailerSize:]
		le.PutUint32(t[12:], checksum(t[:12]))
	}
	return b
}

// checkReader reads everything of a file and fails on what a Reader promises
// never to do.
func checkReader(t *testing.T, file []byte) {
	r, err := NewReader(bytes.NewReader(file), int64(len(file)), "fuzz")
	if err != nil {
		if !strings.HasPrefix(err.Error(), "fuzz: ") {
			t.Fatalf("error without the file's name: %v", err)
		}
		return
	}
	var c Calls
	for i, x := range r.Blocks() {
		if x.Offset < fileHeaderSize || x.Size < blockHeaderSize || x.Offset+x.Size > int64(len(file)) || x.Calls > MaxBlockCalls {
			t.Fatalf("block %d: %+v", i, x)
		}
		if err := r.ReadCalls(i, &c); err != nil {
			continue
		}
		if len(c.Index) != x.Calls {
			t.Fatalf("block %d: %d calls, want %d", i, len(c.Index), x.Calls)
		}
		if _, err := c.shape(nil); err != nil {
			t.Fatalf("block %d: %v", i, err)
		}
	}
	for _, p := range r.Problems() {
		if p.Offset < 0 || p.Size < 0 || p.Offset+p.Size > int64(len(file)) || p.What == "" || p.Err == nil || p.LostCalls < -1 {
			t.Fatalf("problem %+v", p)
		}
	}
	first := textOf(t, file)
	if len(r.Problems()) > 0 {
		return
	}
	docs, err := ParseText(strings.NewReader(first), "text")
	if err != nil {
		t.Fatalf("the file's text cannot be parsed: %v\n%s", err, first)
	}
	if len(docs) != 1 {
		t.Fatalf("%d documents in\n%s", len(docs), first)
	}
	if second := textOf(t, fileOf(t, docs[0])); first != second {
		t.Fatalf("text changes from\n%s\nto\n%s", first, second)
	}
}

func FuzzReader(f *testing.F) {
	f.Fuzz(func(t *testing.T, file []byte) {
		checkReader(t, file)
		checkReader(t, repair(file))
	})
}

func FuzzText(f *testing.F) {
	f.Add(handWritten)
	f.Fuzz(func(t *testing.T, text string) {
		docs, err := ParseText(strings.NewReader(text), "fuzz")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz:") {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		for _, d := range docs[:min(len(docs), 8)] {
			first := textOf(t, fileOf(t, d))
			again, err := ParseText(strings.NewReader(first), "text")
			if err != nil || len(again) != 1 {
				t.Fatalf("%d documents, %v in\n%s", len(again), err, first)
			}
			if second := textOf(t, fileOf(t, again[0])); first != second {
				t.Fatalf("text changes from\n%s\nto\n%s", first, second)
			}
		}
	})
}

// readerCorpus names the causes of damage that the fuzzing begins with.
func readerCorpus(t *testing.T) map[string][]byte {
	whole, _, blocks := threeBlocks(t, true)
	open, _, _ := threeBlocks(t, false)
	change := func(file []byte, f func(b []byte) []byte) []byte { return f(bytes.Clone(file)) }
	put32 := func(at int64, v uint32) []byte {
		return repair(change(whole, func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], v); return b }))
	}
	at := func(i int) int64 { return blocks[i].Offset }
	merged := sampleFile(t, KindMerged, 3, 3)
	return map[string][]byte{
		"whole":                     whole,
		"merged":                    merged,
		"no-footer":                 open,
		"truncated-header":          open[:9],
		"truncated-block":           open[:len(open)-5],
		"truncated-block-header":    open[:at(1)+20],
		"flipped-bit-in-payload":    change(open, func(b []byte) []byte { b[at(1)+blockHeaderSize+30] ^= 4; return b }),
		"flipped-bit-in-header":     change(open, func(b []byte) []byte { b[at(1)+9] ^= 4; return b }),
		"flipped-bit-in-index":      change(whole, func(b []byte) []byte { b[len(b)-40] ^= 1; return b }),
		"flipped-bit-in-trailer":    change(whole, func(b []byte) []byte { b[len(b)-20] ^= 1; return b }),
		"newer-major-version":       withVersion(whole, 2, 0),
		"newer-minor-version":       withVersion(whole, Major, 9),
		"huge-payload":              put32(at(1)+8, 0xffff_fff0),
		"huge-unpacked":             put32(fileHeaderSize+12, 0xffff_fff0),
		"huge-count":                put32(at(1)+32, 0xffff_ffff),
		"too-many-calls":            put32(at(1)+32, MaxBlockCalls),
		"other-codec":               put32(fileHeaderSize+4, 0x0000_0701),
		"unknown-block-kind":        put32(at(1)+4, 99),
		"garbage-between-blocks":    change(open, func(b []byte) []byte { return append(append(b[:at(1):at(1)], "what is this?"...), open[at(1):]...) }),
		"block-twice":               change(open, func(b []byte) []byte { return append(b, open[at(2):]...) }),
		"marker-only":               []byte(fileMagic + "\x01\x00\x00\x01\x00\x00\x00\x00" + blockMarker),
		"empty":                     {},
		"index-beyond-the-file":     repair(change(whole, func(b []byte) []byte { b[len(b)-trailerSize-3]++; return b })),
		"trailer-to-a-wrong-offset": repair(change(whole, func(b []byte) []byte { b[len(b)-trailerSize]++; return b })),
	}
}

// textCorpus names what texts the fuzzing begins with.
func textCorpus(t *testing.T) map[string]string {
	return map[string]string{
		"by-hand":           handWritten,
		"rank":              textOf(t, sampleFile(t, KindRank, 1, 2)),
		"merged":            textOf(t, sampleFile(t, KindMerged, 2, 3)),
		"string-no-end":     "mpitrace-text 1 rank\ncomm name=\"x",
		"list-no-end":       "mpitrace-text 1 rank\nMPI_Waitall 1 2 done=[1:recv",
		"huge-number":       "mpitrace-text 1 rank\nMPI_Send 1 99999999999999999999",
		"huge-group":        "mpitrace-text 1 rank\ncomm id=1 group=0-2147483647",
		"negative-rank":     "mpitrace-text 1 merged\nrank -7\nMPI_Send 1 2",
		"in-flight":         "mpitrace-text 1 rank\nMPI_Recv 5 - peer=any\nMPI_Send 7 - request=4",
		"nothing":           "mpitrace-text 1 merged\n",
		"unknown-flag-bits": "mpitrace-text 1 rank\nfunc-9 1 2 flags=nested|0xc000 done=[1:kind-77,flags=0x100]",
	}
}

func TestCorpora(t *testing.T) {
	write := func(target, name, content string) {
		path := filepath.Join("testdata", "fuzz", target, name)
		if *updateCorpus {
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
			return
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%v: run go test ./format -update-corpus", err)
		}
	}
	for name, file := range readerCorpus(t) {
		write("FuzzReader", name, fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n", file))
	}
	for name, text := range textCorpus(t) {
		write("FuzzText", name, fmt.Sprintf("go test fuzz v1\nstring(%q)\n", text))
	}
}

// Random calls also go through the decoder with random changes to the payload.
func TestDecoderOnChangedPayloads(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	z, err := newZstdEncoder()
	if err != nil {
		t.Fatal(err)
	}
	var e callsEncoder
	e.zstd = z
	d, err := newDecoderBuffers()
	if err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		c := randomCalls(rng, 0, 0, 1+rng.IntN(40))
		shape, err := c.shape(nil)
		if err != nil {
			t.Fatal(err)
		}
		payload := e.encode(nil, c, shape.calls)
		for range 1 + rng.IntN(3) {
			payload[rng.IntN(len(payload))] = byte(rng.Uint32())
		}
		var got Calls
		if err := d.calls.decode(payload, len(c.Index), &got); err != nil {
			continue
		}
		if _, err := got.shape(nil); err != nil {
			t.Fatal(err)
		}
	}
}
