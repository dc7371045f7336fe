// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/analysis"
	"github.com/mpitrace/mpitrace/internal/trace"
)

// CSV writes one section as a table: a line of column names, then the rows, all
// of them, as the profile has them. The columns are the keys of the JSON form;
// those of a part within a row are joined by an underscore (sends_bytes), and
// lists are left out.
func CSV(w io.Writer, p *analysis.Profile, s Section, by Order) error {
	var rows any
	switch s {
	case Losses:
		rows = problems(p.Losses.Problems)
	case Summary:
		rows = []analysis.Efficiency{p.Efficiency}
	case Functions:
		rows = by.functions(p.Functions)
	case Ranks:
		rows = p.Ranks
	case Sites:
		rows = by.sites(p.Sites)
	case Sizes:
		rows = p.Sizes
	case Regions:
		rows = p.Regions
	case Markers:
		rows = p.Markers
	default:
		return fmt.Errorf("section %s has no table", s)
	}
	list := reflect.ValueOf(rows)
	out := csv.NewWriter(w)
	if err := out.Write(names(list.Type().Elem(), "")); err != nil {
		return err
	}
	for i := range list.Len() {
		if err := out.Write(values(list.Index(i))); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// problem is a row of the table of problems.
type problem struct {
	Kind  string `json:"kind"`
	Rank  int32  `json:"rank"`
	File  string `json:"file"`
	Count uint64 `json:"count"`
	Text  string `json:"text"`
	Hint  string `json:"hint"`
}

func problems(list []trace.Problem) (rows []problem) {
	for _, p := range list {
		rows = append(rows, problem{string(p.Kind), p.Rank, p.File, p.Count, p.Text, p.Hint})
	}
	return rows
}

// names are the columns of a type of rows.
func names(t reflect.Type, prefix string) (list []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type.Kind() == reflect.Slice:
		case f.Anonymous:
			list = append(list, names(f.Type, prefix)...)
		case f.Type.Kind() == reflect.Struct:
			list = append(list, names(f.Type, prefix+key+"_")...)
		default:
			list = append(list, prefix+key)
		}
	}
	return list
}

// values are a row's cells, in the order of its type's names.
func values(v reflect.Value) (list []string) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Slice:
		case reflect.Struct:
			list = append(list, values(f)...)
		case reflect.Int32:
			if int32(f.Int()) == format.NoRank {
				list = append(list, "")
				continue
			}
			list = append(list, fmt.Sprint(f.Int()))
		default:
			list = append(list, fmt.Sprint(f.Interface()))
		}
	}
	return list
}
