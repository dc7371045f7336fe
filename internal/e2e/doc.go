// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the end-to-end tests: they build the programs of
// testdata/mpi with each MPI that is installed, run them with and without the
// recorder, and hold what mpitrace-view says of the traces against what the
// programs wrote down. It has tests only.
//
// Without an MPI, or without lib/libmpitrace.so, they are skipped; with
// MPITRACE_REQUIRE_MPI=1, which make test sets, that is a failure.
package e2e
