// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"bytes"
	"testing"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"solver.c:88", "solver.c:88"},
		{"größe → 3", "größe → 3"},
		{"\x1b[2Jgone", `\x1b[2Jgone`},
		{"a\nb\tc", `a\nb\tc`},
		{"bad\xff\xfeutf8", `bad\xff\xfeutf8`},
		{"\u202eoverride", `\u202eoverride`},
		{"\u009b31m", `\u009b31m`},
		{"\uFFFD", "\uFFFD"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b]0;title\a")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Clean(s) {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				t.Fatalf("Clean(%q) lets %U through", s, r)
			}
		}
	})
}

func TestColor(t *testing.T) {
	var c Color
	var buf bytes.Buffer
	if c.On(&buf) {
		t.Error("auto colours what is no terminal")
	}
	if err := c.Set("always"); err != nil || !c.On(&buf) {
		t.Errorf("always: %v, on %v", err, c.On(&buf))
	}
	if err := c.Set("never"); err != nil || c.On(&buf) {
		t.Errorf("never: %v, on %v", err, c.On(&buf))
	}
	if err := c.Set("purple"); err == nil {
		t.Error("purple was taken")
	}
}

func TestWidth(t *testing.T) {
	var buf bytes.Buffer
	t.Setenv("COLUMNS", "")
	if got := Width(&buf, 80); got != 80 {
		t.Errorf("width %d, want the fallback", got)
	}
	t.Setenv("COLUMNS", "132")
	if got := Width(&buf, 80); got != 132 {
		t.Errorf("width %d, want COLUMNS", got)
	}
}
