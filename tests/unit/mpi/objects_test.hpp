#pragma once
/// Windows of Oriel's as the drop-in has them, in a job of one rank.

#include <gtest/gtest.h>
#include <mpi.h>

#include <memory>

#include <oriel/mpi.hpp>

#include "mpi/win.hpp"

namespace oriel::mpi {

/// Of the process, from main() on.
[[nodiscard]] const Runtime& job();

[[nodiscard]] inline std::unique_ptr<Win> make_window(int flavor = MPI_WIN_FLAVOR_ALLOCATE) {
  auto made =
      std::make_unique<Win>(WindowBytes::allocate(job().world(), 64), MPI_COMM_WORLD, flavor);
  made->base = made->window.local().data();
  made->bytes = 64;
  made->unit = 8;
  made->info = known_hints(MPI_INFO_NULL, flavor);
  made->errors.set(MPI_ERRORS_RETURN);
  return made;
}

}  // namespace oriel::mpi
