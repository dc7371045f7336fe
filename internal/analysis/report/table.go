// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// column is a column of a table of rows of type R.
type column[R any] struct {
	title string
	left  bool // aligned to the left: names
	// drop says which columns go first if the table is too wide: those with the
	// highest number; those with 0 stay.
	drop int
	cell func(R) string
	// keep is how much of a name is left at least when it is cut to make room;
	// names are cut before columns are dropped. 0 is all of it.
	keep int
}

// render lays out the rows in at most width columns, if that can be done.
func render[R any](columns []column[R], rows []R, width int, colors bool) string {
	cells := make([][]string, len(columns))
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = text.StringWidth(c.title)
		for _, r := range rows {
			s := c.cell(r)
			cells[i] = append(cells[i], s)
			widths[i] = max(widths[i], text.StringWidth(s))
		}
	}
	shown := fit(columns, widths, width)
	for i, c := range columns {
		for r, s := range cells[i] {
			if c.keep > 0 {
				cells[i][r] = cut(s, widths[i])
			}
		}
	}

	t := table.NewWriter()
	t.SetStyle(style(colors))
	header := table.Row{}
	var configs []table.ColumnConfig
	for at, i := range shown {
		header = append(header, columns[i].title)
		align := text.AlignRight
		if columns[i].left {
			align = text.AlignLeft
		}
		configs = append(configs, table.ColumnConfig{Number: at + 1, Align: align, AlignHeader: align})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	for r := range rows {
		row := table.Row{}
		for _, i := range shown {
			row = append(row, cells[i][r])
		}
		t.AppendRow(row)
	}
	t.SuppressTrailingSpaces()
	return t.Render()
}

// name makes a column of names, of which at least keep characters stay.
func name[R any](title string, keep int, cell func(R) string) column[R] {
	return column[R]{title: title, left: true, keep: keep, cell: cell}
}

// number makes a column of numbers.
func number[R any](title string, drop int, cell func(R) string) column[R] {
	return column[R]{title: title, drop: drop, cell: cell}
}

func (c column[R]) dropped(drop int) column[R] {
	c.drop = drop
	return c
}

// fit chooses the columns to show: it narrows those that may be cut, then drops
// columns, then gives what room is left back to the narrowed ones.
func fit[R any](columns []column[R], widths []int, width int) (shown []int) {
	wanted := slices.Clone(widths)
	over := -len(gap) - width
	for i := range columns {
		shown = append(shown, i)
		over += widths[i] + len(gap)
	}
	for i, c := range columns {
		if c.keep > 0 && over > 0 {
			least := max(c.keep, text.StringWidth(c.title))
			by := max(0, min(over, widths[i]-least))
			widths[i] -= by
			over -= by
		}
	}
	for over > 0 {
		worst := -1
		for at, i := range shown {
			if columns[i].drop > 0 && (worst < 0 || columns[i].drop > columns[shown[worst]].drop) {
				worst = at
			}
		}
		if worst < 0 {
			break
		}
		over -= widths[shown[worst]] + len(gap)
		shown = slices.Delete(shown, worst, worst+1)
	}
	for _, i := range shown {
		if back := min(wanted[i]-widths[i], -over); back > 0 {
			widths[i] += back
			over += back
		}
	}
	return shown
}

// gap is between two columns.
const gap = "  "

// style has no lines: a dim header and space between the columns.
func style(colors bool) table.Style {
	s := table.Style{
		Name:    "plain",
		Box:     table.BoxStyle{PaddingRight: gap},
		Format:  table.FormatOptions{Header: text.FormatDefault},
		Options: table.Options{},
	}
	if colors {
		s.Color.Header = text.Colors{text.Faint}
	}
	return s
}

// cut shortens s to width by leaving out its middle.
func cut(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	tail := (width - 1) * 2 / 3
	head := width - 1 - tail
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}
