// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// textField is one word of a line: key=value, key=[value …], or a bare value.
type textField struct {
	key    string
	value  string
	list   []textItem
	isList bool
	column int
	used   bool
}

type textItem struct {
	value  string
	column int
}

// fields splits a line.
func (p *textParser) fields(line []byte) ([]textField, error) {
	var fields []textField
	s := string(line)
	i := 0
	skip := func() {
		for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
			i++
		}
	}
	value := func(stop string) (string, error) {
		if i < len(s) && s[i] == '"' {
			q, err := strconv.QuotedPrefix(s[i:])
			if err != nil {
				return "", p.fail(i+1, "string without end, or with a bad escape")
			}
			v, err := strconv.Unquote(q)
			if err != nil {
				return "", p.fail(i+1, "string with a bad escape")
			}
			i += len(q)
			return v, nil
		}
		at := i
		for i < len(s) && strings.IndexByte(stop, s[i]) < 0 {
			i++
		}
		return s[at:i], nil
	}
	for {
		skip()
		if i == len(s) || s[i] == '#' {
			return fields, nil
		}
		f := textField{column: i + 1}
		v, err := value(" \t=[]\"")
		if err != nil {
			return nil, err
		}
		f.value = v
		if i < len(s) && s[i] == '=' && v != "" {
			f.key = v
			i++
			if i < len(s) && s[i] == '[' {
				i++
				f.isList = true
				f.value = ""
				for {
					skip()
					if i == len(s) {
						return nil, p.fail(f.column, "list without end")
					}
					if s[i] == ']' {
						i++
						break
					}
					at := i
					v, err := value(" \t[]\"")
					if err != nil {
						return nil, err
					}
					if i == at {
						return nil, p.fail(i+1, fmt.Sprintf("unexpected %q", s[i]))
					}
					f.list = append(f.list, textItem{v, at + 1})
				}
			} else if f.value, err = value(" \t[]\""); err != nil {
				return nil, err
			}
		}
		if i < len(s) && s[i] != ' ' && s[i] != '\t' {
			return nil, p.fail(i+1, fmt.Sprintf("unexpected %q", s[i]))
		}
		fields = append(fields, f)
	}
}

func (f *textField) what() string {
	if f.key != "" {
		return f.key
	}
	return strconv.Quote(f.value)
}

// textRecord is the visitor that reads a record's fields from a line.
type textRecord struct {
	p       *textParser
	fields  []textField
	rankNow int32
	err     error
}

// find returns the field of that name, nil if the line lacks it.
func (v *textRecord) find(name string, list bool) *textField {
	var found *textField
	for i := range v.fields {
		f := &v.fields[i]
		if f.key != name || v.err != nil {
			continue
		}
		f.used = true
		switch {
		case found != nil:
			v.err = v.p.fail(f.column, f.key+" is given twice")
		case f.isList != list && list:
			v.err = v.p.fail(f.column, f.key+" should be a list in brackets")
		case f.isList != list:
			v.err = v.p.fail(f.column, f.key+" should not be a list")
		}
		found = f
	}
	if v.err != nil {
		return nil
	}
	return found
}

// value parses the field of that name with parse, if the line has it.
func value[T any](v *textRecord, name string, to *T, parse func(string) (T, error)) {
	f := v.find(name, false)
	if f == nil {
		return
	}
	x, err := parse(f.value)
	if err != nil {
		v.err = v.p.fail(f.column, name+": "+err.Error())
		return
	}
	*to = x
}

func (v *textRecord) id(name string, p *ID) { value(v, name, p, parseUint[ID]) }

func (v *textRecord) u32(name string, p *uint32) { value(v, name, p, parseUint[uint32]) }

func (v *textRecord) u64(name string, p *uint64) { value(v, name, p, parseUint[uint64]) }

func (v *textRecord) i64(name string, p *int64) { value(v, name, p, parseInt[int64]) }

func (v *textRecord) i32(name string, p *int32) {
	value(v, name, p, func(s string) (int32, error) {
		if s == wordNone {
			return NoRank, nil
		}
		return parseInt[int32](s)
	})
}

func (v *textRecord) rank(name string, p *int32) {
	*p = v.rankNow
	value(v, name, p, parseRank)
}

func (v *textRecord) address(name string, p *uint64) { value(v, name, p, parseUint[uint64]) }

func (v *textRecord) bool(name string, p *bool) {
	value(v, name, p, func(s string) (bool, error) {
		if s != "yes" && s != "no" {
			return false, fmt.Errorf("%q is neither yes nor no", s)
		}
		return s == "yes", nil
	})
}

func (v *textRecord) f64(name string, p *float64) {
	value(v, name, p, func(s string) (float64, error) {
		if bits, ok := strings.CutPrefix(s, "nan:"); ok {
			u, err := strconv.ParseUint(bits, 16, 64)
			return math.Float64frombits(u), err
		}
		return strconv.ParseFloat(s, 64)
	})
}

func (v *textRecord) str(name string, p *string) {
	value(v, name, p, func(s string) (string, error) { return s, nil })
}

func (v *textRecord) strs(name string, p *[]string) {
	if f := v.find(name, true); f != nil {
		for _, x := range f.list {
			*p = append(*p, x.value)
		}
	}
}

func (v *textRecord) uuid(name string, p *[16]byte) {
	value(v, name, p, func(s string) (id [16]byte, err error) {
		if n, err := hex.Decode(id[:], []byte(s[:min(len(s), 32)])); err != nil || n != 16 || len(s) != 32 {
			return id, errors.New("should be 32 hexadecimal digits")
		}
		return id, nil
	})
}

func (v *textRecord) enum(name string, p *uint8, words []string) {
	value(v, name, p, func(s string) (uint8, error) { return parseWord(s, words, "kind-") })
}

func (v *textRecord) ranks(name string, p *Ranks) { value(v, name, p, parseRanks) }

func (v *textRecord) settings(name string, p *[]Setting) {
	f := v.find(name, true)
	if f == nil {
		return
	}
	if len(f.list)%3 != 0 {
		v.err = v.p.fail(f.column, name+" should be a list of name, value, and set or default")
		return
	}
	for i := 0; i < len(f.list); i += 3 {
		origin := f.list[i+2]
		if origin.value != settingSet && origin.value != settingDefault {
			v.err = v.p.fail(origin.column, fmt.Sprintf("%q is neither set nor default", origin.value))
			return
		}
		*p = append(*p, Setting{f.list[i].value, f.list[i+1].value, origin.value == settingDefault})
	}
}

// side reads what both sides of a call have.
func (v *textRecord) side(prefix string, peer, tag *int32, datatype *ID, count, bytes *int64) {
	*peer, *tag, *count = NoRank, NoTag, NoCount
	value(v, prefix+"peer", peer, parseRank)
	value(v, prefix+"tag", tag, parseTag)
	v.id(prefix+"datatype", datatype)
	value(v, prefix+"count", count, parseCount)
	value(v, prefix+"bytes", bytes, parseCount)
}
