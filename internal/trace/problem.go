// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mpitrace/mpitrace/format"
)

// ProblemKind says what is wrong with a trace.
type ProblemKind string

// The kinds of problems.
const (
	ProblemNotTrace    ProblemKind = "not-a-trace"     // a file that is none, left out
	ProblemVersion     ProblemKind = "unknown-version" // a file of a newer format, left out
	ProblemUnreadable  ProblemKind = "unreadable"      // a file that could not be opened, left out
	ProblemOtherRun    ProblemKind = "other-run"       // files of another run, left out
	ProblemMergedFile  ProblemKind = "merged-file"     // a merged file beside rank files: one of them was left out
	ProblemDuplicate   ProblemKind = "duplicate-rank"  // a second file of the same rank, left out
	ProblemMissing     ProblemKind = "missing-ranks"   // ranks of the run without a file
	ProblemDamaged     ProblemKind = "damaged"         // blocks that could not be read, left out
	ProblemTruncated   ProblemKind = "truncated"       // a file that ends before its end
	ProblemUnfinished  ProblemKind = "unfinished"      // recording did not end in order
	ProblemLoss        ProblemKind = "loss"            // the recorder lost something, and says so
	ProblemClock       ProblemKind = "clock"           // times that cannot be trusted fully
	ProblemUnaligned   ProblemKind = "unaligned"       // hosts whose clocks were not measured against each other
	ProblemDefinitions ProblemKind = "definitions"     // definitions that contradict each other or are missing
)

// Problem is something about a trace that its reader must know: what is
// missing, cut off or cannot be trusted. Nothing of it kept the rest of the
// trace from being read.
type Problem struct {
	Kind  ProblemKind
	Rank  int32  // format.NoRank unless it is one rank's
	File  string // "" if it is not about a file
	Count uint64 // of what Text says: calls, files, ranks; 0 if not known
	Text  string // what is wrong, without rank and file
	Hint  string // what to do next, or ""
}

// MarshalJSON writes kind, rank (null if it is not one rank's), file, count,
// text and hint.
func (p Problem) MarshalJSON() ([]byte, error) {
	var rank *int32
	if p.Rank != format.NoRank {
		rank = &p.Rank
	}
	return json.Marshal(struct {
		Kind  ProblemKind `json:"kind"`
		Rank  *int32      `json:"rank"`
		File  string      `json:"file,omitempty"`
		Count uint64      `json:"count,omitempty"`
		Text  string      `json:"text"`
		Hint  string      `json:"hint,omitempty"`
	}{p.Kind, rank, p.File, p.Count, p.Text, p.Hint})
}

// String says where and what.
func (p Problem) String() string {
	var b strings.Builder
	switch {
	case p.File != "":
		fmt.Fprintf(&b, "%s: ", p.File)
	case p.Rank != format.NoRank:
		fmt.Fprintf(&b, "rank %d: ", p.Rank)
	}
	b.WriteString(p.Text)
	if p.Hint != "" {
		fmt.Fprintf(&b, "; %s", p.Hint)
	}
	return b.String()
}

// Summarise makes one line of each problem, but of problems that many ranks
// have alike one line in all: "ranks 0-63: recording did not end in order".
func Summarise(problems []Problem) []string {
	type same struct {
		kind       ProblemKind
		text, hint string
	}
	groups := map[same][]Problem{}
	var order []same
	for _, p := range problems {
		key := same{p.Kind, p.Text, p.Hint}
		if p.Rank == format.NoRank && p.File != "" {
			key.text = p.File + ": " + p.Text
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], p)
	}
	lines := make([]string, 0, len(order))
	for _, key := range order {
		group := groups[key]
		p := group[0]
		if len(group) == 1 {
			lines = append(lines, p.String())
			continue
		}
		var ranks []int32
		for _, q := range group {
			if q.Rank != format.NoRank {
				ranks = append(ranks, q.Rank)
			}
		}
		p.File, p.Rank = "", format.NoRank
		if len(ranks) > 0 {
			p.Text = fmt.Sprintf("ranks %s: %s", RanksOf(ranks), p.Text)
		}
		lines = append(lines, p.String())
	}
	return lines
}

// sortProblems puts problems in an order that does not depend on which file
// was opened first.
func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(kindOrder[a.Kind], kindOrder[b.Kind]),
			cmp.Compare(a.Rank, b.Rank),
			cmp.Compare(a.File, b.File),
		)
	})
}

var kindOrder = map[ProblemKind]int{}

func init() {
	for i, k := range []ProblemKind{
		ProblemNotTrace, ProblemVersion, ProblemUnreadable, ProblemOtherRun, ProblemMergedFile, ProblemDuplicate,
		ProblemMissing, ProblemTruncated, ProblemDamaged, ProblemUnfinished, ProblemLoss,
		ProblemClock, ProblemUnaligned, ProblemDefinitions,
	} {
		kindOrder[k] = i
	}
}
