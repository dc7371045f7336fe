/* SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0 asks for more than rank 1 sends, from anyone, and passes
 * MPI_STATUS_IGNORE: what arrived is known to the library alone.
 */
#include "expect.h"

int main(int argc, char **argv)
{
	int rank, buffer[100] = { 0 };
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	expect_open(rank);
	if (rank == 0) {
		MPI_Recv(buffer, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect("MPI_Recv",
		       "'comm':'MPI_COMM_WORLD','peer':1,'tag':11,'count':100,'datatype':'MPI_INT','bytes':12");
		MPI_Irecv(buffer, 100, MPI_INT, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &requests[0]);
		expect("MPI_Irecv", "'comm':'MPI_COMM_WORLD','tag':12,'count':100,'datatype':'MPI_INT'");
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
		expect("MPI_Wait", "'completed':[{'kind':'recv','source':1,'tag':12,'bytes':20}]");
		for (int i = 0; i < 2; i++) {
			MPI_Irecv(buffer + 50 * i, 50, MPI_INT, 1, 20 + i, MPI_COMM_WORLD, &requests[i]);
			expect("MPI_Irecv", "'comm':'MPI_COMM_WORLD','peer':1,'tag':%d,'count':50,'datatype':'MPI_INT'",
			       20 + i);
		}
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		expect("MPI_Waitall", "'completed':[{'kind':'recv','source':1,'tag':20,'bytes':4},"
				      "{'kind':'recv','source':1,'tag':21,'bytes':8}]");
	} else if (rank == 1) {
		const int counts[4] = { 3, 5, 1, 2 }, tags[4] = { 11, 12, 20, 21 };
		for (int i = 0; i < 4; i++) {
			MPI_Send(buffer, counts[i], MPI_INT, 0, tags[i], MPI_COMM_WORLD);
			expect("MPI_Send", "'peer':0,'tag':%d,'count':%d,'bytes':%d", tags[i], counts[i],
			       counts[i] * 4);
		}
	}
	expect_close();
	MPI_Finalize();
	return 0;
}
