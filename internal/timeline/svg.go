// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/mpitrace/mpitrace/internal/human"
)

// SVGOptions says how to draw a level as a picture.
type SVGOptions struct {
	Title string
	Width int // pixels
}

// Measures of a picture, in pixels.
const (
	svgBorder   = 16
	svgTitle    = 26 // height of the title
	svgAxis     = 22 // height of the axis' labels
	svgLegend   = 22 // height of a line of the legend
	svgChar     = 7  // width of a character of the labels
	svgFont     = 12
	svgMinWidth = 320
)

// SVGColumns is how many bins fit beside the labels of the rows: one a pixel.
func SVGColumns(width int, rows [][]int32) int {
	return max(svgMinWidth, width) - 2*svgBorder - svgGutter(rows)
}

func svgGutter(rows [][]int32) int { return labelWidth(rows)*svgChar + 4 }

// rowHeight is the height of a row and the gap below it.
func rowHeight(rows int) (height, gap int) {
	switch {
	case rows <= 8:
		return 28, 6
	case rows <= 32:
		return 16, 3
	case rows <= 96:
		return 8, 1
	}
	return 4, 0
}

// WriteSVG draws the level as a picture: title, rows, time axis, legend.
func (l *Level) WriteSVG(w io.Writer, o SVGOptions) error {
	rows := make([][]int32, len(l.Rows))
	for i := range l.Rows {
		rows[i] = l.Rows[i].Ranks
	}
	s := &svg{Level: l, w: bufio.NewWriter(w), width: max(svgMinWidth, o.Width)}
	s.gutter = svgGutter(rows)
	s.height, s.gap = rowHeight(len(rows))
	s.scale = float64(s.width-2*svgBorder-s.gutter) / float64(l.Bins())
	top := svgBorder + svgTitle + svgAxis
	bottom := top + len(rows)*(s.height+s.gap)
	legend, lines := s.legend()
	total := bottom + 10 + lines*svgLegend + svgBorder - 6

	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui,Segoe UI,Helvetica,Arial,sans-serif" font-size="%d">`+"\n",
		s.width, total, s.width, total, svgFont)
	s.printf("<title>%s</title>\n", escaped(o.Title))
	s.styles()
	s.printf(`<rect width="%d" height="%d" rx="8" class="paper"/>`+"\n", s.width, total)
	s.printf(`<text x="%d" y="%d" class="title">%s</text>`+"\n", svgBorder, svgBorder+13, escaped(o.Title))
	s.printf(`<text x="%d" y="%d" class="note" text-anchor="end">%s – %s</text>`+"\n",
		s.width-svgBorder, svgBorder+13, l.time(l.Window.Begin), l.time(l.Window.End))
	s.axis(top, bottom)
	for i := range l.Rows {
		s.row(&l.Rows[i], i, top+i*(s.height+s.gap))
	}
	s.printf(`<g transform="translate(%d,%d)">`+"\n%s</g>\n</svg>\n", svgBorder+s.gutter, bottom+10, legend)
	return s.w.Flush()
}

// svg is a picture under way.
type svg struct {
	*Level
	w             *bufio.Writer
	width, gutter int
	height, gap   int
	scale         float64 // pixels a bin
}

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(s.w, format, args...) }

func (s *svg) styles() {
	s.printf("<defs>\n<style>\n.paper{fill:#fff;stroke:#d5dae0}.title{font-weight:600;fill:#1f2933}.note{fill:#5b6770}.label{fill:#323f4b}.tick{stroke:#c5ccd3}\n")
	for class, style := range styles {
		s.printf(".p%d{fill:%s}", class, style.hex)
	}
	s.printf(".p%d{fill:%s}.p%d{fill:#fff;stroke:#c5ccd3}.open{fill:url(#open)}\n</style>\n", partComputation, computation.hex, partOff)
	s.printf(`<pattern id="open" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="3" height="8" fill="%s"/></pattern>`+"\n</defs>\n", inFlight.hex)
}

func (s *svg) x(bin int) float64 { return float64(bin) * s.scale }

func (s *svg) axis(top, bottom int) {
	s.printf(`<g transform="translate(%d,0)">`+"\n", svgBorder+s.gutter)
	t := text{Level: s.Level}
	plot := s.width - 2*svgBorder - s.gutter
	for _, tick := range ticks(s.Window, plot/90) {
		x := s.x(t.columnOf(tick.time))
		s.printf(`<path d="M%s %dV%d" class="tick"/>`, number(x), top-6, bottom)
		if x+float64(len(tick.label)*svgChar) <= float64(plot)+svgBorder {
			s.printf(`<text x="%s" y="%d" class="note">%s</text>`, number(x+3), top-8, tick.label)
		}
		s.printf("\n")
	}
	s.printf("</g>\n")
}

// row draws each part of a row's cells as one path of rectangles; equal
// neighbours are one rectangle.
func (s *svg) row(row *Row, index, y int) {
	s.printf(`<g transform="translate(%d,%d)">`, svgBorder, y)
	s.printf("<title>%s</title>\n", escaped(s.describe(row)))
	if s.height >= svgFont-2 || len(s.Rows) < 2 {
		s.printf(`<text x="%d" y="%d" class="label" text-anchor="end">%s</text>`+"\n",
			s.gutter-8, s.height/2+4, label(row.Ranks))
	} else if index%3 == 0 {
		s.printf(`<text x="%d" y="%d" class="label" text-anchor="end" font-size="9">%s</text>`+"\n",
			s.gutter-8, s.height/2+3, label(row.Ranks))
	}
	s.printf(`<g transform="translate(%d,0)">`+"\n", s.gutter)
	var paths [numParts]runs
	var open runs
	for i := range row.Cells {
		c := &row.Cells[i]
		fractions := shares(c, s.Bin(i).Length()*int64(len(row.Ranks)))
		if len(row.Ranks) == 1 {
			fractions = settle(fractions)
		}
		below := 0
		for part, n := range stack(fractions, s.height) {
			if part != int(partNone) {
				paths[part].add(i, s.height-below-n, n)
			}
			below += n
		}
		height := 0
		if c.InFlight > 0 && 2*c.InFlight >= c.Recorded {
			height = s.height
		}
		open.add(i, 0, height)
	}
	for part := range paths {
		if d := paths[part].path(s); d != "" {
			s.printf(`<path class="p%d" d="%s"/>`+"\n", part, d)
		}
	}
	if d := open.path(s); d != "" {
		s.printf(`<path class="open" d="%s"/>`+"\n", d)
	}
	s.printf("</g></g>\n")
}

// describe says in words what a row shows.
func (s *svg) describe(row *Row) string {
	var total Cell
	for i := range row.Cells {
		total.add(&row.Cells[i])
	}
	words := []string{}
	if total.Computation() > 0 {
		words = append(words, fmt.Sprintf("%s %s %%", computation.name, human.Percent(float64(total.Computation())/float64(total.Recorded))))
	}
	for class := range NumClasses {
		if total.Classes[class] > 0 {
			words = append(words, fmt.Sprintf("%s %s %%", class, human.Percent(total.Share(class))))
		}
	}
	if row.Open > 0 {
		words = append(words, human.Plural(uint64(row.Open), "call")+" never returned")
	}
	return label(row.Ranks) + ": " + strings.Join(words, ", ")
}

// runs are the rectangles of one part of a row.
type runs []rect

// rect is a rectangle from bin from to bin to, y down from the row's top.
type rect struct{ from, to, y, h int }

func (r *runs) add(bin, y, h int) {
	if n := len(*r); n > 0 {
		last := &(*r)[n-1]
		if last.to == bin && last.y == y && last.h == h {
			last.to = bin + 1
			return
		}
	}
	if h > 0 {
		*r = append(*r, rect{bin, bin + 1, y, h})
	}
}

func (r runs) path(s *svg) string {
	var b strings.Builder
	for _, p := range r {
		x, width := s.x(p.from), s.x(p.to)-s.x(p.from)
		fmt.Fprintf(&b, "M%s %dh%sv%dh-%sz", number(x), p.y, number(width), p.h, number(width))
	}
	return b.String()
}

// number writes a coordinate with at most two decimals.
func number(x float64) string {
	s := fmt.Sprintf("%.2f", x)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// legend returns the legend's elements and how many lines they take.
func (s *svg) legend() (elements string, lines int) {
	total := s.Total()
	var b strings.Builder
	x, lines := 0, 1
	put := func(class, name string) {
		width := 18 + len(name)*svgChar + 14
		if x > 0 && x+width > s.width-2*svgBorder-s.gutter {
			x = 0
			lines++
		}
		y := (lines - 1) * svgLegend
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="12" height="12" rx="2" class="%s"/><text x="%d" y="%d" class="label">%s</text>`+"\n",
			x, y, class, x+18, y+10, name)
		x += width
	}
	if total.Computation() > 0 {
		put(fmt.Sprintf("p%d", partComputation), fmt.Sprintf("%s %s %%", computation.name,
			escaped(human.Percent(float64(total.Computation())/float64(total.Recorded)))))
	}
	for class := range NumClasses {
		if total.Classes[class] > 0 {
			put(fmt.Sprintf("p%d", class), fmt.Sprintf("%s %s %%", class, escaped(human.Percent(total.Share(class)))))
		}
	}
	if total.Off > 0 {
		put(fmt.Sprintf("p%d", partOff), notRecorded.name)
	}
	if len(s.Open) > 0 {
		put("open", inFlight.name)
	}
	return b.String(), lines
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}
