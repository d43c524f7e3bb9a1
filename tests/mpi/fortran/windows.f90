!> Windows of every kind: made, written by a neighbour, read in place, freed.
program windows
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use mpi_f08
  use checks
  implicit none
  integer, parameter :: count = 100
  integer(MPI_ADDRESS_KIND), parameter :: zero = 0
  integer :: unit

  call begin()
  call MPI_Sizeof(unit, unit)
  call created()
  call allocated()
  call allocated_shared()
  call dynamic()
  call of_part_of_the_ranks()
  call without_memory()
  call finish()

contains

  subroutine put_to_the_right(win, displacement, seen)
    type(MPI_Win), intent(in) :: win
    integer(MPI_ADDRESS_KIND), intent(in) :: displacement
    integer, intent(in), asynchronous :: seen(:)
    integer, asynchronous :: row(count)
    integer :: i
    row = [(1000 * rank + i, i = 1, count)]
    call MPI_Win_fence(0, win)
    call MPI_Put(row, count, MPI_INTEGER, right_of(rank), displacement, count, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(seen)
    call expect(all(seen(:count) == [(1000 * left_of(rank) + i, i = 1, count)]), &
                'the row of the left neighbour')
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
  end subroutine

  subroutine created()
    integer, asynchronous :: memory(count)
    type(MPI_Win) :: win
    integer :: ierror
    memory = -1
    call MPI_Win_create(memory, int(unit * count, MPI_ADDRESS_KIND), unit, MPI_INFO_NULL, &
                        MPI_COMM_WORLD, win, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Win_create')
    call expect(win /= MPI_WIN_NULL, 'a created window is not null')
    call put_to_the_right(win, zero, memory)
    call MPI_Win_free(win, ierror)
    call expect(ierror == MPI_SUCCESS .and. win == MPI_WIN_NULL, 'a freed window is null')
  end subroutine

  subroutine allocated()
    integer, pointer, asynchronous :: memory(:)
    type(c_ptr) :: base
    type(MPI_Win) :: win
    call MPI_Win_allocate(int(unit * count, MPI_ADDRESS_KIND), unit, MPI_INFO_NULL, &
                          MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, memory, [count])
    memory = -1
    call put_to_the_right(win, zero, memory)
    call MPI_Win_free(win)
  end subroutine

  !> Every rank finds every other's part, and writes into its neighbour's by an assignment.
  subroutine allocated_shared()
    integer, pointer, asynchronous :: memory(:), theirs(:)
    type(c_ptr) :: base
    type(MPI_Win) :: win
    integer(MPI_ADDRESS_KIND) :: bytes
    integer :: r, their_unit
    call MPI_Win_allocate_shared(int(unit * (count + rank), MPI_ADDRESS_KIND), unit, &
                                 MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, memory, [count])
    memory = -1
    call put_to_the_right(win, zero, memory)
    call MPI_Win_lock_all(MPI_MODE_NOCHECK, win)
    do r = 0, ranks - 1
      call MPI_Win_shared_query(win, r, bytes, their_unit, base)
      call expect(bytes == unit * (count + r) .and. their_unit == unit, &
                  'size and unit of a part of a shared window')
    end do
    call MPI_Win_shared_query(win, right_of(rank), bytes, their_unit, base)
    call c_f_pointer(base, theirs, [count])
    theirs(7) = 4711 + rank
    call MPI_Win_sync(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_sync(win)
    call expect(memory(7) == 4711 + left_of(rank), 'what a neighbour assigned')
    call MPI_Win_unlock_all(win)
    call MPI_Win_free(win)
  end subroutine

  subroutine dynamic()
    integer, asynchronous :: memory(count)
    integer(MPI_ADDRESS_KIND) :: mine, theirs
    type(MPI_Win) :: win
    memory = -1
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_attach(win, memory, int(unit * count, MPI_ADDRESS_KIND))
    call MPI_Get_address(memory, mine)
    call MPI_Sendrecv(mine, 1, MPI_AINT, left_of(rank), 0, theirs, 1, MPI_AINT, right_of(rank), 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call put_to_the_right(win, theirs, memory)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_detach(win, memory)
    call MPI_Win_free(win)
  end subroutine

  !> Two halves have a window each at the same time.
  subroutine of_part_of_the_ranks()
    integer, asynchronous :: memory, mine
    integer :: my_rank, members
    type(MPI_Comm) :: half
    type(MPI_Win) :: win
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half)
    call MPI_Comm_rank(half, my_rank)
    call MPI_Comm_size(half, members)
    if (members > 1) then  ! MPI's own needs two
      memory = -1
      mine = rank
      call MPI_Win_create(memory, int(unit, MPI_ADDRESS_KIND), unit, MPI_INFO_NULL, half, win)
      call MPI_Win_fence(0, win)
      call MPI_Put(mine, 1, MPI_INTEGER, mod(my_rank + 1, members), zero, 1, MPI_INTEGER, win)
      call MPI_Win_fence(0, win)
      call MPI_F_sync_reg(memory)
      call expect(memory == mod(rank, 2) + 2 * mod(my_rank + members - 1, members), &
                  'a put within a half of the ranks')
      call MPI_Win_free(win)
    end if
    call MPI_Comm_free(half)
  end subroutine

  !> Only rank 0 shows memory, in units of one byte; the others have none, at MPI_BOTTOM.
  subroutine without_memory()
    integer, allocatable, asynchronous :: memory(:)
    integer, asynchronous :: mine
    integer :: i
    type(MPI_Win) :: win
    allocate(memory(0:ranks - 1), source=-1)
    if (rank == 0) then
      call MPI_Win_create(memory, int(unit * ranks, MPI_ADDRESS_KIND), 1, MPI_INFO_NULL, &
                          MPI_COMM_WORLD, win)
    else
      call MPI_Win_create(MPI_BOTTOM, zero, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    end if
    mine = 3 * rank
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win)
    call MPI_Put(mine, 1, MPI_INTEGER, 0, int(unit * rank, MPI_ADDRESS_KIND), 1, MPI_INTEGER, win)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
    call MPI_F_sync_reg(memory)
    if (rank == 0) call expect(all(memory == [(3 * i, i = 0, ranks - 1)]), 'a gather by puts')
    call MPI_Win_free(win)
  end subroutine
end program
