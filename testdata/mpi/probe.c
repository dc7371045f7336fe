/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking for messages before receiving them.
 */
#include "expect.h"

int main(int argc, char **argv)
{
	int rank, flag, buffer[16] = { 0 };
	MPI_Status status;
	MPI_Message message;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	expect_open(rank);
	if (rank == 0) {
		for (int i = 1; i <= 3; i++) {
			MPI_Send(buffer, i, MPI_INT, 1, i, MPI_COMM_WORLD);
			expect("MPI_Send", "'peer':1,'tag':%d,'bytes':%d", i, i * 4);
		}
	} else if (rank == 1) {
		MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
		expect("MPI_Probe", "'comm':'MPI_COMM_WORLD','peer':0,'tag':1");
		MPI_Recv(buffer, 16, MPI_INT, 0, 1, MPI_COMM_WORLD, &status);
		expect("MPI_Recv", "'peer':0,'tag':1,'bytes':4");
		MPI_Probe(0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect("MPI_Probe", "'peer':0,'tag':2");
		MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
		expect("MPI_Iprobe", "'peer':0,'tag':2");
		MPI_Recv(buffer, 16, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect("MPI_Recv", "'peer':0,'tag':2,'bytes':8");
		MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
		expect("MPI_Mprobe", "'comm':'MPI_COMM_WORLD','peer':0,'tag':3");
		MPI_Mrecv(buffer, 16, MPI_INT, &message, MPI_STATUS_IGNORE);
		expect("MPI_Mrecv", "'peer':0,'tag':3,'bytes':12");
		flag = 1;
		MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		expect("MPI_Iprobe", "'tag':99");
	}
	expect_close();
	MPI_Finalize();
	return flag != 0 && rank == 1;
}
