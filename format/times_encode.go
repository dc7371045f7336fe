// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

// timesEncoder has the buffers of the encoding: about half a MiB.
type timesEncoder struct {
	info      []sigInfo
	ends      []int64
	values    [2 * MaxBlockCalls]int64 // differences, list by list
	symbols   [2 * MaxBlockCalls]uint8 // the same as symbols
	stream    [2 * MaxBlockCalls]uint8
	low       [32*MaxBlockCalls + 8]byte
	out       []byte
	histogram [maxLists]histogram
	joined    [maxStreams]histogram
	huffman   huff0.Scratch
}

// groupSigs puts every signature into one of at most maxGroups groups and
// returns their number, and whether the groups are those of groupByFunction.
// Few signatures have a group each; many are grouped by function and magnitude
// of the message; if nearly every call has its own, saying the groups would
// cost more than it gains.
func (e *timesEncoder) groupSigs(sigs []Sig, calls int) (groups int, byFunction bool) {
	if len(sigs) <= maxGroups {
		for i := range sigs {
			e.info[i].group = uint8(i)
		}
		return len(sigs), false
	}
	if len(sigs) > calls/16 {
		return groupByFunction(sigs, e.info), true
	}
	var number [maxGroups]uint8 // 1 + group, by hash
	for i := range sigs {
		s := &sigs[i]
		h := (uint(s.Func)*7 + uint(bits.Len64(uint64(s.Bytes)))/2) % maxGroups
		if number[h] == 0 {
			groups++
			number[h] = uint8(groups)
		}
		e.info[i].group = number[h] - 1
	}
	if groups == 1 { // a column of zeros would not be stored
		return groupByFunction(sigs, e.info), true
	}
	return groups, false
}

// encode returns the times of c as a column's bytes, valid until the next call.
// calls has the number of calls of each signature.
//
// explicit says that the groups must be stored.
func (e *timesEncoder) encode(c *Calls, calls []uint32) (column []byte, explicit bool) {
	e.info = resize(e.info, len(c.Sigs))
	e.ends = threadSlots(c.Sigs, e.info, e.ends)
	groups, byFunction := e.groupSigs(c.Sigs, len(c.Index))
	lists := 2 * groups
	from := listBounds(e.info, calls)
	e.scatter(c, from)

	var least [maxLists]int64
	all := uint64(0)
	for l := range lists {
		if values := e.values[from[l]:from[l+1]]; len(values) > 0 {
			low := values[0]
			for _, v := range values {
				low = min(low, v)
				all |= uint64(v)
			}
			least[l] = low
		}
	}
	unit := findGranule(e.values[:from[lists]], all)
	low := bitWriter{b: e.low[:]}
	for l := range lists {
		symbols := e.symbols[from[l]:from[l+1]]
		encodeList(e.values[from[l]:from[l+1]], symbols, least[l], unit, &low)
		e.histogram[l].sample(symbols)
	}

	// Lists that are distributed alike share a table.
	var streamOf [maxLists]uint8
	streams := e.join(lists, &streamOf)

	b := binary.AppendUvarint(e.out[:0], zigzag(c.Begin[0]))
	b = binary.AppendUvarint(b, unit.value)
	b = append(b, byte(groups), byte(streams))
	for l := range lists {
		b = binary.AppendUvarint(b, zigzag(least[l]))
		b = append(b, streamOf[l])
	}
	for s := range streams {
		stream := e.stream[:0]
		for l := range lists {
			if int(streamOf[l]) == s {
				stream = append(stream, e.symbols[from[l]:from[l+1]]...)
			}
		}
		b = e.appendStream(b, stream)
	}
	b = append(b, low.bytes()...)
	e.out = b
	return b, !byFunction
}

// scatter puts the gap and the duration of every call into its list.
func (e *timesEncoder) scatter(c *Calls, at [maxLists + 1]int) {
	for i := range e.ends {
		e.ends[i] = c.Begin[0]
	}
	ends, begins := c.End[:len(c.Index)], c.Begin[:len(c.Index)]
	for i, x := range c.Index {
		info := e.info[x]
		l := 2 * uint(info.group%maxGroups)
		k, m := at[l], at[l+1]
		begin, last := begins[i], &e.ends[info.slot]
		e.values[k%len(e.values)] = begin - *last
		at[l] = k + 1
		if info.inFlight {
			*last = begin
			continue
		}
		end := ends[i]
		e.values[m%len(e.values)] = end - begin
		at[l+1] = m + 1
		*last = end
	}
}

// encodeList turns values into symbols and appends the bits below to w. It is
// where the time goes, so its state is in variables, and it writes the bits of
// two values at once.
func encodeList(values []int64, symbols []uint8, least int64, unit granule, w *bitWriter) {
	b, at, acc, left := w.b, w.at, w.acc, w.left
	shift, inverse := unit.shift&63, unit.inverse
	symbols = symbols[:len(values)]
	for i := 0; i < len(values); i++ {
		v := uint64(values[i]-least) >> shift * inverse
		sym, k := symbol(v)
		symbols[i] = sym
		v &= 1<<k - 1
		if j := i + 1; j < len(values) {
			v2 := uint64(values[j]-least) >> shift * inverse
			sym2, k2 := symbol(v2)
			if k+k2 <= maxBitsAtOnce {
				symbols[j] = sym2
				v |= v2 & (1<<k2 - 1) << k
				k += k2
				i = j
			}
		}
		if k > maxBitsAtOnce {
			acc |= v & (1<<32 - 1) << left
			binary.LittleEndian.PutUint64(b[at:], acc)
			at += 4
			acc >>= 32
			v >>= 32
			k -= 32
		}
		acc |= v << left
		binary.LittleEndian.PutUint64(b[at:], acc)
		left += k
		at += int(left >> 3)
		acc >>= left & 56
		left &= 7
	}
	w.at, w.acc, w.left = at, acc, left
}

// appendStream appends coding, size and data of a stream of symbols.
func (e *timesEncoder) appendStream(b, stream []byte) []byte {
	if len(stream) == 0 {
		return append(b, streamRaw, 0)
	}
	e.huffman.Reuse = huff0.ReusePolicyNone
	coding, compress := byte(streamHuffman), huff0.Compress1X
	if len(stream) >= 1024 {
		coding, compress = streamFour, huff0.Compress4X
	}
	out, _, err := compress(stream, &e.huffman)
	switch {
	case err == nil && len(out) < len(stream):
	case errors.Is(err, huff0.ErrUseRLE):
		coding, out = streamSame, stream[:1]
	default:
		coding, out = streamRaw, stream
	}
	b = append(b, coding)
	b = binary.AppendUvarint(b, uint64(len(out)))
	return append(b, out...)
}

// join gives every list a stream: that of the lists before with which it takes
// the least additional room, or one of its own if that is less.
func (e *timesEncoder) join(lists int, streamOf *[maxLists]uint8) int {
	streams := 0
	for l := range lists {
		h := &e.histogram[l]
		best, least := -1, h.bits
		if streams == maxStreams {
			least = math.MaxFloat32
		}
		for s := range streams {
			if more := cost(&e.joined[s], h) - e.joined[s].bits; more < least {
				best, least = s, more
			}
		}
		if best < 0 {
			e.joined[streams] = *h
			streamOf[l] = uint8(streams)
			streams++
			continue
		}
		j := &e.joined[best]
		if h.total > 0 {
			j.lo, j.hi = min(j.lo, h.lo), max(j.hi, h.hi)
			j.total += h.total
			for s := h.lo; s <= h.hi; s++ {
				j.count[s] += h.count[s]
			}
			j.bits += least
		}
		streamOf[l] = uint8(best)
	}
	return streams
}

// bitWriter appends bits, lowest first. b must be large enough.
type bitWriter struct {
	b    []byte
	at   int
	acc  uint64
	left uint // bits in acc, fewer than 8
}

func (w *bitWriter) bytes() []byte {
	if w.left > 0 {
		return w.b[:w.at+1]
	}
	return w.b[:w.at]
}
