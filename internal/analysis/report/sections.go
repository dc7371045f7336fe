// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mpitrace/mpitrace/format"
	"github.com/mpitrace/mpitrace/internal/analysis"
	"github.com/mpitrace/mpitrace/internal/human"
	"github.com/mpitrace/mpitrace/internal/terminal"
)

// Section is a part of a report.
type Section string

// The sections.
const (
	Losses    Section = "losses"
	Summary   Section = "summary"
	Functions Section = "functions"
	Ranks     Section = "ranks"
	Sites     Section = "sites"
	Sizes     Section = "sizes"
	Regions   Section = "regions"
	Markers   Section = "markers"
)

// Sections are all sections, in the order of a report.
var Sections = []Section{Losses, Summary, Functions, Ranks, Sites, Sizes, Regions, Markers}

func (t *writer) summary() {
	e := &t.Efficiency
	if e.Time == 0 {
		t.printf("\nno time was spent between MPI_Init and MPI_Finalize\n")
		return
	}
	of := func(ns int64) string { return human.Percent(float64(ns) / float64(e.Time)) }
	words := []string{
		fmt.Sprintf("computation %s %%", of(e.Computation)),
		fmt.Sprintf("MPI %s %%", of(e.MPI)),
	}
	if e.Recorder > 0 {
		words = append(words, fmt.Sprintf("waiting for the recorder %s %%", of(e.Recorder)))
	}
	if e.Off > 0 {
		words = append(words, fmt.Sprintf("not recorded %s %% (MPI_Pcontrol)", of(e.Off)))
	}
	t.printf("\n")
	t.wrapped("", words, "   ")
	t.wrapped("", []string{
		fmt.Sprintf("parallel efficiency %s %% =", human.Percent(e.Parallel)),
		fmt.Sprintf("load balance %s %% ×", human.Percent(e.LoadBalance)),
		fmt.Sprintf("communication efficiency %s %%", human.Percent(e.Communication)),
	}, " ")
}

func (t *writer) functions() {
	rows := t.Sort.functions(t.Functions)
	all := len(rows)
	rows = top(rows, t.Top)
	if all == 0 {
		if t.Sections != nil {
			t.printf("no calls\n")
		}
		return
	}
	var errors bool
	for _, f := range rows {
		errors = errors || f.Errors > 0
	}
	type R = analysis.Function
	columns := []column[R]{
		name("function", 24, func(f R) string { return f.Name }),
		number("calls", 0, func(f R) string { return human.Count(f.Calls) }),
		number("time", 0, func(f R) string { return human.Duration(f.Time) }),
		number("app %", 2, func(f R) string { return shareOf(f.Setup, f.ShareApp) }),
		number("MPI %", 1, func(f R) string { return shareOf(f.Setup, f.ShareMPI) }),
		number("mean", 4, func(f R) string { return of(f.Returned, f.Mean) }),
		number("min", 9, func(f R) string { return of(f.Returned, f.Min) }),
		number("median", 6, func(f R) string { return of(f.Returned, f.Median) }),
		number("p99", 5, func(f R) string { return of(f.Returned, f.P99) }),
		number("max", 3, func(f R) string { return of(f.Returned, f.Max) }),
		number("imbalance", 3, func(f R) string { return imbalance(f.Imbalance) }),
	}
	columns = appendTraffic(columns, rows, func(f R) analysis.Traffic { return f.Traffic })
	if errors {
		columns = append(columns, number("errors", 0, func(f R) string { return count(f.Errors) }))
	}
	t.title("Functions", note(len(rows), all))
	t.printf("%s\n", render(columns, rows, t.Width, t.Colors))
	t.functionNotes()
}

// functionNotes says what of the table needs saying.
func (t *writer) functionNotes() {
	var notes []string
	var nested, unfinished uint64
	for _, f := range t.Functions {
		nested += f.Nested
		unfinished += f.Unfinished
	}
	if nested > 0 {
		notes = append(notes, fmt.Sprintf("%s made inside other calls (from callbacks): their time is in those", human.Plural(nested, "call")))
	}
	if unfinished > 0 {
		notes = append(notes, fmt.Sprintf("%s never returned: in time, not in mean to max", human.Plural(unfinished, "call")))
	}
	if t.Run.Threaded {
		notes = append(notes, "several threads of a rank called MPI: time is thread time, app % may exceed 100 in all")
	}
	for i, n := range notes {
		if i == 0 {
			t.printf("\n")
		}
		t.paragraph("- ", n)
	}
}

// appendTraffic adds the columns of bytes that are not empty.
func appendTraffic[R any](columns []column[R], rows []R, of func(R) analysis.Traffic) []column[R] {
	for i, c := range []struct {
		title string
		bytes func(analysis.Traffic) int64
	}{
		{"sent", func(t analysis.Traffic) int64 { return t.Sent }},
		{"received", func(t analysis.Traffic) int64 { return t.Received }},
		{"written", func(t analysis.Traffic) int64 { return t.Written }},
		{"read", func(t analysis.Traffic) int64 { return t.Read }},
	} {
		if slices.ContainsFunc(rows, func(r R) bool { return c.bytes(of(r)) > 0 }) {
			columns = append(columns, number(c.title, 7+i, func(r R) string { return bytes(c.bytes(of(r))) }))
		}
	}
	return columns
}

// fewRanks is up to how many ranks are listed one by one.
const fewRanks = 16

// rankRow is a line of the table of ranks: a rank, or a summary of all.
type rankRow struct {
	name string
	analysis.Rank
}

func (t *writer) ranks() {
	all := t.Ranks
	if len(all) == 0 {
		return
	}
	var rows []rankRow
	remark := ""
	if len(all) <= fewRanks || t.AllRanks {
		for _, r := range all {
			rows = append(rows, rankRow{fmt.Sprint(r.Rank), r})
		}
	} else {
		rows, remark = outliers(all)
	}
	hosts := make(map[string]bool)
	var recorder, off, threads bool
	for _, r := range all {
		hosts[r.Host] = true
		recorder = recorder || r.Recorder > 0
		off = off || r.Off > 0
		threads = threads || len(r.Threads) > 1
	}
	type R = rankRow
	columns := []column[R]{
		name("rank", 0, func(r R) string { return r.name }),
		number("computation", 0, func(r R) string { return human.Duration(r.Computation) }),
		number("MPI", 0, func(r R) string { return human.Duration(r.MPI) }),
		number("MPI %", 0, func(r R) string { return human.Percent(r.Share) }),
	}
	if recorder {
		columns = append(columns, number("recorder", 2, func(r R) string { return human.Duration(r.Recorder) }))
	}
	if off {
		columns = append(columns, number("not recorded", 1, func(r R) string { return human.Duration(r.Off) }))
	}
	columns = append(columns, number("calls", 3, func(r R) string { return human.Count(r.Calls) }))
	columns = appendTraffic(columns, rows, func(r R) analysis.Traffic { return r.Traffic })
	if threads {
		columns = append(columns, number("threads", 6, func(r R) string { return count(uint64(len(r.Threads))) }))
	}
	if len(hosts) > 1 {
		columns = append(columns, name("host", 0, func(r R) string { return terminal.Clean(r.Host) }).dropped(7))
	}
	t.title("Ranks", remark)
	t.printf("%s\n", render(columns, rows, t.Width, t.Colors))
}

// mostOutliers is how many outliers are listed.
const mostOutliers = 10

// outliers are the least, mean and greatest of each column, and the ranks whose
// computation is more than two standard deviations, and one percent, off the
// mean.
func outliers(all []analysis.Rank) (rows []rankRow, remark string) {
	least, most, mean := rankRow{"min", all[0]}, rankRow{"max", all[0]}, rankRow{name: "mean"}
	var square float64
	for _, r := range all {
		least.Computation, most.Computation = min(least.Computation, r.Computation), max(most.Computation, r.Computation)
		least.MPI, most.MPI = min(least.MPI, r.MPI), max(most.MPI, r.MPI)
		least.Share, most.Share = min(least.Share, r.Share), max(most.Share, r.Share)
		least.Recorder, most.Recorder = min(least.Recorder, r.Recorder), max(most.Recorder, r.Recorder)
		least.Off, most.Off = min(least.Off, r.Off), max(most.Off, r.Off)
		least.Calls, most.Calls = min(least.Calls, r.Calls), max(most.Calls, r.Calls)
		least.Sent, most.Sent = min(least.Sent, r.Sent), max(most.Sent, r.Sent)
		least.Received, most.Received = min(least.Received, r.Received), max(most.Received, r.Received)
		least.Written, most.Written = min(least.Written, r.Written), max(most.Written, r.Written)
		least.Read, most.Read = min(least.Read, r.Read), max(most.Read, r.Read)
		mean.Computation += r.Computation
		mean.MPI += r.MPI
		mean.Share += r.Share
		mean.Recorder += r.Recorder
		mean.Off += r.Off
		mean.Calls += r.Calls
		mean.Sent += r.Sent
		mean.Received += r.Received
		mean.Written += r.Written
		mean.Read += r.Read
		square += float64(r.Computation) * float64(r.Computation)
	}
	least.Threads, most.Threads = nil, nil
	least.Host, most.Host = "", ""
	n := int64(len(all))
	mean.Computation /= n
	mean.MPI /= n
	mean.Share /= float64(n)
	mean.Recorder /= n
	mean.Off /= n
	mean.Calls /= uint64(n)
	mean.Sent /= n
	mean.Received /= n
	mean.Written /= n
	mean.Read /= n
	rows = []rankRow{least, mean, most}

	deviation := math.Sqrt(max(0, square/float64(n)-float64(mean.Computation)*float64(mean.Computation)))
	far := func(r analysis.Rank) float64 { return math.Abs(float64(r.Computation - mean.Computation)) }
	var odd []analysis.Rank
	for _, r := range all {
		if d := far(r); d > 2*deviation && d > 0.01*float64(mean.Computation) {
			odd = append(odd, r)
		}
	}
	slices.SortStableFunc(odd, func(a, b analysis.Rank) int {
		switch d := far(b) - far(a); {
		case d > 0:
			return 1
		case d < 0:
			return -1
		}
		return 0
	})
	remark = fmt.Sprintf("all %d with --all-ranks", len(all))
	if len(odd) == 0 {
		return rows, "no outliers; " + remark
	}
	for _, r := range odd[:min(len(odd), mostOutliers)] {
		rows = append(rows, rankRow{fmt.Sprint(r.Rank), r})
	}
	return rows, fmt.Sprintf("and the %d of %d that compute much more or less than the mean; %s",
		min(len(odd), mostOutliers), len(odd), remark)
}

func (t *writer) sites() {
	rows := t.Sort.sites(t.Sites)
	all := len(rows)
	rows = top(rows, t.Top)
	if all == 0 {
		return
	}
	type R = analysis.Site
	columns := []column[R]{
		name("call site", 16, func(s R) string { return terminal.Clean(s.Place) }),
		name("in", 20, func(s R) string { return terminal.Clean(s.Caller) }).dropped(8),
		name("function", 0, func(s R) string { return s.Function }),
		number("calls", 0, func(s R) string { return human.Count(s.Calls) }),
		number("time", 0, func(s R) string { return human.Duration(s.Time) }),
		number("app %", 2, func(s R) string { return shareOf(s.Setup, s.ShareApp) }),
		number("MPI %", 1, func(s R) string { return shareOf(s.Setup, s.ShareMPI) }),
		number("mean", 3, func(s R) string { return of(s.Returned, s.Mean) }),
		number("max", 4, func(s R) string { return of(s.Returned, s.Max) }),
		number("imbalance", 5, func(s R) string { return imbalance(s.Imbalance) }),
	}
	columns = appendTraffic(columns, rows, func(s R) analysis.Traffic { return s.Traffic })
	t.title("Call sites", note(len(rows), all))
	t.printf("%s\n", render(columns, rows, t.Width, t.Colors))
}

func (t *writer) sizes() {
	type R = analysis.Size
	rows := slices.DeleteFunc(slices.Clone(t.Sizes), func(r R) bool {
		return r.Sends.Count+r.Receives.Count+r.Collectives.Count+r.OneSided.Count+r.IO.Count == 0
	})
	if len(rows) == 0 {
		return
	}
	columns := []column[R]{name("size", 0, sizeRange)}
	add := func(title string, drop int, of func(R) analysis.Count) {
		for _, r := range rows {
			if of(r).Count > 0 {
				columns = append(columns,
					number(title, 0, func(r R) string { return count(of(r).Count) }),
					number("bytes", drop, func(r R) string { return bytes(of(r).Bytes) }))
				return
			}
		}
	}
	add("sends", 0, func(r R) analysis.Count { return r.Sends })
	add("receives", 0, func(r R) analysis.Count { return r.Receives })
	add("collectives", 1, func(r R) analysis.Count { return r.Collectives })
	add("one-sided", 2, func(r R) analysis.Count { return r.OneSided })
	add("I/O", 2, func(r R) analysis.Count { return r.IO })
	t.title("Message sizes", "from, up to but not including")
	t.printf("%s\n", render(columns, rows, t.Width, t.Colors))
}

func sizeRange(s analysis.Size) string {
	switch {
	case s.Low == 0:
		return "no data"
	case s.High == s.Low+1:
		return human.Size(s.Low)
	}
	low, high := human.Size(s.Low), human.Size(s.High)
	number, unit, _ := strings.Cut(low, " ")
	if strings.HasSuffix(high, " "+unit) {
		low = number
	}
	return low + " – " + high
}

func (t *writer) regions() {
	rows := top(t.Regions, t.Top)
	if len(rows) == 0 {
		return
	}
	var broken bool
	for _, r := range rows {
		broken = broken || r.Unclosed+r.Unmatched > 0
	}
	type R = analysis.Region
	columns := []column[R]{
		name("region", 16, func(r R) string { return terminal.Clean(r.Name) }),
		number("visits", 0, func(r R) string { return human.Count(r.Visits) }),
		number("inclusive", 0, func(r R) string { return human.Duration(r.Inclusive) }),
		number("exclusive", 1, func(r R) string { return human.Duration(r.Exclusive) }),
		number("MPI", 2, func(r R) string { return human.Duration(r.MPI) }),
		number("MPI %", 0, func(r R) string { return human.Percent(ratio(r.MPI, r.Inclusive)) }),
		number("longest", 4, func(r R) string { return human.Duration(r.Max) }),
		number("imbalance", 3, func(r R) string { return imbalance(r.Imbalance) }),
	}
	if broken {
		columns = append(columns,
			number("not ended", 0, func(r R) string { return count(r.Unclosed) }),
			number("not begun", 0, func(r R) string { return count(r.Unmatched) }))
	}
	t.title("Regions", note(len(rows), len(t.Regions)))
	t.printf("%s\n", render(columns, rows, t.Width, t.Colors))
}

func (t *writer) markers() {
	rows := t.Markers
	if len(rows) == 0 {
		return
	}
	type R = analysis.Marker
	t.title("Markers", "other levels of MPI_Pcontrol")
	t.printf("%s\n", render([]column[R]{
		name("level", 0, func(m R) string { return fmt.Sprint(m.Level) }),
		number("count", 0, func(m R) string { return human.Count(m.Count) }),
		number("ranks", 0, func(m R) string { return human.Count(uint64(m.Ranks)) }),
		number("first at", 1, func(m R) string { return human.Duration(m.First) }),
		number("last at", 1, func(m R) string { return human.Duration(m.Last) }),
	}, rows, t.Width, t.Colors))
}

// none stands in cells to which a column does not apply.
const none = "–"

func shareOf(setup bool, share float64) string {
	if setup {
		return none
	}
	return human.Percent(share)
}

// of is a time of calls that returned.
func of(returned uint64, ns int64) string {
	if returned == 0 {
		return none
	}
	return human.Duration(ns)
}

func bytes(n int64) string {
	if n == 0 {
		return none
	}
	return human.Bytes(n)
}

func count(n uint64) string {
	if n == 0 {
		return none
	}
	return human.Count(n)
}

// imbalance is how much longer the longest rank took than the mean, and which
// one it is.
func imbalance(b analysis.Imbalance) string {
	if b.Factor == 0 {
		return none
	}
	return fmt.Sprintf("%.2f @%d", b.Factor, b.Rank)
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func peer(u analysis.Unfinished) string {
	s := fmt.Sprintf("peer %d", *u.Peer)
	switch *u.Peer {
	case format.AnySource:
		s = "any source"
	case format.ProcNull:
		s = "MPI_PROC_NULL"
	}
	if u.Tag != nil {
		if *u.Tag == format.AnyTag {
			s += ", any tag"
		} else {
			s += fmt.Sprintf(", tag %d", *u.Tag)
		}
	}
	if u.Comm != "" {
		s += ", " + u.Comm
	}
	return s
}

// top is the first n rows, all if n is 0.
func top[R any](rows []R, n int) []R {
	if n > 0 && n < len(rows) {
		return rows[:n]
	}
	return rows
}

func note(shown, all int) string {
	if shown == all {
		return ""
	}
	return fmt.Sprintf("the first %d of %d; --top 0 shows all", shown, all)
}
