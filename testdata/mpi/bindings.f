C     SPDX-License-Identifier: Apache-2.0
C
C     The calls of bindings.c, from Fortran with mpif.h.
      program bindings
      implicit none
      include 'mpif.h'
      integer ierr, rank, nranks, next, prev, dup
      integer out(4), in(8), requests(2)
      integer statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE)
      double precision x, y

      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
      next = mod(rank + 1, nranks)
      prev = mod(rank + nranks - 1, nranks)
      out = 0
      in = 0
      x = 1
      y = 0
      call MPI_Irecv(in, 8, MPI_INTEGER, prev, 3, MPI_COMM_WORLD,
     &     requests(1), ierr)
      call MPI_Isend(out, 4, MPI_INTEGER, next, 3, MPI_COMM_WORLD,
     &     requests(2), ierr)
      call MPI_Waitall(2, requests, statuses, ierr)
      call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
      if (rank .eq. 0) then
         call MPI_Send(out, 2, MPI_INTEGER, 1, 9, dup, ierr)
      else if (rank .eq. 1) then
         call MPI_Recv(in, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG,
     &        dup, status, ierr)
      end if
      call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, dup,
     &     ierr)
      call MPI_Bcast(in, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_Comm_free(dup, ierr)
      if (rank .eq. 0) write (*, '(A,I0)') 'bindings: sum ', int(y)
      call MPI_Finalize(ierr)
      end
