/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI-IO on one file. Usage: io FILE
 */
#include "expect.h"

int main(int argc, char **argv)
{
	int rank, out[8], in[8] = { 0 };
	MPI_File file;
	MPI_Request request;
	MPI_Status status;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc < 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	expect_open(rank);
	for (int i = 0; i < 8; i++)
		out[i] = 100 * rank + i;
	MPI_Offset offset = (MPI_Offset)rank * (MPI_Offset)sizeof out;
	if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) !=
	    MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 3);
	expect("MPI_File_open", "");
	MPI_File_write_at_all(file, offset, out, 8, MPI_INT, &status);
	expect("MPI_File_write_at_all", "'count':8,'datatype':'MPI_INT','bytes':32");
	MPI_File_sync(file);
	expect("MPI_File_sync", "");
	MPI_File_read_at(file, offset, in, 4, MPI_INT, MPI_STATUS_IGNORE);
	expect("MPI_File_read_at", "'count':4,'datatype':'MPI_INT','bytes':16");
	MPI_File_iread_at(file, offset, in, 8, MPI_INT, &request);
	expect("MPI_File_iread_at", "'count':8,'datatype':'MPI_INT'");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	expect("MPI_Wait", "");
	MPI_File_close(&file);
	expect("MPI_File_close", "");
	expect_close();
	int wrong = 0;
	for (int i = 0; i < 8; i++)
		wrong |= in[i] != out[i];
	MPI_Finalize();
	return wrong;
}
