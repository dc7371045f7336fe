// SPDX-License-Identifier: Apache-2.0

// Package mpi is the vocabulary: one table of all MPI functions, with their
// prototypes, the role of every argument, and their family. Everything that is
// said per function elsewhere (wrappers, ids, names, what a record keeps) is
// generated from it or computed from it.
//
// It knows no MPI library: types and constants are ABI-neutral, no mpi.h is
// needed. It must not import any other package of this module.
//
// The table's source is functions.txt in this folder; its head describes the
// syntax of a row. Adding an MPI function is one row there, then go generate.
package mpi

//go:generate go run ./internal/gen
