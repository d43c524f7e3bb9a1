!> What every program here does: counts what is not as it should be, and ends with PASS or an abort.
module checks
  use mpi_f08
  implicit none
  private
  public :: begin, expect, finish, left_of, right_of
  integer, public, protected :: rank = 0, ranks = 1
  integer, save :: failures = 0

contains

  subroutine begin()
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  end subroutine

  integer function right_of(r)
    integer, intent(in) :: r
    right_of = mod(r + 1, ranks)
  end function

  integer function left_of(r)
    integer, intent(in) :: r
    left_of = mod(r + ranks - 1, ranks)
  end function

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    print '(a, i0, 2a)', 'rank ', rank, ': failed: ', what
  end subroutine

  subroutine finish()
    integer :: all_failures
    call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (all_failures /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
    if (rank == 0) print '(a)', 'PASS'
    call MPI_Finalize()
  end subroutine
end module
