// SPDX-License-Identifier: Apache-2.0

// Package timeline shows a run as ranks over time. A Builder reduces the calls
// to a level of detail: rows of ranks and bins of time, and for each cell how
// long its ranks were in which class of MPI functions. WriteText and WriteSVG
// draw a level.
//
// Each call is read once and nothing is kept of it: a level's memory is rows
// times bins, whatever the trace's length. The package knows nothing of
// terminals: whoever calls it says how wide the drawing is and whether it may
// have colours.
package timeline
