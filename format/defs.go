// SPDX-License-Identifier: Apache-2.0

package format

// Run says which run a file belongs to, and what recorded it. It is the first
// record of a file. A merged file has one Run and one Process a rank.
type Run struct {
	ID      [16]byte // the same for all ranks of a run
	Size    int32    // ranks of MPI_COMM_WORLD
	Start   int64    // when the run began: nanoseconds since 1970
	Tool    string   // "mpitrace 0.1.0"
	Job     string   // batch system's job id, or ""
	Parent  string   // W3C TRACEPARENT of the job's environment, or ""
	Command []string // the program's command line
}

// Process is one rank's process: where it ran and what it was linked to.
type Process struct {
	Rank        int32
	PID         int32
	Host        string
	Boot        string // the kernel's boot id: tells a reused pid and a reboot apart
	Executable  string
	Directory   string
	ABI         string // "openmpi", "mpich", "abi" (the MPI-5 standard ABI) or "opaque"
	Library     string // MPI_Get_library_version, first line
	LibraryPath string
	MPIVersion  string    // "3.1"
	ThreadLevel string    // "MPI_THREAD_SINGLE" …
	Clock       string    // "tsc", "cntvct" or "monotonic"
	TickHz      float64   // nominal; ClockPoints are the truth
	Config      []Setting // the effective MPITRACE_ configuration
	Rings       []string  // ring files of the process while it ran
}

// Setting is one effective setting of the recorder.
type Setting struct {
	Name, Value string
	Default     bool
}

// Thread is a thread that called MPI.
type Thread struct {
	Rank int32
	ID   uint32 // index among the rank's threads that call MPI
	TID  int32  // the kernel's id
	Name string
}

// CommKind tells intracommunicators from intercommunicators.
type CommKind uint8

// The kinds of communicators.
const (
	CommIntra CommKind = iota
	CommInter
)

// Comm is a communicator. A later Comm with the same ID replaces an earlier
// one (MPI_Comm_set_name).
type Comm struct {
	ID     ID
	Kind   CommKind
	Name   string // "MPI_COMM_WORLD", or what MPI_Comm_set_name gave, or ""
	Parent ID
	Birth  uint32 // how many communicators Parent had made before, in the order of collective calls on it
	Maker  string // the function that made it: "MPI_Comm_split"
	Global uint64 // the same on all members, different between communicators
	Rank   int32  // this process's rank in it; in a merged file NoRank
	Group  Ranks  // world ranks of the (local) group, in order
	Remote Ranks  // intercommunicator: world ranks of the remote group
}

// Ranks is an ordered list of world ranks, as runs.
type Ranks []RankRun

// RankRun is First, First+Stride, …: Count ranks.
type RankRun struct {
	First, Count, Stride int32
}

// Datatype is an MPI datatype.
type Datatype struct {
	ID     ID
	Name   string // "MPI_DOUBLE", what MPI_Type_set_name gave, or ""
	Size   int64  // bytes of data, -1 if not known
	Extent int64
	Maker  string // the function that made it, "" for a predefined one
	Base   ID     // what it was made from, 0 if nothing or several
}

// Op is a reduction operation.
type Op struct {
	ID   ID
	Name string // "MPI_SUM", or "" for the program's own
}

// Win is a window of one-sided communication.
type Win struct {
	ID   ID
	Name string
	Comm ID
	Size int64 // bytes exposed by this process
	Unit int64 // displacement unit
}

// File is a file opened with MPI-IO.
type File struct {
	ID   ID
	Name string
	Comm ID
	Mode int64
}

// Module is an executable or shared object that was mapped.
type Module struct {
	ID      ID
	Path    string
	BuildID string // hexadecimal, "" if it has none
	Base    uint64 // what to add to the file's addresses (0 for a fixed-position executable)
	Start   uint64 // first mapped address of its code
	End     uint64 // one after the last
}

// Site is a place in the program that calls MPI.
type Site struct {
	ID       ID
	Module   ID
	Address  uint64 // return address as seen by the process, 0 if not known
	Function string // demangled; "" until resolved
	File     string // source file; "" until resolved or if not known
	Line     int32
}

// Text is a string that calls refer to by number: the names of regions and markers.
type Text struct {
	ID   ID
	Text string
}

// ClockPoint ties the rank's clock (ticks) to the node's: all three were read
// at once, within Error nanoseconds.
type ClockPoint struct {
	Rank      int32
	Tick      int64
	Monotonic int64 // CLOCK_MONOTONIC, ns
	Realtime  int64 // CLOCK_REALTIME, ns since 1970
	Error     int64
}

// DrainKind says why a ring was emptied.
type DrainKind uint8

// The kinds of drains.
const (
	DrainBackground DrainKind = iota
	DrainInline               // the thread waited because its ring was full: it disturbed the program
	DrainFlush                // MPI_Pcontrol(2)
	DrainFinal
)

// Drain is one emptying of a ring that made a thread of the program wait.
type Drain struct {
	Rank       int32
	Kind       DrainKind
	Thread     uint32
	Begin, End int64
	Calls      uint64
}

// LossKind is what was lost.
type LossKind uint8

// The kinds of losses.
const (
	LossOverwritten LossKind = iota // ring mode: overwritten before it was written out
	LossDropped                     // no room and no way to make room
	LossUnwritten                   // the file could not be written (disk full, I/O error)
	LossRequests                    // completed requests left out of a record
	LossUntracked                   // requests whose start was not known
	LossThreads                     // calls of threads that got no ring
	LossTorn                        // records that were not whole when the process died
	LossClock                       // times that ran backwards
)

// Loss counts what is missing.
type Loss struct {
	Rank   int32
	Kind   LossKind
	Thread uint32
	Count  uint64
	Detail string // "" or the reason: "no space left on device"
}

// Note is something that whoever merged a run found wrong with its files, and
// that nothing else in the merged file tells: a damaged block, a file left out,
// hosts whose clocks could not be aligned.
type Note struct {
	Rank  int32  // NoRank unless it is one rank's
	Kind  string // a word that programs go by: "damaged", "unaligned"
	File  string // the file it is about, or ""
	Count uint64 // of what Text says; 0 if not known
	Text  string // for people
	Hint  string // what to do about it, or ""
}

// Summary is written when recording ends in order; a file without one was cut
// off.
type Summary struct {
	Rank         int32
	Calls        uint64
	Drains       uint64
	InlineDrains uint64
	End          int64 // tick of the end of recording
	Finalized    bool  // MPI_Finalize was reached
}

// Definitions is everything in a file that is no call, by kind. In a rank file
// all of it is of one rank, and Processes and Summaries have at most one element.
type Definitions struct {
	Run       Run
	Processes []Process
	Threads   []Thread
	Comms     []Comm
	Datatypes []Datatype
	Ops       []Op
	Wins      []Win
	Files     []File
	Modules   []Module
	Sites     []Site
	Texts     []Text
	Clock     []ClockPoint
	Drains    []Drain
	Losses    []Loss
	Summaries []Summary
	Notes     []Note
}
