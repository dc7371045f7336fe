// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Reader reads a trace file. All its methods may be called from several
// goroutines at once, except Close.
type Reader struct {
	in     io.ReaderAt
	size   int64
	name   string
	closer io.Closer

	kind         Kind
	major, minor int
	complete     bool
	badIndex     int64 // offset of an index that could not be read, or 0
	defs         Definitions
	blocks       []BlockInfo // calls only
	unknown      Unknown
	decoders     sync.Pool

	mu       sync.Mutex
	problems []Problem
	bad      map[int]bool // calls blocks that are among the problems
}

// Problem is damage to a file, and what it costs.
type Problem struct {
	Offset int64 // where the damage begins
	Size   int64 // bytes that could not be read
	What   string
	// LostCalls is how many calls were in the damaged part, -1 if that cannot
	// be told.
	LostCalls int64
	Rank      int32 // NoRank if not known
	Err       error // ErrCorrupt or ErrTruncated
}

// Unknown counts what a newer minor version put into the file that this one
// does not know and skipped.
type Unknown struct {
	Blocks, Records int
}

// Open opens the trace file at path. Damage is no error as long as the file
// header can be read: see Problems.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = fmt.Errorf("%s: is a directory: %w", path, ErrNotTrace)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r, err := NewReader(f, st.Size(), path)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closer = f
	return r, nil
}

// NewReader reads a file of size bytes from in; name is for messages.
func NewReader(in io.ReaderAt, size int64, name string) (*Reader, error) {
	r := &Reader{in: in, size: size, name: name, bad: map[int]bool{}}
	r.decoders.New = func() any { return r.NewDecoder() }
	if err := r.header(); err != nil {
		return nil, err
	}
	blocks, ok := r.footer()
	if !ok {
		blocks = r.scan()
	}
	r.complete = ok
	if err := r.load(blocks); err != nil {
		return nil, err
	}
	return r, nil
}

// header reads the file header.
func (r *Reader) header() error {
	var b [fileHeaderSize]byte
	n, err := r.in.ReadAt(b[:], 0)
	if n < len(b) {
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if n >= len(fileMagic) && string(b[:len(fileMagic)]) == fileMagic {
			return &Error{r.name, int64(n), "ends within the file header", ErrTruncated}
		}
		if n == 0 {
			return &Error{r.name, 0, "the file is empty", ErrNotTrace}
		}
		return &Error{r.name, 0, "does not begin with the file magic", ErrNotTrace}
	}
	if string(b[:len(fileMagic)]) != fileMagic {
		return &Error{r.name, 0, "does not begin with the file magic", ErrNotTrace}
	}
	le := binary.LittleEndian
	r.major, r.minor, r.kind = int(le.Uint16(b[8:])), int(b[10]), Kind(b[11])
	if le.Uint32(b[12:]) != checksum(b[:12]) {
		// Version and kind cannot be trusted; the blocks have checksums of
		// their own, so going on as the version that we know is safe.
		r.problem(Problem{Offset: 8, Size: 8, What: "file header checksum is wrong", Rank: NoRank, Err: ErrCorrupt})
		r.major, r.minor = Major, Minor
		if r.kind != KindMerged {
			r.kind = KindRank
		}
		return nil
	}
	if r.major != Major {
		return &Error{r.name, 8, fmt.Sprintf("the file has version %d.%d, this program reads versions up to %d.x: use a newer one", r.major, r.minor, Major), ErrVersion}
	}
	if r.kind != KindRank && r.kind != KindMerged {
		return &Error{r.name, 11, fmt.Sprintf("unknown kind of file %d", r.kind), ErrVersion}
	}
	return nil
}

// load reads the definitions and keeps the places of the calls.
func (r *Reader) load(blocks []BlockInfo) error {
	d, err := newDecoderBuffers()
	if err != nil {
		return err
	}
	c := newDefiner()
	for _, x := range blocks {
		switch x.Kind {
		case BlockHead, BlockDefinitions:
			records, err := d.records(r, x)
			if err == nil {
				var unknown int
				unknown, err = eachRecord(records, c.add)
				r.unknown.Records += unknown
			}
			if err != nil {
				r.problem(Problem{Offset: x.Offset, Size: x.Size, What: "definitions: " + what(err), Rank: NoRank, Err: ErrCorrupt})
			}
		case BlockCalls:
			r.blocks = append(r.blocks, x)
		case BlockIndex:
		default:
			r.unknown.Blocks++
		}
	}
	r.defs = c.defs
	return nil
}

// what is an error's text without file and offset.
func what(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.What
	}
	return err.Error()
}

func (r *Reader) problem(p Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, p)
}

// Name is the file's name as given to Open or NewReader.
func (r *Reader) Name() string { return r.name }

// Size is the file's size in bytes.
func (r *Reader) Size() int64 { return r.size }

// Kind says whether it is a rank file or a merged one.
func (r *Reader) Kind() Kind { return r.kind }

// Version returns the format version that the file was written in.
func (r *Reader) Version() (major, minor int) { return r.major, r.minor }

// Complete says whether the file was closed in order. If not, its process was
// killed, is still running, or the file was cut; the blocks were found by
// scanning.
func (r *Reader) Complete() bool { return r.complete }

// Definitions returns all definitions. They belong to the Reader.
func (r *Reader) Definitions() *Definitions { return &r.defs }

// Blocks returns the places of the calls, in file order. It belongs to the
// Reader.
func (r *Reader) Blocks() []BlockInfo { return r.blocks }

// Unknown counts what was skipped because it is from a newer minor version.
func (r *Reader) Unknown() Unknown { return r.unknown }

// Problems returns the damage found so far: in headers and definitions by
// Open, in calls by ReadCalls.
func (r *Reader) Problems() []Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Problem(nil), r.problems...)
}

// ReadCalls fills dst with the calls of Blocks()[i], reusing its slices. What
// it fills in can be used without further checks of indices and lengths; ids
// of definitions may be unknown. After an error dst is empty, and the block is
// among Problems.
func (r *Reader) ReadCalls(i int, dst *Calls) error {
	d, ok := r.decoders.Get().(*Decoder)
	if !ok || d == nil {
		return errors.New("cannot make a decoder")
	}
	defer r.decoders.Put(d)
	return d.ReadCalls(i, dst)
}

// Close closes the file, if Open opened it.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}
