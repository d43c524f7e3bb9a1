#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace oriel::bootstrap {

/// How the processes of a job find each other before Oriel can move bytes itself, and nothing more:
/// after the start nobody calls it. Implementations: MPI (mpi_bootstrap.cpp), one process alone
/// (single_process.hpp), threads and forked processes (in the tests).
class Bootstrap {
 public:
  Bootstrap() = default;
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;
  virtual ~Bootstrap() = default;

  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  /// Collective: everybody's `mine`, equally long on all ranks, in the order of ranks.
  [[nodiscard]] virtual std::vector<std::byte> allgather(std::span<const std::byte> mine) = 0;
  /// The other ranks may be gone: from now on, ending waits for nobody.
  virtual void abandon() noexcept = 0;
};

}  // namespace oriel::bootstrap
