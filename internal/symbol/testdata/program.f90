! SPDX-License-Identifier: Apache-2.0
module halo
  use iso_c_binding
  interface
    subroutine where(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface
contains
  subroutine exchange()
    call where("module" // c_null_char) ! line 12
  end subroutine
end module

subroutine external()
  use halo
  call where("external" // c_null_char) ! line 18
end subroutine

program main
  use halo
  call exchange()
  call external()
  call where("main" // c_null_char) ! line 25
end program
