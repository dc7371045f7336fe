// SPDX-License-Identifier: Apache-2.0

// Package terminal knows what a command needs to know of where its output
// goes: whether that is a terminal, how wide it is, whether colour is wanted,
// and how text that came out of a file is shown without letting it steer the
// terminal. It draws nothing itself.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Is tells whether w writes to a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is how many columns w's terminal has: what COLUMNS says, else what
// the terminal says, else fallback.
func Width(w io.Writer, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return fallback
}

// Height is how many lines w's terminal has: what LINES says, else what the
// terminal says, else fallback.
func Height(w io.Writer, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv("LINES")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok {
		if _, n, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return fallback
}

// UTF8 tells whether the locale's characters are UTF-8.
func UTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(os.Getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// Color is when to colour output. It is a flag value: auto, always or never.
type Color string

// The choices. The zero value is ColorAuto.
const (
	ColorAuto   Color = "auto"
	ColorAlways Color = "always"
	ColorNever  Color = "never"
)

// String is the choice as Set takes it.
func (c *Color) String() string {
	if *c == "" {
		return string(ColorAuto)
	}
	return string(*c)
}

// Set takes the flag's argument.
func (c *Color) Set(s string) error {
	switch Color(s) {
	case ColorAuto, ColorAlways, ColorNever:
		*c = Color(s)
		return nil
	}
	return fmt.Errorf("%q is none of auto, always, never", s)
}

// Type names the flag's argument in help texts.
func (c *Color) Type() string { return "when" }

// On tells whether output to w is to be coloured. Auto means on a terminal,
// unless NO_COLOR is set or TERM says that the terminal knows no colours.
func (c Color) On(w io.Writer) bool {
	switch c {
	case ColorAlways:
		return true
	case ColorNever:
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && Is(w)
}

// Clean makes s safe to print on a terminal, on one line: whatever is not a
// printable character (control characters, escape sequences, direction
// overrides, invalid UTF-8) is shown as a Go escape. Names in a trace come from
// the traced program, or from a stranger's file.
func Clean(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		i += n
	}
	return b.String()
}
