// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/mpitrace/mpitrace/internal/analysis"
	"github.com/mpitrace/mpitrace/internal/human"
	"github.com/mpitrace/mpitrace/internal/terminal"
	"github.com/mpitrace/mpitrace/internal/trace"
)

// Options says what of a profile is written and how.
type Options struct {
	Width    int  // columns
	Colors   bool // the output may have escape sequences
	Top      int  // rows of the tables of functions, call sites and regions; 0 is all
	AllRanks bool // every rank, not only the outliers
	Sort     Order
	Sections []Section // nil is all that have something to say
}

// Text writes the profile for people.
func Text(w io.Writer, p *analysis.Profile, o Options) error {
	t := &writer{Profile: p, Options: o, w: bufio.NewWriter(w)}
	if o.Sections == nil {
		t.head()
	}
	for _, s := range Sections {
		if o.Sections == nil || contains(o.Sections, s) {
			textOf[s](t)
		}
	}
	return t.w.Flush()
}

// textOf is how each section is written.
var textOf = map[Section]func(*writer){
	Losses:    (*writer).losses,
	Summary:   (*writer).summary,
	Functions: (*writer).functions,
	Ranks:     (*writer).ranks,
	Sites:     (*writer).sites,
	Sizes:     (*writer).sizes,
	Regions:   (*writer).regions,
	Markers:   (*writer).markers,
}

// writer is a text under way.
type writer struct {
	*analysis.Profile
	Options
	w *bufio.Writer
}

func (t *writer) printf(format string, args ...any) { fmt.Fprintf(t.w, format, args...) }

// title begins a section.
func (t *writer) title(name, note string) {
	if t.Colors {
		name = text.Bold.Sprint(name)
	}
	if note != "" {
		note = "  " + note
		if t.Colors {
			note = text.Faint.Sprint(note)
		}
	}
	t.printf("\n%s%s\n", name, note)
}

// wrapped writes words separated by gaps, on as many lines as they need.
func (t *writer) wrapped(indent string, words []string, gap string) {
	line := ""
	for _, word := range words {
		if line != "" && len([]rune(indent+line+gap+word)) > t.Width {
			t.printf("%s%s\n", indent, line)
			line = ""
		}
		if line != "" {
			line += gap
		}
		line += word
	}
	if line != "" {
		t.printf("%s%s\n", indent, line)
	}
}

func (t *writer) head() {
	r := &t.Run
	command := "(unknown command)"
	if len(r.Command) > 0 {
		command = terminal.Clean(strings.Join(r.Command, " "))
	}
	if t.Colors {
		t.printf("%s\n", text.Bold.Sprint(cut(command, t.Width)))
	} else {
		t.printf("%s\n", cut(command, t.Width))
	}
	ranks := human.Plural(uint64(r.Ranks), "rank")
	if r.Ranks < r.Size {
		ranks = fmt.Sprintf("%d of %s", r.Ranks, human.Plural(uint64(r.Size), "rank"))
	}
	if r.Hosts > 0 {
		ranks += " on " + human.Plural(uint64(r.Hosts), "host")
	}
	words := []string{ranks}
	if r.Library != "" {
		words = append(words, terminal.Clean(library(r.Library)))
	}
	if r.Tool != "" {
		words = append(words, "recorded by "+terminal.Clean(r.Tool))
	}
	if r.Started > 0 {
		words = append(words, time.Unix(0, r.Started).UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	words = append(words, "wall time "+human.Duration(r.Wall), human.Plural(r.Calls, "call"))
	t.wrapped("", words, " · ")
	if len(r.Restrictions) > 0 {
		t.wrapped("", []string{"only " + terminal.Clean(strings.Join(r.Restrictions, "; "))}, "")
	}
}

// library is the part of MPI_Get_library_version's answer that names it.
func library(s string) string {
	name, _, _ := strings.Cut(s, ", ")
	return strings.Join(strings.Fields(name), " ")
}

// losses says what is missing or disturbed; nothing if nothing is.
func (t *writer) losses() {
	l := &t.Losses
	var lines []string
	lines = append(lines, trace.Summarise(l.Problems)...)
	for _, w := range l.Waits {
		why := map[string]string{
			"inline": "because its ring was full",
			"flush":  "for MPI_Pcontrol(2)",
			"final":  "at the end",
		}[w.Kind]
		lines = append(lines, fmt.Sprintf("the program waited for the recorder %s, %s in all, %s at most, on %s, %s",
			times(w.Count), human.Duration(w.Time), human.Duration(w.Max), human.Plural(uint64(w.Ranks), "rank"), why))
	}
	lines = append(lines, t.unfinished()...)
	if len(lines) == 0 {
		if t.Sections != nil {
			t.printf("nothing was lost\n")
		}
		return
	}
	t.printf("\n")
	for _, line := range lines {
		mark := "!"
		if t.Colors {
			mark = text.Colors{text.FgRed, text.Bold}.Sprint(mark)
		}
		t.paragraph(mark+" ", terminal.Clean(line))
	}
}

// paragraph writes a line, broken at blanks, behind a mark of two columns.
func (t *writer) paragraph(mark, line string) {
	for _, part := range wrap(line, t.Width-2) {
		t.printf("%s%s\n", mark, part)
		mark = "  "
	}
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return human.Count(n) + " times"
}

// mostUnfinished is how many places of calls that never returned are told.
const mostUnfinished = 8

// unfinished tells calls that never returned: those of one function at one
// place together.
func (t *writer) unfinished() (lines []string) {
	type where struct {
		function, site string
		left           bool
	}
	var order []where
	ranks := make(map[where][]int32)
	longest := make(map[where]analysis.Unfinished)
	for _, u := range t.Losses.Unfinished {
		at := where{u.Function, u.Site, u.Left}
		if ranks[at] == nil {
			order = append(order, at)
		}
		ranks[at] = append(ranks[at], u.Rank)
		if u.Time >= longest[at].Time {
			longest[at] = u
		}
	}
	for i, at := range order {
		if i == mostUnfinished {
			return append(lines, fmt.Sprintf("and %d more places with calls that never returned", len(order)-i))
		}
		u := longest[at]
		who := fmt.Sprintf("rank %d", u.Rank)
		since := fmt.Sprintf("since %s", human.Duration(u.Begin))
		if n := len(ranks[at]); n > 1 {
			who = fmt.Sprintf("%d calls of ranks %s", n, trace.RanksOf(ranks[at]))
			since = fmt.Sprintf("the longest since %s", human.Duration(u.Begin))
		}
		how := since
		switch {
		case at.left:
			how = "left by a jump or an exception"
		case u.Time > 0:
			how += fmt.Sprintf(", %s before the run's end", human.Duration(u.Time))
		}
		detail := ""
		if u.Peer != nil && len(ranks[at]) == 1 {
			detail = fmt.Sprintf(" (%s)", peer(u))
		}
		lines = append(lines, fmt.Sprintf("%s never returned from %s%s at %s: %s", who, at.function, detail, at.site, how))
	}
	return lines
}

// wrap breaks a line at blanks.
func wrap(s string, width int) []string {
	lines := strings.Split(text.WrapSoft(s, max(20, width)), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func contains(list []Section, s Section) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
