// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/internal/trace/tracetest"
)

func open(t *testing.T) *trace.Trace {
	t.Helper()
	tr, err := trace.Open(tracetest.WriteRun(t, t.TempDir(), 1, 2, func(f *tracetest.Fixture) {
		c := f.Calls(0, 0, 10, 20, 30, 40)
		c.Sigs = append(c.Sigs, c.Sigs[0])
		// A function that this program does not know, with arguments that
		// nobody knows, ids that were never defined, and values at their ends.
		c.Sigs[1] = format.Sig{
			Func: 65000, Thread: 1<<32 - 1, Comm: 77, Win: 78, File: 79, Datatype: 80, Op: 81, Site: 82,
			Peer: 1<<31 - 1, Tag: -1 << 30, Root: 5, Count: 1 << 62, Bytes: -1, Error: -1,
			Second: &format.Side{Peer: 3, Tag: 4, Datatype: 9, Count: -1}, Args: []int64{1, -2}, NDone: 1,
		}
		c.Index[1] = 1
		c.DoneIndex, c.DoneRequest, c.DoneSigs = []uint32{0}, []uint64{1 << 63}, []format.DoneSig{{Kind: 200, Source: -9}}
		f.Blocks = []*format.Calls{c}
	}), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

func TestWhatIsUnknownIsStillWellFormed(t *testing.T) {
	tr := open(t)
	var out bytes.Buffer
	if err := JSONLines(&out, tr, trace.Everything()); err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(out.String()) {
		var v struct {
			Call string
			Args map[string]int64
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		if strings.HasPrefix(v.Call, "function ") && (v.Call != "function 65000" || v.Args["arg1"] != -2) {
			t.Errorf("unknown function: %s", line)
		}
		n++
	}
	if n != 4 {
		t.Errorf("%d lines, want 4", n)
	}
	out.Reset()
	if err := CSV(&out, tr, trace.Everything()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	tr := open(t)
	broken := errors.New("broken")
	for _, f := range []func(io.Writer, *trace.Trace, trace.Selection) error{JSONLines, CSV} {
		r, w := io.Pipe()
		r.CloseWithError(broken)
		if err := f(w, tr, trace.Everything()); !errors.Is(err, broken) {
			t.Errorf("error %v, want the writer's", err)
		}
	}
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "halo.c:42", "\x1b[2J\"\\\n\u2028\U0001f4a9\U000e0001", "\xff\xfe", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := appendString(nil, s)
		for _, r := range string(b) {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q is written as %q", s, b)
			}
		}
		var got string
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%q is written as %q: %v", s, b, err)
		}
		// Each byte that is no UTF-8 is one U+FFFD, as everywhere in Go.
		if want := string([]rune(s)); got != want {
			t.Fatalf("%q is written as %q, which reads as %q", s, b, got)
		}
	})
}
