// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/mpitrace/mpitrace/internal/trace"

// Profile is what is known of a run without its single calls. Its JSON form is
// stable: keys are only added, and Schema tells when a meaning changes. Times
// are integers in nanoseconds, sizes in bytes, shares fractions of 1.
type Profile struct {
	Schema     int        `json:"schema"`
	Run        Run        `json:"run"`
	Losses     Losses     `json:"losses"`
	Efficiency Efficiency `json:"efficiency"`
	Functions  []Function `json:"functions"`
	Ranks      []Rank     `json:"ranks"`
	Sites      []Site     `json:"sites"`
	Sizes      []Size     `json:"message_sizes"`
	Regions    []Region   `json:"regions"`
	Markers    []Marker   `json:"markers"`
}

// Schema is the version of Profile's JSON form.
const Schema = 1

// Run says which run the profile is of, and what of it was read.
type Run struct {
	ID           string   `json:"id"`
	Command      []string `json:"command"`
	Started      int64    `json:"started_unix_ns"`
	Tool         string   `json:"tool"`
	Library      string   `json:"mpi_library"`
	Hosts        int      `json:"hosts"`
	Size         int      `json:"size"`  // ranks of MPI_COMM_WORLD
	Ranks        int      `json:"ranks"` // ranks in the profile
	Begin        int64    `json:"begin_ns"`
	End          int64    `json:"end_ns"`
	Wall         int64    `json:"wall_ns"` // from the first rank's MPI_Init to the last rank's MPI_Finalize
	Calls        uint64   `json:"calls"`
	Threaded     bool     `json:"threaded"` // some rank calls MPI from several threads
	Restrictions []string `json:"restrictions"`
}

// Efficiency is how well the ranks' time was used, as fractions of 1. Parallel
// is LoadBalance times Communication; the wall time they refer to is without
// the time that was not recorded.
type Efficiency struct {
	Time          int64   `json:"application_ns"` // of all ranks together
	Computation   int64   `json:"computation_ns"`
	MPI           int64   `json:"mpi_ns"`
	Recorder      int64   `json:"recorder_ns"`
	Off           int64   `json:"not_recorded_ns"`
	MPIShare      float64 `json:"mpi_share"`
	Parallel      float64 `json:"parallel_efficiency"`      // mean computation / wall
	LoadBalance   float64 `json:"load_balance"`             // mean computation / max computation
	Communication float64 `json:"communication_efficiency"` // max computation / wall
}

// Durations describes the times of a set of calls that returned.
type Durations struct {
	Mean   int64 `json:"mean_ns"`
	Min    int64 `json:"min_ns"`
	Median int64 `json:"median_ns"`
	P99    int64 `json:"p99_ns"`
	Max    int64 `json:"max_ns"`
}

// Traffic is what a set of calls sent to and received from other ranks, and
// wrote to and read from files.
type Traffic struct {
	Sent     int64 `json:"sent_bytes"`
	Received int64 `json:"received_bytes"`
	Written  int64 `json:"written_bytes"`
	Read     int64 `json:"read_bytes"`
}

func (t *Traffic) add(o Traffic) {
	t.Sent += o.Sent
	t.Received += o.Received
	t.Written += o.Written
	t.Read += o.Read
}

// Imbalance is how unevenly a time is spread over the ranks.
type Imbalance struct {
	Factor   float64 `json:"imbalance"` // maximum / mean over all ranks in the profile
	Rank     int32   `json:"max_rank"`
	RankTime int64   `json:"max_rank_ns"`
	Ranks    int     `json:"ranks"` // ranks that have any of it
}

// Function is one MPI function.
type Function struct {
	Name     string  `json:"function"`
	Family   string  `json:"family"`
	Setup    bool    `json:"setup"` // begins or ends MPI: has no shares
	Calls    uint64  `json:"calls"`
	Returned uint64  `json:"returned_calls"` // neither nested nor unfinished
	Time     int64   `json:"time_ns"`
	ShareApp float64 `json:"share_application"`
	ShareMPI float64 `json:"share_mpi"`
	Durations
	Imbalance
	Traffic
	Errors     uint64 `json:"error_calls"`
	Nested     uint64 `json:"nested_calls"`
	NestedTime int64  `json:"nested_ns"`
	Unfinished uint64 `json:"unfinished_calls"`
}

// Rank is one rank of MPI_COMM_WORLD.
type Rank struct {
	Rank        int32    `json:"rank"`
	Host        string   `json:"host"`
	Begin       int64    `json:"begin_ns"` // of its application time
	End         int64    `json:"end_ns"`
	Computation int64    `json:"computation_ns"`
	MPI         int64    `json:"mpi_ns"`
	Recorder    int64    `json:"recorder_ns"`
	Off         int64    `json:"not_recorded_ns"`
	Share       float64  `json:"mpi_share"`
	Calls       uint64   `json:"calls"`
	Threads     []Thread `json:"threads"`
	Traffic
	Errors uint64 `json:"error_calls"`
}

// Thread is one thread of a rank that calls MPI.
type Thread struct {
	ID    uint32 `json:"thread"`
	Calls uint64 `json:"calls"`
	MPI   int64  `json:"mpi_ns"`
}

// Site is a place in the program and the function that it calls.
type Site struct {
	Function string  `json:"function"`
	File     string  `json:"file"` // source file, or the module if that is not known
	Line     int32   `json:"line"`
	Caller   string  `json:"caller"` // the function of the program
	Place    string  `json:"site"`   // file:line, or module+offset
	Setup    bool    `json:"setup"`
	Calls    uint64  `json:"calls"`
	Returned uint64  `json:"returned_calls"`
	Time     int64   `json:"time_ns"`
	ShareApp float64 `json:"share_application"`
	ShareMPI float64 `json:"share_mpi"`
	Mean     int64   `json:"mean_ns"`
	Min      int64   `json:"min_ns"`
	Max      int64   `json:"max_ns"`
	Imbalance
	Traffic
	Unfinished uint64 `json:"unfinished_calls"`
}

// Size is a bucket of the message-size histogram: Low <= bytes < High. The
// first bucket is of messages without data.
type Size struct {
	Low         int64 `json:"low_bytes"`
	High        int64 `json:"high_bytes"`
	Sends       Count `json:"sends"`
	Receives    Count `json:"receives"`
	Collectives Count `json:"collectives"`
	OneSided    Count `json:"one_sided"`
	IO          Count `json:"io"`
}

// Count is a number of messages and their bytes.
type Count struct {
	Count uint64 `json:"count"`
	Bytes int64  `json:"bytes"`
}

// Region is a region of the program, marked by MPI_Pcontrol.
type Region struct {
	Name      string `json:"region"`
	Visits    uint64 `json:"visits"`
	Inclusive int64  `json:"inclusive_ns"`
	Exclusive int64  `json:"exclusive_ns"` // without the regions inside
	MPI       int64  `json:"mpi_ns"`       // of the inclusive time
	Max       int64  `json:"max_ns"`       // longest visit
	Imbalance
	Unclosed  uint64 `json:"unclosed"`       // begun, never ended
	Unmatched uint64 `json:"unmatched_ends"` // ended, not begun
}

// Marker counts an MPI_Pcontrol level that means nothing to mpitrace.
type Marker struct {
	Level int64  `json:"level"`
	Name  string `json:"name"`
	Count uint64 `json:"count"`
	Ranks int    `json:"ranks"`
	First int64  `json:"first_ns"`
	Last  int64  `json:"last_ns"`
}

// Losses is all that is missing from the trace, or disturbed by recording it.
type Losses struct {
	Problems   []trace.Problem `json:"problems"` // with reading the trace
	Waits      []Wait          `json:"recorder_waits"`
	Unfinished []Unfinished    `json:"unfinished_calls"`
}

// Wait is time that the program lost to the recorder.
type Wait struct {
	Kind  string `json:"kind"` // inline, flush, final or background
	Count uint64 `json:"count"`
	Time  int64  `json:"time_ns"`
	Max   int64  `json:"max_ns"`
	Ranks int    `json:"ranks"`
}

// Unfinished is a call that never returned.
type Unfinished struct {
	Rank     int32  `json:"rank"`
	Thread   uint32 `json:"thread"`
	Function string `json:"function"`
	Begin    int64  `json:"begin_ns"`
	Time     int64  `json:"time_ns"` // to the end of the run, or to the thread's next call
	Peer     *int32 `json:"peer,omitempty"`
	Tag      *int32 `json:"tag,omitempty"`
	Comm     string `json:"comm,omitempty"`
	Site     string `json:"site"`
	Nested   bool   `json:"nested"`
	Left     bool   `json:"left"` // its thread called again: left by a jump or an exception
}
