/* SPDX-License-Identifier: Apache-2.0
 *
 * Every way to complete, and not to complete, a request. Rank 1 sends tag i
 * with i integers, and waits for a word before some of them, so that the order
 * of completion is known.
 */
#include "expect.h"

enum { N = 4 };

static int buffer[N][64];

static void post(MPI_Request *requests, int first)
{
	for (int i = 0; i < N; i++) {
		MPI_Irecv(buffer[i], 64, MPI_INT, 1, first + i, MPI_COMM_WORLD, &requests[i]);
		expect("MPI_Irecv", "'comm':'MPI_COMM_WORLD','peer':1,'tag':%d,'count':64", first + i);
	}
}

/* Let rank 1 send the messages with these tags, and wait until they are here. */
static void word(int tag, int count)
{
	int go[2] = { tag, count }, done;
	MPI_Ssend(go, 2, MPI_INT, 1, 1000, MPI_COMM_WORLD);
	MPI_Recv(&done, 1, MPI_INT, 1, 1001, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect("MPI_Ssend", "'peer':1,'tag':1000,'bytes':8");
	expect("MPI_Recv", "'peer':1,'tag':1001,'bytes':4");
}

static void serve(void)
{
	int data[64] = { 0 }, go[2];
	for (;;) {
		MPI_Recv(go, 2, MPI_INT, 0, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect("MPI_Recv", "'peer':0,'tag':1000,'bytes':8");
		for (int i = 0; i < go[1]; i++) {
			MPI_Send(data, go[0] + i, MPI_INT, 0, go[0] + i, MPI_COMM_WORLD);
			expect("MPI_Send", "'peer':0,'tag':%d,'bytes':%d", go[0] + i, 4 * (go[0] + i));
		}
		MPI_Send(data, 1, MPI_INT, 0, 1001, MPI_COMM_WORLD);
		expect("MPI_Send", "'peer':0,'tag':1001,'bytes':4");
		if (go[1] == 0)
			return;
	}
}

int main(int argc, char **argv)
{
	int rank, index, count, flag, indices[N];
	MPI_Request requests[N];
	MPI_Status statuses[N];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	expect_open(rank);
	if (rank == 0) {
		post(requests, 1);
		MPI_Testany(N, requests, &index, &flag, MPI_STATUS_IGNORE);
		expect("MPI_Testany", "'completed':[]");
		MPI_Testall(N, requests, &flag, MPI_STATUSES_IGNORE);
		expect("MPI_Testall", "'completed':[]");
		word(2, 1);
		MPI_Waitany(N, requests, &index, MPI_STATUS_IGNORE);
		expect("MPI_Waitany", "'completed':[{'kind':'recv','source':1,'tag':2,'bytes':8}]");
		word(3, 2);
		/* One or both, as far as they have arrived. */
		for (int left = 2; left > 0; left -= count) {
			MPI_Waitsome(N, requests, &count, indices, statuses);
			expect("MPI_Waitsome", "");
		}
		word(1, 1);
		MPI_Wait(&requests[0], &statuses[0]);
		expect("MPI_Wait", "'completed':[{'kind':'recv','source':1,'tag':1,'bytes':4}]");

		post(requests, 5);
		word(5, 4);
		MPI_Waitall(N, requests, statuses);
		expect("MPI_Waitall", "'completed':[{'tag':5,'bytes':20},{'tag':6,'bytes':24},"
				      "{'tag':7,'bytes':28},{'tag':8,'bytes':32}]");
		MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
		expect("MPI_Waitall", "'completed':[]");

		/* Never to be received. */
		MPI_Irecv(buffer[0], 64, MPI_INT, 1, 500, MPI_COMM_WORLD, &requests[0]);
		expect("MPI_Irecv", "'tag':500");
		MPI_Cancel(&requests[0]);
		expect("MPI_Cancel", "");
		MPI_Wait(&requests[0], &statuses[0]);
		expect("MPI_Wait", "'completed':[{'kind':'recv','cancelled':true}]");

		word(0, 0);
	} else if (rank == 1) {
		serve();
	}
	expect_close();
	MPI_Finalize();
	return 0;
}
