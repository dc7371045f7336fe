// SPDX-License-Identifier: Apache-2.0

package format

import (
	"errors"
	"io"
)

// Encoder makes blocks of calls apart from a Writer, so that many goroutines
// can pack while one writes. It must not be used by several at once.
type Encoder struct {
	w Writer
}

// NewEncoder makes an Encoder. It takes about one MiB once it has made a block.
func NewEncoder() (*Encoder, error) {
	z, err := newZstdEncoder()
	if err != nil {
		return nil, err
	}
	e := &Encoder{}
	e.w.zstd, e.w.calls.zstd = z, z
	return e, nil
}

// Append appends c to dst as blocks that Writer.WriteEncoded takes. After an
// error dst is as it was.
func (e *Encoder) Append(dst []byte, c *Calls) ([]byte, error) {
	out := &blockCollector{b: dst}
	e.w.out, e.w.err, e.w.off, e.w.stats = out, nil, 0, Stats{}
	e.w.index = indexEncoder{b: e.w.index.b[:0]}
	if err := e.w.WriteCalls(c); err != nil {
		return dst, err
	}
	return out.b, nil
}

// Close releases what the Encoder holds.
func (e *Encoder) Close() { e.w.zstd.Close() }

type blockCollector struct{ b []byte }

func (c *blockCollector) Write(p []byte) (int, error) {
	c.b = append(c.b, p...)
	return len(p), nil
}

// WriteEncoded writes blocks that an Encoder made, and adds firstSeq to the
// numbers of their first calls: packing need not know how many calls there
// were before. Definitions that wait are written first.
func (w *Writer) WriteEncoded(blocks []byte, firstSeq uint64) error {
	w.writeRecords(BlockDefinitions)
	for len(blocks) > 0 && w.err == nil {
		var h blockHeader
		if !h.get(blocks) || h.kind != BlockCalls || int64(h.stored) > int64(len(blocks)-blockHeaderSize) {
			return errors.New("not blocks of an encoder")
		}
		size := blockHeaderSize + int(h.stored)
		h.firstSeq += firstSeq
		h.number = uint32(w.stats.Blocks)
		w.block = append(w.block[:0], blocks[:size]...)
		h.put(w.block)
		offset := w.off
		w.write()
		if w.err != nil {
			break
		}
		w.stats.Blocks++
		w.stats.Calls += uint64(h.count)
		w.index.add(offset, &h)
		blocks = blocks[size:]
	}
	return w.err
}

var _ io.Writer = (*blockCollector)(nil)
