// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/klauspost/compress/huff0"
)

// timesDecoder has the buffers of the decoding.
type timesDecoder struct {
	info    []sigInfo
	calls   []uint32
	ends    []int64
	symbols []uint8
	values  []int64
	low     []byte
	huffman huff0.Scratch
}

// decode sets c.Begin and c.End from a column's bytes. Index, Sigs and d.info's
// groups are set and checked.
func (d *timesDecoder) decode(b []byte, c *Calls) error {
	in := recordDecoder{b: b}
	base := unzigzag(in.uint())
	unit := in.uint()
	groups, streams := int(in.upTo(maxGroups)), int(in.upTo(maxStreams))
	lists := 2 * groups
	var least [maxLists]int64
	var streamOf [maxLists]int
	for l := range lists {
		least[l] = unzigzag(in.uint())
		streamOf[l] = int(in.upTo(maxStreams - 1))
	}
	if in.err != nil {
		return in.err
	}
	for i := range d.info {
		if int(d.info[i].group) >= groups {
			return fmt.Errorf("signature %d is in group %d of %d", i, d.info[i].group, groups)
		}
	}
	d.calls = resize(d.calls, len(c.Sigs))
	clear(d.calls)
	for _, x := range c.Index {
		d.calls[x]++
	}
	from := listBounds(d.info, d.calls)
	d.symbols, d.values = resize(d.symbols, from[lists]), resize(d.values, from[lists])

	// Symbols are stored stream by stream.
	var symbols [maxLists][]uint8
	end := 0
	for s := range streams {
		start := end
		for l := range lists {
			if streamOf[l] == s {
				n := from[l+1] - from[l]
				symbols[l] = d.symbols[end : end+n]
				end += n
			}
		}
		if err := d.stream(&in, d.symbols[start:end:end]); err != nil {
			return fmt.Errorf("stream %d: %w", s, err)
		}
	}
	if end != from[lists] {
		return fmt.Errorf("streams have %d values, should be %d", end, from[lists])
	}

	d.low = append(append(d.low[:0], in.b...), make([]byte, 9)...)
	low := bitReader{b: d.low}
	for l := range lists {
		low = decodeList(symbols[l], d.values[from[l]:from[l+1]], least[l], unit, low)
	}
	if used := (low.at + 7) / 8; low.bad || used != uint(len(in.b)) {
		return fmt.Errorf("%d bytes of low bits, should be %d", len(in.b), used)
	}
	d.gather(c, base, from)
	return nil
}

// decodeList undoes encodeList.
func decodeList(symbols []uint8, values []int64, least int64, unit uint64, r bitReader) bitReader {
	values = values[:len(symbols)]
	for i, sym := range symbols {
		k := uint(symbolBits[sym])
		at := r.at >> 3
		if k > maxBitsAtOnce || at+8 > uint(len(r.b)) {
			var v uint64
			v, r = r.take(k)
			values[i] = least + int64((symbolBase[sym]+v)*unit)
			continue
		}
		v := binary.LittleEndian.Uint64(r.b[at:]) >> (r.at & 7) & (1<<(k&63) - 1)
		r.at += k
		values[i] = least + int64((symbolBase[sym]+v)*unit)
	}
	return r
}

// gather undoes scatter.
func (d *timesDecoder) gather(c *Calls, base int64, at [maxLists + 1]int) {
	for i := range d.ends {
		d.ends[i] = base
	}
	ends, begins := c.End[:len(c.Index)], c.Begin[:len(c.Index)]
	if len(d.ends) == 1 {
		last := base
		for i, x := range c.Index {
			info := d.info[x]
			l := 2 * uint(info.group%maxGroups)
			k, m := at[l], at[l+1]
			last += d.values[k]
			begins[i] = last
			at[l] = k + 1
			if info.inFlight {
				ends[i] = 0
				continue
			}
			last += d.values[m]
			ends[i] = last
			at[l+1] = m + 1
		}
		return
	}
	for i, x := range c.Index {
		info := d.info[x]
		l := 2 * uint(info.group%maxGroups)
		k, m := at[l], at[l+1]
		last := &d.ends[info.slot]
		begin := *last + d.values[k]
		begins[i] = begin
		at[l] = k + 1
		if info.inFlight {
			ends[i] = 0
			*last = begin
			continue
		}
		end := begin + d.values[m]
		ends[i] = end
		at[l+1] = m + 1
		*last = end
	}
}

// stream unpacks the next stream into symbols, which it must fill.
func (d *timesDecoder) stream(in *recordDecoder, symbols []uint8) error {
	coding := in.upTo(streamFour)
	size := in.upTo(math.MaxInt32)
	data := in.take(int(size))
	if in.err != nil {
		return in.err
	}
	if len(data) != int(size) {
		return errors.New("is cut off")
	}
	switch coding {
	case streamRaw:
		if len(data) != len(symbols) {
			return fmt.Errorf("%d symbols, should be %d", len(data), len(symbols))
		}
		copy(symbols, data)
	case streamSame:
		if len(data) != 1 {
			return fmt.Errorf("%d symbols, should be 1", len(data))
		}
		for i := range symbols {
			symbols[i] = data[0]
		}
	case streamHuffman, streamFour:
		s, rest, err := huff0.ReadTable(data, &d.huffman)
		if err != nil {
			return err
		}
		decompress := s.Decoder().Decompress1X
		if coding == streamFour {
			decompress = s.Decoder().Decompress4X
		}
		out, err := decompress(symbols[:0], rest)
		if err != nil {
			return err
		}
		if len(out) != len(symbols) {
			return fmt.Errorf("%d symbols, should be %d", len(out), len(symbols))
		}
	}
	return nil
}

// bitReader takes bits, lowest first. b has 8 bytes more than there are bits.
type bitReader struct {
	b   []byte
	at  uint // in bits
	bad bool
}

// take returns the next k bits. Beyond the end, or for a k that no symbol has,
// it sets bad.
func (r bitReader) take(k uint) (v uint64, _ bitReader) {
	if k > uint(symbolBits[maxSymbol]) || (r.at+k+7)/8+8 > uint(len(r.b)) {
		r.bad = true
		return 0, r
	}
	for got := uint(0); got < k; {
		n := min(k-got, 32)
		v |= binary.LittleEndian.Uint64(r.b[r.at>>3:]) >> (r.at & 7) & (1<<n - 1) << got
		r.at += n
		got += n
	}
	return v, r
}
