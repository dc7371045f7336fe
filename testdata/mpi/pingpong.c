/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages to and fro between ranks 0 and 1.
 *
 * Usage: pingpong [ITERATIONS [BYTES]]; rank 0 prints nanoseconds a call.
 */
#include "expect.h"

#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 1000;
	int bytes = argc > 2 ? atoi(argv[2]) : 8;
	int rank;
	double begin = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	expect_open(rank);
	char *buffer = calloc((size_t)bytes + 1, 1);
	for (int i = -iterations / 10; i < iterations && rank < 2; i++) {
		int peer = 1 - rank;
		if (i == 0)
			begin = now();
		for (int half = 0; half < 2; half++) {
			if (half == rank) {
				MPI_Send(buffer, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD);
				expect("MPI_Send",
				       "'comm':'MPI_COMM_WORLD','peer':%d,'tag':7,'count':%d,'datatype':'MPI_BYTE','"
				       "bytes':%d",
				       peer, bytes, bytes);
			} else {
				MPI_Recv(buffer, bytes, MPI_BYTE, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				expect("MPI_Recv",
				       "'comm':'MPI_COMM_WORLD','peer':%d,'tag':7,'count':%d,'datatype':'MPI_BYTE','"
				       "bytes':%d",
				       peer, bytes, bytes);
			}
		}
	}
	if (rank == 0)
		printf("pingpong: %d iterations of %d bytes\nns_per_call %.2f\n", iterations, bytes,
		       (now() - begin) / iterations / 2);
	expect_close();
	free(buffer);
	MPI_Finalize();
	return 0;
}
