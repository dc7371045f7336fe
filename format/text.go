// SPDX-License-Identifier: Apache-2.0

package format

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mpitrace/mpitrace/mpi"
)

// The text twin says in lines what a trace file says in blocks: one line a
// definition, one line a call. doc.go describes it.

const (
	textMagic  = "mpitrace-text"
	textRank   = "rank"
	textMerged = "merged"
)

// Document is a trace in memory: what a text says.
type Document struct {
	Kind        Kind
	Rank        int32 // of a rank file
	Definitions Definitions
	Calls       []*Calls // blocks, in file order
}

// Write gives all of d to w, which was made with d's run and processes, and
// closes it.
func (d *Document) Write(w *Writer) error {
	w.Define(&d.Definitions)
	for _, c := range d.Calls {
		if err := w.WriteCalls(c); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// Create writes d to path.
func (d *Document) Create(path string) error {
	w, err := create(path, d.Kind, d.Definitions.Run, d.Definitions.Processes...)
	if err != nil {
		return err
	}
	return d.Write(w)
}

// TextError is an error in a text.
type TextError struct {
	File         string
	Line, Column int // from 1; columns are bytes
	What         string
}

// Error names the file, line and column.
func (e *TextError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)
}

// Words for values with a meaning. Other values are numbers.
const (
	wordNone = "none"
	wordAny  = "any"
	wordNull = "null"
	wordRoot = "root"
)

// flagWords names the flags. The words of those that a line shows in another
// way are never written.
var flagWords = []string{
	"any-source", "any-tag", "in-flight", "nested", "in-place", "truncated", "request", "false", "cancelled",
}

var doneWords = []string{
	DoneUnknown: "unknown", DoneSend: "send", DoneRecv: "recv", DoneCollective: "collective",
	DoneOneSided: "one-sided", DoneIO: "io", DoneOther: "other", DoneFreed: "freed", DonePending: "pending",
	DoneStarted: "started",
}

// Strings for names and values.

// isBare says whether s can be written without quotes.
func isBare(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("_-./+*:@%|", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}

func appendString(b []byte, s string) []byte {
	if isBare(s) {
		return append(b, s...)
	}
	return strconv.AppendQuote(b, s)
}

// appendWord appends the word for v, or kind and number if it has none.
func appendWord(b []byte, words []string, kind string, v uint8) []byte {
	if int(v) < len(words) {
		return append(b, words[v]...)
	}
	return strconv.AppendUint(append(b, kind...), uint64(v), 10)
}

func parseWord(s string, words []string, kind string) (uint8, error) {
	for i, w := range words {
		if w == s {
			return uint8(i), nil
		}
	}
	if n, ok := strings.CutPrefix(s, kind); ok {
		if v, err := strconv.ParseUint(n, 10, 8); err == nil {
			return uint8(v), nil
		}
	}
	return 0, fmt.Errorf("%q is none of %s", s, strings.Join(words, ", "))
}

func appendFlags(b []byte, f Flags) []byte {
	sep := ""
	for i, w := range flagWords {
		if f&(1<<i) != 0 {
			b = append(append(b, sep...), w...)
			sep = "|"
			f &^= 1 << i
		}
	}
	if f != 0 {
		b = append(b, sep...)
		b = append(b, "0x"...)
		b = strconv.AppendUint(b, uint64(f), 16)
	}
	return b
}

func parseFlags(s string) (f Flags, err error) {
next:
	for _, w := range strings.Split(s, "|") {
		for i, known := range flagWords {
			if w == known {
				f |= 1 << i
				continue next
			}
		}
		v, err := strconv.ParseUint(w, 0, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is no flag: there are %s", w, strings.Join(flagWords, ", "))
		}
		f |= Flags(v)
	}
	return f, nil
}

// appendRank appends a rank in a communicator, or its word.
func appendRank(b []byte, r int32) []byte {
	switch r {
	case NoRank:
		return append(b, wordNone...)
	case AnySource:
		return append(b, wordAny...)
	case ProcNull:
		return append(b, wordNull...)
	case RootRank:
		return append(b, wordRoot...)
	}
	return strconv.AppendInt(b, int64(r), 10)
}

func parseRank(s string) (int32, error) {
	switch s {
	case wordNone:
		return NoRank, nil
	case wordAny:
		return AnySource, nil
	case wordNull:
		return ProcNull, nil
	case wordRoot:
		return RootRank, nil
	}
	return parseInt[int32](s)
}

func appendTag(b []byte, t int32) []byte {
	switch t {
	case NoTag:
		return append(b, wordNone...)
	case AnyTag:
		return append(b, wordAny...)
	}
	return strconv.AppendInt(b, int64(t), 10)
}

func parseTag(s string) (int32, error) {
	switch s {
	case wordNone:
		return NoTag, nil
	case wordAny:
		return AnyTag, nil
	}
	return parseInt[int32](s)
}

func appendCount(b []byte, n int64) []byte {
	if n == NoCount {
		return append(b, wordNone...)
	}
	return strconv.AppendInt(b, n, 10)
}

func parseCount(s string) (int64, error) {
	if s == wordNone {
		return NoCount, nil
	}
	return parseInt[int64](s)
}

// parseInt parses a decimal or 0x… integer of T's range.
func parseInt[T ~int32 | ~int64](s string) (T, error) {
	v, err := strconv.ParseInt(s, 0, 64)
	if err != nil || int64(T(v)) != v {
		return 0, fmt.Errorf("%q is no integer within the limits of this field", s)
	}
	return T(v), nil
}

func parseUint[T ~uint8 | ~uint16 | ~uint32 | ~uint64](s string) (T, error) {
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil || uint64(T(v)) != v {
		return 0, fmt.Errorf("%q is no number within the limits of this field", s)
	}
	return T(v), nil
}

// appendRanks appends runs as lists like 0-3,8,4:2:-1 (first:count:stride).
func appendRanks(b []byte, ranks Ranks) []byte {
	for i, r := range ranks {
		if i > 0 {
			b = append(b, ',')
		}
		last := int64(r.First) + int64(r.Count) - 1
		switch {
		case r.Stride == 1 && r.Count == 1 && r.First >= 0:
			b = strconv.AppendInt(b, int64(r.First), 10)
		case r.Stride == 1 && r.Count > 1 && r.First >= 0 && last == int64(int32(last)):
			b = strconv.AppendInt(b, int64(r.First), 10)
			b = append(b, '-')
			b = strconv.AppendInt(b, last, 10)
		default:
			b = strconv.AppendInt(b, int64(r.First), 10)
			b = append(b, ':')
			b = strconv.AppendInt(b, int64(r.Count), 10)
			b = append(b, ':')
			b = strconv.AppendInt(b, int64(r.Stride), 10)
		}
	}
	return b
}

func parseRanks(s string) (ranks Ranks, err error) {
	for _, w := range strings.Split(s, ",") {
		r := RankRun{Count: 1, Stride: 1}
		if parts := strings.Split(w, ":"); len(parts) > 1 {
			if len(parts) != 3 {
				return nil, fmt.Errorf("%q is not first:count:stride", w)
			}
			for i, p := range []*int32{&r.First, &r.Count, &r.Stride} {
				if *p, err = parseInt[int32](parts[i]); err != nil {
					return nil, err
				}
			}
			if r.Count < 0 {
				return nil, fmt.Errorf("%q has a negative count", w)
			}
			ranks = append(ranks, r)
			continue
		}
		first, last, isRange := strings.Cut(w, "-")
		if r.First, err = parseInt[int32](first); err != nil {
			return nil, err
		}
		if isRange {
			end, err := parseInt[int32](last)
			if err != nil {
				return nil, err
			}
			n := int64(end) - int64(r.First) + 1
			if n < 1 || n != int64(int32(n)) {
				return nil, fmt.Errorf("%q is no range of ranks", w)
			}
			r.Count = int32(n)
		}
		ranks = append(ranks, r)
	}
	return ranks, nil
}

func appendFunc(b []byte, id mpi.FuncID) []byte {
	if f := mpi.ByID(id); f != nil {
		return append(b, f.Name...)
	}
	return strconv.AppendUint(append(b, "func-"...), uint64(id), 10)
}

// parseFunc says also whether s is meant as a function at all.
func parseFunc(s string) (id mpi.FuncID, is bool, err error) {
	if n, ok := strings.CutPrefix(s, "func-"); ok {
		id, err = parseUint[mpi.FuncID](n)
		return id, true, err
	}
	if f := mpi.ByName(s); f != nil {
		return f.ID, true, nil
	}
	if strings.HasPrefix(s, "MPI_") {
		return 0, true, fmt.Errorf("no function %s", s)
	}
	return 0, false, nil
}
