// SPDX-License-Identifier: Apache-2.0

package format

import (
	"errors"
	"fmt"
)

// What can be wrong with a file. Errors of a Reader wrap one of them and are
// of type *Error.
var (
	ErrNotTrace  = errors.New("not an mpitrace file")
	ErrVersion   = errors.New("unknown format version")
	ErrCorrupt   = errors.New("damaged block")
	ErrTruncated = errors.New("truncated file")
)

// ErrTooLarge is what a Writer returns for a single call or definition that no
// block can hold. It is not sticky: the file is as it was before.
var ErrTooLarge = errors.New("too large for a block")

// ErrClosed is what a Writer returns after Close.
var ErrClosed = errors.New("file already closed")

// Error is an error at a place in a file.
type Error struct {
	File   string
	Offset int64  // bytes from the start of the file
	What   string // "payload checksum is 0x…, should be 0x…"
	Err    error  // one of this package's sentinels
}

// Error names the file, the offset and what is wrong.
func (e *Error) Error() string {
	if e.What == "" {
		return fmt.Sprintf("%s: offset %d: %v", e.File, e.Offset, e.Err)
	}
	return fmt.Sprintf("%s: offset %d: %v: %s", e.File, e.Offset, e.Err, e.What)
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }
