// SPDX-License-Identifier: Apache-2.0

package tracebuf

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// TestLayout compiles ring.h and compares every offset with the Go mirror.
func TestLayout(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	var s slot
	var d side
	var q done
	var h head
	fields := []struct {
		c    string
		want uintptr
	}{
		{"struct mpit_slot, begin", unsafe.Offsetof(s.begin)}, {"struct mpit_slot, end", unsafe.Offsetof(s.end)},
		{"struct mpit_slot, where", unsafe.Offsetof(s.where)}, {"struct mpit_slot, object", unsafe.Offsetof(s.object)},
		{"struct mpit_slot, datatype", unsafe.Offsetof(s.datatype)}, {"struct mpit_slot, peer", unsafe.Offsetof(s.peer)},
		{"struct mpit_slot, tag", unsafe.Offsetof(s.tag)}, {"struct mpit_slot, count", unsafe.Offsetof(s.count)},
		{"struct mpit_slot, aux", unsafe.Offsetof(s.aux)}, {"struct mpit_slot, error", unsafe.Offsetof(s.error)},
		{"struct mpit_slot, ncont", unsafe.Offsetof(s.ncont)}, {"struct mpit_slot, flags", unsafe.Offsetof(s.flags)},
		{"struct mpit_slot, op", unsafe.Offsetof(s.op)},
		{"struct mpit_side, peer", unsafe.Offsetof(d.peer)}, {"struct mpit_side, tag", unsafe.Offsetof(d.tag)},
		{"struct mpit_side, count", unsafe.Offsetof(d.count)}, {"struct mpit_side, datatype", unsafe.Offsetof(d.datatype)},
		{"struct mpit_side, valid", unsafe.Offsetof(d.valid)}, {"struct mpit_side, bytes", unsafe.Offsetof(d.bytes)},
		{"struct mpit_side, disp", unsafe.Offsetof(d.disp)}, {"struct mpit_side, first_bytes", unsafe.Offsetof(d.firstBytes)},
		{"struct mpit_done, request", unsafe.Offsetof(q.request)}, {"struct mpit_done, source", unsafe.Offsetof(q.source)},
		{"struct mpit_done, tag", unsafe.Offsetof(q.tag)}, {"struct mpit_done, bytes", unsafe.Offsetof(q.bytes)},
		{"struct mpit_done, error", unsafe.Offsetof(q.error)}, {"struct mpit_done, state", unsafe.Offsetof(q.state)},
		{"struct mpit_ring_head, magic", unsafe.Offsetof(h.magic)}, {"struct mpit_ring_head, version", unsafe.Offsetof(h.version)},
		{"struct mpit_ring_head, slot_size", unsafe.Offsetof(h.slotSize)}, {"struct mpit_ring_head, capacity", unsafe.Offsetof(h.capacity)},
		{"struct mpit_ring_head, pid", unsafe.Offsetof(h.pid)}, {"struct mpit_ring_head, tid", unsafe.Offsetof(h.tid)},
		{"struct mpit_ring_head, thread", unsafe.Offsetof(h.thread)}, {"struct mpit_ring_head, rank", unsafe.Offsetof(h.rank)},
		{"struct mpit_ring_head, process_start", unsafe.Offsetof(h.processStart)}, {"struct mpit_ring_head, abi", unsafe.Offsetof(h.abi)},
		{"struct mpit_ring_head, mode", unsafe.Offsetof(h.mode)}, {"struct mpit_ring_head, boot", unsafe.Offsetof(h.boot)},
		{"struct mpit_ring_head, thread_name", unsafe.Offsetof(h.threadName)}, {"struct mpit_ring_head, head", unsafe.Offsetof(h.head)},
		{"struct mpit_ring_head, calls", unsafe.Offsetof(h.calls)}, {"struct mpit_ring_head, lost_calls", unsafe.Offsetof(h.lostCalls)},
		{"struct mpit_ring_head, lost_requests", unsafe.Offsetof(h.lostRequests)}, {"struct mpit_ring_head, tail", unsafe.Offsetof(h.tail)},
		{"struct mpit_ring_head, segment", unsafe.Offsetof(h.segment)}, {"struct mpit_ring_head, segment_calls", unsafe.Offsetof(h.segmentCalls)},
		{"struct mpit_ring_head, path", unsafe.Offsetof(h.path)},
	}
	var b, want strings.Builder
	header, err := filepath.Abs("ring.h")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "#include %q\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n", header)
	for _, f := range fields {
		fmt.Fprintf(&b, "printf(\"%s %%zu\\n\", offsetof(%s));\n", f.c, f.c)
		fmt.Fprintf(&want, "%s %d\n", f.c, f.want)
	}
	for name, n := range map[string]int{
		"MPIT_RING_VERSION": Version, "MPIT_RING_DATA": DataOffset, "MPIT_SEGMENTS": NumSegments,
		"MPIT_DEFINITION": definitionFunc, "MPIT_F_HIDDEN": slotHidden, "MPIT_F_ANY_SOURCE": slotAnySource, "MPIT_F_ANY_TAG": slotAnyTag,
		"MPIT_F_IN_PLACE": slotInPlace, "MPIT_F_FALSE": slotFalse, "MPIT_F_TRUNCATED": slotTruncated,
		"MPIT_F_CANCELLED": slotCancelled, "MPIT_F_BYTES": slotBytes,
		"MPIT_DONE_PENDING": donePending, "MPIT_DONE_COMPLETE": doneComplete, "MPIT_DONE_CANCELLED": doneCancelled,
		"MPIT_DONE_STARTED": doneStarted, "MPIT_DONE_FREED": doneFreed, "MPIT_DONE_CANCEL": doneCancel, "MPIT_DONE_INSPECTED": doneInspected,
		"MPIT_DEF_COMM": defComm, "MPIT_DEF_TYPE": defType, "MPIT_DEF_OP": defOp, "MPIT_DEF_WIN": defWin, "MPIT_DEF_FILE": defFile,
		"MPIT_DEF_TEXT": defText,
	} {
		fmt.Fprintf(&b, "_Static_assert(%s == %d, \"%s\");\n", name, n, name)
	}
	fmt.Fprintf(&b, "_Static_assert(MPIT_RING_MAGIC == %dull && MPIT_DEFINITIONS_THREAD == %du, \"magic\");\nreturn 0; }\n", uint64(Magic), uint32(DefinitionsThread))
	dir := t.TempDir()
	source := filepath.Join(dir, "layout.c")
	if err := os.WriteFile(source, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-std=gnu11", "-o", filepath.Join(dir, "layout"), source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := exec.Command(filepath.Join(dir, "layout")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("ring.h and layout.go disagree; C says\n%s\nGo says\n%s", got, want.String())
	}
}
