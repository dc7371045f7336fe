// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"strings"
)

// textStream is what calls are numbered within.
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
