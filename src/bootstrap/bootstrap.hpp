#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace oriel::bootstrap {

/// How the processes of a job find each other before Oriel can move bytes itself, and nothing more.
///
/// All calls but rank, size, abandon and abort are collective over the group. Implementations: MPI
/// (mpi_bootstrap.cpp), one process alone (single_process.hpp), threads (in the tests).
class Bootstrap {
 public:
  Bootstrap() = default;
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;
  virtual ~Bootstrap() = default;

  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;
  /// Everybody's `mine`, equally long on all ranks, in the order of ranks.
  [[nodiscard]] virtual std::vector<std::byte> allgather(std::span<const std::byte> mine) = 0;
  virtual void barrier() = 0;
  /// The group of those with the same color (>= 0), ordered by key, then by rank here.
  [[nodiscard]] virtual std::unique_ptr<Bootstrap> split(int color, int key) = 0;
  /// The other ranks may be gone: from now on, destroying groups waits for nobody.
  virtual void abandon() noexcept = 0;
  /// Ends the whole job now, with this status, when no agreed way out is left.
  [[noreturn]] virtual void abort(int status) noexcept = 0;
};

}  // namespace oriel::bootstrap
