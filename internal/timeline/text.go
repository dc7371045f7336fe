// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mpitrace/mpitrace/internal/human"
	"github.com/mpitrace/mpitrace/internal/terminal"
)

// TextOptions says how to draw a level with characters.
type TextOptions struct {
	Title  string
	Width  int   // columns
	Lines  int   // lines a row; more than one needs colours
	Gap    int   // empty lines between rows
	Colors Color // how many colours there are
	ASCII  bool  // nothing but ASCII
}

// Color says which colours a drawing may use.
type Color uint8

// The choices of colours.
const (
	NoColor Color = iota // letters
	Basic                // the 8 colours that every terminal has
	Indexed              // xterm's 256 colours
)

// TextColumns is how many bins fit beside the labels of the rows.
func TextColumns(width int, rows [][]int32) int {
	return max(10, width-labelWidth(rows)-1)
}

// labelWidth is the width of the widest row label and the column behind it,
// which marks rows with calls that never returned.
func labelWidth(rows [][]int32) int {
	widest := 0
	for _, ranks := range rows {
		widest = max(widest, len(label(ranks)))
	}
	return widest + 1
}

func label(ranks []int32) string {
	switch len(ranks) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return fmt.Sprintf("ranks %d-%d", ranks[0], ranks[len(ranks)-1])
}

// WriteText draws the level: a title, the time axis, the rows, a legend with
// each class's share, and the calls that never returned.
func (l *Level) WriteText(w io.Writer, o TextOptions) error {
	t := &text{Level: l, TextOptions: o, w: bufio.NewWriter(w)}
	rows := make([][]int32, len(l.Rows))
	for i := range l.Rows {
		rows[i] = l.Rows[i].Ranks
	}
	t.margin = labelWidth(rows)
	t.header()
	t.axis()
	t.regions()
	for i := range l.Rows {
		if i > 0 {
			t.put(strings.Repeat("\n", o.Gap))
		}
		t.row(&l.Rows[i])
	}
	t.legend()
	t.openCalls()
	return t.w.Flush()
}

// text is a drawing under way.
type text struct {
	*Level
	TextOptions
	w      *bufio.Writer
	margin int
}

// put writes s; the writer keeps the first error until it is flushed.
func (t *text) put(s string) { fmt.Fprint(t.w, s) }

func (t *text) line(s string) {
	t.put(strings.TrimRight(s, " ") + "\n")
}

// units replaces what is not ASCII in units and texts, if need be.
func (t *text) units(s string) string {
	if !t.ASCII {
		return s
	}
	return strings.NewReplacer("µ", "u", "–", "-", "·", "|").Replace(s)
}

func (t *text) header() {
	s := fmt.Sprintf("%s – %s · %s a column",
		t.time(t.Window.Begin), t.time(t.Window.End), human.Duration(t.column()))
	if t.Title != "" {
		s = terminal.Clean(t.Title) + " · " + s
	}
	t.line(t.units(s))
}

// column is the length of a bin, at least a nanosecond.
func (l *Level) column() int64 { return max(1, l.Window.Length()/int64(l.Bins())) }

// time writes a time to about a tenth of a bin: "1.25 s", "1.250001 s".
func (l *Level) time(ns int64) string {
	step := int64(1)
	for 10*step <= l.column()/5 {
		step *= 10
	}
	for _, u := range axisUnits {
		if ns >= u.ns || -ns >= u.ns {
			s := decimal(ns, u.ns, min(step, u.ns))
			if strings.Contains(s, ".") {
				s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
			}
			return s + " " + u.name
		}
	}
	return "0"
}

// axis draws two lines: the labels, and the marks below their beginnings.
func (t *text) axis() {
	columns := t.Bins()
	labels := []rune(strings.Repeat(" ", columns+t.margin))
	marks := []rune(strings.Repeat(" ", t.margin) + strings.Repeat("─", columns))
	mark := '┬'
	if t.ASCII {
		marks = []rune(strings.Repeat(" ", t.margin) + strings.Repeat("-", columns))
		mark = '+'
	}
	free := 0
	for _, tick := range ticks(t.Window, columns/12) {
		at := t.margin + t.columnOf(tick.time)
		name := []rune(t.units(tick.label))
		marks[at] = mark
		if at >= free && at+len(name) <= len(labels) {
			copy(labels[at:], name)
			free = at + len(name) + 1
		}
	}
	t.line(string(labels))
	t.line(string(marks))
}

// regions draws a line for each depth of regions.
func (t *text) regions() {
	if t.Regions == nil {
		return
	}
	for depth := range t.Regions.Names {
		name := ""
		if depth == 0 {
			name = "region"
		}
		t.line(fmt.Sprintf("%-*s%s", t.margin, name[:min(len(name), t.margin)], t.Regions.line(depth, t.ASCII)))
	}
}

// columnOf is the bin that a time is in.
func (t *text) columnOf(time int64) int {
	low, high := 0, t.Bins()-1
	for low < high {
		middle := (low + high + 1) / 2
		if t.edges[middle] <= time {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

func (t *text) row(row *Row) {
	lines := max(1, t.Lines)
	if t.Colors == NoColor {
		lines = 1
	}
	drawn := make([]line, lines)
	for i := range row.Cells {
		bin := t.Bin(i)
		t.cell(drawn, &row.Cells[i], bin.Length()*int64(len(row.Ranks)), len(row.Ranks) == 1)
	}
	for i := range drawn {
		name := ""
		if i == 0 {
			name = label(row.Ranks)
		}
		mark := " "
		if row.Open > 0 && i == 0 {
			mark = string(inFlight.letter)
		}
		fmt.Fprintf(t.w, "%-*s%s", t.margin-1, name, mark)
		t.put(drawn[len(drawn)-1-i].end() + "\n")
	}
}

// cell appends a cell to the lines of its row, lowest first.
func (t *text) cell(lines []line, c *Cell, whole int64, single bool) {
	s := shares(c, whole)
	if single {
		s = settle(s)
	}
	stuck := c.InFlight > 0 && 2*c.InFlight >= c.Recorded
	if t.Colors == NoColor {
		lines[0].plain(letter(s, stuck))
		return
	}
	parts := stack(s, 8*len(lines))
	next := 0
	for i := range lines {
		var here [numParts]int
		for room := 8; room > 0 && next < int(numParts); {
			n := min(room, parts[next])
			here[next] += n
			parts[next] -= n
			room -= n
			if parts[next] == 0 {
				next++
			}
		}
		t.block(&lines[i], reduce(here), stuck && i == 0)
	}
}

// letter is the character of a cell without colours: a class's capital where
// at least half of the time is MPI, its small letter from a tenth on.
func letter(s [numParts]float64, stuck bool) byte {
	best, mpi := Class(0), 0.0
	for class := range NumClasses {
		mpi += s[class]
		if s[class] > s[best] {
			best = class
		}
	}
	there := mpi + s[partComputation]
	switch {
	case stuck:
		return inFlight.letter
	case s[partOff] > there && s[partOff] >= s[partNone]:
		return notRecorded.letter
	case there == 0:
		return ' '
	case mpi >= there/2:
		return styles[best].letter
	case mpi >= there/10:
		return styles[best].letter + 'a' - 'A'
	}
	return computation.letter
}

// lower are the blocks that fill a character from below, by eighths.
var lower = [...]string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// pair is what one character can show: a bottom part and a top part, in
// eighths. bottom is 0 if there is one part only.
type pair struct {
	bottomPart, topPart int
	bottom, top         int
}

// reduce leaves two parts of a character's eighths: MPI, all of it as the class
// that is most of it, below the largest other part; or, if all is MPI, the two
// largest classes.
func reduce(parts [numParts]int) pair {
	largest := func(from, to, but int) int {
		best := -1
		for i := from; i < to; i++ {
			if i != but && parts[i] > 0 && (best < 0 || parts[i] > parts[best]) {
				best = i
			}
		}
		return best
	}
	mpi := 0
	for class := range NumClasses {
		mpi += parts[class]
	}
	first := largest(0, int(NumClasses), -1)
	rest := largest(int(NumClasses), int(numParts), -1)
	if first >= 0 && rest >= 0 {
		return pair{first, rest, mpi, 8 - mpi}
	}
	if first < 0 {
		second := largest(int(NumClasses), int(numParts), rest)
		if second < 0 {
			return pair{0, rest, 0, 8}
		}
		return ordered(parts, rest, second)
	}
	if second := largest(0, int(NumClasses), first); second >= 0 {
		return ordered(parts, first, second)
	}
	return pair{0, first, 0, 8}
}

// ordered scales two parts to a whole character, the lower one at the bottom.
func ordered(parts [numParts]int, a, b int) pair {
	bottom, top := min(a, b), max(a, b)
	full := parts[bottom] + parts[top]
	eighths := min(max((8*parts[bottom]+full/2)/full, 1), 7)
	return pair{bottom, top, eighths, 8 - eighths}
}

// block appends the character of a pair.
func (t *text) block(l *line, p pair, stuck bool) {
	ground := p.topPart
	if p.bottom >= p.top {
		ground = p.bottomPart
	}
	switch {
	case stuck:
		l.put(string(inFlight.letter), brightText, t.color(ground))
	case p.bottom == 0 && ground == int(partOff):
		l.put(string(notRecorded.letter), dimText, noColor)
	case p.bottom == 0, t.ASCII:
		l.put(" ", noColor, t.color(ground))
	default:
		l.put(lower[p.bottom], t.color(p.bottomPart), t.color(p.topPart))
	}
}

// color is the colour of a part of a cell.
func (t *text) color(part int) color {
	var s style
	switch {
	case part < int(NumClasses):
		s = styles[part]
	case part == int(partComputation):
		s = computation
	default:
		return noColor
	}
	if t.Colors == Basic {
		return color(s.basic)
	}
	return color(s.ansi)
}

// legend says what the colours or letters are, and how much of the recorded
// time each is.
func (t *text) legend() {
	total := t.Total()
	type entry struct {
		style style
		part  int
		share float64
	}
	var entries []entry
	if total.Computation() > 0 {
		entries = append(entries, entry{computation, int(partComputation), float64(total.Computation()) / float64(total.Recorded)})
	}
	for class := range NumClasses {
		if total.Classes[class] > 0 {
			entries = append(entries, entry{styles[class], int(class), total.Share(class)})
		}
	}
	var b strings.Builder
	width := 0
	put := func(sample, name string) {
		n := 1 + 1 + utf8.RuneCountInString(name) // a colour or a letter, a blank, the name
		if strings.HasSuffix(sample, ":") {
			n += len(sample) - 1
		}
		switch {
		case width == 0:
		case width+3+n > t.Width-t.margin:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteString("   ")
			width += 3
		}
		if width == 0 {
			b.WriteString(strings.Repeat(" ", t.margin))
		}
		b.WriteString(sample + " " + name)
		width += n
	}
	for _, e := range entries {
		sample := string(e.style.letter)
		if t.Colors != NoColor {
			var l line
			l.put(" ", noColor, t.color(e.part))
			sample = l.end()
		}
		put(sample, fmt.Sprintf("%s %s %%", e.style.name, human.Percent(e.share)))
	}
	if total.Off > 0 {
		put(string(notRecorded.letter), notRecorded.name)
	}
	if len(t.Open) > 0 {
		put(string(inFlight.letter), inFlight.name)
	}
	if t.Regions != nil && len(t.Rows) > 0 && (len(t.Rows) > 1 || len(t.Rows[0].Ranks) > 1) {
		put("region:", fmt.Sprintf("of rank %d", t.Regions.Rank))
	}
	if t.Colors == NoColor && len(entries) > 1 {
		put("small letters:", "MPI is less than half")
	}
	if b.Len() == 0 {
		put(" ", "no calls")
	}
	t.put("\n" + b.String() + "\n")
}

// mostOpen is how many kinds of calls that never returned are listed.
const mostOpen = 10

// openCalls lists the calls that never returned: those of one function at one
// place in one line.
func (t *text) openCalls() {
	type where struct{ function, site string }
	var order []where
	ranks := make(map[where][]int32)
	since := make(map[where]int64)
	for _, o := range t.Open {
		at := where{o.Function, o.Site}
		if ranks[at] == nil {
			order = append(order, at)
			since[at] = o.Begin
		}
		ranks[at] = append(ranks[at], o.Rank)
		since[at] = min(since[at], o.Begin)
	}
	if len(order) > 0 {
		t.put("\n")
	}
	for i, at := range order {
		if i == mostOpen {
			t.line(fmt.Sprintf("%c and %d more places", inFlight.letter, len(order)-i))
			break
		}
		who := fmt.Sprintf("rank %d is", ranks[at][0])
		if n := len(ranks[at]); n > 1 {
			who = fmt.Sprintf("%d ranks (%s) are", n, rankList(ranks[at]))
		}
		t.line(t.units(fmt.Sprintf("%c %s in %s at %s since %s",
			inFlight.letter, who, at.function, terminal.Clean(at.site), t.time(since[at]))))
	}
}

// rankList writes ascending ranks as runs: "0-3,7".
func rankList(ranks []int32) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] <= ranks[j]+1 {
			j++
		}
		if b.Len() > 40 {
			b.WriteString(",…")
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, ranks[i])
		if ranks[j] > ranks[i] {
			fmt.Fprintf(&b, "-%d", ranks[j])
		}
		i = j + 1
	}
	return b.String()
}
