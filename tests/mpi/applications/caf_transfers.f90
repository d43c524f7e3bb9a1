! Coarrays of all kinds, and their sections, put to and got from other images.
program caf_transfers
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  use caf_checks
  implicit none

  type :: cell
    integer :: id = 0
    real(real64) :: value(4) = 0
  end type cell
  type :: bag
    real(real64), allocatable :: items(:)
  end type bag

  integer :: me, images, right, left

  me = this_image()
  images = num_images()
  right = merge(1, me + 1, me == images)
  left = merge(images, me - 1, me == 1)

  call scalars()
  call whole_arrays()
  call strided_sections()
  call scattered_elements()
  call kinds()
  call derived_types()
  call allocatable_components()
  call allocation_again_and_again()
  call corank_two()
  call large_arrays()
  call passed('transfers')

contains

  subroutine scalars()
    integer, save :: number[*]
    number = me
    sync all
    call check(number[right] == right, 'get of a scalar')
    sync all
    number[right] = 100 * me
    sync all
    call check(number == 100 * left, 'put of a scalar')
    number[me] = -me  ! to oneself
    call check(number[me] == -me, 'get from oneself')
    sync all
  end subroutine scalars

  subroutine whole_arrays()
    real(real64), allocatable :: there(:)[:]
    real(real64) :: here(1000)
    integer :: i
    allocate (there(1000)[*])
    here = [(me + i / 1024d0, i = 1, 1000)]
    there(:)[right] = here
    sync all
    call check(all(there == [(left + i / 1024d0, i = 1, 1000)]), 'put of an array')
    here = there(:)[left]
    call check(all(here == [(merge(images, left - 1, left == 1) + i / 1024d0, i = 1, 1000)]), &
               'get of an array')
    sync all
    if (images > 1) then  ! to oneself OpenCoarrays 2.10.1 copies what lies behind the scalar
      there(11:20)[right] = 7
      sync all
      call check(all(there(11:20) == 7) .and. there(10) == left + 10 / 1024d0 .and. &
                 there(21) == left + 21 / 1024d0, 'a scalar into a section')
    end if
    deallocate (there)
  end subroutine whole_arrays

  subroutine strided_sections()
    integer, allocatable :: grid(:, :)[:]
    integer :: rows(5, 8), back(8), i, j
    allocate (grid(10, 16)[*], source=0)
    rows = reshape([(me * 1000 + i, i = 1, 40)], [5, 8])
    sync all
    grid(2:10:2, 1:15:2)[right] = rows
    sync all
    call check(all(grid(2:10:2, 1:15:2) == reshape([(left * 1000 + i, i = 1, 40)], [5, 8])), &
               'put into a strided section')
    call check(all(grid(1:9:2, :) == 0) .and. all(grid(:, 2:16:2) == 0), 'no more than it')
    back = grid(4, 15:1:-2)[right]
    call check(all(back == [(me * 1000 + 5 * j + 2, j = 7, 0, -1)]), 'get of a row backwards')
    rows = 0
    rows(1:5:2, 2) = grid(2:10:4, 3)[right]
    call check(all(rows(1:5:2, 2) == me * 1000 + [6, 8, 10]) .and. all(rows(2:4:2, 2) == 0), &
               'get into a strided section')
    deallocate (grid)
  end subroutine strided_sections

  subroutine scattered_elements()
    integer, allocatable :: values(:)[:]
    integer :: places(4), got(4), i
    allocate (values(20)[*])
    values = [(me * 100 + i, i = 1, 20)]
    places = [3, 17, 5, 11]
    sync all
    ! To put so does not work: OpenCoarrays 2.10.1 asks for elements before the array.
    got = values(places)[right]
    call check(all(got == right * 100 + places), 'get from a vector of subscripts')
    sync all
    deallocate (values)
  end subroutine scattered_elements

  subroutine kinds()
    integer(int8), allocatable :: bytes(:)[:]
    integer(int64), allocatable :: longs(:)[:]
    complex(real32), allocatable :: waves(:)[:]
    logical, allocatable :: flags(:)[:]
    character(7), allocatable :: words(:)[:]
    real(real64) :: converted(3)
    allocate (bytes(5)[*], longs(3)[*], waves(3)[*], flags(4)[*], words(2)[*])
    sync all
    bytes(2:4)[right] = [1_int8, -2_int8, 3_int8]
    longs(:)[right] = [huge(1_int64), -1_int64, int(me, int64)]
    waves(:)[right] = [(1, 2), (3, 4), (5, 6)]
    flags(:)[right] = [.true., .false., .true., .true.]
    words(:)[right] = ['oriel  ', 'window ']
    sync all
    call check(all(bytes(2:4) == [1, -2, 3]), 'bytes')
    call check(longs(1) == huge(1_int64) .and. longs(3) == left, 'integers of 8 bytes')
    call check(waves(2) == (3, 4), 'complex numbers')
    call check(all(flags .eqv. [.true., .false., .true., .true.]), 'logicals')
    call check(words(1) == 'oriel' .and. words(2) == 'window', 'characters')
    converted = bytes(2:4)[right]  ! on the way, as an assignment does
    call check(all(converted == [1d0, -2d0, 3d0]), 'converted on the way')
    deallocate (bytes, longs, waves, flags, words)
  end subroutine kinds

  subroutine derived_types()
    type(cell), allocatable :: cells(:)[:]
    type(cell) :: one
    allocate (cells(3)[*])
    sync all
    cells(2)[right] = cell(me, [1d0, 2d0, 3d0, 4d0] * me)
    cells(3)[right]%id = -me
    sync all
    call check(cells(2)%id == left .and. all(cells(2)%value == [1, 2, 3, 4] * left), &
               'put of a structure')
    call check(cells(3)%id == -left .and. all(cells(3)%value == 0), 'put of a component')
    one = cells(2)[right]
    call check(one%id == me .and. one%value(4) == 4 * me, 'get of a structure')
    call check(all(cells(2)[right]%value(2:4:2) == [2, 4] * me), 'get of a part of a component')
    sync all
    deallocate (cells)
  end subroutine derived_types

  ! The memory of components comes and goes on each image alone: a dynamic window's.
  subroutine allocatable_components()
    type(bag), save :: mine[*]
    integer :: i
    allocate (mine%items(me + 2))
    mine%items = [(me * 10 + i, i = 1, me + 2)]
    sync all
    call check(size(mine[right]%items) == right + 2, 'size of a component elsewhere')
    call check(mine[right]%items(right + 2) == right * 11 + 2, 'get of an element of a component')
    call check(all(mine[right]%items(1:3) == right * 10 + [1, 2, 3]), 'get of its section')
    sync all
    mine[right]%items(2) = -me
    sync all
    call check(mine%items(2) == -left, 'put to an element of a component')
    deallocate (mine%items)
    sync all
  end subroutine allocatable_components

  subroutine allocation_again_and_again()
    integer, allocatable :: values(:)[:]
    integer :: round
    do round = 1, 20
      allocate (values(round * 50)[*])
      values(round * 50)[right] = me * round
      sync all
      call check(values(round * 50) == left * round, 'a coarray that is new')
      deallocate (values)
    end do
  end subroutine allocation_again_and_again

  subroutine corank_two()
    integer, allocatable :: value[:, :]
    integer :: at(2)
    allocate (value[2, *])
    value = me
    sync all
    at = [1, (images + 1) / 2]
    call check(value[at(1), at(2)] == image_index(value, at), 'an image by two cosubscripts')
    call check(all(this_image(value) == [merge(1, 2, mod(me, 2) == 1), (me + 1) / 2]), &
               'the cosubscripts of an image')
    sync all
    deallocate (value)
  end subroutine corank_two

  subroutine large_arrays()
    integer, parameter :: n = 500000, m = 20000
    real(real64), allocatable :: field(:)[:], copy(:)
    integer :: i
    allocate (field(n)[*])
    field = [(me + i * 0.5d0, i = 1, n)]
    sync all
    copy = field(:)[right]
    call check(all(copy == [(right + i * 0.5d0, i = 1, n)]), 'get of 4 MB')
    copy(1:m / 2) = field(1:m:2)[left]  ! OpenCoarrays gets them one by one
    call check(all(copy(1:m / 2) == [(left + i * 0.5d0, i = 1, m, 2)]), 'get of every other element')
    sync all
    deallocate (field)
  end subroutine large_arrays

end program caf_transfers
