// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"fmt"
	"strings"
)

// scanner walks over the text of one row.
type scanner struct {
	text string
	off  int
	line int // of the text's first byte
}

func newScanner(c chunk) *scanner { return &scanner{text: c.text, line: c.line} }

// pos is the place of the next byte.
func (s *scanner) pos() Pos {
	before := s.text[:s.off]
	return Pos{
		Line: s.line + strings.Count(before, "\n"),
		Col:  s.off - (strings.LastIndexByte(before, '\n') + 1) + 1,
	}
}

func (s *scanner) errorf(format string, args ...any) error {
	return s.errorAt(s.pos(), format, args...)
}

func (s *scanner) errorAt(at Pos, format string, args ...any) error {
	return &Error{Pos: at, Msg: fmt.Sprintf(format, args...)}
}

// space skips white space.
func (s *scanner) space() {
	for s.off < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.off]) >= 0 {
		s.off++
	}
}

// have reads the given mark if it comes next.
func (s *scanner) have(mark string) bool {
	s.space()
	if !strings.HasPrefix(s.text[s.off:], mark) {
		return false
	}
	s.off += len(mark)
	return true
}

// expect reads the given mark.
func (s *scanner) expect(mark string) error {
	if !s.have(mark) {
		return s.errorf("want %q, have %s", mark, s.next())
	}
	return nil
}

// word reads a name, a number or a hyphenated word; what says what it is for.
func (s *scanner) word(what string) (Word, error) {
	s.space()
	start := s.off
	w := Word{Pos: s.pos()}
	for s.off < len(s.text) && isWord(s.text[s.off]) {
		s.off++
	}
	if s.off == start {
		return w, s.errorf("want %s, have %s", what, s.next())
	}
	w.Text = s.text[start:s.off]
	return w, nil
}

// next describes what comes next, for messages.
func (s *scanner) next() string {
	if s.off >= len(s.text) {
		return "the end of the row"
	}
	rest, _, _ := strings.Cut(s.text[s.off:], "\n")
	if len(rest) > 20 {
		rest = rest[:20] + "..."
	}
	return fmt.Sprintf("%q", rest)
}

func isWord(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
