// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"fmt"
	"io"
)

// footer reads the index of a file that was closed in order.
func (r *Reader) footer() ([]BlockInfo, bool) {
	if r.size < fileHeaderSize+blockHeaderSize+trailerSize {
		return nil, false
	}
	var t [trailerSize]byte
	if n, _ := r.in.ReadAt(t[:], r.size-trailerSize); n < len(t) {
		return nil, false
	}
	offset, ok := parseTrailer(t[:])
	if !ok {
		return nil, false
	}
	end := r.size - trailerSize
	if offset < fileHeaderSize || offset > end-blockHeaderSize {
		r.problem(Problem{Offset: end, Size: trailerSize, What: fmt.Sprintf("trailer points to offset %d; read by scanning", offset), Rank: NoRank, Err: ErrCorrupt})
		return nil, false
	}
	blocks, err := r.readIndex(offset, end-offset)
	if err != nil {
		r.problem(Problem{Offset: offset, Size: r.size - offset, What: "index: " + what(err) + "; read by scanning", Rank: NoRank, Err: ErrCorrupt})
		r.badIndex = offset
		return nil, false
	}
	return blocks, true
}

func (r *Reader) readIndex(offset, size int64) ([]BlockInfo, error) {
	d, err := newDecoderBuffers()
	if err != nil {
		return nil, err
	}
	_, payload, err := d.payload(r, BlockInfo{Offset: offset, Size: size, Kind: BlockIndex})
	if err != nil {
		return nil, err
	}
	return parseIndex(payload, offset)
}

// scan finds the blocks of a file without its index. Where a header is damaged
// it looks for the next one.
func (r *Reader) scan() []BlockInfo {
	var blocks []BlockInfo
	var gaps []gap
	var b [blockHeaderSize]byte
	damaged := func(from, to int64, what string, err error) {
		r.problem(Problem{Offset: from, Size: to - from, What: what, LostCalls: -1, Rank: NoRank, Err: err})
		gaps = append(gaps, gap{len(r.problems) - 1, len(blocks)})
	}
	at := int64(fileHeaderSize)
	for at < r.size && at != r.badIndex {
		n, err := r.in.ReadAt(b[:], at)
		if n < len(b) && err != nil && err != io.EOF {
			damaged(at, r.size, err.Error(), ErrCorrupt)
			break
		}
		var h blockHeader
		if !h.get(b[:n]) {
			if n == trailerSize {
				if _, ok := parseTrailer(b[:n]); ok {
					break
				}
			}
			next := r.nextBlock(at + 1)
			switch {
			case next < r.size:
				damaged(at, next, "no block here; went on at the next one", ErrCorrupt)
			case n < len(b):
				damaged(at, r.size, "the file ends within a block header", ErrTruncated)
			default:
				damaged(at, r.size, "no block here, nor anywhere after", ErrCorrupt)
			}
			at = next
			continue
		}
		x := h.info(at)
		end := at + x.Size
		if end > r.size {
			p := Problem{Offset: at, Size: r.size - at, What: "the file ends within a block", Rank: NoRank, Err: ErrTruncated}
			if h.kind == BlockCalls {
				p.LostCalls, p.Rank = int64(x.Calls), x.Rank
			}
			r.problem(p)
			break
		}
		switch {
		case h.kind == BlockCalls && x.Calls > MaxBlockCalls:
			r.problem(Problem{Offset: at, Size: x.Size, What: fmt.Sprintf("block of %d calls, more than %d", x.Calls, MaxBlockCalls), LostCalls: -1, Rank: x.Rank, Err: ErrCorrupt})
		case h.kind != BlockIndex:
			blocks = append(blocks, x)
		}
		at = end
	}
	r.explain(gaps, blocks)
	return blocks
}

// nextBlock returns the offset of the first undamaged block header from at on,
// or the file's size.
func (r *Reader) nextBlock(at int64) int64 {
	buf := make([]byte, 64<<10)
	for {
		n, _ := r.in.ReadAt(buf, at)
		b := buf[:n]
		for i := bytes.Index(b, []byte(blockMarker)); i >= 0; {
			var h blockHeader
			if h.get(b[i:]) {
				return at + int64(i)
			}
			k := bytes.Index(b[i+1:], []byte(blockMarker))
			if k < 0 {
				break
			}
			i += 1 + k
		}
		if n < len(buf) {
			return r.size
		}
		at += int64(n - (blockHeaderSize - 1)) // a header may go on beyond b
	}
}

// gap is a damaged part of the file: a problem, and how many blocks were found
// before it.
type gap struct{ problem, before int }

// explain works out how many calls the damaged parts held, from the numbers of
// the calls before and after.
func (r *Reader) explain(gaps []gap, blocks []BlockInfo) {
	if len(gaps) == 0 {
		return
	}
	type stream struct {
		rank   int32
		thread uint32
	}
	type last struct {
		next  uint64 // number of the call expected next
		block int    // that the last one was in
	}
	streams := map[stream]last{}
	for i, x := range blocks {
		if x.Kind != BlockCalls {
			continue
		}
		s := stream{x.Rank, x.Thread}
		if r.kind == KindMerged {
			s.thread = 0
		}
		l, ok := streams[s]
		if !ok {
			l.block = -1
		}
		if x.FirstSeq > l.next {
			// The first damage between the two blocks is taken to have held them.
			for _, g := range gaps {
				if g.before > l.block && g.before <= i {
					p := &r.problems[g.problem]
					if p.LostCalls < 0 {
						p.LostCalls = 0
						p.Rank = x.Rank
					}
					p.LostCalls += int64(min(x.FirstSeq-l.next, 1<<62))
					break
				}
			}
		}
		streams[s] = last{x.FirstSeq + uint64(x.Calls), i}
	}
}
