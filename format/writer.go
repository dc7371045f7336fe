// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// Writer writes one trace file. It lives in the traced process: it keeps about
// one MiB of buffers and makes no garbage per block.
//
// After an error from the file, the Writer cuts the file back to the last whole
// block, and every later call returns the error again; what was written before
// stays readable.
//
// A Writer must not be used from several goroutines at once.
type Writer struct {
	out  io.Writer
	name string
	kind Kind
	off  int64 // end of the last whole block
	err  error // sticky

	zstd    *zstd.Encoder
	calls   callsEncoder
	block   []byte // header and payload of the block being built
	pending []byte // records for the next definitions block
	records uint32 // in pending
	index   indexEncoder
	perSig  []uint32 // calls of each signature of the block being built
	stats   Stats
}

// Stats is what a Writer has written so far.
type Stats struct {
	Bytes  int64 // size of the file
	Blocks int   // of all kinds
	Calls  uint64
	// Columns has the bytes of calls blocks by what they hold, in the order
	// of ColumnGroups.
	Columns [len(ColumnGroups)]int64
}

// ColumnGroups names what Stats.Columns counts.
var ColumnGroups = [...]string{"headers", "index", "times", "requests", "signatures", "completions"}

// pendingLimit is when waiting records are written without waiting for calls.
const pendingLimit = 256 << 10

// Create makes or empties the rank file at path.
func Create(path string, run Run, proc Process) (*Writer, error) {
	return create(path, KindRank, run, proc)
}

// CreateMerged makes or empties the merged file at path.
func CreateMerged(path string, run Run, procs []Process) (*Writer, error) {
	return create(path, KindMerged, run, procs...)
}

func create(path string, kind Kind, run Run, procs ...Process) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	w, err := NewWriter(f, kind, run, procs...)
	if err != nil {
		f.Close()
		return nil, err
	}
	w.name = path
	return w, nil
}

// NewWriter writes a file of a kind to out: the way to write to memory, or to a
// file that fails on purpose. If out has Truncate(int64) error it is used to
// cut off a half-written block; if it has Close() error, Close calls it.
func NewWriter(out io.Writer, kind Kind, run Run, procs ...Process) (*Writer, error) {
	z, err := newZstdEncoder()
	if err != nil {
		return nil, err
	}
	w := &Writer{out: out, kind: kind, zstd: z}
	w.calls.zstd = z
	w.block = appendFileHeader(w.block, kind)
	w.write()
	w.record(&run)
	for i := range procs {
		w.record(&procs[i])
	}
	w.writeRecords(BlockHead)
	return w, w.err
}

// Run replaces what the head says about the run.
func (w *Writer) Run(d Run) { w.record(&d) }

// Process replaces what the head says about the process, or adds one.
func (w *Writer) Process(d Process) { w.record(&d) }

// Thread defines a thread. Definitions are kept until the next calls block or
// Flush; an error in writing them is returned by the next call that returns one.
func (w *Writer) Thread(d Thread) { w.record(&d) }

// Comm defines a communicator.
func (w *Writer) Comm(d Comm) { w.record(&d) }

// Datatype defines a datatype.
func (w *Writer) Datatype(d Datatype) { w.record(&d) }

// Op defines a reduction operation.
func (w *Writer) Op(d Op) { w.record(&d) }

// Win defines a window.
func (w *Writer) Win(d Win) { w.record(&d) }

// File defines an MPI-IO file.
func (w *Writer) File(d File) { w.record(&d) }

// Module defines an executable or shared object.
func (w *Writer) Module(d Module) { w.record(&d) }

// Site defines a call site.
func (w *Writer) Site(d Site) { w.record(&d) }

// Text defines a string.
func (w *Writer) Text(d Text) { w.record(&d) }

// Clock adds a clock measurement.
func (w *Writer) Clock(d ClockPoint) { w.record(&d) }

// Drain adds a drain.
func (w *Writer) Drain(d Drain) { w.record(&d) }

// Loss adds a loss.
func (w *Writer) Loss(d Loss) { w.record(&d) }

// Summary says that recording ended in order.
func (w *Writer) Summary(d Summary) { w.record(&d) }

// Note adds a note.
func (w *Writer) Note(d Note) { w.record(&d) }

// Define defines everything in d but the run and the processes, which are
// defined by creating the file.
func (w *Writer) Define(d *Definitions) {
	d.each(func(r record) {
		if k := r.kind(); k != recRun && k != recProcess {
			w.record(r)
		}
	})
}

// record appends r to the records that wait for the next definitions block.
func (w *Writer) record(r record) {
	if w.err != nil {
		return
	}
	before := len(w.pending)
	w.pending = appendRecord(w.pending, r)
	if size := len(w.pending) - before; size > MaxUnpacked {
		w.pending = w.pending[:before]
		w.err = fmt.Errorf("%s of %d bytes: %w", recordTypes[r.kind()].word, size, ErrTooLarge)
		return
	}
	w.records++
	if len(w.pending) > pendingLimit {
		w.writeRecords(BlockDefinitions)
	}
}

// writeRecords writes the waiting records as a block.
func (w *Writer) writeRecords(kind BlockKind) {
	if w.err != nil || w.records == 0 {
		return
	}
	h := blockHeader{kind: kind, unpacked: uint32(len(w.pending)), count: w.records, thread: noThread}
	w.startBlock()
	w.block = w.zstd.EncodeAll(w.pending, w.block)
	h.codec = codecZstd
	if len(w.block)-blockHeaderSize >= len(w.pending) {
		w.block = append(w.block[:blockHeaderSize], w.pending...)
		h.codec = codecRaw
	}
	w.pending, w.records = w.pending[:0], 0
	w.finishBlock(h)
}

// WriteCalls writes a block of calls, after a block with the definitions that
// wait. Calls that do not fit a block are spread over several. c is not kept.
//
// Calls that contradict themselves (an index beyond its dictionary, lengths
// that do not agree) are refused; that error is not sticky.
func (w *Writer) WriteCalls(c *Calls) error {
	if w.err != nil {
		return w.err
	}
	shape, err := c.shape(w.perSig)
	w.perSig = shape.calls
	if err != nil {
		return err
	}
	w.writeRecords(BlockDefinitions)
	if len(c.Index) == 0 {
		return w.err
	}
	return w.writeCalls(c, shape)
}

func (w *Writer) writeCalls(c *Calls, shape callsShape) error {
	if !c.fits(shape) {
		return w.split(c)
	}
	h := blockHeader{
		kind:     BlockCalls,
		rank:     c.Rank,
		thread:   shape.thread,
		firstSeq: c.FirstSeq,
		count:    uint32(len(c.Index)),
		timeMin:  shape.timeMin,
		timeMax:  shape.timeMax,
	}
	w.startBlock()
	w.block = w.calls.encode(w.block, c, shape.calls)
	h.unpacked = uint32(len(w.block) - blockHeaderSize)
	w.finishBlock(h)
	if w.err == nil {
		w.stats.Calls += uint64(len(c.Index))
		w.calls.account(&w.stats.Columns, len(w.block))
	}
	return w.err
}

// startBlock leaves room for the header.
func (w *Writer) startBlock() {
	w.block = append(w.block[:0], make([]byte, blockHeaderSize)...)
}

// finishBlock completes the header and writes the block.
func (w *Writer) finishBlock(h blockHeader) {
	payload := w.block[blockHeaderSize:]
	h.stored = uint32(len(payload))
	h.crc = checksum(payload)
	h.number = uint32(w.stats.Blocks)
	h.put(w.block)
	offset := w.off
	w.write()
	if w.err == nil {
		w.stats.Blocks++
		w.index.add(offset, &h)
	}
}

// write hands w.block to the file in one piece.
func (w *Writer) write() {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(w.block)
	if err == nil && n < len(w.block) {
		err = io.ErrShortWrite
	}
	if err == nil {
		w.off += int64(n)
		return
	}
	w.err = err
	if t, ok := w.out.(interface{ Truncate(int64) error }); ok {
		if terr := t.Truncate(w.off); terr != nil {
			w.err = errors.Join(err, terr)
		}
	}
}

// Flush writes what waits. After it another process can read everything that
// the Writer was given.
func (w *Writer) Flush() error {
	w.writeRecords(BlockDefinitions)
	return w.err
}

// Stats tells what was written.
func (w *Writer) Stats() Stats {
	s := w.stats
	s.Bytes = w.off
	return s
}

// Close writes what waits, the index and the trailer, and closes the file.
func (w *Writer) Close() error {
	if errors.Is(w.err, ErrClosed) {
		return w.err
	}
	w.writeRecords(BlockDefinitions)
	if w.err == nil {
		offset := w.off
		w.startBlock()
		w.block = append(w.block, w.index.b...)
		h := blockHeader{
			kind:     BlockIndex,
			stored:   uint32(len(w.index.b)),
			unpacked: uint32(len(w.index.b)),
			count:    uint32(w.stats.Blocks),
			crc:      checksum(w.index.b),
			thread:   noThread,
			number:   uint32(w.stats.Blocks),
		}
		h.put(w.block)
		w.block = appendTrailer(w.block, offset)
		w.write()
	}
	err := w.err
	if c, ok := w.out.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	w.zstd.Close()
	w.err = ErrClosed
	return err
}

// account adds the sizes of the block just encoded to the groups.
func (e *callsEncoder) account(groups *[len(ColumnGroups)]int64, block int) {
	d, rest := e.directory, int64(block)
	for len(d) > 0 {
		id := columnID(d[0])
		_, k := binary.Uvarint(d[2:])
		stored, m := binary.Uvarint(d[2+k:])
		d = d[2+k+m:]
		groups[id.group()] += int64(stored)
		rest -= int64(stored)
	}
	groups[0] += rest
}

func (id columnID) group() int {
	switch {
	case id == colIndex:
		return 1
	case id == colTimes || id == colGroup:
		return 2
	case id == colRequest || id == colDoneRequest:
		return 3
	case id < colDoneKind:
		return 4
	}
	return 5
}
