// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	viewer "github.com/mpitrace/mpitrace/cmd/mpitrace-view/command"
)

// call is a line of a dump, or of what a program wrote down.
type call map[string]any

func (c call) name() string { s, _ := c["call"].(string); return s }
func (c call) rank() int    { f, _ := c["rank"].(float64); return int(f) }

// view runs mpitrace-view in process and returns what it printed.
func view(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := viewer.Run(args, &out, &errs); code != viewer.ExitOK {
		t.Fatalf("mpitrace-view %q: exit code %d\n%s", args, code, errs.String())
	}
	return out.String()
}

// dump returns the calls of traces.
func dump(t *testing.T, traces ...string) []call {
	t.Helper()
	return lines(t, strings.NewReader(view(t, append([]string{"dump", "--format", "jsonl"}, traces...)...)), "dump")
}

func lines(t *testing.T, r interface{ Read([]byte) (int, error) }, name string) []call {
	t.Helper()
	var calls []call
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var c call
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v in %s", name, err, s.Text())
		}
		calls = append(calls, c)
	}
	if err := s.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return calls
}

// written are the calls that each rank of a program wrote down, and whether
// their order may differ.
func written(t *testing.T, dir string, ranks int) (calls [][]call, anyOrder bool) {
	t.Helper()
	for rank := range ranks {
		path := filepath.Join(dir, fmt.Sprintf("expect.%d", rank))
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		all := lines(t, f, path)
		f.Close()
		var mine []call
		for _, c := range all {
			if c["order"] == "any" {
				anyOrder = true
				continue
			}
			mine = append(mine, c)
		}
		calls = append(calls, mine)
	}
	return calls, anyOrder
}

// compare holds a trace against what the ranks wrote down: of the functions
// that occur there, the trace has exactly those calls, in that order, and each
// has the fields that were written down.
func compare(t *testing.T, trace []call, want [][]call, anyOrder bool) {
	t.Helper()
	known := map[string]bool{}
	for _, calls := range want {
		for _, c := range calls {
			known[c.name()] = true
		}
	}
	got := make([][]call, len(want))
	for _, c := range trace {
		if known[c.name()] {
			if c.rank() >= len(want) {
				t.Fatalf("a call of rank %d: %v", c.rank(), c)
			}
			got[c.rank()] = append(got[c.rank()], c)
		}
	}
	for rank := range want {
		if len(want[rank]) != len(got[rank]) {
			t.Errorf("rank %d: %d calls in the trace, the program made %d\ntrace   %s\nprogram %s",
				rank, len(got[rank]), len(want[rank]), names(got[rank]), names(want[rank]))
			continue
		}
		if anyOrder {
			compareAnyOrder(t, rank, got[rank], want[rank])
			continue
		}
		for i, w := range want[rank] {
			if why := differs(w, got[rank][i]); why != "" {
				t.Errorf("rank %d, call %d: %s\ntrace   %v\nprogram %v", rank, i, why, got[rank][i], w)
				break
			}
		}
	}
}

// compareAnyOrder pairs calls off, whatever their order.
func compareAnyOrder(t *testing.T, rank int, got, want []call) {
	t.Helper()
	left := slices.Clone(got)
	for _, w := range want {
		i := slices.IndexFunc(left, func(g call) bool { return differs(w, g) == "" })
		if i < 0 {
			t.Errorf("rank %d: not in the trace: %v", rank, w)
			return
		}
		left = slices.Delete(left, i, i+1)
	}
}

// differs says how a call of the trace differs from what was written down, or "".
func differs(want, got map[string]any) string {
	for key, w := range want {
		g, ok := got[key]
		switch w := w.(type) {
		case []any:
			list, _ := g.([]any)
			if len(list) != len(w) {
				return fmt.Sprintf("%s has %d elements, want %d", key, len(list), len(w))
			}
			for i := range w {
				wanted, _ := w[i].(map[string]any)
				has, _ := list[i].(map[string]any)
				if why := differs(wanted, has); why != "" {
					return fmt.Sprintf("%s[%d]: %s", key, i, why)
				}
			}
		default:
			if !ok {
				// A call without an error may leave that out.
				if key == "error" && w == 0.0 {
					continue
				}
				return fmt.Sprintf("no %s, want %v", key, w)
			}
			if !reflect.DeepEqual(w, g) {
				return fmt.Sprintf("%s is %v, want %v", key, g, w)
			}
		}
	}
	return ""
}

func names(calls []call) string {
	var b strings.Builder
	for i, c := range calls {
		if i == 40 {
			b.WriteString(" …")
			break
		}
		b.WriteString(" " + strings.TrimPrefix(c.name(), "MPI_"))
	}
	return b.String()
}
