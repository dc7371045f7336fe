! SPDX-License-Identifier: Apache-2.0
!
! The calls of bindings.c, from Fortran with the mpi_f08 module.
program bindings
  use mpi_f08
  implicit none
  integer :: rank, nranks, next, prev
  integer :: out(4), in(8)
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: dup
  double precision :: x, y

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  next = mod(rank + 1, nranks)
  prev = mod(rank + nranks - 1, nranks)
  out = 0
  in = 0
  x = 1
  y = 0
  call MPI_Irecv(in, 8, MPI_INTEGER, prev, 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(out, 4, MPI_INTEGER, next, 3, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Comm_dup(MPI_COMM_WORLD, dup)
  if (rank == 0) then
     call MPI_Send(out, 2, MPI_INTEGER, 1, 9, dup)
  else if (rank == 1) then
     call MPI_Recv(in, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, MPI_STATUS_IGNORE)
  end if
  call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, dup)
  call MPI_Bcast(in, 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Comm_free(dup)
  if (rank == 0) write (*, '(A,I0)') 'bindings: sum ', int(y)
  call MPI_Finalize()
end program bindings
