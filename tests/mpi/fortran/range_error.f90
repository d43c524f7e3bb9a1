!> Operations beyond the target's memory are errors of the call, told to a callback of Fortran.
module range_callbacks
  use mpi_f08
  implicit none
  integer :: errors = 0, last_code = MPI_SUCCESS

contains

  subroutine handle_error(win, code)
    type(MPI_Win) :: win
    integer :: code
    if (win /= MPI_WIN_NULL) errors = errors + 1
    last_code = code
  end subroutine
end module

program range_error
  use mpi_f08
  use checks
  use range_callbacks
  implicit none
  integer, parameter :: count = 8
  integer, asynchronous :: memory(count), row(count)
  type(MPI_Errhandler) :: handler
  type(MPI_Win) :: win
  integer :: code

  call begin()
  memory = 5
  row = 9
  call MPI_Win_create(memory, int(4 * count, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_create_errhandler(handle_error, handler)
  call MPI_Win_set_errhandler(win, handler)
  call MPI_Errhandler_free(handler)
  call MPI_Win_fence(0, win)
  call MPI_Put(row, 4, MPI_INTEGER, right_of(rank), 5_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win, code)
  call expect_range_error(1, 'a put beyond the end')
  call MPI_Get(row, 1, MPI_INTEGER, right_of(rank), -1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, code)
  call expect_range_error(2, 'a get in front of the beginning')
  call MPI_Accumulate(row, count, MPI_INTEGER, right_of(rank), 1_MPI_ADDRESS_KIND, count, MPI_INTEGER, &
                      MPI_SUM, win, code)
  call expect_range_error(3, 'an accumulate beyond the end')
  call MPI_Put(row, 4, MPI_INTEGER, right_of(rank), 4_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win, code)
  call expect(code == MPI_SUCCESS .and. errors == 3, 'a put up to the end')
  call MPI_Win_fence(0, win)
  call MPI_F_sync_reg(memory)
  call expect(all(memory == [5, 5, 5, 5, 9, 9, 9, 9]), 'an operation with an error changes nothing')
  call MPI_Win_free(win)
  call finish()

contains

  subroutine expect_range_error(number, what)
    integer, intent(in) :: number
    character(*), intent(in) :: what
    integer :: class
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_RMA_RANGE .and. errors == number .and. last_code == code, what)
  end subroutine
end program
