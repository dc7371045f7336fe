// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"strings"
)

// color is one of a terminal's colours: 0 to 255, or one of those below.
type color int

const (
	noColor    color = -1 // the terminal's own
	brightText color = -2
	dimText    color = -3
)

// line collects characters and writes colours only where they change.
type line struct {
	b                strings.Builder
	text, ground     color
	colored, touched bool
}

// plain appends a character without colours.
func (l *line) plain(c byte) { l.b.WriteByte(c) }

// put appends a character with the colours of its text and its ground.
func (l *line) put(c string, text, ground color) {
	if !l.touched {
		l.text, l.ground, l.touched = noColor, noColor, true
	}
	invisible := c == " " && text == noColor
	if text != l.text && !invisible || ground != l.ground {
		l.switchTo(text, ground)
	}
	l.b.WriteString(c)
}

func (l *line) switchTo(text, ground color) {
	l.text, l.ground = text, ground
	codes := []string{"0"}
	switch text {
	case noColor:
	case brightText:
		codes = append(codes, "1", "97")
	case dimText:
		codes = append(codes, "2")
	default:
		codes = append(codes, code(30, text))
	}
	if ground >= 0 {
		codes = append(codes, code(40, ground))
	}
	fmt.Fprintf(&l.b, "\x1b[%sm", strings.Join(codes, ";"))
	l.colored = text != noColor || ground != noColor
}

// code is the escape code of a colour; the first sixteen have codes of their own.
func code(base int, c color) string {
	switch {
	case c < 8:
		return fmt.Sprint(base + int(c))
	case c < 16:
		return fmt.Sprint(base + 60 + int(c) - 8)
	}
	return fmt.Sprintf("%d;5;%d", base+8, c)
}

// end returns the line with its colours ended.
func (l *line) end() string {
	if l.colored {
		l.b.WriteString("\x1b[0m")
		l.colored = false
	}
	return strings.TrimRight(l.b.String(), " ")
}
