// SPDX-License-Identifier: Apache-2.0

package format_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// specReader is a second reader, written from doc.go and sharing no code with
// the package: it shows that the specification is complete and true. It is as
// simple as it can be, and trusts the file.
type specReader struct {
	file []byte
	zstd *zstd.Decoder
	seen map[string]bool // which of the format's ways to store things came up
}

type specBlock struct {
	kind, codec  byte
	unpacked     uint32
	rank         int32
	thread       uint32
	first        uint64
	count        uint32
	from, to     int64
	offset, size int64
	payload      []byte
}

// bytesOf takes values off the front of a slice.
type bytesOf struct{ b []byte }

func (s *bytesOf) take(n int) []byte { b := s.b[:n]; s.b = s.b[n:]; return b }
func (s *bytesOf) byte() byte        { return s.take(1)[0] }
func (s *bytesOf) uvarint() uint64 {
	v := uint64(0)
	for shift := 0; ; shift += 7 {
		b := s.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}
func (s *bytesOf) svarint() int64 { return unzig(s.uvarint()) }

func unzig(u uint64) int64 {
	if u%2 == 1 {
		return -int64(u/2) - 1
	}
	return int64(u / 2)
}

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// blocks walks the blocks from the header on.
func (r *specReader) blocks() (merged bool, blocks []specBlock, err error) {
	le := binary.LittleEndian
	f := r.file
	if !bytes.HasPrefix(f, []byte{0x89, 'M', 'P', 'T', 0x0d, 0x0a, 0x1a, 0x0a}) || le.Uint16(f[8:]) != 1 || le.Uint32(f[12:]) != crc(f[:12]) {
		return false, nil, fmt.Errorf("bad file header % x", f[:16])
	}
	for at := 16; at < len(f); {
		if len(f)-at == 24 {
			t := f[at:]
			if string(t[16:]) != "MPTEND\r\n" || le.Uint32(t[12:]) != crc(t[:12]) {
				return false, nil, fmt.Errorf("bad trailer % x", t)
			}
			if last := blocks[len(blocks)-1]; last.kind != 6 || le.Uint64(t) != uint64(last.offset) {
				return false, nil, fmt.Errorf("the trailer points to %d, the last block is at %d", le.Uint64(t), last.offset)
			}
			break
		}
		h := f[at : at+64]
		stored := int(le.Uint32(h[8:]))
		b := specBlock{
			kind: h[4], codec: h[5], unpacked: le.Uint32(h[12:]), rank: int32(le.Uint32(h[16:])), thread: le.Uint32(h[20:]),
			first: le.Uint64(h[24:]), count: le.Uint32(h[32:]), from: int64(le.Uint64(h[40:])), to: int64(le.Uint64(h[48:])),
			offset: int64(at), size: int64(64 + stored), payload: f[at+64 : at+64+stored],
		}
		if string(h[:4]) != "\xd7BLK" || le.Uint32(h[60:]) != crc(h[:60]) || le.Uint32(h[36:]) != crc(b.payload) || int(le.Uint32(h[56:])) != len(blocks) {
			return false, nil, fmt.Errorf("bad block at %d: % x", at, h)
		}
		blocks = append(blocks, b)
		at += 64 + stored
	}
	return f[11] == 2, blocks, nil
}

// records returns the kinds of a block's records.
func (r *specReader) records(b specBlock) (kinds []byte, err error) {
	p := b.payload
	if b.codec == 1 {
		if p, err = r.zstd.DecodeAll(p, nil); err != nil {
			return nil, fmt.Errorf("records at %d: %w", b.offset, err)
		}
		if len(p) != int(b.unpacked) {
			return nil, fmt.Errorf("records at %d: %d bytes, the header says %d", b.offset, len(p), b.unpacked)
		}
	}
	s := bytesOf{p}
	for len(s.b) > 0 {
		kinds = append(kinds, s.byte())
		s.take(int(s.uvarint()))
	}
	if len(kinds) != int(b.count) {
		return nil, fmt.Errorf("%d records, the header says %d", len(kinds), b.count)
	}
	return kinds, nil
}

type specColumn struct {
	coding byte
	data   []byte
}

// values returns n integers of a column.
func (r *specReader) values(columns map[byte]specColumn, id byte, n int) []uint64 {
	v := make([]uint64, n)
	c, ok := columns[id]
	if !ok {
		return v
	}
	r.seen[fmt.Sprintf("column coding %d", c.coding)] = true
	s := bytesOf{c.data}
	if c.coding == 2 {
		unpacked, err := r.zstd.DecodeAll(c.data, nil)
		if err != nil {
			panic(err)
		}
		s.b = unpacked
	}
	for i := range v {
		if i == 0 || c.coding != 0 {
			v[i] = s.uvarint()
		} else {
			v[i] = v[0]
		}
	}
	return v
}

func indices(codes []uint64) []uint32 {
	out := make([]uint32, len(codes))
	next := uint64(0)
	for i, c := range codes {
		v := next
		if c != 0 {
			v = c - 1
		}
		next = max(next, v+1)
		out[i] = uint32(v)
	}
	return out
}

func opt32(v uint64) int32 {
	if v == 0 {
		return -1 << 31
	}
	return int32(unzig(v - 1))
}

func opt64(v uint64) int64 {
	if v == 0 {
		return -1 << 63
	}
	return unzig(v - 1)
}

// calls unpacks a calls block.
func (r *specReader) calls(b specBlock) *format.Calls {
	s := bytesOf{b.payload}
	nsigs, ndone := int(s.uvarint()), int(s.uvarint())
	firstRequest, firstDone := s.uvarint(), s.uvarint()
	type place struct {
		id, coding byte
		stored     int
	}
	var places []place
	for range s.uvarint() {
		p := place{id: s.byte(), coding: s.byte()}
		s.uvarint() // unpacked
		p.stored = int(s.uvarint())
		places = append(places, p)
	}
	columns := map[byte]specColumn{}
	for _, p := range places {
		columns[p.id] = specColumn{p.coding, s.take(p.stored)}
	}
	n := int(b.count)
	c := &format.Calls{Rank: b.rank, FirstSeq: b.first, Index: indices(r.values(columns, 1, n))}

	col := func(id byte) []uint64 { return r.values(columns, id, nsigs) }
	function, flags, thread := col(16), col(17), col(18)
	comm, win, file, datatype, op, site := col(19), col(20), col(21), col(22), col(23), col(24)
	peer, tag, root, count, size, errs, completed := col(25), col(26), col(27), col(28), col(29), col(30), col(31)
	second, nargs := col(32), col(39)
	sides, args := 0, 0
	for i := range nsigs {
		sides += int(second[i])
		args += int(nargs[i])
	}
	side := func(id byte) []uint64 { return r.values(columns, id, sides) }
	sPeer, sTag, sType, sCount, sBytes, sDisp := side(33), side(34), side(35), side(36), side(37), side(38)
	argument := r.values(columns, 40, args)
	for i, k, a := 0, 0, 0; i < nsigs; i++ {
		sig := format.Sig{
			Func: mpi.FuncID(function[i]), Flags: format.Flags(flags[i]), Thread: uint32(thread[i]), Comm: format.ID(comm[i]),
			Win: format.ID(win[i]), File: format.ID(file[i]), Datatype: format.ID(datatype[i]), Op: format.ID(op[i]),
			Site: format.ID(site[i]), Peer: opt32(peer[i]), Tag: opt32(tag[i]), Root: opt32(root[i]), Count: opt64(count[i]),
			Bytes: opt64(size[i]), Error: int32(unzig(errs[i])), NDone: uint32(completed[i]),
		}
		if second[i] == 1 {
			sig.Second = &format.Side{
				Peer: opt32(sPeer[k]), Tag: opt32(sTag[k]), Datatype: format.ID(sType[k]), Count: opt64(sCount[k]),
				Bytes: opt64(sBytes[k]), Disp: unzig(sDisp[k]),
			}
			k++
		}
		for range nargs[i] {
			sig.Args = append(sig.Args, unzig(argument[a]))
			a++
		}
		c.Sigs = append(c.Sigs, sig)
	}

	requests, dones := 0, 0
	for _, x := range c.Index {
		requests += int(flags[x] >> 6 & 1)
		dones += int(completed[x])
	}
	numbers := func(id byte, n int, expected uint64) (out []uint64) {
		for _, v := range r.values(columns, id, n) {
			out = append(out, expected+uint64(unzig(v)))
			expected = out[len(out)-1] + 1
		}
		return out
	}
	c.Request = numbers(3, requests, firstRequest)
	c.DoneRequest = numbers(55, dones, firstDone)
	c.DoneIndex = indices(r.values(columns, 54, dones))
	dcol := func(id byte) []uint64 { return r.values(columns, id, ndone) }
	dKind, dFlags, dSource, dTag, dBytes, dError := dcol(48), dcol(49), dcol(50), dcol(51), dcol(52), dcol(53)
	for i := range ndone {
		c.DoneSigs = append(c.DoneSigs, format.DoneSig{
			Kind: format.DoneKind(dKind[i]), Flags: format.Flags(dFlags[i]), Source: opt32(dSource[i]), Tag: opt32(dTag[i]),
			Bytes: opt64(dBytes[i]), Error: int32(unzig(dError[i])),
		})
	}
	r.times(c, columns, flags)
	return c
}

// times unpacks column 2.
func (r *specReader) times(c *format.Calls, columns map[byte]specColumn, flags []uint64) {
	group := r.values(columns, 41, len(c.Sigs))
	if _, ok := columns[41]; !ok {
		r.seen["groups by function"] = true
		seen := map[mpi.FuncID]uint64{}
		for i, s := range c.Sigs {
			g, ok := seen[s.Func]
			if !ok {
				g = uint64(min(len(seen), 31))
				seen[s.Func] = g
			}
			group[i] = g
		}
	}
	s := bytesOf{columns[2].data}
	base, unit := s.svarint(), s.uvarint()
	groups, streams := int(s.byte()), int(s.byte())
	least, stream := make([]int64, 2*groups), make([]byte, 2*groups)
	for l := range least {
		least[l], stream[l] = s.svarint(), s.byte()
	}
	length := make([]int, 2*groups)
	inFlight := func(x uint32) bool { return flags[x]&4 != 0 }
	for _, x := range c.Index {
		length[2*group[x]]++
		if !inFlight(x) {
			length[2*group[x]+1]++
		}
	}
	symbols := make([][]byte, 2*groups)
	for k := range streams {
		total := 0
		for l := range least {
			if int(stream[l]) == k {
				total += length[l]
			}
		}
		coding, data := s.byte(), []byte(nil)
		data = s.take(int(s.uvarint()))
		r.seen[fmt.Sprintf("stream coding %d", coding)] = true
		switch coding {
		case 1:
			data = bytes.Repeat(data, total)
		case 2, 3:
			table, rest, err := huff0.ReadTable(data, nil)
			if err != nil {
				panic(err)
			}
			out := make([]byte, 0, total)
			if coding == 2 {
				out, err = table.Decoder().Decompress1X(out, rest)
			} else {
				out, err = table.Decoder().Decompress4X(out, rest)
			}
			if err != nil {
				panic(err)
			}
			data = out
		}
		for l := range least {
			if int(stream[l]) == k {
				symbols[l], data = data[:length[l]], data[length[l]:]
			}
		}
	}
	bit := 0
	values := make([][]int64, 2*groups)
	for l := range least {
		for _, sym := range symbols[l] {
			q := uint64(sym)
			if sym > 7 {
				k := int(sym)/4 - 1
				q = uint64(4+sym%4) << k
				for i := range k {
					q += uint64(s.b[bit/8]>>(bit%8)&1) << i
					bit++
				}
			}
			values[l] = append(values[l], least[l]+int64(unit*q))
		}
	}
	if (bit+7)/8 != len(s.b) {
		panic(fmt.Sprintf("%d bits in %d bytes", bit, len(s.b)))
	}
	ends := map[uint32]int64{}
	next := func(l int) int64 { v := values[l][0]; values[l] = values[l][1:]; return v }
	for _, x := range c.Index {
		end, ok := ends[c.Sigs[x].Thread]
		if !ok {
			end = base
		}
		begin := end + next(int(2*group[x]))
		c.Begin = append(c.Begin, begin)
		if inFlight(x) {
			ends[c.Sigs[x].Thread] = begin
			c.End = append(c.End, 0)
			continue
		}
		end = begin + next(int(2*group[x]+1))
		ends[c.Sigs[x].Thread] = end
		c.End = append(c.End, end)
	}
}

func TestSpecificationIsEnough(t *testing.T) {
	paths, err := filepath.Glob("../testdata/traces/v1/*")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files, seen := 0, map[string]bool{}
	for _, path := range paths {
		if filepath.Ext(path) == ".txt" {
			continue
		}
		files++
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		spec := &specReader{file, z, seen}
		merged, blocks, err := spec.blocks()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		r, err := format.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if merged != (r.Kind() == format.KindMerged) {
			t.Errorf("%s: merged %v, want %v", path, merged, r.Kind())
		}
		var infos []format.BlockInfo
		runs, index := 0, specBlock{}
		for i, b := range blocks {
			switch b.kind {
			case 1, 2:
				kinds, err := spec.records(b)
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				runs += bytes.Count(kinds, []byte{1})
				if (b.kind == 1) != (i == 0) {
					t.Errorf("%s: block %d is of kind %d", path, i, b.kind)
				}
			case 3:
				var want format.Calls
				if err := r.ReadCalls(len(infos), &want); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(&want, spec.calls(b), cmpopts.EquateEmpty()); d != "" {
					t.Fatalf("%s: block %d (-package +specification):\n%.2000s", path, i, d)
				}
				infos = append(infos, format.BlockInfo{
					Offset: b.offset, Size: b.size, Kind: format.BlockCalls, Rank: b.rank, Thread: b.thread, FirstSeq: b.first,
					Calls: int(b.count), TimeMin: b.from, TimeMax: b.to,
				})
			case 6:
				index = b
			default:
				t.Errorf("%s: block of kind %d", path, b.kind)
			}
		}
		if d := cmp.Diff(r.Blocks(), infos); d != "" || runs != 1 {
			t.Errorf("%s: %d run records, blocks differ:\n%s", path, runs, d)
		}
		if index.kind == 6 {
			checkIndex(t, path, index, blocks[:len(blocks)-1])
		}
	}
	if files < 5 {
		t.Errorf("only %d frozen files", files)
	}
	for _, way := range []string{
		"column coding 0", "column coding 1", "column coding 2", "groups by function",
		"stream coding 0", "stream coding 1", "stream coding 2", "stream coding 3",
	} {
		if !seen[way] {
			t.Errorf("the frozen files lack %s", way)
		}
	}
}

// checkIndex compares the index with the blocks.
func checkIndex(t *testing.T, path string, index specBlock, blocks []specBlock) {
	t.Helper()
	s := bytesOf{index.payload}
	end, seq, time := int64(0), uint64(0), int64(0)
	for i, b := range blocks {
		kind, gap, size := s.byte(), s.uvarint(), s.uvarint()
		if kind != b.kind || end+int64(gap) != b.offset || int64(size) != b.size {
			t.Fatalf("%s: entry %d: kind %d, offset %d, size %d; the block has %d, %d, %d", path, i, kind, end+int64(gap), size, b.kind, b.offset, b.size)
		}
		end = b.offset + b.size
		if kind != 3 {
			continue
		}
		rank, thread, first, count := s.svarint(), uint32(s.uvarint())-1, seq+uint64(s.svarint()), s.uvarint()
		from := time + s.svarint()
		to := from + s.svarint()
		if int32(rank) != b.rank || thread != b.thread || first != b.first || uint32(count) != b.count || from != b.from || to != b.to {
			t.Fatalf("%s: entry %d differs from its block %+v", path, i, b)
		}
		seq, time = first+count, to
	}
	if len(s.b) != 0 || int(index.count) != len(blocks) || end != index.offset {
		t.Errorf("%s: index: %d bytes left, count %d of %d blocks, covers up to %d of %d", path, len(s.b), index.count, len(blocks), end, index.offset)
	}
}
