/* SPDX-License-Identifier: Apache-2.0
 *
 * A message that does not fit into its receive, where the program asked for
 * error codes: the code reaches the program, and the trace.
 */
#include "expect.h"

int main(int argc, char **argv)
{
	int rank, buffer[16] = { 0 }, code, class;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	expect_open(rank);
	int wrong = 0;
	if (rank == 0) {
		MPI_Send(buffer, 16, MPI_INT, 1, 1, MPI_COMM_WORLD);
		expect("MPI_Send", "'peer':1,'tag':1,'bytes':64,'error':0");
	} else if (rank == 1) {
		code = MPI_Recv(buffer, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect("MPI_Recv", "'tag':1,'count':4,'error':%d", code);
		MPI_Error_class(code, &class);
		wrong = class != MPI_ERR_TRUNCATE;
	}
	/* A rank that does not exist. */
	code = MPI_Send(buffer, 1, MPI_INT, 1000000, 1, MPI_COMM_WORLD);
	expect("MPI_Send", "'peer':1000000,'tag':1,'error':%d", code);
	wrong |= code == MPI_SUCCESS;
	expect_close();
	MPI_Finalize();
	return wrong;
}
