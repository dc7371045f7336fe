// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/huff0"

	"github.com/mpitrace/mpitrace/mpi"
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
	streamFour    = 3 // the same with four streams, which are decoded side by side
)

// symbol splits v: symbols 0 to 7 are values, above them there are four to an
// octave, followed by k bits.
func symbol(v uint64) (sym uint8, k uint) {
	k = uint(bits.Len64(v|4)-3) & 63
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

// groupByFunction groups signatures by function, in order of appearance; the
// last group has all that are left.
func groupByFunction(sigs []Sig, info []sigInfo) int {
	var functions [maxGroups]mpi.FuncID
	groups := 0
	for i := range sigs {
		f := sigs[i].Func
		g := slices.Index(functions[:groups], f)
		switch {
		case g >= 0:
		case groups < maxGroups:
			functions[groups] = f
			g = groups
			groups++
		default:
			g = maxGroups - 1
		}
		info[i].group = uint8(g)
	}
	return groups
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

// listBounds returns where each list begins when they are laid end to end: the
// gaps of group g are list 2g, its durations list 2g+1. calls has the number
// of calls of each signature; those that never returned have no duration.
func listBounds(info []sigInfo, calls []uint32) (from [maxLists + 1]int) {
	for i, n := range calls {
		l := 2 * int(info[i].group)
		from[l+1] += int(n)
		if !info[i].inFlight {
			from[l+2] += int(n)
		}
	}
	for l := range maxLists {
		from[l+1] += from[l]
	}
	return from
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

// findGranule finds what all values are multiples of: clocks advance in steps
// (2 ticks under some hypervisors, 20 to 40 on some processors). all has a bit
// set where any value has.
func findGranule(values []int64, all uint64) granule {
	if all == 0 {
		return newGranule(1)
	}
	shift := uint(bits.TrailingZeros64(all))
	var odd granule
	for _, v := range values {
		u := magnitude(v)
		if u == 0 || odd.value != 0 && odd.divides(u) {
			continue
		}
		u >>= bits.TrailingZeros64(u)
		if odd = newGranule(gcd(odd.value, u)); odd.value == 1 {
			return newGranule(1 << shift)
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

// A granule divides exactly, with a shift and a multiplication by the inverse of
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

// divides says whether the odd part divides v.
func (g granule) divides(v uint64) bool { return v*g.inverse <= g.limit }

// histogram counts the symbols of a list, or of several.
type histogram struct {
	count  [256]uint16
	total  uint32
	lo, hi int // symbols that occur are within
	bits   float32
}

// sample counts some hundred of the symbols, which is enough to see which lists
// are alike, and scales the counts to all.
func (h *histogram) sample(symbols []uint8) {
	const enough = 256
	*h = histogram{lo: math.MaxUint8, hi: 0}
	step := 1 + len(symbols)/enough
	for i := 0; i < len(symbols); i += step {
		s := symbols[i]
		h.count[s] += uint16(step)
		h.total += uint32(step)
		h.lo, h.hi = min(h.lo, int(s)), max(h.hi, int(s))
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
	// Of a stream: its size, its table's head, the jump table or the last
	// byte's rest, and the work of making a table; of a symbol: its weight.
	const streamBits, symbolBits = 200, 7
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
