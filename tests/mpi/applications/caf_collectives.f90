! Collective subroutines, and teams.
program caf_collectives
  use, intrinsic :: iso_fortran_env, only: int64, real64, team_type
  use caf_checks
  implicit none

  integer :: me, images

  me = this_image()
  images = num_images()
  call sums()
  call extremes()
  call broadcasts()
  call reductions()
  call coarrays_in_teams()
  call passed('collectives')

contains

  subroutine sums()
    integer :: number
    real(real64) :: values(100)
    integer :: i
    number = me
    call co_sum(number)
    call check(number == images * (images + 1) / 2, 'co_sum')
    values = [(me * i, i = 1, 100)]
    call co_sum(values, result_image=images)
    if (me == images) then
      call check(all(values == [(i * images * (images + 1) / 2, i = 1, 100)]), 'co_sum to one image')
    end if
  end subroutine sums

  subroutine extremes()
    integer(int64) :: highest
    real(real64) :: lowest(3)
    highest = me * 10_int64**12
    lowest = [-me, me, 0]
    call co_max(highest)
    call co_min(lowest)
    call check(highest == images * 10_int64**12, 'co_max')
    call check(all(lowest == [-images, 1, 0]), 'co_min')
  end subroutine extremes

  subroutine broadcasts()
    character(9) :: word
    real(real64) :: values(5)
    word = merge('broadcast', 'nothing  ', me == images)
    values = me
    call co_broadcast(word, images)
    call co_broadcast(values, 1)
    call check(word == 'broadcast' .and. all(values == 1), 'co_broadcast')
  end subroutine broadcasts

  subroutine reductions()
    integer :: factorial, image
    factorial = me
    call co_reduce(factorial, product_of)
    call check(factorial == product([(image, image = 1, images)]), 'co_reduce')
  end subroutine reductions

  pure function product_of(a, b) result(c)
    integer, intent(in) :: a, b
    integer :: c
    c = a * b
  end function product_of

  subroutine coarrays_in_teams()
    type(team_type) :: halves
    integer :: total, half
    half = 1 + mod(me, 2)
    form team (half, halves)
    change team (halves)
      call check(team_number() == half, 'the number of a team')
      call check(num_images() == count_of(half), 'images of a team')
      total = me
      call co_sum(total)
      sync all
    end team
    call check(total == sum_of(half), 'co_sum in a team')
    call check(this_image() == me .and. num_images() == images, 'back from a team')
  end subroutine coarrays_in_teams

  pure integer function count_of(half)
    integer, intent(in) :: half
    integer :: image
    count_of = count([(1 + mod(image, 2) == half, image = 1, images)])
  end function count_of

  pure integer function sum_of(half)
    integer, intent(in) :: half
    integer :: image
    sum_of = sum([(image, image = 1, images)], [(1 + mod(image, 2) == half, image = 1, images)])
  end function sum_of

end program caf_collectives
