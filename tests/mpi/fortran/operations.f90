!> Puts, gets and accumulates of numbers of Fortran, and with derived types of Fortran's order.
program operations
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use mpi_f08
  use checks
  implicit none
  integer, parameter :: count = 24
  integer(MPI_ADDRESS_KIND), parameter :: zero = 0
  real(real64), asynchronous :: memory(count)
  type(MPI_Win) :: win
  integer :: i

  call begin()
  call MPI_Win_create(memory, int(8 * count, MPI_ADDRESS_KIND), 8, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call put_and_get()
  call matrices()
  call vectors()
  call subarrays()
  call at_bottom()
  call accumulates()
  call logicals_and_complex()
  call get_accumulates()
  call fetch_and_ops()
  call compare_and_swaps()
  call MPI_Win_free(win)
  call finish()

contains

  subroutine reset()
    call MPI_Win_fence(0, win)
    memory = [(100 * rank + i, i = 1, count)]
    call MPI_Win_fence(0, win)
  end subroutine

  subroutine put_and_get()
    real(real64), asynchronous :: row(5), back(5)
    integer :: ierror
    row = [(rank + 0.5d0 * i, i = 1, 5)]
    back = -1
    call reset()
    call MPI_Put(row, 5, MPI_DOUBLE_PRECISION, right_of(rank), 3_MPI_ADDRESS_KIND, 5, &
                 MPI_DOUBLE_PRECISION, win, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Put')
    call MPI_Win_fence(0, win, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Win_fence')
    call MPI_Get(back, 5, MPI_REAL8, right_of(rank), 3_MPI_ADDRESS_KIND, 5, MPI_REAL8, win, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Get')
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(back)
    call MPI_F_sync_reg(memory)
    call expect(all(back == row), 'a get of what was put')
    call expect(all(memory(4:8) == [(left_of(rank) + 0.5d0 * i, i = 1, 5)]), 'what was put')
    call expect(memory(3) == 100 * rank + 3 .and. memory(9) == 100 * rank + 9, 'beside what was put')
  end subroutine

  !> A matrix as a dummy argument of assumed shape; a section of one where the module takes it.
  subroutine matrices()
    real(real64), asynchronous :: matrix(4, 6)
    matrix = reshape([(1000 * rank + i, i = 1, 24)], [4, 6])
    call reset()
    call put_assumed_shape(matrix)
    call MPI_F_sync_reg(memory)
    call expect(all(memory == [(1000 * left_of(rank) + i, i = 1, 24)]), 'a matrix of assumed shape')
    if (.not. MPI_SUBARRAYS_SUPPORTED) return
    call reset()
    call MPI_Put(matrix(2, :), 6, MPI_DOUBLE_PRECISION, right_of(rank), zero, 6, &
                 MPI_DOUBLE_PRECISION, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(memory)
    call expect(all(memory(:6) == [(1000 * left_of(rank) + 4 * i - 2, i = 1, 6)]), 'a section')
  end subroutine

  subroutine put_assumed_shape(matrix)
    real(real64), intent(in), asynchronous :: matrix(:, :)
    call MPI_Put(matrix, size(matrix), MPI_DOUBLE_PRECISION, right_of(rank), zero, size(matrix), &
                 MPI_DOUBLE_PRECISION, win)
    call MPI_Win_fence(0, win)
  end subroutine

  !> Every third element here into every second there.
  subroutine vectors()
    real(real64), asynchronous :: row(16)
    type(MPI_Datatype) :: thirds, halves
    row = [(10 * rank + i, i = 1, 16)]
    call MPI_Type_vector(6, 1, 3, MPI_DOUBLE_PRECISION, thirds)
    call MPI_Type_commit(thirds)
    call MPI_Type_vector(3, 2, 4, MPI_DOUBLE_PRECISION, halves)
    call MPI_Type_commit(halves)
    call reset()
    call MPI_Put(row, 1, thirds, right_of(rank), 1_MPI_ADDRESS_KIND, 1, halves, win)
    call MPI_Type_free(thirds)  ! a type may be freed while an operation with it goes on
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(memory)
    call expect(all(memory([2, 3, 6, 7, 10, 11]) == [(10 * left_of(rank) + 3 * i + 1, i = 0, 5)]), &
                'a vector into a vector')
    call expect(all(memory([1, 4, 5, 8, 9, 12]) == 100 * rank + [1, 4, 5, 8, 9, 12]), &
                'the gaps of a vector')
    call MPI_Type_free(halves)
  end subroutine

  !> The inner 2 x 3 of a matrix of 4 x 6, first index fastest, to the same place at the target.
  subroutine subarrays()
    real(real64), asynchronous :: matrix(4, 6)
    real(real64) :: expected(4, 6)
    type(MPI_Datatype) :: inner
    matrix = reshape([(1000 * rank + i, i = 1, 24)], [4, 6])
    call MPI_Type_create_subarray(2, [4, 6], [2, 3], [1, 2], MPI_ORDER_FORTRAN, &
                                  MPI_DOUBLE_PRECISION, inner)
    call MPI_Type_commit(inner)
    call reset()
    expected = reshape([(100 * rank + i, i = 1, 24)], [4, 6])
    expected(2:3, 3:5) = matrix(2:3, 3:5) - 1000 * rank + 1000 * left_of(rank)
    call MPI_Put(matrix, 1, inner, right_of(rank), zero, 1, inner, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(memory)
    call expect(all(reshape(memory, [4, 6]) == expected), 'a subarray')
    call MPI_Type_free(inner)
  end subroutine

  !> An origin of absolute addresses: two variables that lie anywhere.
  subroutine at_bottom()
    real(real64), asynchronous :: one, other, back(2)
    integer(MPI_ADDRESS_KIND) :: addresses(2)
    type(MPI_Datatype) :: both
    one = rank + 0.25d0
    other = rank + 0.75d0
    call MPI_Get_address(one, addresses(1))
    call MPI_Get_address(other, addresses(2))
    call MPI_Type_create_hindexed(2, [1, 1], addresses, MPI_DOUBLE_PRECISION, both)
    call MPI_Type_commit(both)
    call reset()
    call MPI_Put(MPI_BOTTOM, 1, both, right_of(rank), 2_MPI_ADDRESS_KIND, 2, MPI_DOUBLE_PRECISION, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(memory)
    call expect(all(memory(3:4) == left_of(rank) + [0.25d0, 0.75d0]), 'a put from MPI_BOTTOM')
    call MPI_Win_fence(0, win)
    call MPI_Get(MPI_BOTTOM, 1, both, rank, 10_MPI_ADDRESS_KIND, 2, MPI_DOUBLE_PRECISION, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(one)
    call MPI_F_sync_reg(other)
    call expect(one == 100 * rank + 11 .and. other == 100 * rank + 12, 'a get to MPI_BOTTOM')
    back = 5
    call MPI_Get_accumulate(MPI_BOTTOM, 0, MPI_DOUBLE_PRECISION, back, 2, MPI_DOUBLE_PRECISION, &
                            rank, 10_MPI_ADDRESS_KIND, 2, MPI_DOUBLE_PRECISION, MPI_NO_OP, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(back)
    call expect(all(back == 100 * rank + [11, 12]), 'no origin at all')
    call MPI_Type_free(both)
  end subroutine

  !> All ranks add to rank 0; then the largest wins at the right neighbour.
  subroutine accumulates()
    real(real64), asynchronous :: row(count)
    row = [(i + rank, i = 1, count)]
    call reset()
    call MPI_Accumulate(row, count, MPI_DOUBLE_PRECISION, 0, zero, count, MPI_DOUBLE_PRECISION, &
                        MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(memory)
    if (rank == 0) call expect(all(memory == [(i + ranks * i + ranks * (ranks - 1) / 2, i = 1, count)]), &
                               'the sum of all ranks')
    call reset()
    row = merge(100 * right_of(rank), 10**6, [(mod(i, 2) == 0, i = 1, count)])
    call MPI_Accumulate(row, count, MPI_DOUBLE_PRECISION, right_of(rank), zero, count, &
                        MPI_DOUBLE_PRECISION, MPI_MAX, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(memory)
    call expect(all(merge(memory == [(100 * rank + i, i = 1, count)], memory == 10**6, &
                          [(mod(i, 2) == 0, i = 1, count)])), 'the largest')
  end subroutine

  !> Types that only Fortran has.
  subroutine logicals_and_complex()
    logical, asynchronous :: flags(4), mine(4)
    complex(real32), asynchronous :: factor, product
    integer(int64), asynchronous :: pair(2), mine_pair(2)
    type(MPI_Win) :: flag_win, product_win, pair_win
    flags = [.true., .false., .true., .false.]
    mine = [.true., .true., .false., .false.]
    product = (2.0, 1.0)
    factor = (0.0, 1.0)
    pair = [10_int64, 20_int64] + rank
    mine_pair = [2_int64**40, 2_int64**41]
    call MPI_Win_create(flags, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, flag_win)
    call MPI_Win_create(product, 8_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, product_win)
    call MPI_Win_create(pair, 16_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, pair_win)
    call MPI_Win_fence(0, flag_win)
    call MPI_Win_fence(0, product_win)
    call MPI_Win_fence(0, pair_win)
    call MPI_Accumulate(mine, 4, MPI_LOGICAL, right_of(rank), zero, 4, MPI_LOGICAL, MPI_LAND, flag_win)
    call MPI_Accumulate(factor, 1, MPI_COMPLEX, right_of(rank), zero, 1, MPI_COMPLEX, MPI_PROD, &
                        product_win)
    call MPI_Accumulate(mine_pair, 2, MPI_INTEGER8, right_of(rank), zero, 2, MPI_INTEGER8, MPI_SUM, &
                        pair_win)
    call MPI_Win_fence(0, pair_win)
    call MPI_Win_fence(0, product_win)
    call MPI_Win_fence(0, flag_win)
    call MPI_F_sync_reg(flags)
    call MPI_F_sync_reg(product)
    call MPI_F_sync_reg(pair)
    call expect(all(flags .eqv. [.true., .false., .false., .false.]), 'logicals, and')
    call expect(product == (-1.0, 2.0), 'complex numbers, multiplied')
    call expect(all(pair == [10_int64, 20_int64] + rank + mine_pair), 'integers of 8 bytes, added')
    call MPI_Win_free(flag_win)
    call MPI_Win_free(product_win)
    call MPI_Win_free(pair_win)
  end subroutine

  subroutine get_accumulates()
    real(real64), asynchronous :: row(3), old(3)
    row = 0.5d0
    call reset()
    call MPI_Get_accumulate(row, 3, MPI_DOUBLE_PRECISION, old, 3, MPI_DOUBLE_PRECISION, &
                            right_of(rank), 4_MPI_ADDRESS_KIND, 3, MPI_DOUBLE_PRECISION, MPI_SUM, win)
    call MPI_Win_fence(0, win)
    call MPI_F_sync_reg(old)
    call MPI_F_sync_reg(memory)
    call expect(all(old == 100 * right_of(rank) + [5, 6, 7]), 'what was there before')
    call expect(all(memory(5:7) == 100 * rank + [5, 6, 7] + 0.5d0), 'what is there after')
  end subroutine

  !> A ticket for every rank: all different, from 0 on.
  subroutine fetch_and_ops()
    integer, asynchronous :: counter, one, ticket
    integer, allocatable :: tickets(:)
    type(MPI_Win) :: tickets_win
    counter = 0
    one = 1
    call MPI_Win_create(counter, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, tickets_win)
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, tickets_win)
    call MPI_Fetch_and_op(one, ticket, MPI_INTEGER, 0, zero, MPI_SUM, tickets_win)
    call MPI_Win_unlock(0, tickets_win)
    call MPI_F_sync_reg(ticket)
    allocate(tickets(ranks))
    call MPI_Allgather(ticket, 1, MPI_INTEGER, tickets, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all([(any(tickets == i), i = 0, ranks - 1)]), 'a ticket for every rank')
    call MPI_Win_free(tickets_win)
  end subroutine

  !> Of all ranks that would have the word at rank 0, one gets it, and all know which.
  subroutine compare_and_swaps()
    integer, asynchronous :: owner, nobody, mine, before
    integer :: winners
    type(MPI_Win) :: owner_win
    owner = -1
    nobody = -1
    mine = rank
    call MPI_Win_create(owner, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, owner_win)
    call MPI_Win_lock_all(0, owner_win)
    call MPI_Compare_and_swap(mine, nobody, before, MPI_INTEGER, 0, zero, owner_win)
    call MPI_Win_flush(0, owner_win)
    call MPI_F_sync_reg(before)
    call MPI_Allreduce(merge(1, 0, before == -1), winners, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(winners == 1, 'one winner')
    call MPI_Fetch_and_op(mine, before, MPI_INTEGER, 0, zero, MPI_NO_OP, owner_win)
    call MPI_Win_flush(0, owner_win)
    call MPI_F_sync_reg(before)
    call expect(before >= 0 .and. before < ranks, 'the winner is one of us')
    call MPI_Win_unlock_all(owner_win)
    call MPI_Win_free(owner_win)
  end subroutine
end program
