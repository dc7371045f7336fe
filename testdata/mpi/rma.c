/* SPDX-License-Identifier: Apache-2.0
 *
 * One-sided communication between neighbours: fences, and a lock.
 */
#include "expect.h"

int main(int argc, char **argv)
{
	int rank, size, *memory, value = 1, got = 0;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	expect_open(rank);
	int next = (rank + 1) % size;
	MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	expect("MPI_Win_allocate", "");
	MPI_Win_set_name(win, "table");
	for (int i = 0; i < 16; i++)
		memory[i] = 0;
	MPI_Win_fence(0, win);
	expect("MPI_Win_fence", "");
	MPI_Put(&rank, 1, MPI_INT, next, 3, 1, MPI_INT, win);
	expect("MPI_Put", "'peer':%d,'count':1,'datatype':'MPI_INT','bytes':4", next);
	MPI_Win_fence(0, win);
	expect("MPI_Win_fence", "");
	MPI_Get(&got, 1, MPI_INT, next, 3, 1, MPI_INT, win);
	expect("MPI_Get", "'peer':%d,'count':1,'datatype':'MPI_INT','bytes':4", next);
	MPI_Win_fence(0, win);
	expect("MPI_Win_fence", "");
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	expect("MPI_Win_lock", "'peer':0");
	MPI_Accumulate(&value, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, win);
	expect("MPI_Accumulate", "'peer':0,'count':1,'datatype':'MPI_INT','op':'MPI_SUM','bytes':4");
	MPI_Win_unlock(0, win);
	expect("MPI_Win_unlock", "'peer':0");
	MPI_Barrier(MPI_COMM_WORLD);
	expect("MPI_Barrier", "");
	int wrong = got != rank || (rank == 0 && memory[5] != size);
	MPI_Win_free(&win);
	expect("MPI_Win_free", "");
	expect_close();
	MPI_Finalize();
	return wrong;
}
