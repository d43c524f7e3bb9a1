!> A halo exchange of a field of which every rank has some columns, with `use mpi`: once in memory
!> that MPI allocates (a TYPE(C_PTR)), once in memory of the program; and what else this module has
!> of its own beside mpif.h.
program use_mpi
  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_ptr
  use mpi
  implicit none
  integer, parameter :: rows = 6, columns = 4
  integer :: rank, ranks, left, right, ierror, failures = 0, total

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  call in_allocated_memory()
  call in_shared_memory()
  call in_memory_of_the_program()
  call requests()
  call attributes()
  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (total /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  if (rank == 0) print '(a)', 'PASS'
  call MPI_Finalize(ierror)

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    print '(a, i0, 2a)', 'rank ', rank, ': failed: ', what
  end subroutine

  !> What rank `owner` has in its inner columns.
  pure function inner(owner) result(field)
    integer, intent(in) :: owner
    double precision :: field(rows, columns)
    integer :: i, j
    field = reshape([((1000 * owner + 10 * j + i, i = 1, rows), j = 1, columns)], [rows, columns])
  end function

  !> Column 0 is the left neighbour's last one, column `columns + 1` the right one's first.
  subroutine exchange(field, win)
    double precision, intent(inout), asynchronous :: field(rows, 0:columns + 1)
    integer, intent(in) :: win
    integer(MPI_ADDRESS_KIND) :: disp
    integer :: step
    do step = 1, 3
      field(:, 1:columns) = step + inner(rank)
      call MPI_Win_fence(0, win, ierror)
      disp = rows * (columns + 1)
      call MPI_Put(field(1, 1), rows, MPI_DOUBLE_PRECISION, left, disp, rows, MPI_DOUBLE_PRECISION, &
                   win, ierror)
      disp = 0
      call MPI_Put(field(1, columns), rows, MPI_DOUBLE_PRECISION, right, disp, rows, &
                   MPI_DOUBLE_PRECISION, win, ierror)
      call MPI_Win_fence(0, win, ierror)
      call MPI_F_sync_reg(field)
      call expect(all(nint(field(:, 0) - step) == nint(matmul(inner(left), last()))), 'the left halo')
      call expect(all(nint(field(:, columns + 1) - step) == nint(matmul(inner(right), first()))), &
                  'the right halo')
    end do
  end subroutine

  pure function first() result(unit_vector)
    double precision :: unit_vector(columns)
    unit_vector = 0
    unit_vector(1) = 1
  end function

  pure function last() result(unit_vector)
    double precision :: unit_vector(columns)
    unit_vector = 0
    unit_vector(columns) = 1
  end function

  subroutine in_allocated_memory()
    double precision, pointer, contiguous, asynchronous :: field(:, :)
    type(c_ptr) :: base
    integer :: win
    integer(MPI_ADDRESS_KIND) :: bytes
    bytes = 8 * rows * (columns + 2)
    call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call expect(ierror == MPI_SUCCESS .and. c_associated(base), 'MPI_Win_allocate')
    call c_f_pointer(base, field, [rows, columns + 2])
    call exchange(field, win)
    call MPI_Win_free(win, ierror)
  end subroutine

  subroutine in_shared_memory()
    double precision, pointer, contiguous, asynchronous :: field(:, :), theirs(:, :)
    type(c_ptr) :: base
    integer :: win, unit
    integer(MPI_ADDRESS_KIND) :: bytes, found
    bytes = 8 * rows * (columns + 2)
    call MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call c_f_pointer(base, field, [rows, columns + 2])
    call exchange(field, win)
    call MPI_Win_shared_query(win, right, found, unit, base, ierror)
    call expect(found == bytes .and. unit == 8, 'MPI_Win_shared_query')
    call c_f_pointer(base, theirs, [rows, columns + 2])
    call MPI_Win_fence(0, win, ierror)
    call expect(all(nint(theirs(:, 2:columns + 1)) == nint(3 + inner(right))), 'a neighbour''s field')
    call MPI_Win_fence(0, win, ierror)
    call MPI_Win_free(win, ierror)
  end subroutine

  subroutine in_memory_of_the_program()
    double precision, allocatable, asynchronous :: field(:, :)
    integer :: win
    integer(MPI_ADDRESS_KIND) :: bytes
    allocate(field(rows, 0:columns + 1))
    bytes = 8 * size(field)
    call MPI_Win_create(field, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call exchange(field, win)
    call MPI_Win_free(win, ierror)
  end subroutine

  !> One at a time, tested; then both, with their statuses.
  subroutine requests()
    integer, asynchronous :: memory(2), values(2)
    integer :: both(2), statuses(MPI_STATUS_SIZE, 2), status(MPI_STATUS_SIZE), index, win
    integer(MPI_ADDRESS_KIND) :: bytes, disp
    logical :: flag
    memory = 0
    bytes = 8
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_lock_all(0, win, ierror)
    values = [7, 8] + rank
    do index = 1, 2
      disp = index - 1
      call MPI_Rput(values(index), 1, MPI_INTEGER, right, disp, 1, MPI_INTEGER, win, both(index), ierror)
    end do
    flag = .false.
    do while (.not. flag)
      call MPI_Test(both(1), flag, status, ierror)
    end do
    call expect(both(1) == MPI_REQUEST_NULL, 'a tested request')
    call MPI_Waitall(2, both, statuses, ierror)
    call expect(ierror == MPI_SUCCESS .and. all(both == MPI_REQUEST_NULL), 'MPI_Waitall')
    call MPI_Waitany(2, both, index, status, ierror)
    call expect(index == MPI_UNDEFINED, 'MPI_Waitany of nothing')
    call MPI_Win_unlock_all(win, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_F_sync_reg(memory)
    call expect(all(memory == [7, 8] + left), 'two puts with requests')
    call MPI_Win_free(win, ierror)
  end subroutine

  subroutine attributes()
    integer :: flavor_win, keyval, no_memory(1)
    integer(MPI_ADDRESS_KIND) :: value, zero
    logical :: flag
    zero = 0
    call MPI_Win_create(no_memory, zero, 1, MPI_INFO_NULL, MPI_COMM_WORLD, flavor_win, ierror)
    call MPI_Win_get_attr(flavor_win, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
    call expect(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_get_attr(flavor_win, MPI_WIN_SIZE, value, flag, ierror)
    call expect(flag .and. value == 0, 'MPI_WIN_SIZE')
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyval, zero, ierror)
    value = huge(value)
    call MPI_Win_set_attr(flavor_win, keyval, value, ierror)
    value = 0
    call MPI_Win_get_attr(flavor_win, keyval, value, flag, ierror)
    call expect(flag .and. value == huge(value), 'an attribute')
    call MPI_Win_delete_attr(flavor_win, keyval, ierror)
    call MPI_Win_free_keyval(keyval, ierror)
    call MPI_Win_free(flavor_win, ierror)
  end subroutine
end program
