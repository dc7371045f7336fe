/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits the size of the files that it can write, then makes many calls.
 *
 * Usage: limit BYTES CALLS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
	int rank = -1;
	long sum = 0;
	MPI_Init(&argc, &argv);
	struct rlimit limit;
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = argc > 1 ? strtoul(argv[1], NULL, 10) : 4096;
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 3;
	int calls = argc > 2 ? atoi(argv[2]) : 1000;
	for (int i = 0; i < calls; i++) {
		/* Times that differ make a trace that does not shrink to nothing. */
		for (int j = 0; j < i % 97; j++)
			__asm__ volatile("" ::: "memory");
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		sum += rank;
	}
	printf("rank %d: %d calls, sum %ld\n", rank, calls, sum);
	MPI_Finalize();
	return 0;
}
