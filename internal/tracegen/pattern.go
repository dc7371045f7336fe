// SPDX-License-Identifier: Apache-2.0

package tracegen

import (
	"math/bits"

	"github.com/mpitrace/mpitrace/format"
)

// An iteration begins at the same time on all ranks, and has phases that are
// long enough for the slowest: that is what keeps messages from arriving
// before they were sent, without the ranks knowing of each other.

// iteration adds the calls of iteration i, which begins at a time, and returns
// how long it is.
func (t *thread) iteration(i, at int64) int64 {
	t.now = max(t.now, at+t.noise(i, 0, 400))
	switch t.rank.o.Pattern {
	case PingPong:
		return t.pingPong(i, at)
	case Irregular:
		return t.irregular(i, at)
	}
	return t.halo(i, at)
}

// halo exchanges with four neighbours on a torus.
func (t *thread) halo(i, at int64) int64 {
	const size = 1024
	n := int32(t.rank.o.Ranks)
	width := max(1, int32(divisor(int(n))))
	var requests [8]uint64
	for k, d := range [4]int32{1, -1, width, -width} {
		requests[k] = t.request()
		t.call(funcIrecv, 30+t.noise(i, k, 40), 150+t.noise(i, 10+k, 90), sigKey{
			flags: format.FlagRequest, peer: shift(t.rank.rank, -d, n), tag: t.tag(k), bytes: size,
		})
	}
	for k, d := range [4]int32{1, -1, width, -width} {
		requests[4+k] = t.request()
		t.call(funcIsend, 35+t.noise(i, 20+k, 40), 260+t.noise(i, 30+k, 200), sigKey{
			flags: format.FlagRequest, peer: shift(t.rank.rank, d, n), tag: t.tag(k), bytes: size,
		})
	}
	for k, d := range [4]int32{1, -1, width, -width} {
		t.done(requests[k], format.DoneSig{Kind: format.DoneRecv, Source: shift(t.rank.rank, -d, n), Tag: t.tag(k), Bytes: size})
	}
	for k := range 4 {
		t.done(requests[4+k], format.DoneSig{Kind: format.DoneSend, Source: format.NoRank, Tag: format.NoTag})
	}
	t.until(funcWaitall, t.now+30+t.noise(i, 40, 60), at+5_000+t.noise(i, 41, 700), sigKey{done: 8})
	if t.id > 0 { // collectives are the main thread's
		t.call(funcCommRank, 4_000, 40+t.noise(i, 42, 10), sigKey{})
		return 16_000
	}
	t.until(funcAllreduce, t.now+1_000+t.noise(i, 43, 3_000), at+13_000+t.noise(i, 44, 900), sigKey{})
	return 16_000
}

// pingPong sends to and fro between ranks 0 and 1, 2 and 3, …
func (t *thread) pingPong(i, at int64) int64 {
	const size, trip = 8, 1_600
	r := t.rank.rank
	peer := r ^ 1
	if int(peer) >= t.rank.o.Ranks {
		t.call(funcCommRank, 100, 40+t.noise(i, 1, 10), sigKey{})
		t.call(funcCommRank, 100, 40+t.noise(i, 2, 10), sigKey{})
		return 2 * trip
	}
	k := sigKey{peer: peer, tag: t.tag(0), bytes: size}
	send := func(at int64) {
		begin := max(t.now, at) + 20 + t.noise(i, 1, 30)
		t.until(funcSend, begin, begin+180+t.noise(i, 2, 120), k)
	}
	receive := func(end int64) {
		t.until(funcRecv, t.now+25+t.noise(i, 3, 30), end+t.noise(i, 4, 160), k)
	}
	if r < peer {
		send(at + 400)
		receive(at + 2*trip - 200)
	} else {
		receive(at + trip - 300)
		send(at + trip)
	}
	return 2 * trip
}

// irregular sends to a rank that changes, as much as comes up; some receives
// are from any source, some iterations probe in vain, some broadcast.
func (t *thread) irregular(i, at int64) int64 {
	n := int32(t.rank.o.Ranks)
	all := hash(t.rank.o.Seed, uint64(i), uint64(t.id)) // the same on all ranks
	d := int32(all % uint64(n))
	tag := t.tag(int(all >> 20 % 50))
	size := func(sender int32) int64 {
		return 1 << (hash(all, uint64(sender), 7) % 20) * (1 + int64(hash(all, uint64(sender), 8)%8)) / 8
	}
	to, from := shift(t.rank.rank, d, n), shift(t.rank.rank, -d, n)

	receive := sigKey{flags: format.FlagRequest, peer: from, tag: tag, bytes: size(from)}
	if all>>32%4 == 0 {
		receive.flags |= format.FlagAnySource
	}
	in := t.request()
	t.call(funcIrecv, 40+t.noise(i, 1, 2_000), 200+t.noise(i, 2, 300), receive)
	out := t.request()
	t.call(funcIsend, 40+t.noise(i, 3, 500), 300+size(t.rank.rank)/16+t.noise(i, 4, 900),
		sigKey{flags: format.FlagRequest, peer: to, tag: tag, bytes: size(t.rank.rank)})
	arrival := at + 80_000
	t.call(funcIprobe, 50+t.noise(i, 5, 100), 90+t.noise(i, 6, 60), sigKey{flags: format.FlagFalse, peer: format.AnySource, tag: format.AnyTag})
	t.done(in, format.DoneSig{Kind: format.DoneRecv, Flags: receive.flags & format.FlagAnySource, Source: from, Tag: tag, Bytes: size(from)})
	t.done(out, format.DoneSig{Kind: format.DoneSend, Source: format.NoRank, Tag: format.NoTag})
	t.until(funcWaitall, t.now+60+t.noise(i, 7, 100), arrival+t.noise(i, 8, 30_000), sigKey{done: 2})
	if t.id == 0 && all>>40%3 == 0 {
		t.until(funcBcast, t.now+500+t.noise(i, 9, 5_000), at+150_000+t.noise(i, 10, 20_000),
			sigKey{root: int32(all >> 44 % uint64(n)), bytes: 1 << (all >> 50 % 12) * 8})
	} else {
		t.call(funcCommRank, 500+t.noise(i, 9, 5_000), 40+t.noise(i, 10, 10), sigKey{})
	}
	return 180_000
}

// hang adds a call that never returns.
func (t *thread) hang(at int64) {
	t.until(funcAllreduce, at, 0, sigKey{flags: format.FlagInFlight})
}

// tag keeps the messages of threads apart.
func (t *thread) tag(k int) int32 { return int32(t.id)*100 + int32(k) }

// shift is rank r moved by d on a ring of n.
func shift(r, d, n int32) int32 { return ((r+d)%n + n) % n }

// noise is between 0 and limit, low values being likelier, once in a while
// more by a half.
func (t *thread) noise(i int64, k int, limit int64) int64 {
	h := hash(t.rank.o.Seed, uint64(i), uint64(t.rank.rank)<<20|uint64(t.id)<<10|uint64(k))
	a, _ := bits.Mul64(h, uint64(limit))
	b, _ := bits.Mul64(h*0x9e3779b97f4a7c15, uint64(limit))
	v := int64(min(a, b))
	if h&0x3ff == 0 {
		v += limit / 2
	}
	return v
}

// hash mixes its arguments.
func hash(a, b, c uint64) uint64 {
	h := a ^ b*0x9e3779b97f4a7c15 ^ c*0xc2b2ae3d27d4eb4f
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// divisor is the largest divisor of n that is not above its square root.
func divisor(n int) int {
	best := 1
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			best = d
		}
	}
	return best
}
