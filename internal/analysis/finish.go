// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"encoding/hex"
	"math"
	"slices"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/trace"
	"github.com/mpitrace/mpitrace/mpi"
)

// Finish puts together what the workers saw, and what was wrong with the trace.
// It must be called once, when they are done.
func (p *Profiler) Finish(problems []trace.Problem) *Profile {
	walks := []*rankWalk{}
	var sizes sizeHistogram
	for _, w := range p.workers {
		walks = append(walks, w.walks...)
	}
	slices.SortFunc(walks, func(a, b *rankWalk) int { return cmp.Compare(a.rank, b.rank) })
	var runEnd int64 = math.MinInt64
	for _, r := range walks {
		if r.calls > 0 || r.open > 0 {
			runEnd = max(runEnd, r.last)
		}
		if s, ok := p.summaries[r.rank]; ok {
			runEnd = max(runEnd, s.End)
		}
	}
	for _, r := range walks {
		r.finish(runEnd)
	}
	for _, w := range p.workers {
		sizes.merge(&w.sizes)
	}

	f := &finisher{Profiler: p, walks: walks}
	f.efficiency()
	f.functionTable()
	f.siteTable()
	f.rankTable()
	f.regionTable()
	f.markerTable()
	f.profile.Schema = Schema
	f.profile.Sizes = sizes.rows()
	f.profile.Losses = f.losses(problems)
	f.run()
	return &f.profile
}

// finisher makes a profile out of finished walks.
type finisher struct {
	*Profiler
	walks   []*rankWalk
	inCalls int64 // thread time in MPI: what shares of MPI time refer to
	profile Profile
}

// hosts are the ranks' hosts.
func (f *finisher) hosts() map[int32]string {
	hosts := make(map[int32]string)
	for _, p := range f.trace.Definitions().Processes {
		hosts[p.Rank] = p.Host
	}
	return hosts
}

func (f *finisher) run() {
	run := f.trace.Definitions().Run
	r := Run{
		ID:           hex.EncodeToString(run.ID[:]),
		Command:      append([]string{}, run.Command...),
		Started:      run.Start,
		Tool:         run.Tool,
		Size:         int(run.Size),
		Ranks:        len(f.walks),
		Restrictions: []string{},
	}
	hosts := make(map[string]bool)
	for i, p := range f.trace.Definitions().Processes {
		hosts[p.Host] = true
		if i == 0 {
			r.Library = p.Library
		}
	}
	r.Hosts = len(hosts)
	r.Begin, r.End, r.Wall = f.span()
	for _, w := range f.walks {
		r.Calls += w.calls
		r.Threaded = r.Threaded || len(w.threads) > 1
	}
	f.profile.Run = r
}

// span is from the first rank's begin to the last rank's end.
func (f *finisher) span() (begin, end, wall int64) {
	any := false
	for _, r := range f.walks {
		if !r.started {
			continue
		}
		if !any {
			begin, end, any = r.start, r.end, true
		}
		begin, end = min(begin, r.start), max(end, r.end)
	}
	return begin, end, end - begin
}

func (f *finisher) efficiency() {
	var e Efficiency
	var most int64
	for _, r := range f.walks {
		e.Time += r.end - r.start
		e.Computation += r.computation
		e.MPI += r.mpi()
		e.Recorder += r.recorder
		e.Off += r.offTime
		most = max(most, r.computation)
	}
	_, _, wall := f.span()
	if n := len(f.walks); n > 0 && e.Time > 0 {
		mean := float64(e.Computation) / float64(n)
		e.MPIShare = share(e.MPI, e.Time)
		if wall -= e.Off / int64(n); wall > 0 {
			e.Parallel = mean / float64(wall)
			e.Communication = share(most, wall)
		}
		if most > 0 {
			e.LoadBalance = mean / float64(most)
		}
	}
	f.profile.Efficiency = e
}

// imbalance is over all ranks; times has those that have any.
func (f *finisher) imbalance(times []rankTime) Imbalance {
	b := Imbalance{Rank: -1, Ranks: len(times)}
	var total int64
	for _, t := range times {
		total += t.time
		if b.Rank < 0 || t.time > b.RankTime {
			b.Rank, b.RankTime = t.rank, t.time
		}
	}
	if total > 0 {
		b.Factor = float64(b.RankTime) * float64(len(f.walks)) / float64(total)
	}
	return b
}

type rankTime struct {
	rank int32
	time int64
}

// total is a cell summed over ranks, with each rank's time.
type total struct {
	cell
	times []rankTime
}

func (t *total) add(rank int32, c *cell) {
	if t.calls+t.unfinished == 0 {
		t.min = math.MaxInt64
	}
	t.calls += c.calls
	t.time += c.time
	t.returned += c.returned
	t.inside += c.inside
	t.min = min(t.min, c.min)
	t.max = max(t.max, c.max)
	t.traffic.add(c.traffic)
	t.errors += c.errors
	t.nested += c.nested
	t.nestedTime += c.nestedTime
	t.unfinished += c.unfinished
	t.times = append(t.times, rankTime{rank, c.time})
}

// least is the shortest call, 0 if none returned.
func (t *total) least() int64 {
	if t.returned == 0 {
		return 0
	}
	return t.min
}

func (f *finisher) functionTable() {
	f.profile.Functions = []Function{}
	totals := make([]*total, len(f.traits))
	for _, r := range f.walks {
		for id, c := range r.cells {
			if c == nil || c.calls+c.unfinished == 0 {
				continue
			}
			if totals[id] == nil {
				totals[id] = &total{}
			}
			totals[id].add(r.rank, c)
			if !f.traits[id].setup() {
				f.inCalls += c.time
			}
		}
	}
	for id, t := range totals {
		if t == nil {
			continue
		}
		row := Function{
			Name:       f.traits[id].name,
			Family:     f.traits[id].family.String(),
			Setup:      f.traits[id].setup(),
			Calls:      t.calls,
			Returned:   t.returned,
			Time:       t.time,
			Imbalance:  f.imbalance(t.times),
			Traffic:    t.traffic,
			Errors:     t.errors,
			Nested:     t.nested,
			NestedTime: t.nestedTime,
			Unfinished: t.unfinished,
		}
		if !row.Setup {
			row.ShareApp = share(t.time, f.profile.Efficiency.Time)
			row.ShareMPI = share(t.time, f.inCalls)
		}
		row.Durations = Durations{Mean: mean(t.inside, t.returned), Min: t.least(), Max: t.max}
		times := f.times(mpi.FuncID(id))
		if t.returned > 0 {
			row.Median = times.quantile(50, row.Min, row.Max)
			row.P99 = times.quantile(99, row.Min, row.Max)
		}
		f.profile.Functions = append(f.profile.Functions, row)
	}
	slices.SortStableFunc(f.profile.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name))
	})
}

// times are the workers' distributions of one function's times, together.
func (f *finisher) times(fn mpi.FuncID) *durations {
	all := newDurations()
	for _, w := range f.workers {
		if w.times[fn] != nil {
			all.merge(w.times[fn])
		}
	}
	return all
}

// siteTable joins sites of one function with the same place: several addresses
// on one line, or one address in several processes.
func (f *finisher) siteTable() {
	f.profile.Sites = []Site{}
	type key struct {
		trait *trait
		place place
	}
	type joined struct {
		total
		ranks map[int32]int64
	}
	totals := make(map[key]*joined)
	places := make(map[format.ID]place)
	for _, r := range f.walks {
		for k, c := range r.sites {
			if c.calls+c.unfinished == 0 {
				continue
			}
			where, ok := places[k.site]
			if !ok {
				where = f.place(k.site)
				places[k.site] = where
			}
			at := key{f.trait(k.fn), where}
			t := totals[at]
			if t == nil {
				t = &joined{ranks: make(map[int32]int64)}
				totals[at] = t
			}
			t.add(r.rank, c)
			t.ranks[r.rank] += c.time
		}
	}
	for at, t := range totals {
		times := make([]rankTime, 0, len(t.ranks))
		for rank, time := range t.ranks {
			times = append(times, rankTime{rank, time})
		}
		slices.SortFunc(times, func(a, b rankTime) int { return cmp.Compare(a.rank, b.rank) })
		row := Site{
			Function:   at.trait.name,
			Setup:      at.trait.setup(),
			File:       at.place.file,
			Line:       at.place.line,
			Caller:     at.place.caller,
			Place:      at.place.text,
			Calls:      t.calls,
			Returned:   t.returned,
			Time:       t.time,
			Mean:       mean(t.inside, t.returned),
			Min:        t.least(),
			Max:        t.max,
			Imbalance:  f.imbalance(times),
			Traffic:    t.traffic,
			Unfinished: t.unfinished,
		}
		if !row.Setup {
			row.ShareApp = share(t.time, f.profile.Efficiency.Time)
			row.ShareMPI = share(t.time, f.inCalls)
		}
		f.profile.Sites = append(f.profile.Sites, row)
	}
	slices.SortFunc(f.profile.Sites, func(a, b Site) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Function, b.Function),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Caller, b.Caller))
	})
}

func (f *finisher) rankTable() {
	f.profile.Ranks = []Rank{}
	hosts := f.hosts()
	for _, r := range f.walks {
		row := Rank{
			Rank:        r.rank,
			Host:        hosts[r.rank],
			Begin:       r.start,
			End:         r.end,
			Computation: r.computation,
			MPI:         r.mpi(),
			Recorder:    r.recorder,
			Off:         r.offTime,
			Share:       share(r.mpi(), r.end-r.start),
			Calls:       r.calls,
			Threads:     []Thread{},
			Traffic:     r.traffic,
			Errors:      r.errors,
		}
		for _, t := range r.threads {
			row.Threads = append(row.Threads, Thread{t.id, t.calls, t.mpi})
		}
		slices.SortFunc(row.Threads, func(a, b Thread) int { return cmp.Compare(a.ID, b.ID) })
		f.profile.Ranks = append(f.profile.Ranks, row)
	}
}

func (f *finisher) regionTable() {
	f.profile.Regions = []Region{}
	rows := make(map[string]*Region)
	times := make(map[string][]rankTime)
	for _, r := range f.walks {
		for name, c := range r.regions.cells {
			row := rows[name]
			if row == nil {
				row = &Region{Name: name}
				rows[name] = row
			}
			row.Visits += c.visits
			row.Inclusive += c.inclusive
			row.Exclusive += c.exclusive
			row.MPI += c.mpi
			row.Max = max(row.Max, c.max)
			row.Unclosed += c.unclosed
			row.Unmatched += c.unmatched
			times[name] = append(times[name], rankTime{r.rank, c.inclusive})
		}
	}
	for name, row := range rows {
		row.Imbalance = f.imbalance(times[name])
		f.profile.Regions = append(f.profile.Regions, *row)
	}
	slices.SortFunc(f.profile.Regions, func(a, b Region) int {
		return cmp.Or(cmp.Compare(b.Inclusive, a.Inclusive), cmp.Compare(a.Name, b.Name))
	})
}

func (f *finisher) markerTable() {
	f.profile.Markers = []Marker{}
	rows := make(map[markerKey]*Marker)
	for _, r := range f.walks {
		for k, c := range r.markers {
			row := rows[k]
			if row == nil {
				row = &Marker{Level: k.level, Name: f.trace.Text(k.text), First: c.first, Last: c.last}
				rows[k] = row
			}
			row.Count += c.count
			row.Ranks++
			row.First, row.Last = min(row.First, c.first), max(row.Last, c.last)
		}
	}
	for _, row := range rows {
		f.profile.Markers = append(f.profile.Markers, *row)
	}
	slices.SortFunc(f.profile.Markers, func(a, b Marker) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Name, b.Name))
	})
}
