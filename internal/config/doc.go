// SPDX-License-Identifier: Apache-2.0

// Package config is the one place that knows the recorder's settings: the
// MPITRACE_ variables, what they may hold, their defaults and their help. The
// recorder reads them at MPI_Init, the options of mpitrace run and the manual
// pages are made from the same table.
//
// It runs inside traced processes: it imports the standard library and
// package mpi only, has no state, and never fails. A setting that cannot be
// used is reported as a Problem, and its default holds.
package config
