/* SPDX-License-Identifier: Apache-2.0
 *
 * The cheapest MPI call, many times over.
 *
 * Usage: comm_rank [ITERATIONS]; rank 0 prints nanoseconds a call.
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
	int rank = -1;
	long sum = 0;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < iterations / 10; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double begin = now();
	for (int i = 0; i < iterations; i++) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		sum += rank;
	}
	double took = now() - begin;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	expect_open(rank);
	for (int i = 0; i < iterations / 10 + iterations + 1; i++)
		expect("MPI_Comm_rank", "'comm':'MPI_COMM_WORLD'");
	expect_close();
	if (rank == 0)
		printf("comm_rank: %d iterations, sum %ld\nns_per_call %.2f\n", iterations, sum, took / iterations);
	MPI_Finalize();
	return 0;
}
