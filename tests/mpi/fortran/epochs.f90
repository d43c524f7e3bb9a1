!> Every way to synchronise: fences, post-start-complete-wait, locks, flushes.
program epochs
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use mpi_f08
  use checks
  implicit none
  integer, pointer, asynchronous :: memory(:)
  type(MPI_Group) :: left, right
  type(MPI_Win) :: win
  integer :: bytes

  call begin()
  call make()
  call fences()
  call post_start_complete_wait()
  call post_and_test()
  call locks()
  call lock_all_and_flushes()
  call exclusive_sections()
  call MPI_Group_free(left)
  call MPI_Group_free(right)
  call MPI_Win_free(win)
  call finish()

contains

  subroutine make()
    type(c_ptr) :: base
    type(MPI_Group) :: group
    call MPI_Sizeof(bytes, bytes)
    call MPI_Win_allocate(int(bytes * (ranks + 1), MPI_ADDRESS_KIND), bytes, MPI_INFO_NULL, &
                          MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, memory, [ranks + 1])
    memory = 0
    call MPI_Win_get_group(win, group)
    call MPI_Group_incl(group, 1, [left_of(rank)], left)
    call MPI_Group_incl(group, 1, [right_of(rank)], right)
    call MPI_Group_free(group)
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  subroutine put(value, target, displacement)
    integer, intent(in), asynchronous :: value
    integer, intent(in) :: target, displacement
    call MPI_Put(value, 1, MPI_INTEGER, target, int(displacement, MPI_ADDRESS_KIND), 1, &
                 MPI_INTEGER, win)
  end subroutine

  subroutine fences()
    integer, asynchronous :: value
    integer :: round
    do round = 1, 20
      call MPI_Win_fence(MPI_MODE_NOPRECEDE, win)
      value = 100 * round + rank
      call put(value, right_of(rank), 0)
      call MPI_Win_fence(ior(MPI_MODE_NOSTORE, MPI_MODE_NOSUCCEED), win)
      call MPI_F_sync_reg(memory)
      call expect(memory(1) == 100 * round + left_of(rank), 'a fence')
      call MPI_Barrier(MPI_COMM_WORLD)
    end do
  end subroutine

  subroutine post_start_complete_wait()
    integer, asynchronous :: value
    integer :: round
    do round = 1, 20
      call MPI_Win_post(left, 0, win)
      call MPI_Win_start(right, 0, win)
      value = 1000 * round + rank
      call put(value, right_of(rank), 0)
      call MPI_Win_complete(win)
      call MPI_Win_wait(win)
      call MPI_F_sync_reg(memory)
      call expect(memory(1) == 1000 * round + left_of(rank), 'post, start, complete, wait')
    end do
  end subroutine

  subroutine post_and_test()
    integer, asynchronous :: value
    logical :: done
    integer :: ierror
    call MPI_Win_post(left, 0, win)
    call MPI_Win_test(win, done, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Win_test')
    call expect(.not. done .or. ranks > 1, 'a rank of its own has not completed')
    call MPI_Win_start(right, 0, win)
    value = 77 + rank
    call put(value, right_of(rank), 0)
    call MPI_Win_complete(win)
    do while (.not. done)
      call MPI_Win_test(win, done)
    end do
    call MPI_F_sync_reg(memory)
    call expect(memory(1) == 77 + left_of(rank), 'post, start, complete, test')
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  subroutine locks()
    integer, asynchronous :: value
    integer :: target
    value = 5 * rank
    do target = 0, ranks - 1
      call MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win)
      call put(value, target, rank)
      call MPI_Win_unlock(target, win)
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    call expect_all(5, 'puts under shared locks')
  end subroutine

  subroutine lock_all_and_flushes()
    integer, asynchronous :: value, back
    integer :: target
    call MPI_Win_lock_all(0, win)
    value = 7 * rank
    do target = 0, ranks - 1
      call put(value, target, rank)
      call MPI_Win_flush_local(target, win)
    end do
    value = 9 * rank  ! may be reused; what arrives is the seven-fold
    call MPI_Win_flush_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    do target = 0, ranks - 1
      call MPI_Get(back, 1, MPI_INTEGER, target, int(rank, MPI_ADDRESS_KIND), 1, MPI_INTEGER, win)
      call MPI_Win_flush(target, win)
      call MPI_F_sync_reg(back)
      call expect(back == 7 * rank, 'a get after a flush')
    end do
    call MPI_Win_flush_local_all(win)
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call expect_all(7, 'puts under lock_all')
  end subroutine

  !> Read, add one, write, by everybody: right only if the exclusive lock excludes.
  subroutine exclusive_sections()
    integer, parameter :: rounds = 25
    integer, asynchronous :: value
    integer :: round
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, MPI_MODE_NOCHECK, win)
    memory(ranks + 1) = 0
    call MPI_Win_unlock(rank, win)
    call MPI_Barrier(MPI_COMM_WORLD)
    do round = 1, rounds
      call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win)
      call MPI_Get(value, 1, MPI_INTEGER, 0, int(ranks, MPI_ADDRESS_KIND), 1, MPI_INTEGER, win)
      call MPI_Win_flush(0, win)
      call MPI_F_sync_reg(value)
      value = value + 1
      call put(value, 0, ranks)
      call MPI_Win_unlock(0, win)
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)
    call MPI_Get(value, 1, MPI_INTEGER, 0, int(ranks, MPI_ADDRESS_KIND), 1, MPI_INTEGER, win)
    call MPI_Win_unlock(0, win)
    call MPI_F_sync_reg(value)
    call expect(value == rounds * ranks, 'exclusive sections')
  end subroutine

  !> Every rank's part has, from every rank, `factor` times its number.
  subroutine expect_all(factor, what)
    integer, intent(in) :: factor
    character(*), intent(in) :: what
    integer :: i
    call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win)
    call MPI_F_sync_reg(memory)
    call expect(all(memory(:ranks) == [(factor * i, i = 0, ranks - 1)]), what)
    call MPI_Win_unlock(rank, win)
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine
end program
