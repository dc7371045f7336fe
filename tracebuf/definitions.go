// SPDX-License-Identifier: Apache-2.0

package tracebuf

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/mpi"
)

// Definer takes definitions; a format.Writer is one.
type Definer interface {
	Comm(format.Comm)
	Datatype(format.Datatype)
	Op(format.Op)
	Win(format.Win)
	File(format.File)
	Text(format.Text)
}

// The kinds of definitions, enum mpit_definition.
const (
	defComm = 1 + iota
	defType
	defOp
	defWin
	defFile
	defText
)

var errDefinition = errors.New("a definition in the ring is not whole")

// fields reads a definition's bytes; after the end it reads zeros and
// remembers that.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) take(n int) []byte {
	if n < 0 || n > len(f.b) {
		f.bad = true
		f.b = nil
		return nil
	}
	b := f.b[:n]
	f.b = f.b[n:]
	return b
}

func (f *fields) u32() uint32 {
	if b := f.take(4); b != nil {
		return binary.NativeEndian.Uint32(b)
	}
	return 0
}

func (f *fields) u64() uint64 {
	if b := f.take(8); b != nil {
		return binary.NativeEndian.Uint64(b)
	}
	return 0
}

func (f *fields) text(n uint32) string {
	if uint64(n) > uint64(len(f.b)) {
		f.bad = true
		return ""
	}
	return strings.ToValidUTF8(string(f.take(int(n))), "\uFFFD")
}

func (f *fields) runs(n uint32) format.Ranks {
	if uint64(n)*12 > uint64(len(f.b)) {
		f.bad = true
		return nil
	}
	var runs format.Ranks
	for range n {
		runs = append(runs, format.RankRun{First: int32(f.u32()), Count: int32(f.u32()), Stride: int32(f.u32())})
	}
	return runs
}

func functionName(id uint32) string {
	if f := mpi.ByID(mpi.FuncID(id)); f != nil && id <= 0xffff {
		return f.Name
	}
	return ""
}

// define reads one definition and hands it on. renamed keeps communicators'
// groups for definitions that only give a new name.
func (e *Env) define(kind uint64, b []byte, to Definer) error {
	f := &fields{b: b}
	switch kind {
	case defComm:
		id, parent, birth, maker := f.u32(), f.u32(), f.u32(), f.u32()
		rank, _, inter := int32(f.u32()), f.u32(), f.u32()
		nameLength, local, remote := f.u32(), f.u32(), f.u32()
		c := format.Comm{
			ID: format.ID(id), Parent: format.ID(parent), Birth: birth, Maker: functionName(maker), Rank: rank,
			Global: f.u64(), Name: f.text(nameLength),
		}
		f.take(int(-nameLength & 3))
		if inter != 0 {
			c.Kind = format.CommInter
		}
		c.Group, c.Remote = f.runs(local), f.runs(remote)
		if old, ok := e.comms[c.ID]; ok && len(c.Group) == 0 {
			old.Name = c.Name
			c = old
		}
		e.comms[c.ID] = c
		if !f.bad {
			to.Comm(c)
		}
	case defType:
		id, base, maker, length := f.u32(), f.u32(), f.u32(), f.u32()
		d := format.Datatype{
			ID: format.ID(id), Base: format.ID(base), Maker: functionName(maker),
			Size: int64(f.u64()), Extent: int64(f.u64()), Name: f.text(length),
		}
		if !f.bad {
			e.typeSizes[d.ID] = d.Size
			to.Datatype(d)
		}
	case defOp:
		id, length := f.u32(), f.u32()
		to.Op(format.Op{ID: format.ID(id), Name: f.text(length)})
	case defWin:
		id, comm, _, length := f.u32(), f.u32(), f.u32(), f.u32()
		w := format.Win{ID: format.ID(id), Comm: format.ID(comm), Size: int64(f.u64()), Unit: int64(f.u64()), Name: f.text(length)}
		if old, ok := e.wins[w.ID]; ok && w.Size < 0 {
			old.Name = w.Name
			w = old
		}
		e.wins[w.ID] = w
		to.Win(w)
	case defFile:
		id, comm, length, mode := f.u32(), f.u32(), f.u32(), int32(f.u32())
		to.File(format.File{ID: format.ID(id), Comm: format.ID(comm), Mode: int64(mode), Name: f.text(length)})
	case defText:
		id, length := f.u32(), f.u32()
		to.Text(format.Text{ID: format.ID(id), Text: f.text(length)})
	default:
		return errDefinition
	}
	if f.bad {
		return errDefinition
	}
	return nil
}
