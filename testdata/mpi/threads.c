/* SPDX-License-Identifier: Apache-2.0
 *
 * Four threads a rank, each sending to and receiving from its twin on the next
 * and the previous rank, all at once. Exits with 77 where the library gives
 * less than MPI_THREAD_MULTIPLE.
 */
#include "expect.h"

#include <pthread.h>

enum { THREADS = 4, MESSAGES = 500 };

static int rank, size;
static long wrong;

static void *work(void *argument)
{
	int thread = (int)(size_t)argument;
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	for (int i = 0; i < MESSAGES; i++) {
		int out = thread * 1000000 + i, in = -1;
		MPI_Request request;
		MPI_Irecv(&in, 1, MPI_INT, previous, thread, MPI_COMM_WORLD, &request);
		MPI_Send(&out, 1, MPI_INT, next, thread, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (in != out)
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	pthread_t threads[THREADS];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (provided < MPI_THREAD_MULTIPLE) {
		MPI_Finalize();
		return 77;
	}
	expect_open(rank);
	expect_any_order();
	for (int t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, work, (void *)(size_t)t);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int t = 0; t < THREADS; t++) {
		for (int i = 0; i < MESSAGES; i++) {
			expect("MPI_Irecv", "'comm':'MPI_COMM_WORLD','peer':%d,'tag':%d,'count':1,'datatype':'MPI_INT'",
			       (rank + size - 1) % size, t);
			expect("MPI_Send",
			       "'comm':'MPI_COMM_WORLD','peer':%d,'tag':%d,'count':1,'datatype':'MPI_INT','bytes':4",
			       (rank + 1) % size, t);
			expect("MPI_Wait", "'error':0");
		}
	}
	expect_close();
	if (rank == 0)
		printf("threads: %d a rank, %d messages each\n", THREADS, MESSAGES);
	MPI_Finalize();
	return wrong != 0;
}
