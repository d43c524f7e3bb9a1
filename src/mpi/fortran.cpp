#include "mpi/fortran.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "base/log.hpp"

namespace oriel::mpi::fortran {
namespace {

/// The variable that is MPI_BOTTOM, under each spelling of its common block. MPI's C library has
/// one, so it is known however late the Fortran library is loaded; a program's own comes first.
using Bottoms = std::array<const void*, 4>;

Bottoms find_bottoms() noexcept {
  return {dlsym(RTLD_DEFAULT, "mpi_fortran_bottom_"), dlsym(RTLD_DEFAULT, "mpi_fortran_bottom"),
          dlsym(RTLD_DEFAULT, "mpi_fortran_bottom__"), dlsym(RTLD_DEFAULT, "MPI_FORTRAN_BOTTOM")};
}

}  // namespace

void* buffer(void* address) noexcept {
  static const Bottoms bottoms = find_bottoms();
  return std::ranges::find(bottoms, address) == bottoms.end() ? address : nullptr;
}

void* find_native(const char* name) noexcept {
  if (void* const next = dlsym(RTLD_NEXT, name); next != nullptr) return next;
  // Loaded for one library alone (a module of an interpreter): out of sight of RTLD_NEXT.
  if (void* const library = dlopen("libmpi_mpifh.so.40", RTLD_LAZY | RTLD_NOLOAD);
      library != nullptr)
    if (void* const found = dlsym(library, name); found != nullptr) return found;
  base::log(base::LogLevel::error,
            "{} was called, but MPI's Fortran library has no such function; hint: the drop-in is "
            "for Open MPI 4.1",
            name);
  PMPI_Abort(MPI_COMM_WORLD, MPI_ERR_INTERN);
  return nullptr;
}

}  // namespace oriel::mpi::fortran
