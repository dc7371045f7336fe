// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"io"
)

// Decoder reads calls of a Reader with buffers of its own: one for each
// goroutine that reads many blocks. It must not be used by several at once.
type Decoder struct {
	r        *Reader
	block    []byte
	unpacked []byte
	calls    callsDecoder
}

// NewDecoder makes a Decoder. It takes about 200 KiB once it has read a block.
func (r *Reader) NewDecoder() *Decoder {
	d, err := newDecoderBuffers()
	if err != nil {
		panic(err) // options are constant: cannot fail
	}
	d.r = r
	return d
}

// Reset makes the Decoder read calls of r from now on: one Decoder can serve
// the files of thousands of ranks.
func (d *Decoder) Reset(r *Reader) { d.r = r }

func newDecoderBuffers() (*Decoder, error) {
	z, err := newZstdDecoder()
	if err != nil {
		return nil, err
	}
	d := &Decoder{}
	d.calls.zstd = z
	return d, nil
}

// ReadCalls is Reader.ReadCalls.
func (d *Decoder) ReadCalls(i int, dst *Calls) error {
	r := d.r
	if i < 0 || i >= len(r.blocks) {
		dst.clear()
		return fmt.Errorf("%s: no calls block %d: there are %d", r.name, i, len(r.blocks))
	}
	x := r.blocks[i]
	h, payload, err := d.payload(r, x)
	if err == nil {
		dst.Rank, dst.FirstSeq = h.rank, h.firstSeq
		if derr := d.calls.decode(payload, x.Calls, dst); derr != nil {
			err = &Error{r.name, x.Offset, derr.Error(), ErrCorrupt}
		}
		dst.Rank, dst.FirstSeq = h.rank, h.firstSeq
	}
	if err != nil {
		dst.clear()
		r.badBlock(i, err)
	}
	return err
}

// badBlock notes a calls block that could not be read, once.
func (r *Reader) badBlock(i int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bad[i] {
		return
	}
	r.bad[i] = true
	x := r.blocks[i]
	r.problems = append(r.problems, Problem{Offset: x.Offset, Size: x.Size, What: "calls: " + what(err), LostCalls: int64(x.Calls), Rank: x.Rank, Err: ErrCorrupt})
}

// payload reads the block at x and checks it against its checksums and x.
func (d *Decoder) payload(r *Reader, x BlockInfo) (h blockHeader, payload []byte, err error) {
	if x.Size > int64(cap(d.block)) {
		d.block = make([]byte, x.Size) // x.Size is within the file
	}
	b := d.block[:x.Size]
	if n, err := r.in.ReadAt(b, x.Offset); n < len(b) {
		if err == io.EOF {
			return h, nil, &Error{r.name, x.Offset + int64(n), "the file ends within the block", ErrTruncated}
		}
		return h, nil, fmt.Errorf("%s: %w", r.name, err)
	}
	if !h.get(b) {
		return h, nil, &Error{r.name, x.Offset, "block header is damaged", ErrCorrupt}
	}
	payload = b[blockHeaderSize:]
	switch {
	case int64(h.stored) != int64(len(payload)) || h.kind != x.Kind || h.kind == BlockCalls && h.info(x.Offset) != x:
		return h, nil, &Error{r.name, x.Offset, "block header contradicts the index", ErrCorrupt}
	case checksum(payload) != h.crc:
		return h, nil, &Error{r.name, x.Offset, fmt.Sprintf("payload checksum is %#08x, should be %#08x", checksum(payload), h.crc), ErrCorrupt}
	}
	return h, payload, nil
}

// records reads and unpacks a head or definitions block.
func (d *Decoder) records(r *Reader, x BlockInfo) ([]byte, error) {
	h, payload, err := d.payload(r, x)
	if err != nil {
		return nil, err
	}
	switch h.codec {
	case codecRaw:
		return payload, nil
	case codecZstd:
		if h.unpacked > MaxUnpacked {
			return nil, fmt.Errorf("unpacks to %d bytes, more than %d", h.unpacked, MaxUnpacked)
		}
		d.unpacked, err = unzstd(d.calls.zstd, payload, int(h.unpacked), d.unpacked)
		return d.unpacked, err
	}
	return nil, fmt.Errorf("unknown codec %d", h.codec)
}

// info is what the index says of a block with this header.
func (h *blockHeader) info(offset int64) BlockInfo {
	x := BlockInfo{Offset: offset, Size: blockHeaderSize + int64(h.stored), Kind: h.kind}
	if h.kind == BlockCalls {
		x.Rank, x.Thread, x.FirstSeq, x.Calls = h.rank, h.thread, h.firstSeq, int(h.count)
		x.TimeMin, x.TimeMax = h.timeMin, h.timeMax
	}
	return x
}
