// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/terminal"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/mpi"
)

// jsonEncoder writes calls as JSON by hand: the general encoder takes several
// times as long, and a trace has millions of calls.
type jsonEncoder struct {
	*names
	b []byte
}

func (e *jsonEncoder) key(k string) {
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = append(e.b, '"')
	e.b = append(e.b, k...)
	e.b = append(e.b, '"', ':')
}

func (e *jsonEncoder) int(k string, v int64) {
	e.key(k)
	e.b = strconv.AppendInt(e.b, v, 10)
}

func (e *jsonEncoder) uint(k string, v uint64) {
	e.key(k)
	e.b = strconv.AppendUint(e.b, v, 10)
}

func (e *jsonEncoder) raw(k string, v []byte) {
	e.key(k)
	e.b = append(e.b, v...)
}

func (e *jsonEncoder) word(k, v string) {
	e.key(k)
	e.b = append(e.b, v...)
}

// call appends a call as an object.
func (e *jsonEncoder) call(c *trace.Call) {
	s := c.Sig
	e.b = append(e.b, '{')
	e.int("rank", int64(c.Rank))
	e.uint("thread", uint64(s.Thread))
	e.uint("seq", c.Seq)
	e.key("call")
	e.b = appendString(e.b, function(s.Func))
	e.int("begin", c.Begin)
	if c.InFlight() {
		e.word("end", "null")
	} else {
		e.int("end", c.End)
	}
	if s.Comm != 0 {
		e.raw("comm", e.comm(s.Comm).json)
	}
	if s.Win != 0 {
		e.raw("win", e.win(s.Win).json)
	}
	if s.File != 0 {
		e.raw("file", e.file(s.File).json)
	}
	e.peer(c, s.Peer)
	if s.Root != format.NoRank {
		e.int("root", int64(s.Root))
	}
	e.data(s.Tag, s.Count, s.Datatype)
	if hasBytes(s) {
		e.int("bytes", s.Bytes)
	}
	if s.Op != 0 {
		e.raw("op", e.op(s.Op).json)
	}
	e.second(c)
	e.args(s)
	e.flags(s.Flags)
	if c.HasRequest() {
		e.uint("request", c.Request)
	}
	e.completed(c)
	if !c.InFlight() {
		e.int("error", int64(s.Error))
	}
	if site := e.site(s.Site); site.text != "" {
		e.raw("site", site.json)
	}
	if hasMatch(s) {
		e.word("match", "null")
	}
	e.b = append(e.b, '}')
}

func (e *jsonEncoder) peer(c *trace.Call, peer int32) {
	if peer == format.NoRank {
		return
	}
	e.int("peer", int64(peer))
	if w, ok := e.world(c, peer); ok {
		e.int("world_peer", int64(w))
	}
}

func (e *jsonEncoder) data(tag int32, count int64, datatype format.ID) {
	if tag != format.NoTag {
		e.int("tag", int64(tag))
	}
	if count != format.NoCount {
		e.int("count", count)
	}
	if datatype != 0 {
		e.raw("datatype", e.datatype(datatype).json)
	}
}

// second appends a call's other side: the target of a one-sided operation, the
// place in a file, or what is received beside what is sent.
func (e *jsonEncoder) second(c *trace.Call) {
	t := c.Sig.Second
	if t == nil {
		return
	}
	switch f := mpi.ByID(c.Sig.Func); {
	case f != nil && f.Family == mpi.OneSided:
		e.word("target", "{")
		e.int("disp", t.Disp)
		e.data(format.NoTag, t.Count, t.Datatype)
		e.b = append(e.b, '}')
	case f != nil && f.Family == mpi.IO:
		e.int("offset", t.Disp)
	default:
		e.word("recv", "{")
		e.peer(c, t.Peer)
		e.data(t.Tag, t.Count, t.Datatype)
		e.int("bytes", t.Bytes)
		e.b = append(e.b, '}')
	}
}

// args appends the arguments that have no key of their own, by name.
func (e *jsonEncoder) args(s *format.Sig) {
	if len(s.Args) == 0 {
		return
	}
	known := trace.Args(s.Func)
	e.word("args", "{")
	for i, v := range s.Args {
		if i >= len(known) {
			e.int("arg"+strconv.Itoa(i), v)
			continue
		}
		if text, ok := e.arg(known[i].Kind, v); ok {
			e.raw(known[i].Name, text.json)
		}
	}
	e.b = append(e.b, '}')
}

// arg is how an argument is written, false if it was not given.
func (n *names) arg(kind trace.ArgKind, v int64) (name, bool) {
	id := format.ID(v)
	if kind != trace.ArgNumber && id == 0 {
		return name{}, false
	}
	switch kind {
	case trace.ArgComm:
		return n.comm(id), true
	case trace.ArgDatatype:
		return n.datatype(id), true
	case trace.ArgWin:
		return n.win(id), true
	case trace.ArgFile:
		return n.file(id), true
	case trace.ArgText:
		text := n.trace.Text(id)
		return name{appendString(nil, text), terminal.Clean(text)}, true
	}
	text := strconv.FormatInt(v, 10)
	return name{[]byte(text), text}, true
}

// flagKeys are the keys of the flags that are not said in another way.
var flagKeys = []struct {
	flag  format.Flags
	key   string
	value string
}{
	{format.FlagAnySource, "any_source", "true"},
	{format.FlagAnyTag, "any_tag", "true"},
	{format.FlagNested, "nested", "true"},
	{format.FlagInPlace, "in_place", "true"},
	{format.FlagTruncated, "truncated", "true"},
	{format.FlagFalse, "flag", "false"},
	{format.FlagCancelled, "cancelled", "true"},
}

func (e *jsonEncoder) flags(flags format.Flags) {
	for _, f := range flagKeys {
		if flags&f.flag != 0 {
			e.word(f.key, f.value)
		}
	}
}

// doneKinds are the words for what a completed request was.
var doneKinds = [...]string{
	format.DoneUnknown: "unknown", format.DoneSend: "send", format.DoneRecv: "recv", format.DoneCollective: "collective",
	format.DoneOneSided: "one-sided", format.DoneIO: "io", format.DoneOther: "other", format.DoneFreed: "freed",
	format.DonePending: "pending", format.DoneStarted: "started",
}

func doneKind(k format.DoneKind) string {
	if int(k) < len(doneKinds) {
		return doneKinds[k]
	}
	return strconv.Itoa(int(k))
}

func (e *jsonEncoder) completed(c *trace.Call) {
	if c.Done() == 0 {
		return
	}
	e.word("completed", "[")
	for i := range c.Done() {
		number, d := c.Completed(i)
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = append(e.b, '{')
		e.uint("request", number)
		e.key("kind")
		e.b = appendString(e.b, doneKind(d.Kind))
		if d.Source != format.NoRank && hasSource(d) {
			e.int("source", int64(d.Source))
		}
		if d.Tag != format.NoTag && hasSource(d) {
			e.int("tag", int64(d.Tag))
		}
		if hasSource(d) {
			e.int("bytes", d.Bytes)
		}
		if d.Kind != format.DonePending {
			e.int("error", int64(d.Error))
		}
		e.flags(d.Flags)
		e.b = append(e.b, '}')
	}
	e.b = append(e.b, ']')
}

// hasSource tells whether a completion knows source, tag and bytes.
func hasSource(d *format.DoneSig) bool {
	return d.Kind == format.DoneRecv || d.Kind == format.DoneUnknown || d.Kind == format.DoneIO
}

// appendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD, as
// JSON has no other way; what is not printable is escaped, as the line may end
// up on a terminal.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c == 0x7f:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				b = append(b, "\ufffd"...)
			case !unicode.IsPrint(r):
				for _, unit := range utf16.AppendRune(nil, r) {
					b = append(b, `\u`...)
					b = append(b, strconv.FormatInt(0x10000+int64(unit), 16)[1:]...)
				}
			default:
				b = append(b, s[i:i+n]...)
			}
			i += n
			continue
		}
		i++
	}
	return append(b, '"')
}
