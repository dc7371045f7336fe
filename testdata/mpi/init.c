/* SPDX-License-Identifier: Apache-2.0
 *
 * What it costs to be there: the milliseconds of MPI_Init and MPI_Finalize, the
 * kibibytes resident and reserved before MPI_Finalize, and the threads.
 *
 * Usage: init [CALLS]: MPI_Comm_rank so many times in between.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A number of /proc/self/status. */
static long status(const char *key)
{
	char line[256];
	long value = -1;
	FILE *f = fopen("/proc/self/status", "r");
	if (f == NULL)
		return -1;
	while (fgets(line, sizeof line, f) != NULL) {
		if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
			value = strtol(line + strlen(key) + 1, NULL, 10);
	}
	fclose(f);
	return value;
}

int main(int argc, char **argv)
{
	int calls = argc > 1 ? atoi(argv[1]) : 0, rank;
	double begin = now();
	MPI_Init(&argc, &argv);
	double init = now() - begin;
	for (int i = 0; i <= calls; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	long resident = status("VmRSS"), virtual = status("VmSize"), threads = status("Threads");
	begin = now();
	MPI_Finalize();
	double finalize = now() - begin;
	if (rank == 0)
		printf("init_ms %.3f\nfinalize_ms %.3f\nrss_kib %ld\nvirtual_kib %ld\nthreads %ld\n", init, finalize,
		       resident, virtual, threads);
	return 0;
}
