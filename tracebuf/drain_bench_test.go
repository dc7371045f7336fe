// SPDX-License-Identifier: Apache-2.0

package tracebuf

import (
	"testing"
	"unsafe"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// memoryRing is a ring in plain memory; its capacity is never wrapped by a test
// that stays below it.
func memoryRing(slots uint64) (*Ring, []byte) {
	b := make([]byte, DataOffset+2*slots*SlotSize+64)
	pad := (64 - int(uintptr(unsafe.Pointer(&b[0]))&63)) & 63
	b = b[pad:]
	h := (*head)(unsafe.Pointer(&b[0]))
	h.magic, h.version, h.slotSize, h.capacity = Magic, Version, SlotSize, slots
	r, err := At(unsafe.Pointer(&b[0]))
	if err != nil {
		panic(err)
	}
	return r, b
}

func keepAll(uint64, *mpi.Func) (format.ID, bool) { return 1, true }

// BenchmarkDrain measures what a record costs the drain before it is encoded:
// a halo exchange of four receives, four sends, a Waitall and an Allreduce.
func BenchmarkDrain(b *testing.B) {
	const slots = 1 << 16
	r, mem := memoryRing(slots)
	defer func() { _ = mem }()
	var at, tick uint64 = 0, 1000
	put := func(fn mpi.FuncID, aux uint64, done int) {
		s := r.slot(at)
		*s = slot{begin: tick, end: tick + 100, where: uint64(fn)<<48 | 0x1234, object: 1, datatype: 2, peer: 1, count: 16, aux: aux, ncont: uint16((done + 1) / 2)}
		tick += 130
		at++
		for i := range done {
			d := (*doneSlot)(unsafe.Add(unsafe.Pointer(s), SlotSize+32*i))
			*d = doneSlot{request: uint64(100 + i), bytes: 64, state: doneComplete}
		}
		at += uint64((done + 1) / 2)
	}
	n := 0
	for at+16 < slots {
		for k := range 4 {
			put(mpi.FuncIrecv, uint64(100+k), 0)
		}
		for k := range 4 {
			put(mpi.FuncIsend, uint64(104+k), 0)
		}
		put(mpi.FuncWaitall, 0, 8)
		put(mpi.FuncAllreduce, 0, 0)
		n += 10
	}
	env := NewEnv(ABI{AnySource: -1, AnyTag: -1, ProcNull: -2, Root: -4}, keepAll)
	d := NewDecoder(env, r, 0, func(*format.Calls) error { return nil })
	b.ResetTimer()
	for i := 0; i < b.N; i += n {
		r.head.head = at
		d.at = 0
		if err := Drain([]*Decoder{d}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/call")
}

type doneSlot = done
