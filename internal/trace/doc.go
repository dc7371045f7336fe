// SPDX-License-Identifier: Apache-2.0

// Package trace opens what a run left behind, rank files, a directory of them
// or a merged file, as one trace: times on one clock in nanoseconds since the
// run's start, definitions with ids that mean the same on every rank, and the
// calls of each rank as one stream in the order in which they began, whichever
// thread made them.
//
// It reads whatever can be read. What is missing, damaged, left out or not to
// be trusted is no error but a Problem of the trace.
//
// It knows the files' contents through package format only, and draws no
// conclusions: matching and analysis are packages of their own.
package trace
