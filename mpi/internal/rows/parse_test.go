// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func word(s string) Word { return Word{Text: s} }

func TestParse(t *testing.T) {
	const text = `# head
## Section

# About the row,
# in two lines.
12 MPI_X p2p sends blocking:
    int (const void *buf {buffer send counts[@rank]*types*@size}, char ***argv {argv inout},
        const int counts[incount:outcount] {count recv root-only}, int ranges[n][3] {rank in},
        char value[len+1] {string out}, char s[MPI_MAX_S] {string out},
        int e[sum(x)] {number out}, int l[last(x)] {number out}, int t[7] {number out},
        void *b {buffer out "for
        a reason"}, MPI_Comm comm, ...)

3 MPI_Y query:
	MPI_Aint {address} (void)
- MPI_Z  is no
  function
`
	file, err := Parse("f", text)
	if err != nil {
		t.Fatal(err)
	}
	want := &File{
		Rows: []Row{
			{
				ID: 12, Name: word("MPI_X"), Family: word("p2p"), Roles: []Word{word("sends"), word("blocking")},
				Comment: "About the row, in two lines.", Return: word("int"),
				Params: []Param{
					{
						Name: "buf", Const: true, Type: "void", Stars: 1, Kind: word("buffer"), Side: word("send"),
						Holds: &Holding{Count: "counts", Own: true, Datatype: "types", Times: &Length{Form: FormAt, Name: "size"}},
					},
					{Name: "argv", Type: "char", Stars: 3, Kind: word("argv"), Dir: word("inout")},
					{
						Name: "counts", Const: true, Type: "int", Array: &Length{Name: "incount", Filled: "outcount"},
						Kind: word("count"), Side: word("recv"), RootOnly: true,
					},
					{Name: "ranges", Type: "int", Array: &Length{Name: "n"}, Inner: 3, Kind: word("rank"), Dir: word("in")},
					{Name: "value", Type: "char", Array: &Length{Name: "len", Plus: 1}, Kind: word("string"), Dir: word("out")},
					{Name: "s", Type: "char", Array: &Length{Form: FormLimit, Name: "MPI_MAX_S"}, Kind: word("string"), Dir: word("out")},
					{Name: "e", Type: "int", Array: &Length{Form: FormSum, Name: "x"}, Kind: word("number"), Dir: word("out")},
					{Name: "l", Type: "int", Array: &Length{Form: FormLast, Name: "x"}, Kind: word("number"), Dir: word("out")},
					{Name: "t", Type: "int", Array: &Length{Form: FormNumber, Plus: 7}, Kind: word("number"), Dir: word("out")},
					{Name: "b", Type: "void", Stars: 1, Kind: word("buffer"), Dir: word("out"), Note: "for a reason"},
					{Name: "comm", Type: "MPI_Comm"},
					{Type: "..."},
				},
			},
			{ID: 3, Name: word("MPI_Y"), Family: word("query"), Return: word("MPI_Aint"), Result: word("address")},
		},
		Left: []LeftOut{{Name: word("MPI_Z"), Reason: "is no function"}},
	}
	if diff := cmp.Diff(want, file, cmpopts.IgnoreTypes(Pos{})); diff != "" {
		t.Error(diff)
	}
	if got, want := file.Rows[0].Params[2].Pos, (Pos{Line: 8, Col: 9}); got != want {
		t.Errorf("counts stands at %v, want %v", got, want)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"x MPI_X p2p:\n int (void)", `f:1:1: id "x" is not a number from 1 to 65535`},
		{"0 MPI_X p2p:\n int (void)", `f:1:1: id "0" is not`},
		{"65536 MPI_X p2p:\n int (void)", `f:1:1: id "65536" is not`},
		{"1", `f:1:2: want the function's name, have the end of the row`},
		{"1 MPI_X", `f:1:8: want the function's family, have the end of the row`},
		{"1 MPI_X p2p sends", `f:1:18: want a role or ':', have the end of the row`},
		{"1 MPI_X p2p:", `f:1:13: want the C type of the result, have the end of the row`},
		{"1 MPI_X p2p:\n int", `f:2:5: want "(", have the end of the row`},
		{"1 MPI_X p2p:\n int (", `f:2:7: want a parameter's type`},
		{"1 MPI_X p2p:\nint (void)", `f:1:13: want the C type of the result`},
		{"1 MPI_X p2p:\n int (int a {count}", `f:2:20: want ",", have the end of the row`},
		{"1 MPI_X p2p:\n int (void) x", `f:2:13: unexpected text behind the parameters`},
		{"1 MPI_X p2p:\n int (int {count})", `f:2:11: want a parameter's name, have "{count})"`},
		{"1 MPI_X p2p:\n int (int a[] {count})", `f:2:13: want a length`},
		{"1 MPI_X p2p:\n int (int a[n {count})", `f:2:15: want "]"`},
		{"1 MPI_X p2p:\n int (int a[n][m] {count})", `f:2:16: the second dimension "m" of a is not a number`},
		{"1 MPI_X p2p:\n int (int a[n+m] {count})", `f:2:15: "m" is not a number`},
		{"1 MPI_X p2p:\n int (int a {count rank})", `f:2:20: a has both count and rank`},
		{"1 MPI_X p2p:\n int (int *a {count in out})", `f:2:24: a has both in and out`},
		{"1 MPI_X p2p:\n int (int a {count send recv})", `f:2:25: a has both send and recv`},
		{"1 MPI_X p2p:\n int (void *a {buffer n*t m*t})", `f:2:27: a has two count*datatype`},
		{"1 MPI_X p2p:\n int (void *a {buffer n[x]*t})", `f:2:25: want "@rank", have "x]*t})"`},
		{"1 MPI_X p2p:\n int (void *a {buffer \"why})", `f:2:23: the note is not closed by "`},
		{"1 MPI_X p2p:\n int (int a {count;})", `f:2:19: want a kind, direction, side, root-only`},
		{"- MPI_X", `f:1:8: why MPI_X is left out is missing behind its name`},
		{"-", `f:1:2: want a name`},
		{" int (void)", `f:1:2: id "int" is not a number`},
	} {
		file, err := Parse("f", c.text)
		if file != nil || err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: error is %v, want %s", c.text, err, c.want)
		}
	}
}

// TestParseReportsManyMistakes: one run shows all mistakes, up to a limit.
func TestParseReportsManyMistakes(t *testing.T) {
	_, err := Parse("f", "1\n2\n- MPI_X\n")
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("want three messages, have: %v", err)
	}
	_, err = Parse("f", strings.Repeat("1\n", 1000))
	if err == nil || strings.Count(err.Error(), "\n") != maxErrors-1 {
		t.Errorf("want %d messages, have: %v", maxErrors, err)
	}
}

// FuzzParse: any text gives a file or errors that stand inside the text.
func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("../../functions.txt")
	if err != nil {
		f.Fatal(err)
	}
	for i, c := range chunks(string(text)) {
		if i%50 == 0 {
			f.Add(c.text)
		}
	}
	f.Add("1 MPI_X p2p:\n int (int a[sum(b):c][3] {count x[@rank]*y*z \"n\"}, ...)\n- N r\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("f", text)
		if err == nil {
			if file == nil {
				t.Fatal("no file and no error")
			}
			for _, row := range file.Rows {
				if row.ID < 1 || row.Name.Text == "" || row.Family.Text == "" || row.Return.Text == "" {
					t.Fatalf("incomplete row %+v", row)
				}
			}
			return
		}
		if file != nil {
			t.Fatal("a file and an error")
		}
		lines := strings.Split(text, "\n")
		for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%v is no *Error", err)
			}
			if e.Line < 1 || e.Line > len(lines) || e.Col < 1 || e.Col > len(lines[e.Line-1])+1 {
				t.Fatalf("%v stands outside the text", e)
			}
		}
	})
}
