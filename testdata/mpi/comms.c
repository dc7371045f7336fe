/* SPDX-License-Identifier: Apache-2.0
 *
 * Communicators made in several ways: a rank's number differs from one to the
 * other, and the peers of messages are numbers in the message's communicator.
 */
#include "expect.h"

int main(int argc, char **argv)
{
	int rank, size, half, half_rank, half_size, value = 0, dims[1], periods[1] = { 1 }, left, right;
	MPI_Comm dup, split, cart;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	expect_open(rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	expect("MPI_Comm_dup", "'comm':'MPI_COMM_WORLD'");
	MPI_Comm_set_name(dup, "copy");
	/* Odd and even, in reverse order of ranks. */
	half = rank % 2;
	MPI_Comm_split(MPI_COMM_WORLD, half, -rank, &split);
	expect("MPI_Comm_split", "'comm':'MPI_COMM_WORLD'");
	MPI_Comm_set_name(split, half ? "odd" : "even");
	MPI_Comm_rank(split, &half_rank);
	MPI_Comm_size(split, &half_size);
	if (half_size > 1) {
		if (half_rank == 0) {
			MPI_Send(&value, 1, MPI_INT, 1, 1, split);
			expect("MPI_Send", "'comm':'%s','peer':1,'world_peer':%d,'tag':1", half ? "odd" : "even",
			       rank - 2);
		} else if (half_rank == 1) {
			MPI_Recv(&value, 1, MPI_INT, 0, 1, split, MPI_STATUS_IGNORE);
			expect("MPI_Recv", "'comm':'%s','peer':0,'world_peer':%d,'tag':1", half ? "odd" : "even",
			       rank + 2);
		}
	}
	dims[0] = size;
	MPI_Cart_create(dup, 1, dims, periods, 0, &cart);
	expect("MPI_Cart_create", "'comm':'copy'");
	MPI_Comm_set_name(cart, "ring");
	MPI_Cart_shift(cart, 0, 1, &left, &right);
	MPI_Sendrecv(&value, 1, MPI_INT, right, 2, &half, 1, MPI_INT, left, 2, cart, MPI_STATUS_IGNORE);
	expect("MPI_Sendrecv", "'comm':'ring','peer':%d,'tag':2,'bytes':4", right);
	MPI_Comm_free(&cart);
	expect("MPI_Comm_free", "");
	MPI_Comm_free(&split);
	expect("MPI_Comm_free", "");
	MPI_Comm_free(&dup);
	expect("MPI_Comm_free", "");
	MPI_Barrier(MPI_COMM_SELF);
	expect("MPI_Barrier", "'comm':'MPI_COMM_SELF'");
	expect_close();
	MPI_Finalize();
	return 0;
}
