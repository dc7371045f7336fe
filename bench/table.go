// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// table is a result, printed as Markdown.
type table struct {
	title string
	head  []string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t table) String() string {
	width := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n\n", t.title)
	line := func(row []string, fill string) {
		b.WriteString("|")
		for i, c := range row {
			pad := strings.Repeat(fill, width[i]-utf8.RuneCountInString(c))
			if i == 0 {
				b.WriteString(fill + c + pad + fill + "|")
			} else {
				b.WriteString(fill + pad + c + fill + "|")
			}
		}
		b.WriteString("\n")
	}
	line(t.head, " ")
	line(make([]string, len(t.head)), "-")
	for _, row := range t.rows {
		line(row, " ")
	}
	return b.String()
}

// median of values, which are sorted by it.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return 0
	}
	return (values[n/2] + values[(n-1)/2]) / 2
}

// spread is half the distance between the quartiles: how much to trust a median.
func spread(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n < 4 {
		return 0
	}
	return (values[3*n/4] - values[n/4]) / 2
}
