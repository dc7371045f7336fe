/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of derived datatypes: the bytes are those of the data, without gaps.
 */
#include "expect.h"

int main(int argc, char **argv)
{
	int rank;
	double matrix[10][10] = { { 0 } };
	struct {
		int n;
		double x[3];
		char c;
	} record = { 0 };
	MPI_Datatype row, column, made, types[3] = { MPI_INT, MPI_DOUBLE, MPI_CHAR };
	int lengths[3] = { 1, 3, 1 };
	MPI_Aint base, displacements[3];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	expect_open(rank);
	MPI_Type_contiguous(10, MPI_DOUBLE, &row);
	MPI_Type_vector(10, 1, 10, MPI_DOUBLE, &column);
	MPI_Get_address(&record, &base);
	MPI_Get_address(&record.n, &displacements[0]);
	MPI_Get_address(&record.x, &displacements[1]);
	MPI_Get_address(&record.c, &displacements[2]);
	for (int i = 0; i < 3; i++)
		displacements[i] -= base;
	MPI_Type_create_struct(3, lengths, displacements, types, &made);
	MPI_Type_set_name(column, "column");
	MPI_Type_commit(&row);
	MPI_Type_commit(&column);
	MPI_Type_commit(&made);
	if (rank == 0) {
		MPI_Send(matrix, 2, row, 1, 1, MPI_COMM_WORLD);
		expect("MPI_Send", "'peer':1,'tag':1,'count':2,'bytes':160");
		MPI_Send(matrix, 1, column, 1, 2, MPI_COMM_WORLD);
		expect("MPI_Send", "'peer':1,'tag':2,'count':1,'datatype':'column','bytes':80");
		MPI_Send(&record, 1, made, 1, 3, MPI_COMM_WORLD);
		expect("MPI_Send", "'peer':1,'tag':3,'count':1,'bytes':29");
	} else if (rank == 1) {
		MPI_Recv(matrix, 100, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect("MPI_Recv", "'peer':0,'tag':1,'count':100,'datatype':'MPI_DOUBLE','bytes':160");
		MPI_Recv(matrix, 1, column, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect("MPI_Recv", "'peer':0,'tag':2,'count':1,'datatype':'column','bytes':80");
		MPI_Recv(&record, 1, made, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect("MPI_Recv", "'peer':0,'tag':3,'count':1,'bytes':29");
	}
	MPI_Type_free(&made);
	MPI_Type_free(&column);
	MPI_Type_free(&row);
	expect_close();
	MPI_Finalize();
	return 0;
}
