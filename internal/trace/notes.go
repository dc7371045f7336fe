// SPDX-License-Identifier: Apache-2.0

package trace

import "github.com/mpitrace/mpitrace/format"

// Notes returns the problems that a merged file must carry on: those that its
// other contents do not tell.
func (t *Trace) Notes() []format.Note {
	var notes []format.Note
	for _, p := range t.Problems() {
		switch p.Kind {
		case ProblemMissing, ProblemUnfinished, ProblemLoss:
			continue // told by Run, Summaries and Losses
		case ProblemOtherRun, ProblemMergedFile, ProblemNotTrace:
			continue // about files that are not part of the run
		}
		notes = append(notes, format.Note{Rank: p.Rank, Kind: string(p.Kind), File: p.File, Count: p.Count, Text: p.Text, Hint: p.Hint})
	}
	return notes
}
