// SPDX-License-Identifier: Apache-2.0

// Package analysis computes a run's profile: how long which ranks, functions
// and call sites spent in MPI, and what they sent and received. It reads each
// call once, in order, and keeps nothing per call: its memory depends on the
// number of ranks, functions, call sites and regions, not on the trace's
// length. It prints nothing.
//
// # What is counted
//
// All times are nanoseconds. A rank's application time runs from the end of
// its MPI_Init (of its first call if MPI_Init is not in the trace) to the
// begin of its MPI_Finalize (to its last recorded time if there is none). So
// MPI_Init and MPI_Finalize have rows of their own, but no share.
//
// Within it a rank is, at any time, in one of four states: in MPI (at least
// one of its threads is inside a call), waiting for the recorder (a drain that
// made it wait, see format.Drain), not recorded (from the return of
// MPI_Pcontrol(0) to the next MPI_Pcontrol(1)), or else computing. The four
// add up to the application time.
//
// Functions and call sites count thread time: two threads in MPI_Recv for one
// second are two seconds of MPI_Recv, and one second of the rank's MPI time.
// A call made inside another call (from a callback, format.FlagNested) counts
// as a call and for its bytes, but its time is its caller's.
//
// A call that never returned counts from its begin to the next call of its
// thread (it was left by a jump or an exception), or to the end of the run: in
// total times, not in mean, minimum, median, 99th percentile and maximum.
//
// Bytes are counted where they are known: a send when it starts, a receive
// when it completes (so MPI_Waitall receives, MPI_Irecv does not), a
// persistent send at each start. Bytes of collectives are the rank's own
// contribution (sent) and result (received), not what the algorithm moves.
//
// Minimum, maximum and total times are exact. Median and 99th percentile come
// from a histogram with buckets of at most 1 % relative width.
package analysis
