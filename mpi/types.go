// SPDX-License-Identifier: Apache-2.0

package mpi

// FuncID numbers an MPI function. Ids are in trace files: they are append-only,
// never reused and never reordered. 0 is no function.
type FuncID uint16

// Func is one row of the table: one MPI function.
type Func struct {
	ID     FuncID
	Name   string // "MPI_Send"
	Family Family
	Role   Role
	Return CType // almost always TInt
	// Result says what the returned value means: KindErrorCode for almost all,
	// a handle's kind, KindTime, KindAddress, KindDisplacement or KindFortran.
	Result Kind
	Params []Param
}

// Param is one parameter of an MPI function.
type Param struct {
	Name string // as in the standard: "sendbuf", "comm"
	// Kind says what the value means: a rank, a tag, a communicator, …
	Kind Kind
	// Dir says who writes it: In, Out or InOut, seen from the MPI library.
	Dir Dir
	// Type is the element's ABI-neutral C type, pointer and array taken off:
	// TInt for "int count", for "int *flag" and for "const int counts[]".
	Type CType
	// Pointer is the number of indirections above Type in the prototype
	// ("int *flag", "int counts[]" and "void *buf" 1, "char ***argv" 3).
	Pointer int
	// Const is set where the prototype says const.
	Const bool
	// Array is nil for what is not an array.
	Array *Length
	// Root marks an argument that matters only on the root (or the leader) of a
	// collective, and is not to be read elsewhere.
	Root bool
	// Side is the half of the communication that the argument belongs to.
	Side Side
	// Holds says how much of what a buffer holds; nil for what is not a buffer
	// and for a buffer whose extent the call does not tell (Note says why).
	Holds *Holding
	// Callback is the C type of a callback ("MPI_User_function").
	Callback string
	// Note is why a buffer has no Holds, or the rule of a LenOther.
	Note string
}

// Holding says how much data a buffer argument holds:
// count x size of the datatype x times.
type Holding struct {
	// Count names the parameter that counts the elements. Where that is an
	// array, the buffer holds the sum over its elements (element i of the type
	// that element i of Datatype names, if Datatype is an array too).
	// Empty: one element.
	Count string
	// Own is set where the buffer holds only the caller's own element of the
	// array Count, counts[rank] (Reduce_scatter).
	Own bool
	// Datatype names the parameter with the elements' type; empty: bytes.
	Datatype string
	// Times is how often count elements are held (one block per rank of an
	// Allgather's receive buffer, one per partition); nil: once.
	Times *Length
}

// Length says how many elements an array argument has.
type Length struct {
	// Param names the parameter that the rule refers to ("count", "incount"),
	// for LenLimit the constant ("MPI_MAX_PORT_NAME"). It may be an output
	// parameter: then the length is known after the call.
	Param string
	// Rule is how the length follows from Param.
	Rule LengthRule
	// Const is the length for LenConst, and is added to the parameter's value
	// for LenParam (Info_get's value has valuelen + 1 characters).
	Const int
	// Filled names the output parameter that says how many elements the call
	// has written, where that is not all of them (Waitsome's outcount).
	Filled string
}

// LengthRule is how the length of an array argument is found.
type LengthRule uint8

// The length rules.
const (
	LenParam     LengthRule = iota // the value of Length.Param
	LenConst                       // Length.Const elements
	LenCommSize                    // the size of the call's communicator (remote size of an intercommunicator)
	LenIndegree                    // in-neighbours of the communicator's topology
	LenOutdegree                   // out-neighbours of the communicator's topology
	LenNulString                   // up to a terminating NUL
	LenNulList                     // up to a terminating null pointer
	LenSum                         // the sum of the array named by Length.Param
	LenTriple                      // three times Length.Param (group ranges)
	LenLast                        // the last element of the array named by Length.Param (graph index)
	LenOther                       // by a rule of its own, said in Param.Note
	LenLimit                       // the MPI library's constant named by Length.Param
	LenLocalSize                   // the size of the communicator's local group
	LenDims                        // the number of dimensions of the communicator's Cartesian topology
)
