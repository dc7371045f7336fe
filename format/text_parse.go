// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
)

// ParseText reads a text; name is for messages, which are of type *TextError.
// A text of a merged file gives one Document, one of rank files a Document for
// each rank.
func ParseText(in io.Reader, name string) ([]*Document, error) {
	p := &textParser{name: name, at: map[int32]*textDocument{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p.line++
		if perr := p.parseLine(bytes.TrimRight(line, "\r\n")); perr != nil {
			return nil, perr
		}
		if err == io.EOF {
			break
		}
	}
	if p.kind == 0 {
		return nil, p.fail(1, fmt.Sprintf("the text is empty: it must begin with %q", textMagic+" 1 "+textRank))
	}
	return p.finish(), nil
}

// CreateText writes the files that a text describes into the folder dir:
// trace.N for each rank, or merged.mpt. It returns their paths.
func CreateText(in io.Reader, name, dir string) ([]string, error) {
	docs, err := ParseText(in, name)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, d := range docs {
		path := filepath.Join(dir, "trace."+strconv.Itoa(int(d.Rank)))
		if d.Kind == KindMerged {
			path = filepath.Join(dir, "merged.mpt")
		}
		if err := d.Create(path); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

type textParser struct {
	name   string
	line   int
	kind   Kind
	shared []record // before the first section of rank files
	run    bool     // there was a run line
	docs   []*textDocument
	at     map[int32]*textDocument
	now    *textDocument // section; nil before the first
	rank   int32         // of the section
}

// textDocument is a Document under construction.
type textDocument struct {
	Document
	definer   *definer
	noProcess bool
	block     *textBlock
	next      map[textStream]uint64 // number of the next call
}

func (p *textParser) fail(column int, what string) error {
	return &TextError{p.name, p.line, column, what}
}

func (p *textParser) parseLine(line []byte) error {
	fields, err := p.fields(line)
	if err != nil || len(fields) == 0 {
		return err
	}
	head := fields[0]
	if head.key != "" {
		return p.fail(head.column, fmt.Sprintf("a line begins with a word or a function, not with %s=", head.key))
	}
	fields = fields[1:]
	if p.kind == 0 {
		return p.parseHead(head, fields)
	}
	switch head.value {
	case "rank":
		return p.parseSection(head, fields)
	case "block":
		return p.parseBlock(head, fields)
	case "process":
		if len(fields) == 1 && fields[0].key == "" && fields[0].value == wordNone {
			p.document().noProcess = true
			return nil
		}
	}
	for k := range recordTypes {
		if recordTypes[k].word == head.value && head.value != "" {
			return p.parseRecord(recordKind(k), fields)
		}
	}
	id, is, err := parseFunc(head.value)
	switch {
	case err != nil:
		return p.fail(head.column, err.Error())
	case !is:
		return p.fail(head.column, fmt.Sprintf("%q is neither a kind of definition nor a function", head.value))
	}
	return p.parseCall(Sig{Func: id}, head, fields)
}

func (p *textParser) parseHead(head textField, fields []textField) error {
	if head.value != textMagic || len(fields) != 2 {
		return p.fail(head.column, fmt.Sprintf("the first line must be %q or %q", textMagic+" 1 "+textRank, textMagic+" 1 "+textMerged))
	}
	if v, err := strconv.Atoi(fields[0].value); err != nil || v != Major {
		return p.fail(fields[0].column, fmt.Sprintf("the text has version %s, this program reads version %d", fields[0].value, Major))
	}
	switch fields[1].value {
	case textRank:
		p.kind = KindRank
	case textMerged:
		p.kind = KindMerged
	default:
		return p.fail(fields[1].column, fmt.Sprintf("%q is neither %q nor %q", fields[1].value, textRank, textMerged))
	}
	return nil
}

// parseSection begins or goes on with a rank.
func (p *textParser) parseSection(head textField, fields []textField) error {
	if len(fields) != 1 || fields[0].key != "" {
		return p.fail(head.column, "should be: rank N")
	}
	rank, err := parseInt[int32](fields[0].value)
	if err != nil {
		return p.fail(fields[0].column, err.Error())
	}
	p.rank = rank
	if p.now = p.at[rank]; p.now == nil || p.kind == KindMerged {
		p.now = p.newDocument(rank)
	}
	p.now.block = nil
	return nil
}

// newDocument makes the document of a rank, or of the whole of a merged file.
func (p *textParser) newDocument(rank int32) *textDocument {
	if p.kind == KindMerged {
		if len(p.docs) > 0 {
			return p.docs[0]
		}
		rank = 0
	}
	d := &textDocument{definer: newDefiner(), next: map[textStream]uint64{}}
	d.Kind, d.Rank = p.kind, rank
	p.docs = append(p.docs, d)
	p.at[rank] = d
	return d
}

// document is the one that lines belong to: without a section before, that of
// rank 0.
func (p *textParser) document() *textDocument {
	if p.now == nil {
		p.now = p.newDocument(0)
	}
	return p.now
}

// finish adds what is shared and what follows from the rest.
func (p *textParser) finish() []*Document {
	if len(p.docs) == 0 {
		p.document()
	}
	size := int32(0)
	for _, d := range p.docs {
		size = max(size, d.Rank+1)
		for _, c := range d.Calls {
			size = max(size, c.Rank+1)
		}
	}
	docs := make([]*Document, 0, len(p.docs))
	for _, d := range p.docs {
		own := d.definer
		d.definer = newDefiner()
		for _, r := range p.shared {
			d.definer.add(sharedRecord(r, d.Rank))
		}
		if own.defs.Run.isZero() && p.kind == KindRank && p.sharedRun() {
			own.defs.Run = d.definer.defs.Run
		}
		own.defs.each(d.definer.add)
		if !p.run {
			d.definer.defs.Run.Size = size
		}
		d.Definitions = d.definer.defs
		if p.kind == KindRank && len(d.Definitions.Processes) == 0 && !d.noProcess {
			d.Definitions.Processes = []Process{{Rank: d.Rank}}
		}
		for _, c := range d.Calls {
			c.trim()
		}
		docs = append(docs, &d.Document)
	}
	return docs
}

// trim drops empty dictionaries.
func (c *Calls) trim() {
	if len(c.DoneIndex) == 0 {
		c.DoneSigs = nil
	}
}

func (p *textParser) sharedRun() bool {
	for _, r := range p.shared {
		if r.kind() == recRun {
			return true
		}
	}
	return false
}

func (d *Run) isZero() bool {
	return d.ID == [16]byte{} && d.Size == 0 && d.Start == 0 && d.Tool == "" && d.Job == "" && d.Parent == "" && len(d.Command) == 0
}

// sharedRecord is r as rank has it: a communicator knows its process's rank in
// it.
func sharedRecord(r record, rank int32) record {
	c, ok := r.(*Comm)
	if !ok {
		return r
	}
	own := *c
	own.Rank = own.Group.index(rank)
	return &own
}

// index returns the position of a world rank in the list, NoRank if it is not
// there.
func (r Ranks) index(rank int32) int32 {
	at := int64(0)
	for _, run := range r {
		d := int64(rank) - int64(run.First)
		switch {
		case run.Count < 1:
		case run.Stride == 0 && d == 0:
			return int32(at)
		case run.Stride != 0 && d%int64(run.Stride) == 0 && d/int64(run.Stride) >= 0 && d/int64(run.Stride) < int64(run.Count):
			return int32(at + d/int64(run.Stride))
		}
		at += int64(max(run.Count, 0))
	}
	return NoRank
}

// parseRecord reads a definition.
func (p *textParser) parseRecord(kind recordKind, fields []textField) error {
	v := &textRecord{p: p, fields: fields, rankNow: p.rank}
	r := recordTypes[kind].make()
	r.visit(v)
	if v.err != nil {
		return v.err
	}
	for i := range fields {
		if !fields[i].used {
			return p.fail(fields[i].column, fmt.Sprintf("a %s has no %s", recordTypes[kind].word, fields[i].what()))
		}
	}
	if kind == recRun {
		p.run = true
	}
	if p.kind == KindRank && p.now == nil {
		p.shared = append(p.shared, r)
		return nil
	}
	p.document().definer.add(r)
	return nil
}
