// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

// Command interpose is libmpitrace: all that enters a traced process. It is no
// program: build.sh makes the preload library lib/libmpitrace.so and the
// archive lib/libmpitrace.a of it.
//
// The path of an MPI call is C (wrappers_gen.c, wrap.h, mpit.h): a generated
// wrapper stores one record into the calling thread's ring and calls the real
// function. Go runs on one thread of its own, which empties the rings into the
// trace file (drain.go), and never on the path of a call; it is started by
// MPI_Init, not when the library is loaded (golang.c).
//
// Nothing here may abort the program, change what it computes or prints, or
// rely on a signal. Nothing may import this package.
//
// The ring's layout is specified in ../tracebuf/ring.h, what a record keeps in
// ../mpi/record.go, the file in package format.
package main

//go:generate go run ./internal/wrapgen .

func main() {}
