// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

// The times of calls are noise of the clock and of the machine for the most
// part, and nearly all of a file. So they have a coding of their own: every
// time is the gap since the end of the thread's call before, or a duration;
// signatures are put into groups that behave alike; a value is what it exceeds
// its group's smallest by, divided by the clock's granule, split into a symbol
// (its magnitude, three significant bits) and the bits below; symbols are
// Huffman coded, with one table for lists that are distributed alike.
//
// doc.go has the layout, RATIONALE.md the figures.

const (
	maxGroups  = 32
	maxLists   = 2 * maxGroups // gaps and durations of each group
	maxStreams = 16
	maxSymbol  = 251

	// A symbol's bits below are at most 61; so many can be appended or taken
	// at once without looking at a ninth byte.
	maxBitsAtOnce = 56
)

// The ways to store a stream of symbols.
const (
	streamRaw     = 0 // a byte each
	streamSame    = 1 // one byte, the symbol of all
	streamHuffman = 2 // Huffman table and one stream, as in RFC 8878, 4.2
)

// symbol splits v: symbols 0 to 7 are values, above them there are four to an
// octave, followed by k bits.
func symbol(v uint64) (sym uint8, k uint) {
	k = uint(max(bits.Len64(v), 3) - 3)
	return uint8(4*uint64(k) + v>>k), k
}

// symbolBits and symbolBase undo symbol.
var symbolBits, symbolBase = func() (n [256]uint8, base [256]uint64) {
	for s := range n {
		switch {
		case s < 8:
			base[s] = uint64(s)
		case s <= maxSymbol:
			n[s] = uint8(s/4 - 1)
			base[s] = uint64(4+s%4) << n[s]
		default:
			n[s] = math.MaxUint8
		}
	}
	return n, base
}()

// sigInfo is what the times need to know of a signature.
type sigInfo struct {
	group    uint8
	inFlight bool
	slot     uint16 // which of the threads' last ends
}

// threadSlots numbers the threads in order of their appearance.
func threadSlots(sigs []Sig, info []sigInfo, ends []int64) []int64 {
	slots := 0
	for i := range sigs {
		t, k := sigs[i].Thread, -1
		if i > 0 && t == sigs[i-1].Thread {
			k = int(info[i-1].slot)
		} else {
			for j := range i {
				if sigs[j].Thread == t {
					k = int(info[j].slot)
					break
				}
			}
		}
		if k < 0 {
			k = slots
			slots++
		}
		info[i].slot = uint16(k)
		info[i].inFlight = sigs[i].Flags&FlagInFlight != 0
	}
	return resize(ends, slots)
}

// timesEncoder has the buffers of the encoding: about half a MiB.
type timesEncoder struct {
	info      []sigInfo
	ends      []int64
	gaps      []int64
	durations []int64
	symbols   [2 * MaxBlockCalls]uint8
	stream    [2 * MaxBlockCalls]uint8
	low       []byte
	out       []byte
	histogram [maxLists]histogram
	joined    [maxStreams]histogram
	huffman   huff0.Scratch
}

// groupSigs puts every signature into one of at most maxGroups groups and
// returns their number. Few signatures have a group each; many are grouped by
// function and magnitude of the message.
func (e *timesEncoder) groupSigs(sigs []Sig) int {
	if len(sigs) <= maxGroups {
		for i := range sigs {
			e.info[i].group = uint8(i)
		}
		return len(sigs)
	}
	var number [maxGroups]uint8 // 1 + group, by hash
	groups := 0
	for i := range sigs {
		s := &sigs[i]
		h := (uint(s.Func)*7 + uint(bits.Len64(uint64(s.Bytes)))/2) % maxGroups
		if number[h] == 0 {
			groups++
			number[h] = uint8(groups)
		}
		e.info[i].group = number[h] - 1
	}
	return groups
}

// encode returns the times of c as a column's bytes, valid until the next call.
func (e *timesEncoder) encode(c *Calls) []byte {
	n := len(c.Index)
	e.info = resize(e.info, len(c.Sigs))
	e.ends = threadSlots(c.Sigs, e.info, e.ends)
	groups := e.groupSigs(c.Sigs)
	e.gaps, e.durations = resize(e.gaps, MaxBlockCalls), resize(e.durations, MaxBlockCalls)
	gaps, durations := e.gaps[:n], e.durations[:n]

	// First pass: differences, and the least and the number of each group.
	for i := range e.ends {
		e.ends[i] = c.Begin[0]
	}
	var least [maxGroups][2]int64
	for i := range least[:groups] {
		least[i] = [2]int64{math.MaxInt64, math.MaxInt64}
	}
	var count [maxGroups]int
	all := uint64(0)
	ends, begins := c.End[:n], c.Begin[:n]
	for i, x := range c.Index {
		info := e.info[x]
		begin := begins[i]
		gap := begin - e.ends[info.slot]
		g := &least[info.group&(maxGroups-1)]
		count[info.group&(maxGroups-1)]++
		gaps[i] = gap
		g[0] = min(g[0], gap)
		all |= uint64(gap)
		if info.inFlight {
			e.ends[info.slot] = begin
			durations[i] = math.MaxInt64
			continue
		}
		d := ends[i] - begin
		e.ends[info.slot] = ends[i]
		durations[i] = d
		g[1] = min(g[1], d)
		all |= uint64(d)
	}
	for g := range least {
		for side, v := range least[g] {
			if v == math.MaxInt64 { // the group has no calls, or none that returned
				least[g][side] = 0
			}
		}
	}
	unit := e.granule(c, all)

	// Second pass: what exceeds the least, as symbols and bits below.
	var at [maxLists]int
	end := 0
	for g := range groups {
		at[2*g] = end
		end += count[g]
		at[2*g+1] = end
		end += count[g]
	}
	for l := range 2 * groups {
		e.histogram[l].reset()
	}
	e.low = resize(e.low, 16*n+16)
	low := bitWriter{b: e.low}
	for i, x := range c.Index {
		g := e.info[x].group & (maxGroups - 1)
		l := 2 * int(g)

		v := unit.divide(uint64(gaps[i] - least[g][0]))
		sym, k := symbol(v)
		e.symbols[at[l]] = sym
		at[l]++
		e.histogram[l].count[sym]++
		low.put(v, k)

		l++
		v = 0
		if d := durations[i]; !e.info[x].inFlight {
			v = unit.divide(uint64(d - least[g][1]))
		}
		sym, k = symbol(v)
		e.symbols[at[l]] = sym
		at[l]++
		e.histogram[l].count[sym]++
		low.put(v, k)
	}

	// Lists that are distributed alike share a table.
	var streamOf [maxLists]uint8
	streams := e.join(2*groups, &streamOf)

	b := binary.AppendUvarint(e.out[:0], zigzag(c.Begin[0]))
	b = binary.AppendUvarint(b, unit.value)
	b = append(b, byte(groups), byte(streams))
	for g := range groups {
		for side := range 2 {
			b = binary.AppendUvarint(b, zigzag(least[g][side]))
			b = append(b, streamOf[2*g+side])
		}
	}
	for s := range streams {
		stream := e.stream[:0]
		for l := range 2 * groups {
			if int(streamOf[l]) == s {
				stream = append(stream, e.symbols[at[l]-count[l/2]:at[l]]...)
			}
		}
		b = e.appendStream(b, stream)
	}
	b = append(b, low.bytes()...)
	e.out = b
	return b
}

// appendStream appends coding, size and data of a stream of symbols.
func (e *timesEncoder) appendStream(b, stream []byte) []byte {
	if len(stream) == 0 {
		return append(b, streamRaw, 0)
	}
	e.huffman.Reuse = huff0.ReusePolicyNone
	out, _, err := huff0.Compress1X(stream, &e.huffman)
	coding := byte(streamHuffman)
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

// granule finds what all differences are multiples of: clocks advance in steps
// (2 ticks under some hypervisors, 20 to 40 on some processors). all has a bit
// set where any difference has.
func (e *timesEncoder) granule(c *Calls, all uint64) granule {
	if all == 0 {
		return newGranule(1)
	}
	shift := uint(bits.TrailingZeros64(all))
	var odd granule
	gaps, durations := e.gaps[:len(c.Index)], e.durations[:len(c.Index)]
	for i := range gaps {
		inFlight := e.info[c.Index[i]].inFlight
		for side, v := range [2]int64{gaps[i], durations[i]} {
			if side == 1 && inFlight {
				continue
			}
			u := magnitude(v)
			if u == 0 || odd.value != 0 && odd.divides(u) {
				continue
			}
			u >>= bits.TrailingZeros64(u)
			if odd = newGranule(gcd(odd.value, u)); odd.value == 1 {
				return newGranule(1 << shift)
			}
		}
	}
	return newGranule(odd.value << shift)
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// granule divides exactly, with a shift and a multiplication by the inverse of
// the odd part modulo 2^64.
type granule struct {
	value   uint64
	shift   uint
	inverse uint64
	limit   uint64 // largest quotient by the odd part
}

func newGranule(value uint64) granule {
	shift := uint(bits.TrailingZeros64(value))
	odd := value >> shift
	inverse := odd // right in the lowest 3 bits; each step doubles them
	for range 5 {
		inverse *= 2 - odd*inverse
	}
	return granule{value, shift, inverse, math.MaxUint64 / odd}
}

func (g granule) divide(v uint64) uint64 { return v >> (g.shift & 63) * g.inverse }

// divides says whether the odd part divides v.
func (g granule) divides(v uint64) bool { return v*g.inverse <= g.limit }

// histogram counts the symbols of a list.
type histogram struct {
	count  [256]uint16
	total  uint32
	lo, hi int // symbols that occur are within
	bits   float32
}

func (h *histogram) reset() { h.count = [256]uint16{} }

// measure computes the totals once the counts are there.
func (h *histogram) measure() {
	h.lo, h.hi, h.total = 0, -1, 0
	for s, n := range h.count {
		if n != 0 {
			if h.hi < 0 {
				h.lo = s
			}
			h.hi = s
			h.total += uint32(n)
		}
	}
	h.bits = cost(h, nil)
}

// cost estimates the bits that the symbols of a, and b unless it is nil, take
// with a table of their own, table included.
func cost(a, b *histogram) float32 {
	lo, hi, total := a.lo, a.hi, a.total
	if b != nil {
		lo, hi, total = min(lo, b.lo), max(hi, b.hi), total+b.total
	}
	if total == 0 {
		return 0
	}
	sum, used := float32(total)*log2(total), 0
	for s := lo; s <= hi; s++ {
		n := uint32(a.count[s&255])
		if b != nil {
			n += uint32(b.count[s&255])
		}
		if n != 0 {
			sum -= float32(n) * log2(n)
			used++
		}
	}
	const streamBits, symbolBits = 48, 4.5
	return sum + streamBits + symbolBits*float32(used)
}

// log2 is near enough for cost.
func log2(n uint32) float32 {
	if n < uint32(len(logs)) {
		return logs[n]
	}
	shift := bits.Len32(n) - 8
	return float32(shift) + logs[n>>shift]
}

var logs = func() (t [256]float32) {
	for i := range t {
		if i > 0 {
			t[i] = float32(math.Log2(float64(i)))
		}
	}
	return t
}()

// join gives every list a stream: that of the lists before with which it takes
// the least additional room, or one of its own if that is less.
func (e *timesEncoder) join(lists int, streamOf *[maxLists]uint8) int {
	streams := 0
	for l := range lists {
		h := &e.histogram[l]
		h.measure()
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

// put appends the k lowest bits of v.
func (w *bitWriter) put(v uint64, k uint) {
	if k > maxBitsAtOnce {
		w.put(v&(1<<32-1), 32)
		v >>= 32
		k -= 32
	}
	w.acc |= v & (1<<(k&63) - 1) << (w.left & 63)
	binary.LittleEndian.PutUint64(w.b[w.at:], w.acc)
	w.left += k
	w.at += int(w.left >> 3)
	w.acc >>= w.left &^ 7 & 63
	w.left &= 7
}

func (w *bitWriter) bytes() []byte {
	if w.left > 0 {
		return w.b[:w.at+1]
	}
	return w.b[:w.at]
}

// timesDecoder has the buffers of the decoding.
type timesDecoder struct {
	info    []sigInfo
	ends    []int64
	symbols [2 * MaxBlockCalls]uint8
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
	var least [maxGroups][2]int64
	var streamOf [maxLists]int
	for g := range groups {
		for side := range 2 {
			least[g][side] = unzigzag(in.uint())
			streamOf[2*g+side] = int(in.upTo(maxStreams - 1))
		}
	}
	if in.err != nil {
		return in.err
	}
	var count [maxGroups]int
	for _, x := range c.Index {
		g := int(d.info[x].group)
		if g >= groups {
			return fmt.Errorf("signature %d is in group %d of %d", x, g, groups)
		}
		count[g]++
	}
	var at [maxLists]int
	end := 0
	for s := range streams {
		start := end
		for l := range 2 * groups {
			if streamOf[l] == s {
				at[l] = end
				end += count[l/2]
			}
		}
		if err := d.stream(&in, d.symbols[start:end:end]); err != nil {
			return fmt.Errorf("stream %d: %w", s, err)
		}
	}
	if end != 2*len(c.Index) {
		return fmt.Errorf("streams have %d values, should be %d", end, 2*len(c.Index))
	}

	d.low = append(append(d.low[:0], in.b...), 0, 0, 0, 0, 0, 0, 0, 0, 0)
	low := bitReader{b: d.low}
	for i := range d.ends {
		d.ends[i] = base
	}
	ends, begins := c.End[:len(c.Index)], c.Begin[:len(c.Index)]
	for i, x := range c.Index {
		info := d.info[x]
		g := info.group & (maxGroups - 1)
		l := 2 * int(g)

		sym := d.symbols[at[l]&(2*MaxBlockCalls-1)]
		at[l]++
		begin := d.ends[info.slot] + least[g][0] + int64((symbolBase[sym]+low.take(symbolBits[sym]))*unit)
		begins[i] = begin

		l++
		sym = d.symbols[at[l]&(2*MaxBlockCalls-1)]
		at[l]++
		v := symbolBase[sym] + low.take(symbolBits[sym])
		if info.inFlight {
			ends[i] = 0
			d.ends[info.slot] = begin
			continue
		}
		end := begin + least[g][1] + int64(v*unit)
		ends[i] = end
		d.ends[info.slot] = end
	}
	if used := (low.at + 7) / 8; low.bad || used != uint(len(in.b)) {
		return fmt.Errorf("%d bytes of low bits, should be %d", len(in.b), used)
	}
	return nil
}

// stream unpacks the next stream into symbols, which it must fill.
func (d *timesDecoder) stream(in *recordDecoder, symbols []uint8) error {
	coding := in.upTo(streamHuffman)
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
	case streamHuffman:
		s, rest, err := huff0.ReadTable(data, &d.huffman)
		if err != nil {
			return err
		}
		out, err := s.Decoder().Decompress1X(symbols[:0], rest)
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
func (r *bitReader) take(k uint8) uint64 {
	i := r.at >> 3
	if k > maxBitsAtOnce || i+8 > uint(len(r.b)) {
		return r.takeSlowly(k)
	}
	v := binary.LittleEndian.Uint64(r.b[i:]) >> (r.at & 7)
	r.at += uint(k)
	return v & (1<<(k&63) - 1)
}

func (r *bitReader) takeSlowly(k uint8) uint64 {
	if k <= maxBitsAtOnce || k > symbolBits[maxSymbol] {
		r.bad = true
		return 0
	}
	v := r.take(32)
	return v | r.take(k-32)<<32
}
