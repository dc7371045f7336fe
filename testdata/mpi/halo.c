/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchange of borders on a two-dimensional torus of ranks, as a stencil code
 * does it: compute, four Irecv and four Isend, Waitall, Allreduce of a
 * residual. The load differs from rank to rank and drifts with time, so that
 * there is something to see: ranks in the middle of the load's wave arrive
 * late, and all others wait for them.
 *
 * Usage: halo [ITERATIONS [DOUBLES [LOAD]]]
 * LOAD is the mean length of the computation in microseconds; 0 computes
 * nothing and measures the calls: rank 0 prints nanoseconds a call.
 */
#include "expect.h"
#include "../../include/mpitrace.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Stand in for a computation whose length depends on the rank and the
 * iteration. It sleeps, so that the picture is the same however few cores the
 * ranks share. */
static double compute(int rank, int size, int iteration, double load)
{
	double wave = 1 + 0.8 * sin(2 * M_PI * ((double)rank / size + iteration / 50.0));
	double until = now() + load * 1e3 * wave;
	struct timespec t = { (time_t)(until / 1e9), (long)fmod(until, 1e9) };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
	}
	return wave;
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 100;
	int doubles = argc > 2 ? atoi(argv[2]) : 128;
	double load = argc > 3 ? atof(argv[3]) : 200;
	int size, rank, dims[2] = { 0, 0 }, periods[2] = { 1, 1 }, neighbour[4];
	const int opposite[4] = { 1, 0, 3, 2 };
	MPI_Comm grid;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Comm_set_name(grid, "grid");
	MPI_Comm_rank(grid, &rank);
	MPI_Cart_shift(grid, 0, 1, &neighbour[0], &neighbour[1]);
	MPI_Cart_shift(grid, 1, 1, &neighbour[2], &neighbour[3]);
	expect_open(rank);

	double *out = calloc((size_t)doubles * 4, sizeof(double));
	double *in = calloc((size_t)doubles * 4, sizeof(double));
	double residual = 0, all = 0, begin = 0;
	int warmup = load > 0 ? 0 : iterations / 10;
	for (int i = 0; i < iterations + warmup; i++) {
		MPI_Request requests[8];
		if (i == warmup) {
			MPI_Barrier(grid);
			begin = now();
		}
		if (load > 0) {
			MPITRACE_REGION_BEGIN("compute");
			residual = compute(rank, size, i, load);
			MPITRACE_REGION_END("compute");
		}
		for (int d = 0; d < 4; d++) {
			MPI_Irecv(in + d * doubles, doubles, MPI_DOUBLE, neighbour[d], opposite[d], grid, &requests[d]);
			expect("MPI_Irecv", "'comm':'grid','tag':%d,'count':%d,'datatype':'MPI_DOUBLE'", opposite[d],
			       doubles);
		}
		for (int d = 0; d < 4; d++) {
			MPI_Isend(out + d * doubles, doubles, MPI_DOUBLE, neighbour[d], d, grid, &requests[4 + d]);
			expect("MPI_Isend",
			       "'comm':'grid','peer':%d,'tag':%d,'count':%d,'datatype':'MPI_DOUBLE','bytes':%d",
			       neighbour[d], d, doubles, doubles * 8);
		}
		MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
		expect("MPI_Waitall", "");
		MPI_Allreduce(&residual, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
		expect("MPI_Allreduce", "'comm':'grid','count':1,'datatype':'MPI_DOUBLE','op':'MPI_SUM','bytes':8");
	}
	double took = now() - begin;
	if (rank == 0) {
		printf("halo: %d ranks, %d iterations of %d doubles\n", size, iterations, doubles);
		if (load == 0)
			printf("ns_per_call %.2f\n", took / iterations / 10);
	}
	expect_close();
	free(in);
	free(out);
	MPI_Comm_free(&grid);
	MPI_Finalize();
	return 0;
}
