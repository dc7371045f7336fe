// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/mpi"
)

// columns are the columns of the CSV form.
var columns = []string{
	"rank", "thread", "seq", "call", "begin", "end", "comm", "win", "file", "peer", "world_peer", "root",
	"tag", "count", "datatype", "bytes", "op",
	"recv_peer", "recv_world_peer", "recv_tag", "recv_count", "recv_datatype", "recv_bytes",
	"target_disp", "target_count", "target_datatype", "offset",
	"args", "flags", "request", "completed", "error", "site", "match_rank", "match_seq",
}

// CSV writes the selected calls in columns, in the order of time. What does not
// apply is empty. Several values in one column are separated by blanks. The
// error is w's.
func CSV(w io.Writer, t *trace.Trace, s trace.Selection) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	row := csvRow{names: newNames(t), fields: make([]string, len(columns)), at: map[string]int{}}
	for i, c := range columns {
		row.at[c] = i
	}
	for c := range t.InOrder(s) {
		row.call(c)
		if err := out.Write(row.fields); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

type csvRow struct {
	*names
	fields []string
	at     map[string]int
}

func (r *csvRow) set(column, v string)       { r.fields[r.at[column]] = v }
func (r *csvRow) int(column string, v int64) { r.set(column, strconv.FormatInt(v, 10)) }

func (r *csvRow) call(c *trace.Call) {
	clear(r.fields)
	s := c.Sig
	r.int("rank", int64(c.Rank))
	r.int("thread", int64(s.Thread))
	r.set("seq", strconv.FormatUint(c.Seq, 10))
	r.set("call", function(s.Func))
	r.int("begin", c.Begin)
	if !c.InFlight() {
		r.int("end", c.End)
		r.int("error", int64(s.Error))
	}
	if s.Comm != 0 {
		r.set("comm", r.comm(s.Comm).text)
	}
	if s.Win != 0 {
		r.set("win", r.win(s.Win).text)
	}
	if s.File != 0 {
		r.set("file", r.file(s.File).text)
	}
	r.peer("", c, s.Peer)
	if s.Root != format.NoRank {
		r.int("root", int64(s.Root))
	}
	r.data("", s.Tag, s.Count, s.Datatype)
	if hasBytes(s) {
		r.int("bytes", s.Bytes)
	}
	if s.Op != 0 {
		r.set("op", r.op(s.Op).text)
	}
	r.second(c)
	r.rest(c)
	if c.HasRequest() {
		r.set("request", strconv.FormatUint(c.Request, 10))
	}
	r.set("site", r.site(s.Site).text)
}

func (r *csvRow) peer(prefix string, c *trace.Call, peer int32) {
	if peer == format.NoRank {
		return
	}
	r.int(prefix+"peer", int64(peer))
	if w, ok := r.world(c, peer); ok {
		r.int(prefix+"world_peer", int64(w))
	}
}

func (r *csvRow) data(prefix string, tag int32, count int64, datatype format.ID) {
	if tag != format.NoTag {
		r.int(prefix+"tag", int64(tag))
	}
	if count != format.NoCount {
		r.int(prefix+"count", count)
	}
	if datatype != 0 {
		r.set(prefix+"datatype", r.datatype(datatype).text)
	}
}

func (r *csvRow) second(c *trace.Call) {
	t := c.Sig.Second
	if t == nil {
		return
	}
	switch f := mpi.ByID(c.Sig.Func); {
	case f != nil && f.Family == mpi.OneSided:
		r.int("target_disp", t.Disp)
		r.data("target_", format.NoTag, t.Count, t.Datatype)
	case f != nil && f.Family == mpi.IO:
		r.int("offset", t.Disp)
	default:
		r.peer("recv_", c, t.Peer)
		r.data("recv_", t.Tag, t.Count, t.Datatype)
		r.int("recv_bytes", t.Bytes)
	}
}

// rest sets the columns with several values.
func (r *csvRow) rest(c *trace.Call) {
	var args, flags, completed []string
	known := trace.Args(c.Sig.Func)
	for i, v := range c.Sig.Args {
		if i >= len(known) {
			args = append(args, fmt.Sprintf("arg%d=%d", i, v))
		} else if n, ok := r.arg(known[i].Kind, v); ok {
			args = append(args, known[i].Name+"="+n.text)
		}
	}
	for _, f := range flagKeys {
		if c.Sig.Flags&f.flag != 0 {
			flags = append(flags, f.key+"="+f.value)
		}
	}
	for i := range c.Done() {
		number, d := c.Completed(i)
		one := fmt.Sprintf("%d:%s", number, doneKind(d.Kind))
		if hasSource(d) {
			one += fmt.Sprintf(":%d:%d:%d", d.Source, d.Tag, d.Bytes)
		}
		completed = append(completed, one)
	}
	r.set("args", strings.Join(args, " "))
	r.set("flags", strings.Join(flags, " "))
	r.set("completed", strings.Join(completed, " "))
}
