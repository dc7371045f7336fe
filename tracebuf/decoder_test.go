// SPDX-License-Identifier: Apache-2.0

package tracebuf

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// script writes records into a ring as the recorder does.
type script struct {
	ring *Ring
	tick uint64
}

func newScript(t *testing.T, slots uint64) *script {
	r, mem := memoryRing(slots)
	t.Cleanup(func() { _ = mem[0] })
	return &script{r, 1000}
}

// call publishes a record of s with its continuation slots.
func (w *script) call(fn mpi.FuncID, s slot, conts ...any) {
	n := 0
	at := w.ring.head.head
	dst := w.ring.slot(at)
	base := unsafe.Add(unsafe.Pointer(dst), SlotSize)
	for _, c := range conts {
		switch c := c.(type) {
		case side:
			*(*side)(unsafe.Add(base, n)) = c
			n += SlotSize
		case [8]int64:
			*(*[8]int64)(unsafe.Add(base, n)) = c
			n += SlotSize
		case done:
			*(*done)(unsafe.Add(base, n)) = c
			n += SlotSize / 2
		}
	}
	s.ncont = uint16((n + SlotSize - 1) / SlotSize)
	if s.where == 0 {
		s.where = 0x4000
	}
	s.where |= uint64(fn) << 48
	s.begin = w.tick
	if s.end == 0 {
		s.end = w.tick + 10
	} else if s.end == math.MaxUint64 {
		s.end = 0
	}
	w.tick += 20
	*dst = s
	w.ring.head.head += 1 + uint64(s.ncont)
}

func testEnv() *Env {
	return NewEnv(ABI{AnySource: -2, AnyTag: -1, ProcNull: -1, Root: -3, RequestNull: 0x2c000000}, keepAll)
}

// copyCalls keeps what a decoder emits.
func copyCalls(to *[]format.Calls) Emit {
	return func(c *format.Calls) error {
		d := *c
		d.Sigs = append([]format.Sig(nil), c.Sigs...)
		d.Index = append([]uint32(nil), c.Index...)
		d.Begin = append([]int64(nil), c.Begin...)
		d.End = append([]int64(nil), c.End...)
		d.Request = append([]uint64(nil), c.Request...)
		d.DoneSigs = append([]format.DoneSig(nil), c.DoneSigs...)
		d.DoneIndex = append([]uint32(nil), c.DoneIndex...)
		d.DoneRequest = append([]uint64(nil), c.DoneRequest...)
		*to = append(*to, d)
		return nil
	}
}

func TestDecode(t *testing.T) {
	w := newScript(t, 1024)
	env := testEnv()
	env.typeSizes[3] = 8
	w.call(mpi.FuncIrecv, slot{object: 1, datatype: 3, peer: -2, tag: -1, count: 4, aux: 0xac000001, flags: slotAnySource | slotAnyTag})
	w.call(mpi.FuncIsend, slot{object: 1, datatype: 3, peer: 1, tag: 7, count: 4, aux: 0x6c000001})
	w.call(mpi.FuncIsend, slot{object: 1, datatype: 3, peer: 1, tag: 7, count: 4, aux: 0x6c000001})
	w.call(mpi.FuncWaitall, slot{count: math.MinInt64},
		done{request: 0xac000001, source: 1, tag: 9, bytes: 24, state: doneComplete},
		done{request: 0x6c000001, state: doneComplete}, done{request: 0x2c000000, state: doneComplete},
		done{request: 0x6c000001, state: doneComplete})
	w.call(mpi.FuncRecv, slot{object: 1, datatype: 3, peer: 1, tag: 9, count: 4, aux: 16, flags: slotAnySource | slotBytes})
	w.call(mpi.FuncRecv, slot{object: 1, datatype: 3, peer: -1, tag: 0, count: 4, flags: slotBytes})
	w.call(mpi.FuncSendrecv, slot{object: 1, datatype: 3, peer: 0, tag: 1, count: 2},
		side{peer: 1, tag: 2, count: 5, datatype: 3, valid: 1, bytes: 32, firstBytes: 16})
	w.call(mpi.FuncComm_split, slot{object: 1, count: math.MinInt64}, [8]int64{5, 6, 2})
	w.call(mpi.FuncIsend, slot{object: 1, datatype: 3, peer: 1, count: 1, aux: 0x6c000001, flags: slotHidden})
	w.call(mpi.FuncRecv, slot{object: 1, datatype: 3, peer: -2, tag: -1, count: 4, flags: slotAnySource | slotAnyTag, end: math.MaxUint64})

	var got []format.Calls
	d := NewDecoder(env, w.ring, 4, copyCalls(&got))
	if err := Drain([]*Decoder{d}); err != nil {
		t.Fatal(err)
	}
	if err := d.Unfinished(); err != nil {
		t.Fatal(err)
	}
	sig := func(f mpi.FuncID, s format.Sig) format.Sig {
		s.Func, s.Site = f, 1
		return s
	}
	plain := format.Sig{Comm: 1, Datatype: 3, Root: format.NoRank, Count: 4}
	with := func(peer, tag int32, bytes int64, flags format.Flags) format.Sig {
		s := plain
		s.Peer, s.Tag, s.Bytes, s.Flags = peer, tag, bytes, flags
		return s
	}
	waitall := sig(mpi.FuncWaitall, format.Sig{Peer: format.NoRank, Tag: format.NoTag, Root: format.NoRank, Count: format.NoCount, NDone: 3})
	sendrecv := sig(mpi.FuncSendrecv, with(0, 1, 16, 0))
	sendrecv.Count = 2
	sendrecv.Second = &format.Side{Peer: 1, Tag: 2, Count: 5, Datatype: 3, Bytes: 32}
	split := sig(mpi.FuncComm_split, format.Sig{Comm: 1, Peer: format.NoRank, Tag: format.NoTag, Root: format.NoRank, Count: format.NoCount, Args: []int64{5, 6, 2}})
	want := []format.Calls{{
		Rank: 4,
		Sigs: []format.Sig{
			sig(mpi.FuncIrecv, with(format.AnySource, format.AnyTag, 32, format.FlagAnySource|format.FlagAnyTag|format.FlagRequest)),
			sig(mpi.FuncIsend, with(1, 7, 32, format.FlagRequest)),
			waitall,
			sig(mpi.FuncRecv, with(1, 9, 16, format.FlagAnySource)),
			sig(mpi.FuncRecv, with(format.ProcNull, 0, 0, 0)),
			sendrecv,
			split,
		},
		Index:   []uint32{0, 1, 1, 2, 3, 4, 5, 6},
		Begin:   []int64{1000, 1020, 1040, 1060, 1080, 1100, 1120, 1140},
		End:     []int64{1010, 1030, 1050, 1070, 1090, 1110, 1130, 1150},
		Request: []uint64{1, 2, 3},
		DoneSigs: []format.DoneSig{
			{Kind: format.DoneRecv, Source: 1, Tag: 9, Bytes: 24, Flags: format.FlagAnySource | format.FlagAnyTag},
			{Kind: format.DoneSend, Source: format.NoRank, Tag: format.NoTag},
		},
		DoneIndex:   []uint32{0, 1, 1},
		DoneRequest: []uint64{1, 2, 3},
	}, {
		Rank: 4, FirstSeq: 8,
		Sigs: []format.Sig{
			sig(mpi.FuncRecv, with(format.AnySource, format.AnyTag, 0, format.FlagAnySource|format.FlagAnyTag|format.FlagInFlight)),
		},
		Index: []uint32{0}, Begin: []int64{1180}, End: []int64{0},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decoded (-want +got)\n%s", diff)
	}
	if d.Hidden != 1 {
		t.Errorf("%d hidden records, want 1", d.Hidden)
	}
	if n := env.Requests.Pending(); n != 1 {
		t.Errorf("%d requests pending, want the hidden one", n)
	}
}

// TestPersistent follows a persistent request through two rounds.
func TestPersistent(t *testing.T) {
	w := newScript(t, 1024)
	env := testEnv()
	w.call(mpi.FuncRecv_init, slot{object: 1, peer: 0, count: 1, aux: 77})
	wait := func(state uint32) {
		w.call(mpi.FuncWait, slot{count: math.MinInt64}, done{request: 77, bytes: 4, state: state})
	}
	wait(doneComplete) // inactive: completes nothing
	for range 2 {
		w.call(mpi.FuncStart, slot{count: math.MinInt64}, done{request: 77, state: doneStarted})
		wait(doneComplete)
	}
	w.call(mpi.FuncRequest_free, slot{count: math.MinInt64}, done{request: 77, state: doneFreed})
	var got []format.Calls
	if err := Drain([]*Decoder{NewDecoder(env, w.ring, 0, copyCalls(&got))}); err != nil {
		t.Fatal(err)
	}
	var kinds []format.DoneKind
	for i, n := range got[0].DoneIndex {
		kinds = append(kinds, got[0].DoneSigs[n].Kind)
		if got[0].DoneRequest[i] != 1 {
			t.Errorf("completion %d is of request %d, want 1", i, got[0].DoneRequest[i])
		}
	}
	want := []format.DoneKind{format.DoneStarted, format.DoneRecv, format.DoneStarted, format.DoneRecv, format.DoneFreed}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("completions (-want +got)\n%s", diff)
	}
	if env.Requests.Pending() != 0 || env.Requests.Unknown != 0 {
		t.Errorf("%d pending, %d unknown, want none", env.Requests.Pending(), env.Requests.Unknown)
	}
}

// TestTwoThreads completes in one thread what another has started.
func TestTwoThreads(t *testing.T) {
	a, b := newScript(t, 1024), newScript(t, 1024)
	b.ring.head.thread = 1
	env := testEnv()
	b.tick = 1030
	a.call(mpi.FuncIrecv, slot{object: 1, peer: 0, count: 1, aux: 50})
	b.call(mpi.FuncWait, slot{count: math.MinInt64}, done{request: 50, state: doneComplete})
	a.tick = 1060
	a.call(mpi.FuncIrecv, slot{object: 1, peer: 0, count: 1, aux: 50})
	var got []format.Calls
	// The completing thread comes first in the list: the order of ends decides.
	err := Drain([]*Decoder{NewDecoder(env, b.ring, 0, copyCalls(&got)), NewDecoder(env, a.ring, 0, copyCalls(&got))})
	if err != nil {
		t.Fatal(err)
	}
	if env.Requests.Unknown != 0 || env.Requests.Pending() != 1 {
		t.Errorf("%d unknown, %d pending, want 0 and 1", env.Requests.Unknown, env.Requests.Pending())
	}
	if len(got) != 2 || got[0].Sigs[0].Thread != 1 || got[0].DoneRequest[0] != 1 {
		t.Errorf("got %+v", got)
	}
}

// TestBlocks checks that blocks end at BlockCalls and that numbers go on.
func TestBlocks(t *testing.T) {
	w := newScript(t, 1<<15)
	const n = 2*BlockCalls + 5
	for range n {
		w.call(mpi.FuncBarrier, slot{object: 1, count: math.MinInt64})
	}
	var got []format.Calls
	d := NewDecoder(testEnv(), w.ring, 0, copyCalls(&got))
	if err := Drain([]*Decoder{d}); err != nil {
		t.Fatal(err)
	}
	var first []uint64
	for _, c := range got {
		first = append(first, c.FirstSeq)
	}
	if diff := cmp.Diff([]uint64{0, BlockCalls, 2 * BlockCalls}, first); diff != "" {
		t.Errorf("first numbers (-want +got)\n%s", diff)
	}
	if w.ring.tail() != n || d.Calls != n {
		t.Errorf("tail %d, calls %d, want %d", w.ring.tail(), d.Calls, n)
	}
}

// TestSkipped leaves out calls that a library layer made on its own.
func TestSkipped(t *testing.T) {
	w := newScript(t, 1024)
	for i := range 10 {
		w.call(mpi.FuncComm_size, slot{object: 1, where: uint64(1 + i%2), count: math.MinInt64})
	}
	env := testEnv()
	env.Site = func(a uint64, fn *mpi.Func) (format.ID, bool) { return 1, a == 1 && fn.ID == mpi.FuncComm_size }
	var got []format.Calls
	d := NewDecoder(env, w.ring, 0, copyCalls(&got))
	if err := Drain([]*Decoder{d}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || len(got[0].Index) != 5 || d.Skipped != 5 {
		t.Errorf("kept %+v, skipped %d; want 5 and 5", got, d.Skipped)
	}
}

// TestDamaged gives the decoder records that no recorder writes.
func TestDamaged(t *testing.T) {
	for name, s := range map[string]slot{
		"function": {where: 0xeeee << 48, end: 1},
		"short":    {where: uint64(mpi.FuncSendrecv) << 48, end: 1},
		"long":     {where: uint64(mpi.FuncSend) << 48, end: 1, ncont: math.MaxUint16},
	} {
		t.Run(name, func(t *testing.T) {
			w := newScript(t, 1024)
			*w.ring.slot(0) = s
			w.ring.head.head = 1
			err := Drain([]*Decoder{NewDecoder(testEnv(), w.ring, 0, func(*format.Calls) error { return nil })})
			if err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestEmitError gives the slots back even though the block could not be written.
func TestEmitError(t *testing.T) {
	w := newScript(t, 1024)
	w.call(mpi.FuncBarrier, slot{object: 1, count: math.MinInt64})
	full := errors.New("disk full")
	d := NewDecoder(testEnv(), w.ring, 0, func(*format.Calls) error { return full })
	if err := Drain([]*Decoder{d}); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	if w.ring.tail() != 1 {
		t.Errorf("tail is %d, want 1", w.ring.tail())
	}
}
