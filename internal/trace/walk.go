// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/mpitrace/mpitrace/format"
)

// Visitor takes one rank's calls.
type Visitor interface {
	// Add takes the next calls in the order of their begin. They are valid
	// until it returns.
	Add(c *format.Calls)
	// Close is called after the last Add. next is when the first of the calls
	// begins, or earlier, that were left out because they begin too late;
	// math.MaxInt64 if there are none.
	Close(next int64)
}

// Walk gives the calls of ranks that begin before until, and perhaps some
// later ones, to visitors: one for each rank, each rank in order, as many
// ranks side by side as the trace has jobs. open makes the visitor of a rank;
// worker is from 0 to the number of jobs, exclusive, and visitors with the same
// worker are used one after the other. If there are fewer ranks than jobs,
// calls are read ahead. progress, if it is not nil, is told of every few
// thousand calls how many they were, from any goroutine.
func (t *Trace) Walk(ranks []*Rank, until int64, progress func(calls uint64), open func(worker int, r *Rank) Visitor) {
	if len(ranks) == 0 {
		return
	}
	workers := min(max(1, t.jobs), len(ranks))
	ahead := (max(1, t.jobs) + workers - 1) / workers
	var next atomic.Int64
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			loaders := make([]*Loader, ahead)
			for i := range loaders {
				loaders[i] = t.NewLoader()
			}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(ranks) {
					return
				}
				v := open(worker, ranks[i])
				add := v.Add
				if progress != nil {
					add = func(c *format.Calls) {
						v.Add(c)
						progress(uint64(len(c.Index)))
					}
				}
				v.Close(ranks[i].walk(loaders, until, add))
			}
		})
	}
	wg.Wait()
}

// walk reads the rank's pieces up to the first that begins at until or later,
// and returns when that is. Each loader reads every len(loaders)-th piece; they
// hand calls to add in turn.
func (r *Rank) walk(loaders []*Loader, until int64, add func(*format.Calls)) (next int64) {
	pieces := r.Pieces()
	next = math.MaxInt64
	for i := 1; i < pieces; i++ {
		if begin := r.PieceBegin(i); begin >= until {
			pieces, next = i, begin
			break
		}
	}
	turns := make([]chan struct{}, len(loaders))
	for i := range turns {
		turns[i] = make(chan struct{}, 1)
	}
	turns[0] <- struct{}{}
	var wg sync.WaitGroup
	for i, l := range loaders {
		wg.Go(func() {
			for piece := i; piece < pieces; piece += len(loaders) {
				mine := false
				l.Piece(r, piece, func(c *format.Calls) {
					if !mine {
						<-turns[i]
						mine = true
					}
					add(c)
				})
				if !mine {
					<-turns[i]
				}
				turns[(i+1)%len(loaders)] <- struct{}{}
			}
		})
	}
	wg.Wait()
	return next
}
