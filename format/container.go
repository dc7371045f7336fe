// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"hash/crc32"
)

// The version that this package writes. Readers accept every minor version of
// a major version that they know.
const (
	Major = 1
	Minor = 0
)

// Kind says what a file holds.
type Kind uint8

// The kinds of files.
const (
	KindRank   Kind = 1 // what one rank recorded
	KindMerged Kind = 2 // a whole run, on one clock
)

// String names the kind.
func (k Kind) String() string {
	switch k {
	case KindRank:
		return "rank file"
	case KindMerged:
		return "merged file"
	}
	return "file of an unknown kind"
}

// BlockKind says what a block holds.
type BlockKind uint8

// The kinds of blocks. Readers skip and count those that they do not know.
const (
	BlockHead        BlockKind = 1 // Run and Process records, always the first block
	BlockDefinitions BlockKind = 2 // all other records
	BlockCalls       BlockKind = 3
	BlockMessages    BlockKind = 4 // reserved: message edges of a merged file
	BlockCollectives BlockKind = 5 // reserved: collective instances of a merged file
	BlockIndex       BlockKind = 6 // the footer: where the other blocks are
)

// codec says how a payload or column is stored.
type codec uint8

const (
	codecRaw  codec = 0 // as it is
	codecZstd codec = 1 // one zstd frame
)

// Limits of the format. Readers refuse what exceeds them, so that no memory is
// allocated because a damaged file says so.
const (
	MaxBlockCalls = 8192     // calls in a block
	MaxBlockDone  = 1 << 20  // completed requests in a block
	MaxUnpacked   = 16 << 20 // bytes of a column or a definitions block when unpacked
)

const (
	fileMagic   = "\x89MPT\r\n\x1a\n"
	blockMarker = "\xd7BLK"
	endMagic    = "MPTEND\r\n"

	fileHeaderSize  = 16
	blockHeaderSize = 64
	trailerSize     = 24

	noThread = ^uint32(0) // a block with calls of several threads
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// appendFileHeader appends the 16 bytes that every file starts with.
func appendFileHeader(b []byte, k Kind) []byte {
	at := len(b)
	b = append(b, fileMagic...)
	b = binary.LittleEndian.AppendUint16(b, Major)
	b = append(b, Minor, byte(k))
	return binary.LittleEndian.AppendUint32(b, checksum(b[at:]))
}

// blockHeader is the fixed part of a block.
type blockHeader struct {
	kind     BlockKind
	codec    codec
	stored   uint32 // bytes of the payload in the file
	unpacked uint32 // bytes of the payload when unpacked
	rank     int32
	thread   uint32
	firstSeq uint64
	count    uint32 // calls, or records
	crc      uint32 // of the payload as stored
	timeMin  int64
	timeMax  int64
	number   uint32 // of the block within the file, from 0
}

// put writes the header into the first blockHeaderSize bytes of b.
func (h *blockHeader) put(b []byte) {
	_ = b[blockHeaderSize-1]
	le := binary.LittleEndian
	copy(b, blockMarker)
	b[4], b[5], b[6], b[7] = byte(h.kind), byte(h.codec), 0, 0
	le.PutUint32(b[8:], h.stored)
	le.PutUint32(b[12:], h.unpacked)
	le.PutUint32(b[16:], uint32(h.rank))
	le.PutUint32(b[20:], h.thread)
	le.PutUint64(b[24:], h.firstSeq)
	le.PutUint32(b[32:], h.count)
	le.PutUint32(b[36:], h.crc)
	le.PutUint64(b[40:], uint64(h.timeMin))
	le.PutUint64(b[48:], uint64(h.timeMax))
	le.PutUint32(b[56:], h.number)
	le.PutUint32(b[60:], checksum(b[:60]))
}

// get reads a header and says whether b starts with a whole, undamaged one.
func (h *blockHeader) get(b []byte) bool {
	if len(b) < blockHeaderSize || string(b[:4]) != blockMarker {
		return false
	}
	le := binary.LittleEndian
	if le.Uint32(b[60:]) != checksum(b[:60]) {
		return false
	}
	*h = blockHeader{
		kind:     BlockKind(b[4]),
		codec:    codec(b[5]),
		stored:   le.Uint32(b[8:]),
		unpacked: le.Uint32(b[12:]),
		rank:     int32(le.Uint32(b[16:])),
		thread:   le.Uint32(b[20:]),
		firstSeq: le.Uint64(b[24:]),
		count:    le.Uint32(b[32:]),
		crc:      le.Uint32(b[36:]),
		timeMin:  int64(le.Uint64(b[40:])),
		timeMax:  int64(le.Uint64(b[48:])),
		number:   le.Uint32(b[56:]),
	}
	return true
}

// appendTrailer appends the last 24 bytes of a file that was closed in order.
func appendTrailer(b []byte, indexOffset int64) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(indexOffset))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, checksum(b[at:]))
	return append(b, endMagic...)
}

// parseTrailer returns the index block's offset.
func parseTrailer(b []byte) (offset int64, ok bool) {
	le := binary.LittleEndian
	if len(b) != trailerSize || string(b[16:]) != endMagic || le.Uint32(b[12:]) != checksum(b[:12]) {
		return 0, false
	}
	return int64(le.Uint64(b)), true
}
