// SPDX-License-Identifier: Apache-2.0

package mpi

// The comment behind a constant of Dir, Side, Family, CType and Kind begins with
// its name, up to a colon: that is what String returns and what functions.txt
// says. The generator reads it here. MPI_ is left out of the constants of MPI.

// Dir says who writes an argument's target, seen from the MPI library.
type Dir uint8

// The directions.
const (
	In      Dir = iota // in: read only
	Out                // out: written only
	InOut              // inout: read and written
	NumDirs            // number of directions
)

// Side says which half of a communication an argument belongs to, where there
// are several. Buffers carry it always, other arguments where the function has
// more than one side.
type Side uint8

// The sides.
const (
	SideNone    Side = iota // none: not said, or both
	SideSend                // send: what leaves the caller
	SideRecv                // recv: what reaches the caller
	SideOrigin              // origin: the caller of a one-sided operation
	SideTarget              // target: whose window is accessed
	SideResult              // result: what was in the window before
	SideCompare             // compare: what Compare_and_swap compares with
	NumSides                // number of sides
)

// Family groups functions as the MPI standard's chapters do. It is what
// filters and colours go by.
type Family uint8

// The families.
const (
	FamilyNone     Family = iota // none
	P2P                          // p2p: point-to-point, partitioned, buffers of buffered sends
	Collective                   // collective: collectives on all members, and reduction operations
	Neighborhood                 // neighborhood: collectives on topology neighbours
	Completion                   // completion: waits, tests, everything done to requests
	OneSided                     // one-sided: windows, access to them, their synchronisation
	IO                           // io: files
	Communicator                 // communicator: creation, inquiry
	GroupFamily                  // group: groups
	DatatypeFamily               // datatype: creation, inquiry
	Topology                     // topology: Cartesian and graph topologies
	Process                      // process: spawning, connecting, ports and names
	SessionFamily                // session: sessions
	Tool                         // tool: MPI_T
	Environment                  // environment: begin and end of MPI, memory, ABI
	InfoFamily                   // info: info objects
	Attribute                    // attribute: keyvals and attributes
	ErrorHandling                // error: error handlers, codes, classes
	Query                        // query: local questions that belong to no object: status, time, version, address
	Pack                         // pack: pack and unpack
	Control                      // control: Pcontrol
	Conversion                   // conversion: of handles and statuses, between languages and ABIs
	NumFamilies                  // number of families
)

// Role says what a function does to requests and objects, and how it behaves.
// It is a set.
type Role uint64

// The roles.
const (
	RoleStarts      Role = 1 << iota // creates a request that is active
	RoleInits                        // creates a persistent request, inactive
	RoleActivates                    // makes persistent requests active (Start, Startall)
	RoleCompletes                    // completes requests (Wait…, Test…)
	RoleInspects                     // tells a request's state, leaves it (Request_get_status)
	RoleFrees                        // frees the object that it takes (request, communicator, …)
	RoleCancels                      // cancels a request
	RoleCreates                      // creates the object that it returns
	RoleSends                        // a point-to-point send side
	RoleReceives                     // a point-to-point receive side
	RoleProbes                       // looks for a message
	RoleMatches                      // takes a matched message (Mrecv)
	RoleBlocking                     // may wait for another process
	RoleNonblocking                  // the I form of something
	RolePersistent                   // the _init form of something
	RolePartitioned                  // partitioned communication
	RoleCollective                   // every member of the communicator, window or file calls it
	RoleRooted                       // has a root
	RoleSync                         // synchronises without data (Barrier, Win_fence, …)
	RoleSetup                        // begins or ends MPI in the process (Init, Finalize, Session_init)
	RoleAnytime                      // allowed before MPI_Init and after MPI_Finalize
	RoleNames                        // sets an object's name
	RoleTest                         // returns at once whether or not it completed anything
	RoleLarge                        // the _c form
	RoleDeprecated                   // deprecated or removed from the standard
	RoleLeaveAlone                   // must not be interposed (f2c/c2f, toint/fromint)
	RoleSplitBegin                   // begins a split collective
	RoleSplitEnd                     // ends a split collective
	RoleObtains                      // returns a handle that may exist already (Comm_get_parent, Get_errhandler)
)

// CType is an ABI-neutral C type.
type CType uint8

// The C types.
const (
	TVoid                  CType = iota // void
	TInt                                // int
	TChar                               // char
	TDouble                             // double
	TAint                               // MPI_Aint
	TCount                              // MPI_Count
	TOffset                             // MPI_Offset
	TFint                               // MPI_Fint
	TComm                               // MPI_Comm
	TDatatype                           // MPI_Datatype
	TRequest                            // MPI_Request
	TStatus                             // MPI_Status
	TOp                                 // MPI_Op
	TGroup                              // MPI_Group
	TWin                                // MPI_Win
	TFile                               // MPI_File
	TInfo                               // MPI_Info
	TSession                            // MPI_Session
	TMessage                            // MPI_Message
	TErrhandler                         // MPI_Errhandler
	TF08Status                          // MPI_F08_status
	TToolEnum                           // MPI_T_enum
	TToolCvarHandle                     // MPI_T_cvar_handle
	TToolPvarHandle                     // MPI_T_pvar_handle
	TToolPvarSession                    // MPI_T_pvar_session
	TToolEventRegistration              // MPI_T_event_registration
	TToolEventInstance                  // MPI_T_event_instance
	TToolCbSafety                       // MPI_T_cb_safety
	TToolSourceOrder                    // MPI_T_source_order
	TCallback                           // function pointer
	TVarargs                            // ...
	NumCTypes                           // number of C types
)

// Kind is what an argument means.
type Kind uint8

// The kinds.
const (
	KindNone         Kind = iota // none
	KindBuffer                   // buffer: data of the program's, may be BOTTOM, IN_PLACE or BUFFER_AUTOMATIC
	KindCount                    // count: elements in a buffer or an array
	KindDatatype                 // datatype
	KindRank                     // rank: in a communicator, window or group, may be PROC_NULL or ANY_SOURCE
	KindRoot                     // root: rank of the root, may be ROOT or PROC_NULL
	KindTag                      // tag: may be ANY_TAG
	KindComm                     // comm
	KindRequest                  // request
	KindStatus                   // status: may be STATUS_IGNORE or STATUSES_IGNORE
	KindOp                       // op
	KindGroup                    // group
	KindWin                      // win
	KindFile                     // file
	KindInfo                     // info
	KindSession                  // session
	KindMessage                  // message
	KindErrhandler               // errhandler
	KindKeyval                   // keyval: attribute key, some predefined
	KindCallback                 // callback: function of the program, some predefined
	KindExtraState               // extra-state: handed on to a callback
	KindAttribute                // attribute: attribute's value or where it goes
	KindString                   // string: characters
	KindStringLength             // string-length: characters in a string or room for them
	KindArgv                     // argv: list of strings, may be ARGV_NULL or ARGVS_NULL
	KindFlag                     // flag: true or false
	KindIndex                    // index: of an array or list, may be UNDEFINED
	KindDisplacement             // displacement: in bytes or elements
	KindOffset                   // offset: in a file
	KindSize                     // size: in bytes
	KindColor                    // color: may be UNDEFINED
	KindKey                      // key: orders ranks in Comm_split
	KindPartition                // partition: number of a partition
	KindDimension                // dimension: of a grid: extent, coordinate or number
	KindAddress                  // address: in memory
	KindThreadLevel              // thread-level: THREAD_...
	KindErrorCode                // error-code: SUCCESS or ERR_..., may be ERRCODES_IGNORE where an array
	KindErrorClass               // error-class: ERR_...
	KindAssert                   // assert: set of MODE_NO...
	KindLockType                 // lock-type: LOCK_...
	KindMode                     // mode: set of MODE_... of a file
	KindWhence                   // whence: SEEK_...
	KindOrder                    // order: ORDER_...
	KindCombiner                 // combiner: COMBINER_...
	KindComparison               // comparison: IDENT to UNEQUAL
	KindSplitType                // split-type: COMM_TYPE_...
	KindTopology                 // topology: CART, GRAPH, DIST_GRAPH or UNDEFINED
	KindTypeClass                // type-class: TYPECLASS_...
	KindDistribution             // distribution: DISTRIBUTE_... or its argument
	KindWeight                   // weight: of edges, may be UNWEIGHTED or WEIGHTS_EMPTY
	KindLevel                    // level: of Pcontrol
	KindVersion                  // version: of MPI or its ABI
	KindFortran                  // fortran: integer that stands for a handle or status, or a Fortran value
	KindTool                     // tool: object of MPI_T
	KindNumber                   // number: plain number, the same in every MPI library
	KindTime                     // time: seconds or ticks
	KindVarargs                  // varargs
	KindToolConst                // tool-constant: constant of MPI_T
	NumKinds                     // number of kinds
)
