#pragma once
/// Counts calls of MPI functions, by the program and by every library in it. The counting functions
/// are generated from the symbols of the MPI library (see generate).

#include <atomic>
#include <cstdint>

extern "C" {
extern std::uint64_t oriel_mpi_calls;
extern const char* oriel_last_mpi_call;
}

namespace oriel::test {

/// Calls of MPI_* in this process so far, by all threads.
[[nodiscard]] inline std::uint64_t mpi_calls() noexcept {
  return std::atomic_ref(oriel_mpi_calls).load();
}
/// Name of the latest one; null before the first.
[[nodiscard]] inline const char* last_mpi_call() noexcept {
  return oriel_last_mpi_call;
}

}  // namespace oriel::test
