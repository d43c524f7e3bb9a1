!> Attributes, keyvals, error handlers, names, info and groups of windows.
module callbacks
  use mpi_f08
  implicit none
  integer :: deletes = 0, copies = 0, errors = 0, last_code = MPI_SUCCESS
  integer(MPI_ADDRESS_KIND) :: deleted_value = 0, deleted_state = 0
  type(MPI_Win) :: seen

contains

  subroutine copy_attribute(win, keyval, extra_state, value_in, value_out, flag, ierror)
    type(MPI_Win) :: win
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    copies = copies + 1
    value_out = value_in + extra_state
    flag = win == MPI_WIN_NULL .and. keyval < 0
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_attribute(win, keyval, value, extra_state, ierror)
    type(MPI_Win) :: win
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra_state
    if (keyval == MPI_KEYVAL_INVALID) deletes = deletes + 1000  ! the callback is told a keyval
    deletes = deletes + 1
    seen = win
    deleted_value = value
    deleted_state = extra_state
    ierror = MPI_SUCCESS
  end subroutine

  subroutine handle_error(win, code)
    type(MPI_Win) :: win
    integer :: code
    errors = errors + 1
    last_code = code
    seen = win
  end subroutine
end module

program objects
  use, intrinsic :: iso_c_binding, only: c_loc
  use mpi_f08
  use callbacks
  use checks
  implicit none
  integer, parameter :: count = 16
  integer(MPI_ADDRESS_KIND), parameter :: zero = 0
  integer, asynchronous, target :: memory(count)
  type(MPI_Win) :: win

  call begin()
  memory = 0
  call MPI_Win_create(memory, int(4 * count, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call predefined_attributes()
  call attributes_of_our_own()
  call predefined_callbacks()
  call names()
  call groups()
  call info()
  call error_handlers()
  call free_with_attributes()
  call finish()

contains

  subroutine predefined_attributes()
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag)
    call expect(flag .and. value == transfer(c_loc(memory), value), 'MPI_WIN_BASE')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
    call expect(flag .and. value == 4 * count, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag)
    call expect(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag)
    call expect(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag)
    call expect(flag .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE), 'MPI_WIN_MODEL')
  end subroutine

  subroutine attributes_of_our_own()
    integer(MPI_ADDRESS_KIND) :: value, state
    integer :: ierror, keyval
    logical :: flag
    state = 12345
    call MPI_Win_create_keyval(copy_attribute, delete_attribute, keyval, state)
    state = 0  ! the keyval has a copy
    call MPI_Win_get_attr(win, keyval, value, flag)
    call expect(.not. flag, 'an attribute that is not set')
    value = 2_MPI_ADDRESS_KIND**40 + rank
    call MPI_Win_set_attr(win, keyval, value, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Win_set_attr')
    value = 0
    call MPI_Win_get_attr(win, keyval, value, flag)
    call expect(flag .and. value == 2_MPI_ADDRESS_KIND**40 + rank, 'an attribute of more than 4 bytes')
    value = -7
    call MPI_Win_set_attr(win, keyval, value)
    call expect(deletes == 1 .and. deleted_value == 2_MPI_ADDRESS_KIND**40 + rank, &
                'the old value is deleted')
    call expect(deleted_state == 12345, 'the extra state of a delete callback')
    call MPI_Win_get_attr(win, keyval, value, flag)
    call expect(flag .and. value == -7, 'the new value')
    call MPI_Win_delete_attr(win, keyval)
    call expect(deletes == 2 .and. deleted_value == -7, 'MPI_Win_delete_attr')
    call MPI_Win_get_attr(win, keyval, value, flag)
    call expect(.not. flag, 'a deleted attribute')
    call MPI_Win_free_keyval(keyval)
    call expect(keyval == MPI_KEYVAL_INVALID, 'a freed keyval')
    deletes = 0
  end subroutine

  subroutine predefined_callbacks()
    integer(MPI_ADDRESS_KIND) :: value
    integer :: keyvals(2), i
    logical :: flag
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyvals(1), zero)
    call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, keyvals(2), zero)
    do i = 1, 2
      value = 10 + i
      call MPI_Win_set_attr(win, keyvals(i), value)
    end do
    do i = 1, 2
      call MPI_Win_get_attr(win, keyvals(i), value, flag)
      call expect(flag .and. value == 10 + i, 'attributes of two keyvals')
      call MPI_Win_delete_attr(win, keyvals(i))
      call MPI_Win_free_keyval(keyvals(i))
    end do
    call expect(copies == 0, 'windows are not copied')
  end subroutine

  subroutine names()
    character(MPI_MAX_OBJECT_NAME) :: name
    integer :: length
    call MPI_Win_set_name(win, 'of a window   ')
    name = 'x'
    call MPI_Win_get_name(win, name, length)
    call expect(length == 11, 'the length of a name')
    call expect(name(:1) == 'o' .and. name(MPI_MAX_OBJECT_NAME:) == ' ', 'a name, filled up with blanks')
    call MPI_Win_set_name(win, '  ')
    name = 'x'
    call MPI_Win_get_name(win, name, length)
    call expect(length == 0 .and. name == ' ', 'an empty name')
  end subroutine

  subroutine groups()
    type(MPI_Group) :: group, world
    integer :: comparison
    call MPI_Win_get_group(win, group)
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_compare(group, world, comparison)
    call expect(comparison == MPI_IDENT, 'MPI_Win_get_group')
    call MPI_Group_free(group)
    call MPI_Group_free(world)
  end subroutine

  subroutine info()
    type(MPI_Info) :: given, told
    integer :: keys
    call MPI_Info_create(given)
    call MPI_Info_set(given, 'no_locks', 'false')
    call MPI_Win_set_info(win, given)
    call MPI_Info_free(given)
    call MPI_Win_get_info(win, told)
    call expect(told /= MPI_INFO_NULL, 'MPI_Win_get_info')
    call MPI_Info_get_nkeys(told, keys)
    call expect(keys >= 0, 'the keys of a window''s info')
    call MPI_Info_free(told)
  end subroutine

  !> Rank `ranks` does not exist: an error of the call, told to a callback, and the code returned.
  subroutine error_handlers()
    type(MPI_Errhandler) :: before, mine, told
    integer, asynchronous :: value
    integer :: code, class
    value = 1
    call MPI_Win_get_errhandler(win, before)
    call expect(before == MPI_ERRORS_ARE_FATAL, 'errors of windows are fatal')
    call MPI_Win_create_errhandler(handle_error, mine)
    call MPI_Win_set_errhandler(win, mine)
    call MPI_Win_get_errhandler(win, told)
    call expect(told == mine, 'MPI_Win_get_errhandler')
    call MPI_Errhandler_free(told)
    call MPI_Errhandler_free(mine)  ! the window goes on using it
    call MPI_Win_call_errhandler(win, MPI_ERR_OTHER)
    call expect(errors == 1 .and. last_code == MPI_ERR_OTHER .and. seen == win, &
                'MPI_Win_call_errhandler')
    call MPI_Win_fence(0, win)
    call MPI_Put(value, 1, MPI_INTEGER, ranks, zero, 1, MPI_INTEGER, win, code)
    call expect(errors == 2 .and. last_code == code .and. seen == win, 'an error calls the callback')
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_RANK, 'the class of an error')
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Put(value, 1, MPI_INTEGER, -77, zero, 1, MPI_INTEGER, win, code)
    call expect(errors == 2 .and. code /= MPI_SUCCESS, 'an error that is returned')
    call MPI_Win_fence(0, win)
    call MPI_Win_set_errhandler(win, before)
    call MPI_Errhandler_free(before)
  end subroutine

  subroutine free_with_attributes()
    integer(MPI_ADDRESS_KIND) :: value
    integer :: keyval
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attribute, keyval, zero)
    value = 99
    call MPI_Win_set_attr(win, keyval, value)
    call MPI_Win_free_keyval(keyval)  ! the attribute stays
    call expect(deletes == 0, 'a freed keyval deletes nothing')
    call MPI_Win_free(win)
    call expect(deletes == 1 .and. deleted_value == 99, 'the end of a window deletes attributes')
  end subroutine
end program
