/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that bindings.f, bindings.f90, bindings_f08.f90 and bindings.cc
 * make too, in the same order, with the same arguments: traces of all five
 * must tell the same. In Fortran, MPI_INTEGER and MPI_DOUBLE_PRECISION stand
 * for MPI_INT and MPI_DOUBLE; names of datatypes are left out here.
 */
#include "expect.h"

int main(int argc, char **argv)
{
	int rank, size, out[4] = { 0 }, in[8] = { 0 };
	double x = 1, y = 0;
	MPI_Comm dup;
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	expect_open(rank);
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	MPI_Irecv(in, 8, MPI_INT, previous, 3, MPI_COMM_WORLD, &requests[0]);
	expect("MPI_Irecv", "'comm':'MPI_COMM_WORLD','peer':%d,'tag':3,'count':8", previous);
	MPI_Isend(out, 4, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[1]);
	expect("MPI_Isend", "'comm':'MPI_COMM_WORLD','peer':%d,'tag':3,'count':4,'bytes':16", next);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	expect("MPI_Waitall", "'completed':[{'kind':'recv','source':%d,'tag':3,'bytes':16},{'kind':'send'}]", previous);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	expect("MPI_Comm_dup", "'comm':'MPI_COMM_WORLD'");
	if (rank == 0) {
		MPI_Send(out, 2, MPI_INT, 1, 9, dup);
		expect("MPI_Send", "'peer':1,'tag':9,'count':2,'bytes':8");
	} else if (rank == 1) {
		MPI_Recv(in, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, MPI_STATUS_IGNORE);
		expect("MPI_Recv", "'peer':0,'tag':9,'count':8,'bytes':8");
	}
	MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, dup);
	expect("MPI_Allreduce", "'count':1,'bytes':8,'op':'MPI_SUM'");
	MPI_Bcast(in, 3, MPI_INT, 0, MPI_COMM_WORLD);
	expect("MPI_Bcast", "'comm':'MPI_COMM_WORLD','root':0,'count':3,'bytes':12");
	MPI_Barrier(MPI_COMM_WORLD);
	expect("MPI_Barrier", "'comm':'MPI_COMM_WORLD'");
	MPI_Comm_free(&dup);
	expect("MPI_Comm_free", "");
	expect_close();
	if (rank == 0)
		printf("bindings: sum %d\n", (int)y);
	MPI_Finalize();
	return 0;
}
