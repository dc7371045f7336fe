// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
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

type textStream struct {
	rank   int32
	thread uint32
}

// textBlock is a block under construction.
type textBlock struct {
	*Calls
	thread   uint32
	explicit bool
	sigs     map[string]uint32
	done     map[DoneSig]uint32
}

func (p *textParser) fail(column int, what string) error {
	return &TextError{p.name, p.line, column, what}
}

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

func (v *textRecord) id(name string, p *ID)      { value(v, name, p, parseUint[ID]) }
func (v *textRecord) u32(name string, p *uint32) { value(v, name, p, parseUint[uint32]) }
func (v *textRecord) u64(name string, p *uint64) { value(v, name, p, parseUint[uint64]) }
func (v *textRecord) i64(name string, p *int64)  { value(v, name, p, parseInt[int64]) }
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

// parseBlock begins a block of calls.
func (p *textParser) parseBlock(head textField, fields []textField) error {
	d := p.document()
	v := &textRecord{p: p, fields: fields, rankNow: p.rank}
	b := newTextBlock(p.rank)
	b.explicit = true
	v.rank("rank", &b.Rank)
	v.u32("thread", &b.thread)
	v.u64("seq", &b.FirstSeq)
	if v.err != nil {
		return v.err
	}
	for i := range fields {
		if !fields[i].used {
			return p.fail(fields[i].column, "a block has no "+fields[i].what())
		}
	}
	d.block = b
	return nil
}

func newTextBlock(rank int32) *textBlock {
	return &textBlock{Calls: &Calls{Rank: rank}, sigs: map[string]uint32{}, done: map[DoneSig]uint32{}}
}

// blockFor returns the block that a call of a thread goes to.
func (p *textParser) blockFor(d *textDocument, thread uint32) *textBlock {
	b := d.block
	full := b != nil && len(b.Index) == MaxBlockCalls
	if b == nil || full || !b.explicit && p.kind == KindRank && b.thread != thread {
		fresh := newTextBlock(p.rank)
		fresh.thread = thread
		fresh.FirstSeq = d.next[p.stream(thread)]
		if full && b.explicit {
			fresh.Rank, fresh.thread, fresh.FirstSeq, fresh.explicit = b.Rank, b.thread, b.FirstSeq+MaxBlockCalls, true
		}
		d.block, b = fresh, fresh
	}
	return b
}

// stream is what calls are numbered within.
func (p *textParser) stream(thread uint32) textStream {
	if p.kind == KindMerged {
		thread = 0
	}
	return textStream{p.rank, thread}
}

// parseCall reads a call: begin, end, and what its signature has.
func (p *textParser) parseCall(s Sig, head textField, fields []textField) error {
	d := p.document()
	if len(fields) < 2 || fields[0].key != "" || fields[1].key != "" {
		return p.fail(head.column, fmt.Sprintf("should be: %s BEGIN END …, END - for a call that never returned", head.value))
	}
	begin, err := parseInt[int64](fields[0].value)
	if err != nil {
		return p.fail(fields[0].column, err.Error())
	}
	end := int64(0)
	if fields[1].value == "-" {
		s.Flags |= FlagInFlight
	} else if end, err = parseInt[int64](fields[1].value); err != nil {
		return p.fail(fields[1].column, err.Error())
	}
	fields = fields[2:]
	v := &textRecord{p: p, fields: fields}

	if d.block != nil && d.block.explicit {
		s.Thread = d.block.thread
	}
	v.u32("thread", &s.Thread)
	flags := s.Flags
	value(v, "flags", &flags, parseFlags)
	s.Flags |= flags
	v.id("comm", &s.Comm)
	v.id("win", &s.Win)
	v.id("file", &s.File)
	v.side("", &s.Peer, &s.Tag, &s.Datatype, &s.Count, &s.Bytes)
	v.id("op", &s.Op)
	s.Root = NoRank
	value(v, "root", &s.Root, parseRank)
	value(v, "error", &s.Error, parseInt[int32])
	v.id("site", &s.Site)
	second, has := Side{}, false
	for i := range fields {
		if f := &fields[i]; f.key == "" && f.value == "second" {
			has, f.used = true, true
		}
		has = has || strings.HasPrefix(fields[i].key, "second.")
	}
	v.side("second.", &second.Peer, &second.Tag, &second.Datatype, &second.Count, &second.Bytes)
	v.i64("second.disp", &second.Disp)
	if has {
		s.Second = &second
	}
	if f := v.find("args", true); f != nil {
		for _, x := range f.list {
			a, err := parseInt[int64](x.value)
			if err != nil {
				return p.fail(x.column, err.Error())
			}
			s.Args = append(s.Args, a)
		}
	}
	request := uint64(0)
	if f := v.find("request", false); f != nil {
		if request, err = parseUint[uint64](f.value); err != nil {
			return p.fail(f.column, err.Error())
		}
		s.Flags |= FlagRequest
	}
	done := v.find("done", true)
	if v.err != nil {
		return v.err
	}
	for i := range fields {
		if !fields[i].used {
			return p.fail(fields[i].column, fmt.Sprintf("a call has no %s", fields[i].what()))
		}
	}
	if s.Flags&FlagInFlight != 0 {
		end = 0
	}

	b := p.blockFor(d, s.Thread)
	if done != nil {
		s.NDone = uint32(len(done.list))
		for _, x := range done.list {
			number, sig, err := parseDone(x.value)
			if err != nil {
				return p.fail(x.column, err.Error())
			}
			b.DoneRequest = append(b.DoneRequest, number)
			b.DoneIndex = append(b.DoneIndex, b.doneSig(sig))
		}
	}
	b.Index = append(b.Index, b.sig(&s))
	b.Begin = append(b.Begin, begin)
	b.End = append(b.End, end)
	if s.Flags&FlagRequest != 0 {
		b.Request = append(b.Request, request)
	}
	if len(b.Index) == 1 {
		d.Calls = append(d.Calls, b.Calls)
	}
	d.next[p.stream(s.Thread)] = b.FirstSeq + uint64(len(b.Index))
	return nil
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

// parseDone reads a completed request: 7:recv,source=1,tag=5,bytes=64.
func parseDone(s string) (request uint64, d DoneSig, err error) {
	d.Source, d.Tag = NoRank, NoTag
	parts := strings.Split(s, ",")
	number, kind, _ := strings.Cut(parts[0], ":")
	if request, err = parseUint[uint64](number); err != nil {
		return 0, d, err
	}
	if kind != "" {
		k, err := parseWord(kind, doneWords, "kind-")
		if err != nil {
			return 0, d, err
		}
		d.Kind = DoneKind(k)
	}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "source":
			d.Source, err = parseRank(value)
		case "tag":
			d.Tag, err = parseTag(value)
		case "bytes":
			d.Bytes, err = parseCount(value)
		case "error":
			d.Error, err = parseInt[int32](value)
		case "flags":
			d.Flags, err = parseFlags(value)
		default:
			err = fmt.Errorf("a completed request has no %q", key)
		}
		if err != nil {
			return 0, d, err
		}
	}
	return request, d, nil
}

func (b *textBlock) doneSig(d DoneSig) uint32 {
	x, ok := b.done[d]
	if !ok {
		x = uint32(len(b.DoneSigs))
		b.done[d] = x
		b.DoneSigs = append(b.DoneSigs, d)
	}
	return x
}

func (b *textBlock) sig(s *Sig) uint32 {
	key := *s
	key.Second, key.Args = nil, nil
	k := fmt.Sprintf("%v %v %v", key, s.Second, s.Args)
	if s.Second != nil {
		k = fmt.Sprintf("%v %v %v", key, *s.Second, s.Args)
	}
	x, ok := b.sigs[k]
	if !ok {
		x = uint32(len(b.Sigs))
		b.sigs[k] = x
		b.Sigs = append(b.Sigs, *s)
	}
	return x
}
