/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked to MPI, and calls it only if asked to: says how many threads the
 * process has and what it has open.
 */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>

static int entries(const char *path)
{
	int n = 0;
	DIR *d = opendir(path);
	if (d == NULL)
		return -1;
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n - 2;
}

int main(int argc, char **argv)
{
	if (argc > 99)
		MPI_Init(&argc, &argv);
	printf("threads %d\n", entries("/proc/self/task"));
	return 0;
}
