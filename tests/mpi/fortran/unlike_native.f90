!> What the standard says and Open MPI 4.1 does not do by itself: operations beyond the target's
!> memory are errors, delete callbacks are told their window, names come back whole, and the status
!> of a request may be ignored.
module unlike_native_callbacks
  use mpi_f08
  implicit none
  integer :: errors = 0, last_code = MPI_SUCCESS
  type(MPI_Win) :: deleted_of

contains

  subroutine handle_error(win, code)
    type(MPI_Win) :: win
    integer :: code
    if (win /= MPI_WIN_NULL) errors = errors + 1
    last_code = code
  end subroutine

  subroutine delete_attribute(win, keyval, value, extra_state, ierror)
    type(MPI_Win) :: win
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra_state
    deleted_of = win
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, keyval /= MPI_KEYVAL_INVALID .and. value == extra_state)
  end subroutine
end module

program unlike_native
  use mpi_f08
  use checks
  use unlike_native_callbacks
  implicit none
  integer, parameter :: count = 8
  integer, asynchronous :: memory(count), row(count)
  type(MPI_Win) :: win
  integer :: code

  call begin()
  memory = 5
  row = 9
  call MPI_Win_create(memory, int(4 * count, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call range_errors()
  call deleted_attribute()
  call name()
  call ignored_status()
  call MPI_Win_free(win)
  call finish()

contains

  subroutine range_errors()
    type(MPI_Errhandler) :: handler
    call MPI_Win_create_errhandler(handle_error, handler)
    call MPI_Win_set_errhandler(win, handler)
    call MPI_Errhandler_free(handler)
    call MPI_Win_fence(0, win)
    call MPI_Put(row, 4, MPI_INTEGER, right_of(rank), 5_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win, code)
    call expect_error(1, MPI_ERR_RMA_RANGE, 'a put beyond the end')
    call MPI_Get(row, 1, MPI_INTEGER, right_of(rank), -1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, code)
    call expect_error(2, MPI_ERR_DISP, 'a get in front of the beginning')
    call MPI_Accumulate(row, count, MPI_INTEGER, right_of(rank), 1_MPI_ADDRESS_KIND, count, &
                        MPI_INTEGER, MPI_SUM, win, code)
    call expect_error(3, MPI_ERR_RMA_RANGE, 'an accumulate beyond the end')
    call MPI_Put(row, 4, MPI_INTEGER, right_of(rank), 4_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win, code)
    call expect(code == MPI_SUCCESS .and. errors == 3, 'a put up to the end')
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(memory)
    call expect(all(memory == [5, 5, 5, 5, 9, 9, 9, 9]), 'an operation with an error changes nothing')
  end subroutine

  subroutine expect_error(number, expected, what)
    integer, intent(in) :: number, expected
    character(*), intent(in) :: what
    integer :: class
    call MPI_Error_class(code, class)
    call expect(class == expected .and. errors == number .and. last_code == code, what)
  end subroutine

  subroutine deleted_attribute()
    integer :: keyval
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attribute, keyval, 31_MPI_ADDRESS_KIND)
    call MPI_Win_set_attr(win, keyval, 31_MPI_ADDRESS_KIND)
    call MPI_Win_delete_attr(win, keyval)
    call expect(deleted_of == win, 'the window of a deleted attribute')
    call MPI_Win_free_keyval(keyval)
  end subroutine

  subroutine name()
    character(MPI_MAX_OBJECT_NAME) :: told
    integer :: length
    call MPI_Win_set_name(win, '  of a window   ')
    told = repeat('x', MPI_MAX_OBJECT_NAME)
    call MPI_Win_get_name(win, told, length)
    call expect(length == 13, 'the length of a name: leading blanks count')
    call expect(told == '  of a window', 'a name, filled up with blanks')
    call MPI_Win_set_name(win, repeat('z', 200))
    call MPI_Win_get_name(win, told, length)
    call expect(length == MPI_MAX_OBJECT_NAME .and. told == repeat('z', length), 'a long name is cut')
  end subroutine

  subroutine ignored_status()
    type(MPI_Request) :: request
    logical :: flag
    call MPI_Barrier(MPI_COMM_WORLD)  ! all have looked at what was there
    call MPI_Win_lock_all(0, win)
    call MPI_Rput(row, count, MPI_INTEGER, right_of(rank), 0_MPI_ADDRESS_KIND, count, MPI_INTEGER, win, &
                  request)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(request, flag, MPI_STATUS_IGNORE)
    end do
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_unlock_all(win)
  end subroutine
end program
