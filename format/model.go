// SPDX-License-Identifier: Apache-2.0

package format

import "github.com/mpitrace/mpitrace/mpi"

// Neutral values of arguments for which every MPI has its own constants. They
// are stored in place of the library's, so that a trace reads the same
// whichever MPI it was recorded under.
const (
	NoRank    int32 = -1 << 31 // the argument does not apply to this call
	AnySource int32 = -1
	ProcNull  int32 = -2
	RootRank  int32 = -3 // MPI_ROOT of an intercommunicator collective

	NoTag  int32 = -1 << 31
	AnyTag int32 = -1

	NoCount int64 = -1 << 63
)

// ID names a definition within its kind: communicator 3, datatype 12, site 40.
// Ids are local to a rank in a rank file and global in a merged file. 0 is none.
type ID uint32

// Flags say how a call differs from the plain case.
type Flags uint16

// The flags of a call.
const (
	FlagAnySource Flags = 1 << iota // the receive was posted with MPI_ANY_SOURCE; Peer is the source it got
	FlagAnyTag                      // the receive was posted with MPI_ANY_TAG; Tag is the tag it got
	FlagInFlight                    // the call never returned; its End is 0
	FlagNested                      // made inside another MPI call (from a user callback)
	FlagInPlace                     // MPI_IN_PLACE was given
	FlagTruncated                   // the record is not whole: some completed requests are missing
	FlagRequest                     // the call created or started a request (Calls.Request has its number)
	FlagFalse                       // an Iprobe, Test… that found nothing (flag = 0)
	FlagCancelled                   // the receive that this call completed was cancelled
)

// Side is the second half of a call with two: the receive of a Sendrecv, the
// receive buffer of a collective, the target of a one-sided operation.
type Side struct {
	Peer     int32
	Tag      int32
	Datatype ID
	Count    int64
	Bytes    int64
	Disp     int64 // one-sided: target displacement; I/O: file offset
}

// Sig is a call's signature: all of it that repeats from call to call, that is
// everything but its times and request numbers.
type Sig struct {
	Func     mpi.FuncID
	Flags    Flags
	Thread   uint32 // index among the rank's threads that call MPI
	Comm     ID
	Win      ID
	File     ID
	Datatype ID
	Op       ID
	Site     ID // call site
	Peer     int32
	Tag      int32
	Root     int32
	Count    int64
	Bytes    int64 // sent for a send, received for a receive (what it got)
	Error    int32 // the MPI error code that the call returned, 0 for MPI_SUCCESS
	NDone    uint32
	Second   *Side   // nil unless the call has two sides
	Args     []int64 // remaining integer arguments, in the order of mpi.Func.Args
}

// DoneSig is the repeating part of one completed request.
type DoneSig struct {
	Kind   DoneKind
	Flags  Flags // FlagCancelled, FlagAnySource, FlagAnyTag
	Source int32
	Tag    int32
	Bytes  int64
	Error  int32
}

// DoneKind is what kind of operation a completed request was.
type DoneKind uint8

// The kinds of completed requests.
const (
	DoneUnknown    DoneKind = iota // its start was not recorded
	DoneSend                       // Source, Tag and Bytes are not known from the completion
	DoneRecv                       // Source, Tag and Bytes are what it got
	DoneCollective                 // nonblocking or persistent collective
	DoneOneSided
	DoneIO
	DoneOther   // generalised request, Comm_idup, …
	DoneFreed   // MPI_Request_free: will never be seen to complete
	DonePending // named by the call, but not complete when it returned or died
	DoneStarted // made active by the call (Start, Startall)
)

// Calls is a run of consecutive calls of one rank in order of their begin, as
// a structure of arrays. Index, Begin and End have one element a call.
// The slices belong to whoever made the Calls; a reader that fills one again
// reuses them.
type Calls struct {
	Rank     int32
	FirstSeq uint64 // number of the first call within the rank (merged file) or thread (rank file)

	Sigs  []Sig    // distinct signatures
	Index []uint32 // per call: which of Sigs
	Begin []int64  // ticks in a rank file, nanoseconds since the run's start in a merged file
	End   []int64

	// Request has one element for each call whose signature has FlagRequest,
	// in call order: the request's number, unique in the rank.
	Request []uint64

	// The completed requests of all calls, in call order; call i has
	// Sigs[Index[i]].NDone of them.
	DoneSigs    []DoneSig
	DoneIndex   []uint32
	DoneRequest []uint64
}
