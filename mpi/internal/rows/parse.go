// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"errors"
	"strconv"
	"strings"
)

// maxErrors is how many mistakes Parse reports before it gives up.
const maxErrors = 20

// Parse reads the text of a functions.txt; name is used in messages. Each
// returned error is an *Error (several are joined); the file is then nil.
func Parse(name, text string) (*File, error) {
	file := new(File)
	var errs []error
	fail := func(err error) bool {
		var e *Error
		if errors.As(err, &e) {
			e.File = name
		}
		errs = append(errs, err)
		return len(errs) >= maxErrors
	}
	for _, c := range chunks(text) {
		if c.left {
			left, err := parseLeftOut(c)
			if err == nil {
				file.Left = append(file.Left, left)
			} else if fail(err) {
				break
			}
			continue
		}
		row, err := parseRow(c)
		if err == nil {
			file.Rows = append(file.Rows, row)
		} else if fail(err) {
			break
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return file, nil
}

// chunk is the text of one row or left-out name: its first line and the
// indented lines that continue it.
type chunk struct {
	text    string
	line    int
	left    bool
	comment string
}

// chunks cuts the text into rows. Blank lines and comments separate.
func chunks(text string) []chunk {
	var out []chunk
	var comment []string
	open := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.TrimSpace(line) == "":
			comment, open = nil, false
		case strings.HasPrefix(line, "#"):
			comment, open = append(comment, strings.TrimSpace(strings.TrimLeft(line, "#"))), false
		case open && (line[0] == ' ' || line[0] == '\t'):
			out[len(out)-1].text += "\n" + line
		default:
			out = append(out, chunk{
				text:    line,
				line:    i + 1,
				left:    line[0] == '-',
				comment: strings.Join(comment, " "),
			})
			comment, open = nil, true
		}
	}
	return out
}

// parseLeftOut reads "- NAME reason".
func parseLeftOut(c chunk) (LeftOut, error) {
	s := newScanner(c)
	if err := s.expect("-"); err != nil {
		return LeftOut{}, err
	}
	name, err := s.word("a name")
	if err != nil {
		return LeftOut{}, err
	}
	s.space()
	reason := strings.Join(strings.Fields(s.text[s.off:]), " ")
	if reason == "" {
		return LeftOut{}, s.errorf("why %s is left out is missing behind its name", name.Text)
	}
	return LeftOut{Name: name, Reason: reason}, nil
}

// parseRow reads "ID NAME FAMILY ROLE... : RETURN (PARAM, ...)".
func parseRow(c chunk) (Row, error) {
	s := newScanner(c)
	s.space()
	row := Row{Pos: s.pos(), Comment: c.comment}
	id, err := s.word("the function's id")
	if err != nil {
		return row, err
	}
	if row.ID, err = strconv.Atoi(id.Text); err != nil || row.ID < 1 || row.ID > 1<<16-1 {
		return row, s.errorAt(id.Pos, "id %q is not a number from 1 to 65535", id.Text)
	}
	if row.Name, err = s.word("the function's name"); err != nil {
		return row, err
	}
	if row.Family, err = s.word("the function's family"); err != nil {
		return row, err
	}
	for !s.have(":") {
		role, err := s.word("a role or ':'")
		if err != nil {
			return row, err
		}
		row.Roles = append(row.Roles, role)
	}
	if row.Return, err = s.word("the C type of the result"); err != nil {
		return row, err
	}
	if s.have("{") {
		if row.Result, err = s.word("the kind of the result"); err != nil {
			return row, err
		}
		if err := s.expect("}"); err != nil {
			return row, err
		}
	}
	if row.Params, err = parseParams(s); err != nil {
		return row, err
	}
	if s.space(); s.off < len(s.text) {
		return row, s.errorf("unexpected text behind the parameters")
	}
	return row, nil
}

// parseParams reads "(void)" or "(PARAM, PARAM)".
func parseParams(s *scanner) ([]Param, error) {
	if err := s.expect("("); err != nil {
		return nil, err
	}
	mark := s.off
	if w, err := s.word("a parameter"); err == nil && w.Text == "void" && s.have(")") {
		return nil, nil
	}
	s.off = mark
	var params []Param
	for {
		p, err := parseParam(s)
		if err != nil {
			return nil, err
		}
		params = append(params, p)
		if s.have(")") {
			return params, nil
		}
		if err := s.expect(","); err != nil {
			return nil, err
		}
	}
}

// parseParam reads "const TYPE **NAME[LENGTH] {ANNOTATION...}" or "...".
func parseParam(s *scanner) (Param, error) {
	s.space()
	p := Param{Pos: s.pos()}
	if s.have("...") {
		p.Type = "..."
		return p, nil
	}
	typ, err := s.word("a parameter's type")
	if err != nil {
		return p, err
	}
	if typ.Text == "const" {
		p.Const = true
		if typ, err = s.word("a type behind const"); err != nil {
			return p, err
		}
	}
	p.Type = typ.Text
	for s.have("*") {
		p.Stars++
	}
	name, err := s.word("a parameter's name")
	if err != nil {
		return p, err
	}
	p.Name = name.Text
	if s.have("[") {
		if p.Array, err = parseLength(s, true); err != nil {
			return p, err
		}
		if err := s.expect("]"); err != nil {
			return p, err
		}
		if s.have("[") {
			inner, err := s.word("a number")
			if err != nil {
				return p, err
			}
			if p.Inner, err = strconv.Atoi(inner.Text); err != nil || p.Inner < 1 {
				return p, s.errorAt(inner.Pos, "the second dimension %q of %s is not a number", inner.Text, p.Name)
			}
			if err := s.expect("]"); err != nil {
				return p, err
			}
		}
	}
	if s.have("{") {
		for !s.have("}") {
			if err := parseAnnotation(s, &p); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// parseAnnotation reads one word between the braces behind a parameter.
func parseAnnotation(s *scanner, p *Param) error {
	s.space()
	at := s.pos()
	if s.have(`"`) {
		end := strings.IndexByte(s.text[s.off:], '"')
		if end < 0 {
			return s.errorAt(at, "the note is not closed by \"")
		}
		p.Note = strings.Join(strings.Fields(s.text[s.off:s.off+end]), " ")
		s.off += end + 1
		return nil
	}
	w, err := s.word("a kind, direction, side, root-only, a \"note\" or count*datatype")
	if err != nil {
		return err
	}
	if s.off < len(s.text) && (s.text[s.off] == '*' || s.text[s.off] == '[') {
		return parseHolding(s, w, p)
	}
	slot := &p.Kind
	switch w.Text {
	case "in", "out", "inout":
		slot = &p.Dir
	case "send", "recv", "origin", "target", "result", "compare":
		slot = &p.Side
	case "root-only":
		p.RootOnly = true
		return nil
	}
	if slot.Text != "" {
		return s.errorAt(w.Pos, "%s has both %s and %s", p.Name, slot.Text, w.Text)
	}
	*slot = w
	return nil
}

// parseHolding reads "count*datatype", "counts[@rank]*datatype" or
// "count*datatype*times", the first word of which is read already.
func parseHolding(s *scanner, count Word, p *Param) error {
	if p.Holds != nil {
		return s.errorAt(count.Pos, "%s has two count*datatype", p.Name)
	}
	h := &Holding{Pos: count.Pos, Count: count.Text}
	if s.have("[") {
		if err := s.expect("@rank"); err != nil {
			return err
		}
		if err := s.expect("]"); err != nil {
			return err
		}
		h.Own = true
	}
	if err := s.expect("*"); err != nil {
		return err
	}
	datatype, err := s.word("a datatype parameter or byte")
	if err != nil {
		return err
	}
	h.Datatype = datatype.Text
	if s.have("*") {
		if h.Times, err = parseLength(s, false); err != nil {
			return err
		}
	}
	p.Holds = h
	return nil
}

// parseLength reads what stands between brackets; filled allows ":NAME".
func parseLength(s *scanner, filled bool) (*Length, error) {
	s.space()
	l := &Length{Pos: s.pos()}
	if s.have("@") {
		l.Form = FormAt
	}
	w, err := s.word("a length: a parameter, a number, MPI_MAX_..., @word, sum(...) or last(...)")
	if err != nil {
		return nil, err
	}
	l.Name = w.Text
	n, numErr := strconv.Atoi(w.Text)
	switch {
	case l.Form == FormAt:
	case numErr == nil:
		l.Form, l.Plus, l.Name = FormNumber, n, ""
	case strings.HasPrefix(w.Text, "MPI_"):
		l.Form = FormLimit
	case (w.Text == "sum" || w.Text == "last") && s.have("("):
		l.Form = FormSum
		if w.Text == "last" {
			l.Form = FormLast
		}
		of, err := s.word("an array parameter")
		if err != nil {
			return nil, err
		}
		l.Name = of.Text
		if err := s.expect(")"); err != nil {
			return nil, err
		}
	case s.have("+"):
		plus, err := s.word("a number")
		if err != nil {
			return nil, err
		}
		if l.Plus, err = strconv.Atoi(plus.Text); err != nil {
			return nil, s.errorAt(plus.Pos, "%q is not a number", plus.Text)
		}
	}
	if filled && s.have(":") {
		f, err := s.word("the parameter that says how many elements were written")
		if err != nil {
			return nil, err
		}
		l.Filled = f.Text
	}
	return l, nil
}
