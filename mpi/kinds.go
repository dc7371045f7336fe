// SPDX-License-Identifier: Apache-2.0

package mpi

// The names behind the constants of Dir, Side, Family, CType and Kind are what
// String returns and what functions.txt says. The generator reads them here.

// Dir says who writes an argument's target, seen from the MPI library.
type Dir uint8

// The directions.
const (
	In      Dir = iota // in
	Out                // out
	InOut              // inout
	NumDirs            // number of directions
)

// Side says which half of a communication an argument belongs to, where there
// are several. Buffers carry it always, other arguments where the function has
// more than one side.
type Side uint8

// The sides.
const (
	SideNone    Side = iota // none
	SideSend                // send
	SideRecv                // recv
	SideOrigin              // origin
	SideTarget              // target
	SideResult              // result
	SideCompare             // compare
	NumSides                // number of sides
)

// Family groups functions as the MPI standard's chapters do. It is what
// filters and colours go by.
type Family uint8

// The families.
const (
	FamilyNone     Family = iota // none
	P2P                          // p2p
	Collective                   // collective
	Neighborhood                 // neighborhood
	Completion                   // completion
	OneSided                     // one-sided
	IO                           // io
	Communicator                 // communicator
	GroupFamily                  // group
	DatatypeFamily               // datatype
	Topology                     // topology
	Process                      // process
	SessionFamily                // session
	Tool                         // tool
	Environment                  // environment
	InfoFamily                   // info
	Attribute                    // attribute
	ErrorHandling                // error
	Query                        // query
	Pack                         // pack
	Control                      // control
	Conversion                   // conversion
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
	KindBuffer                   // buffer
	KindCount                    // count
	KindDatatype                 // datatype
	KindRank                     // rank
	KindRoot                     // root
	KindTag                      // tag
	KindComm                     // comm
	KindRequest                  // request
	KindStatus                   // status
	KindOp                       // op
	KindGroup                    // group
	KindWin                      // win
	KindFile                     // file
	KindInfo                     // info
	KindSession                  // session
	KindMessage                  // message
	KindErrhandler               // errhandler
	KindKeyval                   // keyval
	KindCallback                 // callback
	KindExtraState               // extra-state
	KindAttribute                // attribute
	KindString                   // string
	KindStringLength             // string-length
	KindArgv                     // argv
	KindFlag                     // flag
	KindIndex                    // index
	KindDisplacement             // displacement
	KindOffset                   // offset
	KindSize                     // size
	KindColor                    // color
	KindKey                      // key
	KindPartition                // partition
	KindDimension                // dimension
	KindAddress                  // address
	KindThreadLevel              // thread-level
	KindErrorCode                // error-code
	KindErrorClass               // error-class
	KindAssert                   // assert
	KindLockType                 // lock-type
	KindMode                     // mode
	KindWhence                   // whence
	KindOrder                    // order
	KindCombiner                 // combiner
	KindComparison               // comparison
	KindSplitType                // split-type
	KindTopology                 // topology
	KindTypeClass                // type-class
	KindDistribution             // distribution
	KindWeight                   // weight
	KindLevel                    // level
	KindVersion                  // version
	KindFortran                  // fortran
	KindTool                     // tool
	KindNumber                   // number
	KindTime                     // time
	KindVarargs                  // varargs
	KindToolConst                // tool-constant
	NumKinds                     // number of kinds
)
