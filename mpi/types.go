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
	// Root marks an argument that matters only on the root of a collective.
	Root bool
}

// Length says how many elements an array argument has.
type Length struct {
	// Param names the parameter that holds the length ("count", "incount"),
	// or is empty if the length is one of the rules below.
	Param string
	// Rule is how the length follows where no parameter holds it.
	Rule LengthRule
	// Const is the length for LenConst.
	Const int
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
	LenOther                       // by a rule of its own, said in functions.txt
)
