!> The operations that return a request, completed by every wait and test, among messages.
program requests
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use mpi_f08
  use checks
  implicit none
  integer, parameter :: forms = 4, messages = 2, all_of_them = forms + messages
  integer, pointer, asynchronous :: memory(:)
  type(MPI_Win) :: win
  !> What the requests write and read; one set at a time is under way.
  integer, asynchronous :: put_value, got, added, before, addend, sent, received
  type(MPI_Request) :: pending(all_of_them)
  integer :: bytes, round

  call begin()
  call make()
  do round = 1, 5
    call one_by_one()
    call by_waitall()
    call by_waitany()
    call by_waitsome()
    call by_test()
    call by_testany()
    call by_testall()
    call by_testsome()
    call by_get_status()
    call of_nothing()
    call messages_alone()
  end do
  call by_order()
  call many()
  call MPI_Win_unlock_all(win)
  call MPI_Win_free(win)
  call finish()

contains

  subroutine make()
    type(c_ptr) :: base
    call MPI_Sizeof(bytes, bytes)
    call MPI_Win_allocate(int(bytes * 1000, MPI_ADDRESS_KIND), bytes, MPI_INFO_NULL, &
                          MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, memory, [1000])
    call MPI_Win_lock_all(0, win)
  end subroutine

  !> Cell 1: put; cell 2: read; cell 3: added to; cell 4: added to and read. The right neighbour's.
  subroutine start(slots)
    integer, intent(in) :: slots(all_of_them)
    integer :: right
    right = right_of(rank)
    memory(:4) = [-1, 10 + rank, 20 + rank, 30 + rank]
    call MPI_Win_sync(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    put_value = 40 + rank
    added = 100
    addend = 200
    sent = 50 + rank
    got = -1
    before = -1
    received = -1
    call MPI_Rput(put_value, 1, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, &
                  pending(slots(1)))
    call MPI_Rget(got, 1, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, &
                  pending(slots(2)))
    call MPI_Raccumulate(added, 1, MPI_INTEGER, right, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, &
                         win, pending(slots(3)))
    call MPI_Rget_accumulate(addend, 1, MPI_INTEGER, before, 1, MPI_INTEGER, right, &
                             3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win, pending(slots(4)))
    call MPI_Irecv(received, 1, MPI_INTEGER, left_of(rank), 1, MPI_COMM_WORLD, pending(slots(5)))
    call MPI_Isend(sent, 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, pending(slots(6)))
  end subroutine

  !> All requests are complete here: what they brought is there, and after a flush what they took.
  subroutine verify(what)
    character(*), intent(in) :: what
    call MPI_F_sync_reg(got)
    call MPI_F_sync_reg(before)
    call MPI_F_sync_reg(received)
    call expect(all(pending == MPI_REQUEST_NULL), what // ': requests are null')
    call expect(got == 10 + right_of(rank), what // ': MPI_Rget')
    call expect(before == 30 + right_of(rank), what // ': MPI_Rget_accumulate')
    call expect(received == 50 + left_of(rank), what // ': MPI_Irecv')
    call MPI_Win_flush(right_of(rank), win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_sync(win)
    call MPI_F_sync_reg(memory)
    call expect(all(memory(:4) == [40 + left_of(rank), 10 + rank, 120 + rank, 230 + rank]), &
                what // ': the window')
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  subroutine one_by_one()
    type(MPI_Status) :: status
    integer :: i, ierror
    call start([1, 2, 3, 4, 5, 6])
    do i = 1, all_of_them
      call MPI_Wait(pending(i), status, ierror)
      call expect(ierror == MPI_SUCCESS, 'MPI_Wait')
      if (i == 5) call expect(status%MPI_SOURCE == left_of(rank) .and. status%MPI_TAG == 1, &
                              'the status of a message')
    end do
    call verify('MPI_Wait')
  end subroutine

  subroutine by_waitall()
    type(MPI_Status) :: statuses(all_of_them)
    call start([4, 1, 6, 2, 3, 5])
    if (mod(round, 2) == 0) then
      call MPI_Waitall(all_of_them, pending, MPI_STATUSES_IGNORE)
    else
      call MPI_Waitall(all_of_them, pending, statuses)
      call expect(statuses(3)%MPI_SOURCE == left_of(rank), 'a status of several')
    end if
    call verify('MPI_Waitall')
  end subroutine

  subroutine by_waitany()
    logical :: seen(all_of_them)
    integer :: i, index
    seen = .false.
    call start([6, 5, 4, 3, 2, 1])
    do i = 1, all_of_them
      call MPI_Waitany(all_of_them, pending, index, MPI_STATUS_IGNORE)
      call see(index, seen, 'MPI_Waitany')
    end do
    call MPI_Waitany(all_of_them, pending, index, MPI_STATUS_IGNORE)
    call expect(index == MPI_UNDEFINED, 'MPI_Waitany of null requests')
    call verify('MPI_Waitany')
  end subroutine

  subroutine by_waitsome()
    logical :: seen(all_of_them)
    integer :: count, i, indices(all_of_them)
    seen = .false.
    call start([1, 3, 5, 2, 4, 6])
    do
      call MPI_Waitsome(all_of_them, pending, count, indices, MPI_STATUSES_IGNORE)
      if (count == MPI_UNDEFINED) exit
      call expect(count > 0, 'MPI_Waitsome returns one or more')
      do i = 1, count
        call see(indices(i), seen, 'MPI_Waitsome')
      end do
    end do
    call expect(all(seen), 'MPI_Waitsome returns every request')
    call verify('MPI_Waitsome')
  end subroutine

  subroutine by_test()
    logical :: flag
    integer :: i
    call start([2, 4, 6, 1, 3, 5])
    do i = all_of_them, 1, -1
      flag = .false.
      do while (.not. flag)
        call MPI_Test(pending(i), flag, MPI_STATUS_IGNORE)
      end do
    end do
    call verify('MPI_Test')
  end subroutine

  subroutine by_testany()
    logical :: flag, seen(all_of_them)
    integer :: index
    seen = .false.
    call start([3, 4, 1, 2, 6, 5])
    do
      call MPI_Testany(all_of_them, pending, index, flag, MPI_STATUS_IGNORE)
      if (.not. flag) cycle
      if (index == MPI_UNDEFINED) exit
      call see(index, seen, 'MPI_Testany')
    end do
    call expect(all(seen), 'MPI_Testany returns every request')
    call verify('MPI_Testany')
  end subroutine

  subroutine by_testall()
    logical :: flag
    call start([5, 6, 1, 2, 3, 4])
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(all_of_them, pending, flag, MPI_STATUSES_IGNORE)
    end do
    call verify('MPI_Testall')
  end subroutine

  subroutine by_testsome()
    logical :: seen(all_of_them)
    integer :: count, i, indices(all_of_them)
    seen = .false.
    call start([1, 2, 3, 4, 5, 6])
    do
      call MPI_Testsome(all_of_them, pending, count, indices, MPI_STATUSES_IGNORE)
      if (count == MPI_UNDEFINED) exit
      do i = 1, count
        call see(indices(i), seen, 'MPI_Testsome')
      end do
    end do
    call expect(all(seen), 'MPI_Testsome returns every request')
    call verify('MPI_Testsome')
  end subroutine

  !> MPI_Request_get_status sees the end, and leaves the request.
  subroutine by_get_status()
    type(MPI_Status) :: status
    logical :: flag
    integer :: i
    call start([2, 1, 4, 3, 6, 5])
    do i = 1, all_of_them
      flag = .false.
      do while (.not. flag)
        call MPI_Request_get_status(pending(i), flag, status)
      end do
      call expect(pending(i) /= MPI_REQUEST_NULL, 'MPI_Request_get_status leaves the request')
    end do
    call MPI_Waitall(all_of_them, pending, MPI_STATUSES_IGNORE)
    call verify('MPI_Request_get_status')
  end subroutine

  subroutine of_nothing()
    type(MPI_Request) :: null_request, none(2)
    logical :: flag
    null_request = MPI_REQUEST_NULL
    none = MPI_REQUEST_NULL
    call MPI_Wait(null_request, MPI_STATUS_IGNORE)
    call MPI_Waitall(2, none, MPI_STATUSES_IGNORE)
    call MPI_Waitall(0, none, MPI_STATUSES_IGNORE)
    call MPI_Test(null_request, flag, MPI_STATUS_IGNORE)
    call expect(flag, 'MPI_Test of a null request')
  end subroutine

  !> A request of a window is outstanding while messages are waited for.
  subroutine messages_alone()
    integer :: done(2), index
    type(MPI_Request) :: two(2)
    call start([1, 2, 3, 4, 5, 6])
    two = pending(5:6)
    call MPI_Waitany(2, two, index, MPI_STATUS_IGNORE)
    done(1) = index
    call MPI_Waitany(2, two, index, MPI_STATUS_IGNORE)
    done(2) = index
    call expect(minval(done) == 1 .and. maxval(done) == 2, 'messages among requests of windows')
    pending(5:6) = MPI_REQUEST_NULL
    call MPI_Waitall(forms, pending, MPI_STATUSES_IGNORE)
    call verify('messages alone')
  end subroutine

  !> Messages are sent only after a wait for one of several has returned a request of a window.
  subroutine by_order()
    type(MPI_Request) :: two(2)
    integer, asynchronous :: late, value
    integer :: index
    value = 600 + rank
    call MPI_Irecv(late, 1, MPI_INTEGER, left_of(rank), 2, MPI_COMM_WORLD, two(1))
    call MPI_Rput(value, 1, MPI_INTEGER, right_of(rank), 5_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, two(2))
    call MPI_Waitany(2, two, index, MPI_STATUS_IGNORE)
    call expect(index == 2, 'the request of the window comes first')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Send(rank, 1, MPI_INTEGER, right_of(rank), 2, MPI_COMM_WORLD)
    call MPI_Wait(two(1), MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(late)
    call expect(late == left_of(rank), 'the message comes last')
  end subroutine

  subroutine many()
    integer, parameter :: number = 500
    integer, asynchronous :: values(number), back(number)
    type(MPI_Request) :: each(number)
    integer :: i, right
    right = right_of(rank)
    values = [(rank * number + i, i = 1, number)]
    call MPI_Barrier(MPI_COMM_WORLD)
    do i = 1, number
      call MPI_Rput(values(i), 1, MPI_INTEGER, right, int(i - 1, MPI_ADDRESS_KIND), 1, MPI_INTEGER, &
                    win, each(i))
    end do
    call MPI_Waitall(number, each, MPI_STATUSES_IGNORE)
    call MPI_Win_flush(right, win)
    do i = 1, number
      call MPI_Rget(back(i), 1, MPI_INTEGER, right, int(i - 1, MPI_ADDRESS_KIND), 1, MPI_INTEGER, win, &
                    each(i))
    end do
    call MPI_Waitall(number, each, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(back)
    call expect(all(back == values), 'many requests')
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  subroutine see(index, seen, what)
    integer, intent(in) :: index
    logical, intent(inout) :: seen(:)
    character(*), intent(in) :: what
    call expect(index >= 1 .and. index <= size(seen), what // ': an index from 1 on')
    call expect(.not. seen(index), what // ': each request once')
    seen(index) = .true.
  end subroutine
end program
