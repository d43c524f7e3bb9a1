!> MPI_BOTTOM, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, MPI_INFO_NULL and MPI_IN_PLACE are variables
!> or handles that differ from C's: in all calls that take them, of requests of windows mixed with
!> others, by each of the three ways to know MPI from Fortran. constants.inc is what all three do.
module counting
  implicit none
  integer :: rank = 0, ranks = 1, failures = 0

contains

  subroutine expect(condition, dialect, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: dialect, what
    if (condition) return
    failures = failures + 1
    print '(a, i0, 5a)', 'rank ', rank, ': failed with ', dialect, ': ', what
  end subroutine
end module

subroutine with_mpi_f08()
  use mpi_f08
  use counting
  implicit none
  character(*), parameter :: dialect = 'mpi_f08'
  type(MPI_Win) :: win
  type(MPI_Datatype) :: absolute
  type(MPI_Request) :: requests(7)
  type(MPI_Status) :: statuses(7)
  include 'constants.inc'
end subroutine

subroutine with_mpi()
  use mpi
  use counting
  implicit none
  character(*), parameter :: dialect = 'use mpi'
  integer :: win, absolute, requests(7), statuses(MPI_STATUS_SIZE, 7)
  include 'constants.inc'
end subroutine

subroutine with_mpif_h()
  use counting
  implicit none
  include 'mpif.h'
  character(*), parameter :: dialect = 'mpif.h'
  integer :: win, absolute, requests(7), statuses(MPI_STATUS_SIZE, 7)
  include 'constants.inc'
end subroutine

program constants
  use mpi
  use counting
  implicit none
  integer :: ierror
  external :: with_mpi_f08, with_mpi, with_mpif_h
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call with_mpi_f08()
  call with_mpi()
  call with_mpif_h()
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (failures /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  if (rank == 0) print '(a)', 'PASS'
  call MPI_Finalize(ierror)
end program
