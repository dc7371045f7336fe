// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// columnID numbers the columns of a calls block. Numbers are in files: append
// only. Readers skip columns that they do not know.
type columnID uint8

const (
	colIndex   columnID = 1
	colTimes   columnID = 2
	colRequest columnID = 3

	colFunc     columnID = 16
	colFlags    columnID = 17
	colThread   columnID = 18
	colComm     columnID = 19
	colWin      columnID = 20
	colFile     columnID = 21
	colDatatype columnID = 22
	colOp       columnID = 23
	colSite     columnID = 24
	colPeer     columnID = 25
	colTag      columnID = 26
	colRoot     columnID = 27
	colCount    columnID = 28
	colBytes    columnID = 29
	colError    columnID = 30
	colNDone    columnID = 31

	colSecond         columnID = 32
	colSecondPeer     columnID = 33
	colSecondTag      columnID = 34
	colSecondDatatype columnID = 35
	colSecondCount    columnID = 36
	colSecondBytes    columnID = 37
	colSecondDisp     columnID = 38
	colNArgs          columnID = 39
	colArgs           columnID = 40
	colGroup          columnID = 41 // what times.go calls a group

	colDoneKind    columnID = 48
	colDoneFlags   columnID = 49
	colDoneSource  columnID = 50
	colDoneTag     columnID = 51
	colDoneBytes   columnID = 52
	colDoneError   columnID = 53
	colDoneIndex   columnID = 54
	colDoneRequest columnID = 55

	numColumns = 64
)

// columnCoding is how the integers of a column are stored. A column that is
// all zeros is not stored at all.
type columnCoding uint8

const (
	codingConstant columnCoding = 0 // one varint, the value of all
	codingVarint   columnCoding = 1 // a varint for each
	codingZstd     columnCoding = 2 // the same in a zstd frame
	codingTimes    columnCoding = 3 // see times.go; of column colTimes only
)

// minZstd is the smallest column that is worth a zstd frame.
const minZstd = 64

// newZstdEncoder makes an encoder that takes 0.7 MB and no goroutine.
func newZstdEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(128<<10),
		zstd.WithEncoderCRC(false))
}

func newZstdDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxMemory(MaxUnpacked))
}

// unzstd unpacks a frame to exactly n bytes, which the caller has found to be
// within the limits, into buf's array where it is large enough.
func unzstd(d *zstd.Decoder, frame []byte, n int, buf []byte) ([]byte, error) {
	if cap(buf) < n {
		buf = make([]byte, 0, n)
	}
	out, err := d.DecodeAll(frame, buf[:0:n])
	if err != nil {
		return buf, fmt.Errorf("zstd: %w", err)
	}
	if len(out) != n {
		return buf, fmt.Errorf("unpacks to %d bytes, should be %d", len(out), n)
	}
	return out, nil
}

// columnWriter builds the directory and the data of a calls payload.
type columnWriter struct {
	zstd      *zstd.Encoder
	directory []byte
	data      []byte
	varints   []byte
	columns   int
}

func (w *columnWriter) reset() {
	w.directory, w.data, w.columns = w.directory[:0], w.data[:0], 0
}

// put stores a column.
func (w *columnWriter) put(id columnID, values []uint64) {
	if len(values) == 0 {
		return
	}
	first, same := values[0], true
	for _, v := range values[1:] {
		if v != first {
			same = false
			break
		}
	}
	if same {
		if first != 0 {
			at := len(w.data)
			w.data = binary.AppendUvarint(w.data, first)
			w.enter(id, codingConstant, len(w.data)-at, len(w.data)-at)
		}
		return
	}
	b := w.varints[:0]
	for _, v := range values {
		for v >= 0x80 {
			b = append(b, byte(v)|0x80)
			v >>= 7
		}
		b = append(b, byte(v))
	}
	w.varints = b
	w.pack(id, b)
}

// putIndex stores indices into a dictionary of size entries. An index that is
// one more than the largest before is stored as 0, any other as one more than
// it is: a dictionary in order of first use costs nothing where it grows.
func (w *columnWriter) putIndex(id columnID, values []uint32, size int) {
	next, all := uint32(0), uint32(0)
	b := w.varints[:0]
	if size < 0x7f {
		b = resize(b, len(values))
		for i, v := range values {
			x := v + 1
			if v == next {
				x = 0
			}
			next = max(next, v+1)
			b[i] = byte(x)
			all |= x
		}
	} else {
		for _, v := range values {
			x := v + 1
			if v == next {
				x = 0
			}
			next = max(next, v+1)
			b = binary.AppendUvarint(b, uint64(x))
			all |= x
		}
	}
	w.varints = b
	if all != 0 {
		w.pack(id, b)
	}
}

// pack stores the varints of a column, as a zstd frame if that is smaller.
func (w *columnWriter) pack(id columnID, b []byte) {
	at := len(w.data)
	if len(b) >= minZstd {
		w.data = w.zstd.EncodeAll(b, w.data)
		if n := len(w.data) - at; n < len(b) {
			w.enter(id, codingZstd, len(b), n)
			return
		}
		w.data = w.data[:at]
	}
	w.data = append(w.data, b...)
	w.enter(id, codingVarint, len(b), len(b))
}

func (w *columnWriter) enter(id columnID, c columnCoding, unpacked, stored int) {
	w.directory = append(w.directory, byte(id), byte(c))
	w.directory = binary.AppendUvarint(w.directory, uint64(unpacked))
	w.directory = binary.AppendUvarint(w.directory, uint64(stored))
	w.columns++
}

// columnReader finds and unpacks the columns of a calls payload.
type columnReader struct {
	zstd    *zstd.Decoder
	columns [numColumns]column
	buf     []byte
	values  []uint64
}

type column struct {
	present  bool
	coding   columnCoding
	unpacked int
	data     []byte
}

// directory reads the head of the columns.
func (r *columnReader) directory(b []byte) error {
	r.columns = [numColumns]column{}
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)) {
		return errors.New("bad number of columns")
	}
	b = b[k:]
	type place struct {
		id     columnID
		c      column
		stored int
	}
	var places [2 * numColumns]place
	if n > uint64(len(places)) {
		return fmt.Errorf("%d columns are too many", n)
	}
	for i := range places[:n] {
		if len(b) < 2 {
			return errors.New("column directory is cut off")
		}
		p := &places[i]
		p.id, p.c.coding = columnID(b[0]), columnCoding(b[1])
		b = b[2:]
		unpacked, k := binary.Uvarint(b)
		if k <= 0 || unpacked > MaxUnpacked {
			return fmt.Errorf("column %d: bad size", p.id)
		}
		b = b[k:]
		stored, k := binary.Uvarint(b)
		if k <= 0 || stored > MaxUnpacked {
			return fmt.Errorf("column %d: bad size", p.id)
		}
		b = b[k:]
		p.c.unpacked, p.stored = int(unpacked), int(stored)
	}
	for i := range places[:n] {
		p := &places[i]
		if p.stored > len(b) {
			return fmt.Errorf("column %d goes beyond its block", p.id)
		}
		p.c.data, b = b[:p.stored:p.stored], b[p.stored:]
		if int(p.id) >= numColumns {
			continue
		}
		if r.columns[p.id].present {
			return fmt.Errorf("column %d is there twice", p.id)
		}
		p.c.present = true
		r.columns[p.id] = p.c
	}
	return nil
}

// get returns the n values of a column, valid until the next get.
func (r *columnReader) get(id columnID, n int) ([]uint64, error) {
	c := &r.columns[id]
	if cap(r.values) < n {
		r.values = make([]uint64, n)
	}
	values := r.values[:n]
	if !c.present {
		clear(values)
		return values, nil
	}
	b := c.data
	switch c.coding {
	case codingConstant:
		v, k := binary.Uvarint(b)
		if k <= 0 || k != len(b) {
			return nil, fmt.Errorf("column %d: bad constant", id)
		}
		for i := range values {
			values[i] = v
		}
		return values, nil
	case codingVarint:
	case codingZstd:
		if c.unpacked > n*binary.MaxVarintLen64 {
			return nil, fmt.Errorf("column %d: %d bytes are too many for %d values", id, c.unpacked, n)
		}
		var err error
		if b, err = unzstd(r.zstd, b, c.unpacked, r.buf); err != nil {
			return nil, fmt.Errorf("column %d: %w", id, err)
		}
		r.buf = b
	default:
		return nil, fmt.Errorf("column %d: unknown coding %d", id, c.coding)
	}
	return values, varints(id, b, values)
}

// bytes returns the n values of a column that takes one byte for each, and
// whether it is such a column.
func (r *columnReader) bytes(id columnID, n int) (b []byte, plain bool, err error) {
	c := &r.columns[id]
	if !c.present || c.unpacked != n || c.coding != codingVarint && c.coding != codingZstd {
		return nil, false, nil
	}
	if b = c.data; c.coding == codingZstd {
		if b, err = unzstd(r.zstd, b, n, r.buf); err != nil {
			return nil, false, fmt.Errorf("column %d: %w", id, err)
		}
		r.buf = b
	}
	all := byte(0)
	for _, v := range b {
		all |= v
	}
	return b, len(b) == n && all < 0x80, nil
}

// times returns the bytes of the column of times.
func (r *columnReader) times() ([]byte, error) {
	c := &r.columns[colTimes]
	if !c.present || c.coding != codingTimes {
		return nil, errors.New("no column of times")
	}
	return c.data, nil
}

// varints reads exactly len(values) varints from b.
func varints(id columnID, b []byte, values []uint64) error {
	at := 0
	for i := range values {
		if at >= len(b) {
			return fmt.Errorf("column %d: %d of %d values missing", id, len(values)-i, len(values))
		}
		if v := b[at]; v < 0x80 {
			values[i] = uint64(v)
			at++
			continue
		}
		v, k := binary.Uvarint(b[at:])
		if k <= 0 {
			return fmt.Errorf("column %d: bad integer", id)
		}
		values[i] = v
		at += k
	}
	if at != len(b) {
		return fmt.Errorf("column %d: %d bytes left over", id, len(b)-at)
	}
	return nil
}
