// SPDX-License-Identifier: Apache-2.0

// Package launch puts a command line under the recorder: it recognises the
// launcher (Open MPI's, Hydra, Slurm's, or none) and sets the recorder's
// library and settings for the ranks, never for the launcher itself.
//
// It knows nothing of traces. Standard input, output and error are the
// program's: nothing here writes to them.
package launch
