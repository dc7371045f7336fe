// SPDX-License-Identifier: Apache-2.0

// Package merge writes a trace into one merged file: the calls of each rank in
// the order of their begin, in blocks that follow each other in the order of
// time over all ranks.
//
// Memory does not depend on the trace's length: a few pieces of it are held at
// a time, each read, put in order and packed by one of several goroutines, and
// written by one in an order that does not depend on their number. The file is
// therefore the same, byte for byte, however many work on it.
package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
)

// Options says how to merge.
type Options struct {
	// Jobs is how many goroutines work, 0 for one a core.
	Jobs int
	// Progress, if not nil, is called with the number of calls written since
	// the last time.
	Progress func(calls uint64)
}

// ErrInTheWay is what File's error wraps if there is a file that merging must
// not replace.
var ErrInTheWay = errors.New("will not be replaced")

// File merges t into the file at path. The file appears at once when it is
// whole: until then it has another name, and after an error it is not there. A
// merged file of that name is replaced; anything else is not.
func File(ctx context.Context, t *trace.Trace, path string, o Options) (format.Stats, error) {
	if err := mayReplace(t, path); err != nil {
		return format.Stats{}, err
	}
	temporary := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), os.Getpid()))
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return format.Stats{}, err
	}
	stats, err := Write(ctx, t, f, o)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
		return format.Stats{}, err
	}
	return stats, nil
}

// mayReplace refuses to overwrite what is no merged file, above all the rank
// files.
func mayReplace(t *trace.Trace, path string) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s: not a regular file; it %w", path, ErrInTheWay)
	}
	for _, f := range t.Files() {
		if in, err := os.Stat(f.Path); err == nil && os.SameFile(in, st) {
			return fmt.Errorf("%s: one of the files to merge; it %w, name another with -o", path, ErrInTheWay)
		}
	}
	if st.Size() == 0 {
		return nil
	}
	r, err := format.Open(path)
	switch {
	case errors.Is(err, format.ErrVersion):
		return nil // whatever it was, it was ours, and merging again brings it back
	case err != nil:
		return fmt.Errorf("%s: exists and is no merged file; it %w, name another with -o or remove it", path, ErrInTheWay)
	}
	defer r.Close()
	if r.Kind() != format.KindMerged {
		return fmt.Errorf("%s: a rank file; it %w, name another with -o", path, ErrInTheWay)
	}
	return nil
}

// Write merges t into w, and closes w if it can be closed.
func Write(ctx context.Context, t *trace.Trace, w io.Writer, o Options) (format.Stats, error) {
	defs := *t.Definitions()
	defs.Notes = nil
	out, err := format.NewWriter(w, format.KindMerged, defs.Run, defs.Processes...)
	if err != nil {
		return format.Stats{}, errors.Join(err, closeWriter(w))
	}
	out.Define(&defs)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err = newMerger(t, o).run(ctx, out, o.Progress)
	if err == nil {
		// Reading may have found more than opening did.
		for _, n := range t.Notes() {
			out.Note(n)
		}
	}
	if e := out.Close(); err == nil {
		err = e
	}
	return out.Stats(), err
}

func closeWriter(w io.Writer) error {
	if c, ok := w.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// merger is one merge at work.
type merger struct {
	trace *trace.Trace
	jobs  int
	tasks []task
}

// task is one piece of a rank.
type task struct {
	begin int64
	rank  int32 // index into the trace's ranks
	piece int32
}

// packed is a task done: its calls as blocks of the merged file.
type packed struct {
	task   task
	blocks []byte
	calls  uint64
	err    error
	ready  chan struct{}
}

func newMerger(t *trace.Trace, o Options) *merger {
	m := &merger{trace: t, jobs: cmp.Or(max(o.Jobs, 0), runtime.GOMAXPROCS(0))}
	for i, r := range t.Ranks() {
		for k := range r.Pieces() {
			m.tasks = append(m.tasks, task{r.PieceBegin(k), int32(i), int32(k)})
		}
	}
	slices.SortFunc(m.tasks, func(a, b task) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.rank, b.rank), cmp.Compare(a.piece, b.piece))
	})
	// The pieces of a rank stay in their order even if their begins do not.
	next := make([]int32, len(t.Ranks()))
	for i := range m.tasks {
		r := m.tasks[i].rank
		m.tasks[i].piece = next[r]
		next[r]++
	}
	return m
}

// run does all tasks and writes what they give in their order.
func (m *merger) run(ctx context.Context, out *format.Writer, progress func(uint64)) error {
	inOrder := make(chan *packed, 2*m.jobs)
	todo := make(chan *packed)
	free := sync.Pool{New: func() any { return &packed{ready: make(chan struct{}, 1)} }}
	var workers sync.WaitGroup
	defer workers.Wait()
	// Ends the goroutines below whichever way this function is left.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers.Go(func() {
		defer close(todo)
		defer close(inOrder)
		for _, t := range m.tasks {
			p := free.Get().(*packed)
			*p = packed{task: t, blocks: p.blocks[:0], ready: p.ready}
			select {
			case inOrder <- p:
			case <-ctx.Done():
				return
			}
			select {
			case todo <- p:
			case <-ctx.Done():
				return
			}
		}
	})
	for range m.jobs {
		encoder, err := format.NewEncoder()
		if err != nil {
			return err
		}
		workers.Go(func() {
			defer encoder.Close()
			loader := m.trace.NewLoader()
			for p := range todo {
				p.pack(m.trace, loader, encoder)
				p.ready <- struct{}{}
			}
		})
	}
	next := make([]uint64, len(m.trace.Ranks()))
	for p := range inOrder {
		select {
		case <-p.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
		if p.err != nil {
			return p.err
		}
		if err := out.WriteEncoded(p.blocks, next[p.task.rank]); err != nil {
			return err
		}
		next[p.task.rank] += m.trace.Ranks()[p.task.rank].Numbers(int(p.task.piece), p.calls)
		if progress != nil {
			progress(p.calls)
		}
		free.Put(p)
	}
	return ctx.Err()
}

// pack reads the piece and packs its calls.
func (p *packed) pack(t *trace.Trace, l *trace.Loader, e *format.Encoder) {
	r := t.Ranks()[p.task.rank]
	p.calls = l.Piece(r, int(p.task.piece), func(c *format.Calls) {
		if p.err == nil {
			p.blocks, p.err = e.Append(p.blocks, c)
		}
	})
	if p.err != nil {
		p.err = fmt.Errorf("rank %d: %w", r.Number(), p.err)
	}
}
