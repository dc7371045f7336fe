/* SPDX-License-Identifier: Apache-2.0
 *
 * Every use of MPI_Pcontrol. After level 2, rank 0 runs the command of its
 * first argument (a second process that reads the trace), if there is one, and
 * exits with what that returned. With PCONTROL_EARLY in the environment, calls
 * come before MPI_Init and after MPI_Finalize too: Open MPI itself aborts then,
 * the recorder does not.
 */
#include "expect.h"
#include "../../include/mpitrace.h"

static void message(int rank, int tag, int recorded)
{
	int value = tag;
	if (rank == 0)
		MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
	else if (rank == 1)
		MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (recorded && rank < 2)
		expect(rank == 0 ? "MPI_Send" : "MPI_Recv", "'peer':%d,'tag':%d,'bytes':4", 1 - rank, tag);
}

int main(int argc, char **argv)
{
	int rank, status = 0;
	MPI_Comm dup;
	MPI_Request request;
	int value = 0;

	int early = getenv("PCONTROL_EARLY") != NULL;

	if (early) {
		MPI_Pcontrol(0);
		MPI_Pcontrol(1);
		MPI_Pcontrol(2);
		MPI_Pcontrol(3);
		MPITRACE_REGION_BEGIN("too early");
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	expect_open(rank);
	message(rank, 1, 1);
	MPI_Pcontrol(0);
	message(rank, 2, 0);
	/* What is made while recording is off must be known afterwards. */
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_set_name(dup, "twin");
	if (rank == 1)
		MPI_Irecv(&value, 1, MPI_INT, 0, 3, dup, &request);
	MPI_Pcontrol(1);
	if (rank == 0) {
		value = 3;
		MPI_Send(&value, 1, MPI_INT, 1, 3, dup);
		expect("MPI_Send", "'comm':'twin','peer':1,'tag':3,'bytes':4");
	} else if (rank == 1) {
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		expect("MPI_Wait", "'completed':[{'kind':'recv','source':0,'tag':3,'bytes':4}]");
	}
	MPITRACE_REGION_BEGIN("outer");
	MPITRACE_REGION_BEGIN("inner");
	message(rank, 4, 1);
	MPITRACE_REGION_END("inner");
	MPITRACE_REGION_END("outer");
	MPITRACE_MARKER("here");
	/* Levels of others, with nothing behind them. */
	MPI_Pcontrol(3);
	MPI_Pcontrol(5);
	MPI_Pcontrol(-1);
	MPI_Pcontrol(2);
	if (rank == 0 && argc > 1) {
		status = system(argv[1]);
		status = status == 0 ? 0 : 1;
	}
	message(rank, 5, 1);
	expect_close();
	MPI_Comm_free(&dup);
	MPI_Finalize();
	if (early) {
		MPI_Pcontrol(1);
		MPI_Pcontrol(2);
		MPITRACE_MARKER("too late");
		/* These are allowed at any time. */
		int done = 0, version, subversion;
		MPI_Finalized(&done);
		MPI_Get_version(&version, &subversion);
		if (!done || version < 2)
			status = 4;
	}
	return status;
}
