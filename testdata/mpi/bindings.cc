// SPDX-License-Identifier: Apache-2.0
//
// The calls of bindings.c, from C++.
#include <iostream>
#include <vector>

#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	std::vector<int> out(4), in(8);
	MPI_Request requests[2];
	MPI_Irecv(in.data(), 8, MPI_INT, previous, 3, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(out.data(), 4, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Comm dup;
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	if (rank == 0)
		MPI_Send(out.data(), 2, MPI_INT, 1, 9, dup);
	else if (rank == 1)
		MPI_Recv(in.data(), 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, MPI_STATUS_IGNORE);
	double x = 1, y = 0;
	MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, dup);
	MPI_Bcast(in.data(), 3, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_free(&dup);
	if (rank == 0)
		std::cout << "bindings: sum " << static_cast<int>(y) << std::endl;
	MPI_Finalize();
	return 0;
}
