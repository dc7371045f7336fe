// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bufio"
	"encoding/hex"
	"io"
	"math"
	"strconv"
)

// WriteText writes the traces of one merged file or of rank files as text.
// Damage is written as comments; what could be read is all there. The error is
// out's.
func WriteText(out io.Writer, readers ...*Reader) error {
	w := &textWriter{out: bufio.NewWriterSize(out, 64<<10), current: noSection}
	kind := textRank
	if len(readers) == 1 && readers[0].Kind() == KindMerged {
		kind = textMerged
	}
	w.line(textMagic + " " + strconv.Itoa(Major) + " " + kind)
	for _, r := range readers {
		w.trace(r)
	}
	return w.out.Flush()
}

func (w *textWriter) trace(r *Reader) {
	defs := r.Definitions()
	if r.Kind() != KindMerged {
		w.section(rankOf(r))
	}
	defs.each(func(d record) { w.record(d) })
	if len(defs.Processes) == 0 && r.Kind() != KindMerged {
		w.line("process none")
	}
	d := r.NewDecoder()
	var c Calls
	for i, x := range r.Blocks() {
		if err := d.ReadCalls(i, &c); err != nil {
			continue // it is among the problems
		}
		if r.Kind() == KindMerged && c.Rank != w.current {
			w.section(c.Rank)
		}
		w.calls(&c, x.Thread)
	}
	for _, p := range r.Problems() {
		w.b = append(w.b[:0], "# offset "...)
		w.b = strconv.AppendInt(w.b, p.Offset, 10)
		w.b = append(w.b, ": "...)
		w.b = strconv.AppendQuote(w.b, p.What)
		if p.LostCalls > 0 {
			w.b = append(w.b, ", calls lost: "...)
			w.b = strconv.AppendInt(w.b, p.LostCalls, 10)
		}
		w.flush()
	}
}

// rankOf is the rank that a rank file is of.
func rankOf(r *Reader) int32 {
	if p := r.Definitions().Processes; len(p) > 0 {
		return p[0].Rank
	}
	if b := r.Blocks(); len(b) > 0 {
		return b[0].Rank
	}
	return 0
}

// noSection is the rank before any section.
const noSection = NoRank

type textWriter struct {
	out     *bufio.Writer
	b       []byte // the line being built
	current int32  // rank of the section
	sigs    []string
}

func (w *textWriter) line(s string) { w.b = append(w.b[:0], s...); w.flush() }

// flush ends the line. bufio.Writer keeps an error until the last Flush.
func (w *textWriter) flush() { w.b = append(w.b, '\n'); w.out.Write(w.b); w.b = w.b[:0] } //nolint:errcheck

func (w *textWriter) section(rank int32) {
	w.b = append(w.b[:0], "rank "...)
	w.b = strconv.AppendInt(w.b, int64(rank), 10)
	w.flush()
	w.current = rank
}

func (w *textWriter) record(r record) {
	w.b = append(w.b[:0], recordTypes[r.kind()].word...)
	r.visit(w)
	w.flush()
}

func (w *textWriter) key(name string) {
	w.b = append(w.b, ' ')
	w.b = append(w.b, name...)
	w.b = append(w.b, '=')
}

func (w *textWriter) uint(name string, v uint64) {
	if v != 0 {
		w.key(name)
		w.b = strconv.AppendUint(w.b, v, 10)
	}
}

func (w *textWriter) int(name string, v int64) {
	if v != 0 {
		w.key(name)
		w.b = strconv.AppendInt(w.b, v, 10)
	}
}

func (w *textWriter) id(name string, p *ID)      { w.uint(name, uint64(*p)) }
func (w *textWriter) u32(name string, p *uint32) { w.uint(name, uint64(*p)) }
func (w *textWriter) u64(name string, p *uint64) { w.uint(name, *p) }
func (w *textWriter) i64(name string, p *int64)  { w.int(name, *p) }
func (w *textWriter) i32(name string, p *int32) {
	if *p == NoRank {
		w.key(name)
		w.b = append(w.b, wordNone...)
		return
	}
	w.int(name, int64(*p))
}
func (w *textWriter) peer(r int32) { w.b = appendRank(w.b, r) }
func (w *textWriter) rank(name string, p *int32) {
	if *p == w.current && w.current != noSection {
		return
	}
	w.key(name)
	w.peer(*p)
}
func (w *textWriter) address(name string, p *uint64) {
	if *p != 0 {
		w.key(name)
		w.b = append(w.b, "0x"...)
		w.b = strconv.AppendUint(w.b, *p, 16)
	}
}
func (w *textWriter) bool(name string, p *bool) {
	if *p {
		w.key(name)
		w.b = append(w.b, "yes"...)
	}
}
func (w *textWriter) f64(name string, p *float64) {
	if math.Float64bits(*p) == 0 {
		return
	}
	w.key(name)
	if math.IsNaN(*p) { // keeps the payload
		w.b = append(w.b, "nan:"...)
		w.b = strconv.AppendUint(w.b, math.Float64bits(*p), 16)
		return
	}
	w.b = strconv.AppendFloat(w.b, *p, 'g', -1, 64)
}
func (w *textWriter) str(name string, p *string) {
	if *p != "" {
		w.key(name)
		w.b = appendString(w.b, *p)
	}
}
func (w *textWriter) list(name string, words ...string) {
	if len(words) == 0 {
		return
	}
	w.key(name)
	w.b = append(w.b, '[')
	for i, s := range words {
		if i > 0 {
			w.b = append(w.b, ' ')
		}
		w.b = appendString(w.b, s)
	}
	w.b = append(w.b, ']')
}
func (w *textWriter) strs(name string, p *[]string) { w.list(name, *p...) }
func (w *textWriter) uuid(name string, p *[16]byte) {
	if *p != [16]byte{} {
		w.key(name)
		w.b = hex.AppendEncode(w.b, p[:])
	}
}
func (w *textWriter) enum(name string, p *uint8, words []string) {
	if *p != 0 {
		w.key(name)
		w.b = appendWord(w.b, words, "kind-", *p)
	}
}
func (w *textWriter) ranks(name string, p *Ranks) {
	if len(*p) > 0 {
		w.key(name)
		w.b = appendRanks(w.b, *p)
	}
}
func (w *textWriter) settings(name string, p *[]Setting) {
	var words []string
	for _, s := range *p {
		origin := settingSet
		if s.Default {
			origin = settingDefault
		}
		words = append(words, s.Name, s.Value, origin)
	}
	w.list(name, words...)
}

// The words for where a setting's value is from.
const (
	settingDefault = "default"
	settingSet     = "set"
)

// calls writes a block.
func (w *textWriter) calls(c *Calls, thread uint32) {
	w.b = append(w.b[:0], "block"...)
	w.rank("rank", &c.Rank)
	w.uint("seq", c.FirstSeq)
	if thread == noThread {
		thread = 0
	}
	w.uint("thread", uint64(thread))
	w.flush()

	w.sigs = resize(w.sigs, len(c.Sigs))
	for i := range c.Sigs {
		w.b = w.b[:0]
		w.sig(&c.Sigs[i], thread)
		w.sigs[i] = string(w.b)
	}
	request, done := 0, 0
	for i, x := range c.Index {
		s := &c.Sigs[x]
		w.b = appendFunc(w.b[:0], s.Func)
		w.b = append(w.b, ' ')
		w.b = strconv.AppendInt(w.b, c.Begin[i], 10)
		if s.Flags&FlagInFlight != 0 {
			w.b = append(w.b, " -"...)
		} else {
			w.b = append(w.b, ' ')
			w.b = strconv.AppendInt(w.b, c.End[i], 10)
		}
		w.b = append(w.b, w.sigs[x]...)
		if s.Flags&FlagRequest != 0 {
			w.key("request")
			w.b = strconv.AppendUint(w.b, c.Request[request], 10)
			request++
		}
		if s.NDone > 0 {
			w.key("done")
			w.b = append(w.b, '[')
			for k := range int(s.NDone) {
				if k > 0 {
					w.b = append(w.b, ' ')
				}
				w.done(c.DoneRequest[done], &c.DoneSigs[c.DoneIndex[done]])
				done++
			}
			w.b = append(w.b, ']')
		}
		w.flush()
	}
}

// sig appends what is not in the call's line in another way.
func (w *textWriter) sig(s *Sig, thread uint32) {
	if s.Thread != thread {
		w.key("thread")
		w.b = strconv.AppendUint(w.b, uint64(s.Thread), 10)
	}
	if f := s.Flags &^ (FlagInFlight | FlagRequest); f != 0 {
		w.key("flags")
		w.b = appendFlags(w.b, f)
	}
	w.id("comm", &s.Comm)
	w.id("win", &s.Win)
	w.id("file", &s.File)
	w.side("", s.Peer, s.Tag, s.Datatype, s.Count, s.Bytes)
	w.id("op", &s.Op)
	if s.Root != NoRank {
		w.key("root")
		w.peer(s.Root)
	}
	w.int("error", int64(s.Error))
	w.id("site", &s.Site)
	if t := s.Second; t != nil {
		w.b = append(w.b, " second"...)
		w.side("second.", t.Peer, t.Tag, t.Datatype, t.Count, t.Bytes)
		w.int("second.disp", t.Disp)
	}
	if len(s.Args) > 0 {
		w.key("args")
		w.b = append(w.b, '[')
		for i, a := range s.Args {
			if i > 0 {
				w.b = append(w.b, ' ')
			}
			w.b = strconv.AppendInt(w.b, a, 10)
		}
		w.b = append(w.b, ']')
	}
}

func (w *textWriter) side(prefix string, peer, tag int32, datatype ID, count, bytes int64) {
	if peer != NoRank {
		w.key(prefix + "peer")
		w.peer(peer)
	}
	if tag != NoTag {
		w.key(prefix + "tag")
		w.b = appendTag(w.b, tag)
	}
	if count != NoCount {
		w.key(prefix + "count")
		w.b = appendCount(w.b, count)
	}
	w.id(prefix+"datatype", &datatype)
	if bytes != 0 {
		w.key(prefix + "bytes")
		w.b = appendCount(w.b, bytes)
	}
}

// done appends a completed request: 7:recv,source=1,tag=5,bytes=64.
func (w *textWriter) done(request uint64, s *DoneSig) {
	w.b = strconv.AppendUint(w.b, request, 10)
	w.b = append(w.b, ':')
	w.b = appendWord(w.b, doneWords, "kind-", uint8(s.Kind))
	if s.Source != NoRank {
		w.b = append(w.b, ",source="...)
		w.peer(s.Source)
	}
	if s.Tag != NoTag {
		w.b = append(w.b, ",tag="...)
		w.b = appendTag(w.b, s.Tag)
	}
	if s.Bytes != 0 {
		w.b = append(w.b, ",bytes="...)
		w.b = appendCount(w.b, s.Bytes)
	}
	if s.Error != 0 {
		w.b = append(w.b, ",error="...)
		w.b = strconv.AppendInt(w.b, int64(s.Error), 10)
	}
	if s.Flags != 0 {
		w.b = append(w.b, ",flags="...)
		w.b = appendFlags(w.b, s.Flags)
	}
}
