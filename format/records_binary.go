// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"fmt"
	"math"
)

// zigzag maps small integers of either sign to small unsigned ones.
func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// appendRecord appends kind, length and fields of a record.
func appendRecord(b []byte, r record) []byte {
	e := recordEncoder{}
	r.visit(&e)
	b = append(b, byte(r.kind()))
	b = binary.AppendUvarint(b, uint64(len(e.b)))
	return append(b, e.b...)
}

// recordEncoder is the visitor that appends fields.
type recordEncoder struct{ b []byte }

func (e *recordEncoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *recordEncoder) int(v int64)   { e.b = binary.AppendUvarint(e.b, zigzag(v)) }
func (e *recordEncoder) text(s string) { e.uint(uint64(len(s))); e.b = append(e.b, s...) }
func (e *recordEncoder) truth(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

func (e *recordEncoder) id(_ string, p *ID)          { e.uint(uint64(*p)) }
func (e *recordEncoder) u32(_ string, p *uint32)     { e.uint(uint64(*p)) }
func (e *recordEncoder) i32(_ string, p *int32)      { e.int(int64(*p)) }
func (e *recordEncoder) rank(_ string, p *int32)     { e.int(int64(*p)) }
func (e *recordEncoder) u64(_ string, p *uint64)     { e.uint(*p) }
func (e *recordEncoder) i64(_ string, p *int64)      { e.int(*p) }
func (e *recordEncoder) address(_ string, p *uint64) { e.uint(*p) }
func (e *recordEncoder) bool(_ string, p *bool)      { e.truth(*p) }
func (e *recordEncoder) f64(_ string, p *float64) {
	e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(*p))
}
func (e *recordEncoder) str(_ string, p *string) { e.text(*p) }
func (e *recordEncoder) strs(_ string, p *[]string) {
	e.uint(uint64(len(*p)))
	for _, s := range *p {
		e.text(s)
	}
}
func (e *recordEncoder) uuid(_ string, p *[16]byte)          { e.b = append(e.b, p[:]...) }
func (e *recordEncoder) enum(_ string, p *uint8, _ []string) { e.uint(uint64(*p)) }
func (e *recordEncoder) ranks(_ string, p *Ranks) {
	e.uint(uint64(len(*p)))
	for _, r := range *p {
		e.int(int64(r.First))
		e.uint(uint64(uint32(r.Count)))
		e.int(int64(r.Stride))
	}
}
func (e *recordEncoder) settings(_ string, p *[]Setting) {
	e.uint(uint64(len(*p)))
	for _, s := range *p {
		e.text(s.Name)
		e.text(s.Value)
		e.truth(s.Default)
	}
}

// recordDecoder is the visitor that reads fields. Fields missing at the end of
// the record (it was written by an older version) keep their zero value.
type recordDecoder struct {
	b   []byte
	err error
}

func (d *recordDecoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s", what)
	}
	d.b = nil
}

func (d *recordDecoder) uint() uint64 {
	if len(d.b) == 0 {
		return 0
	}
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("bad integer")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *recordDecoder) upTo(max uint64) uint64 {
	v := d.uint()
	if v > max {
		d.fail(fmt.Sprintf("integer %d is too large", v))
		return 0
	}
	return v
}

func (d *recordDecoder) int32() int32 {
	v := unzigzag(d.uint())
	if int64(int32(v)) != v {
		d.fail(fmt.Sprintf("integer %d is too large", v))
		return 0
	}
	return int32(v)
}

func (d *recordDecoder) take(n int) []byte {
	if len(d.b) == 0 {
		return nil
	}
	if n > len(d.b) {
		d.fail("field goes beyond the record")
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *recordDecoder) text() string {
	n := d.upTo(math.MaxInt32)
	if n == 0 {
		return ""
	}
	if len(d.b) == 0 {
		d.fail("field goes beyond the record")
		return ""
	}
	return string(d.take(int(n)))
}

func (d *recordDecoder) truth() bool { return d.upTo(1) == 1 }

// length reads the number of elements of a list, each of which takes at least
// one byte.
func (d *recordDecoder) length() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail("list goes beyond the record")
		return 0
	}
	return int(n)
}

func (d *recordDecoder) id(_ string, p *ID)          { *p = ID(d.upTo(math.MaxUint32)) }
func (d *recordDecoder) u32(_ string, p *uint32)     { *p = uint32(d.upTo(math.MaxUint32)) }
func (d *recordDecoder) i32(_ string, p *int32)      { *p = d.int32() }
func (d *recordDecoder) rank(_ string, p *int32)     { *p = d.int32() }
func (d *recordDecoder) u64(_ string, p *uint64)     { *p = d.uint() }
func (d *recordDecoder) i64(_ string, p *int64)      { *p = unzigzag(d.uint()) }
func (d *recordDecoder) address(_ string, p *uint64) { *p = d.uint() }
func (d *recordDecoder) bool(_ string, p *bool)      { *p = d.truth() }
func (d *recordDecoder) f64(_ string, p *float64) {
	if b := d.take(8); b != nil {
		*p = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
}
func (d *recordDecoder) str(_ string, p *string) { *p = d.text() }
func (d *recordDecoder) strs(_ string, p *[]string) {
	*p = nil
	for n := d.length(); n > 0 && d.err == nil; n-- {
		*p = append(*p, d.text())
	}
}
func (d *recordDecoder) uuid(_ string, p *[16]byte)          { copy(p[:], d.take(16)) }
func (d *recordDecoder) enum(_ string, p *uint8, _ []string) { *p = uint8(d.upTo(math.MaxUint8)) }
func (d *recordDecoder) ranks(_ string, p *Ranks) {
	*p = nil
	for n := d.length(); n > 0 && d.err == nil; n-- {
		*p = append(*p, RankRun{d.int32(), int32(d.upTo(math.MaxInt32)), d.int32()})
	}
}
func (d *recordDecoder) settings(_ string, p *[]Setting) {
	*p = nil
	for n := d.length(); n > 0 && d.err == nil; n-- {
		*p = append(*p, Setting{d.text(), d.text(), d.truth()})
	}
}

// eachRecord calls f with every record of a payload. Records of unknown kinds
// are counted.
func eachRecord(b []byte, f func(record)) (unknown int, err error) {
	for len(b) > 0 {
		kind := b[0]
		n, k := binary.Uvarint(b[1:])
		if k <= 0 || n > uint64(len(b)-1-k) {
			return unknown, fmt.Errorf("record of kind %d goes beyond its block", kind)
		}
		body := b[1+k : 1+k+int(n)]
		b = b[1+k+int(n):]
		if int(kind) >= len(recordTypes) || recordTypes[kind].make == nil {
			unknown++
			continue
		}
		r := recordTypes[kind].make()
		d := recordDecoder{b: body}
		r.visit(&d)
		if d.err != nil {
			return unknown, fmt.Errorf("%s record: %w", recordTypes[kind].word, d.err)
		}
		f(r)
	}
	return unknown, nil
}
