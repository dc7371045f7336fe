// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"errors"
	"math"
)

// BlockInfo says where a block is and what it covers.
type BlockInfo struct {
	Offset   int64 // of its header
	Size     int64 // with its header
	Kind     BlockKind
	Rank     int32
	Thread   uint32 // of a rank file's calls; ^0 if they are of several threads
	FirstSeq uint64
	Calls    int
	TimeMin  int64 // smallest begin
	TimeMax  int64 // largest end; the largest int64 if a call never returned
}

// indexEncoder builds the index block as blocks are written.
type indexEncoder struct {
	b    []byte
	end  int64 // where the block after the last is expected
	time int64
	seq  uint64
}

func (e *indexEncoder) add(offset int64, h *blockHeader) {
	size := int64(blockHeaderSize) + int64(h.stored)
	e.b = append(e.b, byte(h.kind))
	e.b = binary.AppendUvarint(e.b, uint64(offset-e.end))
	e.b = binary.AppendUvarint(e.b, uint64(size))
	e.end = offset + size
	if h.kind != BlockCalls {
		return
	}
	e.b = binary.AppendUvarint(e.b, zigzag(int64(h.rank)))
	e.b = binary.AppendUvarint(e.b, uint64(h.thread+1))
	e.b = binary.AppendUvarint(e.b, zigzag(int64(h.firstSeq-e.seq)))
	e.b = binary.AppendUvarint(e.b, uint64(h.count))
	e.b = binary.AppendUvarint(e.b, zigzag(h.timeMin-e.time))
	e.b = binary.AppendUvarint(e.b, zigzag(h.timeMax-h.timeMin))
	e.seq = h.firstSeq + uint64(h.count)
	e.time = h.timeMax
}

// parseIndex reads the payload of an index block at offset end.
func parseIndex(b []byte, end int64) ([]BlockInfo, error) {
	d := recordDecoder{b: b}
	var blocks []BlockInfo
	at, seq, time := int64(0), uint64(0), int64(0)
	for len(d.b) > 0 {
		x := BlockInfo{Kind: BlockKind(d.b[0])}
		d.b = d.b[1:]
		gap := d.upTo(math.MaxInt64)
		size := d.upTo(math.MaxUint32 + blockHeaderSize)
		if d.err != nil {
			return nil, d.err
		}
		if gap > uint64(end-at) || size < blockHeaderSize || size > uint64(end-at)-gap {
			return nil, errors.New("index has a block beyond the file")
		}
		x.Offset, x.Size = at+int64(gap), int64(size)
		at = x.Offset + x.Size
		if x.Kind == BlockCalls {
			x.Rank = d.int32()
			x.Thread = uint32(d.upTo(math.MaxUint32)) - 1
			x.FirstSeq = seq + uint64(unzigzag(d.uint()))
			x.Calls = int(d.upTo(MaxBlockCalls))
			x.TimeMin = time + unzigzag(d.uint())
			x.TimeMax = x.TimeMin + unzigzag(d.uint())
			seq, time = x.FirstSeq+uint64(x.Calls), x.TimeMax
			if d.err != nil {
				return nil, d.err
			}
		}
		blocks = append(blocks, x)
	}
	if at != end {
		return nil, errors.New("index does not cover the file")
	}
	return blocks, nil
}
