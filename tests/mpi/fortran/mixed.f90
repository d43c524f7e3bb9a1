!> The Fortran half of a program of two languages; mixed.c is the other.
module c_half
  use, intrinsic :: iso_c_binding, only: c_int, c_intptr_t
  implicit none

  interface
    integer(c_int) function c_create(memory, count, win) bind(c)
      import
      integer(c_int), asynchronous :: memory(*)
      integer(c_int), value :: count
      integer(c_int) :: win
    end function
    integer(c_int) function c_put(win, value, target, displacement) bind(c)
      import
      integer(c_int), value :: win, value, target
      integer(c_intptr_t), value :: displacement
    end function
    integer(c_int) function c_fence(win) bind(c)
      import
      integer(c_int), value :: win
    end function
    integer(c_int) function c_create_keyval(keyval) bind(c)
      import
      integer(c_int) :: keyval
    end function
    integer(c_int) function c_expect_attribute(win, keyval, value) bind(c)
      import
      integer(c_int), value :: win, keyval
      integer(c_intptr_t), value :: value
    end function
    integer(c_int) function c_expect_deletes(expected, value) bind(c)
      import
      integer(c_int), value :: expected
      integer(c_intptr_t), value :: value
    end function
    integer(c_int) function c_set_attribute(win, keyval, address) bind(c)
      import
      integer(c_int), value :: win, keyval
      integer(c_intptr_t) :: address
    end function
    integer(c_int) function c_set_name(win) bind(c)
      import
      integer(c_int), value :: win
    end function
    integer(c_int) function c_call_error_handler(win) bind(c)
      import
      integer(c_int), value :: win
    end function
    integer(c_int) function c_free(win) bind(c)
      import
      integer(c_int) :: win
    end function
  end interface
end module

module mixed_callbacks
  use mpi_f08
  implicit none
  integer :: errors = 0, deletes = 0
  integer(MPI_ADDRESS_KIND) :: deleted = 0

contains

  subroutine handle_error(win, code)
    type(MPI_Win) :: win
    integer :: code
    if (win /= MPI_WIN_NULL .and. code == MPI_ERR_OTHER) errors = errors + 1
  end subroutine

  subroutine delete_attribute(win, keyval, value, extra_state, ierror)
    type(MPI_Win) :: win
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra_state
    deletes = deletes + 1
    deleted = value
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, extra_state == 5 .and. keyval /= win%MPI_VAL)
  end subroutine
end module

program mixed
  use c_half
  use checks
  use mixed_callbacks
  use mpi_f08
  implicit none
  integer, parameter :: count = 8
  integer, asynchronous :: memory(count), value
  type(MPI_Win) :: win

  call begin()
  call made_in_fortran()
  call made_in_c()
  call finish()

contains

  subroutine expect_none(line, what)
    integer, intent(in) :: line
    character(*), intent(in) :: what
    call expect(line == 0, what)
    if (line /= 0) print '(a, i0)', 'mixed.c: line ', line
  end subroutine

  subroutine made_in_fortran()
    memory = -1
    call MPI_Win_create(memory, int(4 * count, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call operations_of_both()
    call attributes_of_both()
    call expect_none(c_free(win%MPI_VAL), 'freed in C')
    call expect(win == MPI_WIN_NULL, 'null in Fortran what is freed in C')
  end subroutine

  subroutine made_in_c()
    memory = -1
    call expect_none(c_create(memory, count, win%MPI_VAL), 'made in C')
    call operations_of_both()
    call names_and_errors_of_both()
    call MPI_Win_free(win)
  end subroutine

  subroutine operations_of_both()
    call MPI_Barrier(MPI_COMM_WORLD)
    call expect_none(c_put(win%MPI_VAL, 100 + rank, right_of(rank), 1_MPI_ADDRESS_KIND), 'a put of C''s')
    value = 200 + rank
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right_of(rank), 0, win)
    call MPI_Put(value, 1, MPI_INTEGER, right_of(rank), 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
    call MPI_Win_unlock(right_of(rank), win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_fence(0, win)
    value = 300 + rank
    call MPI_Put(value, 1, MPI_INTEGER, right_of(rank), 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
    call expect_none(c_fence(win%MPI_VAL), 'an epoch that begins in Fortran and ends in C')
    call MPI_F_sync_reg(memory)
    call expect(all(memory(:5) == [-1, 100 + left_of(rank), 200 + left_of(rank), 300 + left_of(rank), -1]), &
                'what both put')
  end subroutine

  subroutine attributes_of_both()
    integer(MPI_ADDRESS_KIND) :: address, found
    integer :: keyval, of_fortran
    logical :: flag
    call expect_none(c_create_keyval(keyval), 'a keyval of C''s')
    call MPI_Win_set_attr(win, keyval, 2_MPI_ADDRESS_KIND**35)
    call expect_none(c_expect_attribute(win%MPI_VAL, keyval, 2_MPI_ADDRESS_KIND**35), &
                     'set in Fortran, read in C')
    call MPI_Win_delete_attr(win, keyval)
    call expect_none(c_expect_deletes(1, 2_MPI_ADDRESS_KIND**35), 'set in Fortran, deleted by C''s callback')
    call MPI_Win_free_keyval(keyval)
    call MPI_Win_create_keyval(MPI_WIN_DUP_FN, delete_attribute, of_fortran, 5_MPI_ADDRESS_KIND)
    call expect_none(c_set_attribute(win%MPI_VAL, of_fortran, address), 'set in C')
    call MPI_Win_get_attr(win, of_fortran, found, flag)
    call expect(flag .and. found == address, 'set in C, read in Fortran')
    call MPI_Win_delete_attr(win, of_fortran)
    call expect(deletes == 1 .and. deleted == address, 'set in C, deleted by Fortran''s callback')
    call MPI_Win_free_keyval(of_fortran)
  end subroutine

  subroutine names_and_errors_of_both()
    character(MPI_MAX_OBJECT_NAME) :: name
    type(MPI_Errhandler) :: handler
    integer :: length
    call expect_none(c_set_name(win%MPI_VAL), 'named in C')
    call MPI_Win_get_name(win, name, length)
    call expect(length == 10 .and. name(:1) == 'n', 'a name that C gave')
    call MPI_Win_create_errhandler(handle_error, handler)
    call MPI_Win_set_errhandler(win, handler)
    call expect_none(c_call_error_handler(win%MPI_VAL), 'an error of C''s')
    call expect(errors == 1, 'an error of C''s, handled in Fortran')
    call MPI_Errhandler_free(handler)
  end subroutine
end program
