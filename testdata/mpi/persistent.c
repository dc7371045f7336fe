/* SPDX-License-Identifier: Apache-2.0
 *
 * Persistent requests around a ring, each started twice: once with Startall
 * and Waitall, once with Start and Wait.
 */
#include "expect.h"

int main(int argc, char **argv)
{
	int rank, size, out = 0, in = 0;
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	expect_open(rank);
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	MPI_Recv_init(&in, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &requests[0]);
	expect("MPI_Recv_init", "'comm':'MPI_COMM_WORLD','peer':%d,'tag':5,'count':1,'datatype':'MPI_INT'", previous);
	MPI_Send_init(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[1]);
	expect("MPI_Send_init", "'comm':'MPI_COMM_WORLD','peer':%d,'tag':5,'count':1,'datatype':'MPI_INT'", next);
	MPI_Startall(2, requests);
	expect("MPI_Startall", "");
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	expect("MPI_Waitall", "'completed':[{'kind':'recv','source':%d,'tag':5,'bytes':4},{'kind':'send'}]", previous);
	for (int i = 0; i < 2; i++) {
		MPI_Start(&requests[i]);
		expect("MPI_Start", "");
	}
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	expect("MPI_Wait", "'completed':[{'kind':'recv','source':%d,'tag':5,'bytes':4}]", previous);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	expect("MPI_Wait", "'completed':[{'kind':'send'}]");
	/* Nothing to wait for: the request is inactive. */
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	expect("MPI_Wait", "'completed':[]");
	for (int i = 0; i < 2; i++) {
		MPI_Request_free(&requests[i]);
		expect("MPI_Request_free", "");
	}
	expect_close();
	MPI_Finalize();
	return 0;
}
