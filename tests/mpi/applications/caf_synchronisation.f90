! Images wait for each other, exclude each other and count together.
program caf_synchronisation
  use, intrinsic :: iso_fortran_env, only: atomic_int_kind, atomic_logical_kind, event_type, lock_type
  use caf_checks
  implicit none

  integer, parameter :: rounds = 50
  integer :: me, images, right, left

  me = this_image()
  images = num_images()
  right = merge(1, me + 1, me == images)
  left = merge(images, me - 1, me == 1)

  call ring_of_events()
  call many_posts_one_wait()
  call counting_under_a_lock()
  call lock_that_is_taken()
  call counting_in_a_critical_section()
  call pairs()
  call master_and_workers()
  call atomic_sums()
  call counting_by_compare_and_swap()
  call flag_and_data()
  call passed('synchronisation')

contains

  subroutine ring_of_events()
    type(event_type), save :: ready[*]
    integer, save :: token[*]
    integer :: round
    token = 0
    sync all
    do round = 1, rounds
      if (me == 1) then
        token[right] = token + 1
        event post(ready[right])
        event wait(ready)
      else
        event wait(ready)
        token[right] = token + 1
        event post(ready[right])
      end if
    end do
    sync all
    if (me == 1) call check(token == rounds * images, 'a token goes round by events')
  end subroutine ring_of_events

  subroutine many_posts_one_wait()
    type(event_type), save :: full[*]
    integer :: posts
    sync all
    event post(full[1])
    event post(full[1])
    if (me == 1) then
      event wait(full, until_count=2 * images)
      call event_query(full, posts)
      call check(posts == 0, 'all posts are used up')
    end if
    sync all
  end subroutine many_posts_one_wait

  subroutine counting_under_a_lock()
    type(lock_type), save :: guard[*]
    integer, save :: counter[*]
    integer :: round
    counter = 0
    sync all
    do round = 1, rounds
      lock(guard[images])
      counter[images] = counter[images] + 1
      unlock(guard[images])
    end do
    sync all
    call check(counter[images] == rounds * images, 'nothing counted under a lock is lost')
    sync all
  end subroutine counting_under_a_lock

  subroutine lock_that_is_taken()
    type(lock_type), save :: guard[*]
    logical :: got
    sync all
    if (me == 1) then
      lock(guard[1])
    end if
    sync all
    if (me /= 1) then
      lock(guard[1], acquired_lock=got)
      call check(.not. got, 'a lock that another image has')
    end if
    sync all
    if (me == 1) then
      unlock(guard[1])
    end if
    sync all
  end subroutine lock_that_is_taken

  subroutine counting_in_a_critical_section()
    integer, save :: counter[*]
    integer :: round
    counter = 0
    sync all
    do round = 1, rounds
      critical
        counter[1] = counter[1] + me
      end critical
    end do
    sync all
    call check(counter[1] == rounds * images * (images + 1) / 2, 'nothing is lost in critical')
    sync all
  end subroutine counting_in_a_critical_section

  subroutine pairs()
    integer, save :: value[*]
    integer :: round
    value = 0
    sync all
    do round = 1, rounds
      value[right] = round * me
      if (left == right) then
        sync images(right)
      else if (images > 1) then
        sync images([left, right])
      end if
      call check(value == round * left, 'sync images: the neighbour has put')
      if (left == right) then
        sync images(right)
      else if (images > 1) then
        sync images([left, right])
      end if
    end do
    sync all
  end subroutine pairs

  subroutine master_and_workers()
    integer, save :: work[*]
    integer :: image
    work = 0
    sync all
    if (me == 1) then
      do image = 1, images
        work[image] = 7 * image
      end do
      sync images(*)
    else
      sync images(1)
    end if
    call check(work == 7 * me, 'sync images: one with all')
    sync all
  end subroutine master_and_workers

  ! OpenCoarrays 2.10.1 knows no other atomic operation on bits or with a result but atomic_cas: the
  ! first do something else, the second leave the result as it was.
  subroutine atomic_sums()
    integer(atomic_int_kind), save :: counter[*], taken[*]
    integer(atomic_int_kind) :: value, ignored
    integer :: round
    counter = 0
    taken = 0
    sync all
    do round = 1, rounds
      call atomic_add(counter[1], me)
      call atomic_fetch_add(taken[images], 1, ignored)
    end do
    sync all
    call atomic_ref(value, counter[1])
    call check(value == rounds * images * (images + 1) / 2, 'atomic_add')
    call atomic_ref(value, taken[images])
    call check(value == rounds * images, 'atomic_fetch_add')
    sync all
    call atomic_define(counter[right], -me)
    sync all
    call atomic_ref(value, counter)
    call check(value == -left, 'atomic_define')
    sync all
  end subroutine atomic_sums

  subroutine counting_by_compare_and_swap()
    integer(atomic_int_kind), save :: counter[*]
    integer(atomic_int_kind) :: seen, found
    integer :: round
    counter = 0
    sync all
    do round = 1, rounds
      call atomic_ref(seen, counter[1])
      do
        call atomic_cas(counter[1], found, seen, seen + 1)
        if (found == seen) exit
        seen = found
      end do
    end do
    sync all
    call atomic_ref(seen, counter[1])
    call check(seen == rounds * images, 'atomic_cas')
    sync all
  end subroutine counting_by_compare_and_swap

  ! A busy wait for what another image sets, with data put before.
  subroutine flag_and_data()
    logical(atomic_logical_kind), save :: flag[*]
    integer, save :: message(100)[*]
    integer :: contents(100)
    logical(atomic_logical_kind) :: up
    contents = me
    flag = .false.
    sync all
    message(:)[right] = contents
    sync memory
    call atomic_define(flag[right], .true._atomic_logical_kind)
    up = .false.
    do while (.not. up)
      call atomic_ref(up, flag)
    end do
    sync memory
    call check(all(message == left), 'data before a flag')
    sync all
  end subroutine flag_and_data

end program caf_synchronisation
