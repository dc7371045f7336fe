// SPDX-License-Identifier: Apache-2.0

// Package rows reads mpi/functions.txt, the source of the function table. It
// knows the syntax of a row, not what families, roles and kinds there are: the
// generator resolves those. The head of functions.txt describes the syntax.
package rows

import "fmt"

// Pos is a place in the file; line and column count from 1, columns in bytes.
type Pos struct{ Line, Col int }

// Word is a name in the file and where it stands.
type Word struct {
	Pos
	Text string
}

// File is a parsed functions.txt.
type File struct {
	Rows []Row     // in the file's order
	Left []LeftOut // in the file's order
}

// LeftOut is a name that MPI libraries export and that is no row, and why.
type LeftOut struct {
	Name   Word
	Reason string
}

// Row is one function.
type Row struct {
	Pos
	ID      int
	Name    Word
	Family  Word
	Roles   []Word
	Comment string // the comment lines right above the row, joined by spaces
	Return  Word   // C type of the result
	Result  Word   // kind of the result, empty if not given
	Params  []Param
}

// Param is one parameter of a row.
type Param struct {
	Pos
	Name  string
	Const bool
	Type  string // C type without const, stars and brackets
	Stars int    // stars only, the brackets of an array not counted
	Array *Length
	Inner int // second dimension of an array, 0 if none

	Kind     Word // empty if not given
	Dir      Word // empty if not given
	Side     Word // empty if not given
	RootOnly bool
	Holds    *Holding
	Note     string
}

// Length is what stands between the brackets of an array.
type Length struct {
	Pos
	Form   LengthForm
	Name   string // of a parameter, a limit, or the word behind @
	Plus   int    // number, or what is added to a parameter
	Filled string // behind the colon
}

// LengthForm is the form of a Length.
type LengthForm uint8

// The forms.
const (
	FormParam  LengthForm = iota // [count], [valuelen+1]
	FormNumber                   // [3]
	FormLimit                    // [MPI_MAX_PORT_NAME]
	FormAt                       // [@size]
	FormSum                      // [sum(degrees)]
	FormLast                     // [last(indx)]
)

// Holding is what a buffer holds: count*datatype or count*datatype*times.
type Holding struct {
	Pos
	Count    string // a parameter, or "1"
	Own      bool   // count[@rank]
	Datatype string // a parameter, or "byte"
	Times    *Length
}

// Error is a mistake in the file, with its place.
type Error struct {
	File string
	Pos
	Msg string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}
