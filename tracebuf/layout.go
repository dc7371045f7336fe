// SPDX-License-Identifier: Apache-2.0

package tracebuf

import "unsafe"

// The layout of ring.h. layout_test.go compiles the header and compares.
const (
	Magic       = 0x474e49525449504d
	Version     = 1
	DataOffset  = 4096
	SlotSize    = 64
	NumSegments = 64

	// DefinitionsThread is the thread index of a process's ring of definitions.
	DefinitionsThread = 0xffffffff

	definitionFunc = 0xffff
)

// The slot flags MPIT_F_….
const (
	slotHidden = 1 << iota
	slotAnySource
	slotAnyTag
	slotInPlace
	slotFalse
	slotTruncated
	slotCancelled
	slotBytes
)

// The states MPIT_DONE_… of a request in a record.
const (
	donePending = iota
	doneComplete
	doneCancelled
	doneStarted
	doneFreed
	doneCancel
	doneInspected
)

// slot mirrors struct mpit_slot.
type slot struct {
	begin    uint64
	end      uint64 // atomic
	where    uint64
	object   uint32
	datatype uint32
	peer     int32
	tag      int32
	count    int64
	aux      uint64
	error    int32
	ncont    uint16
	flags    uint8
	op       uint8
}

func (s *slot) function() uint16 { return uint16(s.where >> 48) }

func (s *slot) site() uint64 { return s.where & (1<<48 - 1) }

// side mirrors struct mpit_side.
type side struct {
	peer       int32
	tag        int32
	count      int64
	datatype   uint32
	valid      uint32
	bytes      int64
	disp       int64
	firstBytes int64
	unused     [2]int64
}

// done mirrors struct mpit_done.
type done struct {
	request uint64
	source  int32
	tag     int32
	bytes   int64
	error   int32
	state   uint32
}

// head mirrors struct mpit_ring_head.
type head struct {
	magic        uint64
	version      uint32
	slotSize     uint32
	capacity     uint64
	pid          uint32
	tid          uint32
	thread       uint32
	rank         int32
	processStart uint64
	abi          uint32
	mode         uint32
	boot         [40]byte
	threadName   [16]byte
	unused       [1]uint64
	_            [8]byte
	head         uint64 // atomic
	calls        uint64
	lostCalls    uint64
	lostRequests uint64
	_            [32]byte
	tail         uint64 // atomic
	_            [56]byte
	segment      [NumSegments]uint64 // atomic
	segmentCalls [NumSegments]uint64
	path         [1024]byte
}

var (
	_ [SlotSize]byte = [unsafe.Sizeof(slot{})]byte{}
	_ [SlotSize]byte = [unsafe.Sizeof(side{})]byte{}
	_ [32]byte       = [unsafe.Sizeof(done{})]byte{}
)
