/* SPDX-License-Identifier: Apache-2.0
 *
 * Both sides in one call, around a ring; and messages to nobody.
 */
#include "expect.h"

int main(int argc, char **argv)
{
	int rank, size, out[4] = { 0 }, in[8] = { 0 };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	expect_open(rank);
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	MPI_Sendrecv(out, 4, MPI_INT, next, 1, in, 8, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect("MPI_Sendrecv", "'comm':'MPI_COMM_WORLD','peer':%d,'tag':1,'count':4,'datatype':'MPI_INT','bytes':16",
	       next);
	MPI_Sendrecv_replace(out, 3, MPI_INT, next, 2, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect("MPI_Sendrecv_replace",
	       "'comm':'MPI_COMM_WORLD','peer':%d,'tag':2,'count':3,'datatype':'MPI_INT','bytes':12", next);
	MPI_Send(out, 4, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
	expect("MPI_Send", "'comm':'MPI_COMM_WORLD','peer':-2,'tag':3,'count':4");
	MPI_Recv(in, 4, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect("MPI_Recv", "'comm':'MPI_COMM_WORLD','peer':-2,'count':4,'bytes':0");
	if (rank == 0) {
		MPI_Ssend(out, 1, MPI_INT, next, 4, MPI_COMM_WORLD);
		expect("MPI_Ssend", "'peer':%d,'tag':4,'bytes':4", next);
	}
	if (rank == 1 % size) {
		MPI_Recv(in, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect("MPI_Recv", "'peer':0,'tag':4,'bytes':4");
	}
	expect_close();
	MPI_Finalize();
	return 0;
}
