#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Traces a halo exchange whose load moves from rank to rank, merges the ranks'
# files, reports, and draws the timeline: scripts/demo.sh [RANKS]. Everything
# it makes is in demo/.
set -euo pipefail
cd "$(dirname "$0")/.."
ranks=${1:-4}
root=$PWD
export PATH="$root/bin:$PATH"
# Open MPI wants to be told that root may start programs.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

rm -rf demo
mkdir demo
cd demo

show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

show mpicc.openmpi -g -O2 -D_GNU_SOURCE -o halo "../testdata/mpi/halo.c" -lm
show mpitrace run -- mpirun.openmpi --oversubscribe -n "$ranks" ./halo 200 1024 2000
# The pattern is the shell's to expand, and the reader's to see.
printf '\n$ mpitrace-view merge trace.*\n'
mpitrace-view merge trace.*
show mpitrace-view report merged.mpt
show mpitrace-view timeline merged.mpt
printf '\nThe trace is demo/merged.mpt; more: bin/mpitrace-view --help\n'
