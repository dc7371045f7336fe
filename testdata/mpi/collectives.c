/* SPDX-License-Identifier: Apache-2.0
 *
 * The collectives, each once, with counts that tell them apart.
 */
#include "expect.h"

#include <string.h>

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	expect_open(rank);
	int *a = calloc((size_t)size * 64, sizeof(int)), *b = calloc((size_t)size * 64, sizeof(int));
	int *counts = calloc((size_t)size, sizeof(int)), *displacements = calloc((size_t)size, sizeof(int));
	int total = 0;
	for (int i = 0; i < size; i++) {
		counts[i] = i + 1;
		displacements[i] = total;
		total += i + 1;
	}

	MPI_Barrier(MPI_COMM_WORLD);
	expect("MPI_Barrier", "'comm':'MPI_COMM_WORLD'");
	MPI_Bcast(a, 5, MPI_INT, 1, MPI_COMM_WORLD);
	expect("MPI_Bcast", "'comm':'MPI_COMM_WORLD','root':1,'count':5,'datatype':'MPI_INT','bytes':20");
	MPI_Reduce(a, b, 3, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
	expect("MPI_Reduce",
	       "'comm':'MPI_COMM_WORLD','root':0,'count':3,'datatype':'MPI_INT','op':'MPI_MAX','bytes':12");
	MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	expect("MPI_Allreduce", "'comm':'MPI_COMM_WORLD','count':4,'datatype':'MPI_INT','op':'MPI_SUM','bytes':16");
	MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, 1, MPI_COMM_WORLD);
	expect("MPI_Gather", "'comm':'MPI_COMM_WORLD','root':1,'count':2,'datatype':'MPI_INT','bytes':8");
	MPI_Gatherv(a, rank + 1, MPI_INT, b, counts, displacements, MPI_INT, 0, MPI_COMM_WORLD);
	expect("MPI_Gatherv", "'comm':'MPI_COMM_WORLD','root':0,'count':%d,'datatype':'MPI_INT','bytes':%d", rank + 1,
	       4 * (rank + 1));
	MPI_Scatter(a, 3, MPI_INT, b, 3, MPI_INT, 0, MPI_COMM_WORLD);
	expect("MPI_Scatter", "'comm':'MPI_COMM_WORLD','root':0");
	MPI_Allgather(a, 6, MPI_INT, b, 6, MPI_INT, MPI_COMM_WORLD);
	expect("MPI_Allgather", "'comm':'MPI_COMM_WORLD','count':6,'datatype':'MPI_INT','bytes':24");
	MPI_Allgatherv(a, rank + 1, MPI_INT, b, counts, displacements, MPI_INT, MPI_COMM_WORLD);
	expect("MPI_Allgatherv", "'comm':'MPI_COMM_WORLD','count':%d,'datatype':'MPI_INT','bytes':%d", rank + 1,
	       4 * (rank + 1));
	MPI_Alltoall(a, 7, MPI_INT, b, 7, MPI_INT, MPI_COMM_WORLD);
	expect("MPI_Alltoall", "'comm':'MPI_COMM_WORLD','count':7,'datatype':'MPI_INT','bytes':%d", 28 * size);
	MPI_Scan(a, b, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	expect("MPI_Scan", "'comm':'MPI_COMM_WORLD','count':8,'datatype':'MPI_INT','op':'MPI_SUM','bytes':32");
	MPI_Exscan(a, b, 9, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	expect("MPI_Exscan", "'comm':'MPI_COMM_WORLD','count':9,'datatype':'MPI_INT','op':'MPI_SUM','bytes':36");
	MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	expect("MPI_Reduce_scatter_block", "'comm':'MPI_COMM_WORLD','count':2,'datatype':'MPI_INT','op':'MPI_SUM'");
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	expect("MPI_Ibarrier", "'comm':'MPI_COMM_WORLD'");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	expect("MPI_Wait", "");
	MPI_Iallreduce(a, b, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
	expect("MPI_Iallreduce", "'comm':'MPI_COMM_WORLD','count':10,'datatype':'MPI_INT','op':'MPI_SUM','bytes':40");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	expect("MPI_Wait", "");
	expect_close();
	free(displacements);
	free(counts);
	free(b);
	free(a);
	MPI_Finalize();
	return 0;
}
