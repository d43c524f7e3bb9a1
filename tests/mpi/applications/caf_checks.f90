! What the coarray programs share: checks that end the program, all images of it, and its last word.
module caf_checks
  implicit none
  private
  public :: check, passed

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print '(a,i0,a,i0,2a)', 'image ', this_image(), ' of ', num_images(), ': FAILED: ', what
    error stop 1
  end subroutine check

  subroutine passed(what)
    character(*), intent(in) :: what
    sync all
    if (this_image() == 1) print '(2a)', 'PASS ', what
  end subroutine passed

end module caf_checks
