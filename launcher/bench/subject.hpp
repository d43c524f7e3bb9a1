#pragma once
/// Who is measured: Oriel, the bare device or memory ("floor"), and the MPI library's own RMA.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include <oriel/oriel.hpp>

#include "launcher/bench/operation.hpp"

namespace oriel::bench {

/// What carries bytes to the target.
enum class Path : std::uint8_t { memory, verbs };
[[nodiscard]] constexpr std::string_view to_string(Path path) noexcept {
  return path == Path::memory ? "shm" : "verbs";
}

/// The ranks that measure.
struct Stand {
  Runtime& job;
  Path path;
  [[nodiscard]] const Team& world() const noexcept { return job.world(); }
  [[nodiscard]] int rank() const noexcept { return world().rank(); }
  [[nodiscard]] int ranks() const noexcept { return world().size(); }
  /// Of the operations of rank 0.
  [[nodiscard]] int target() const noexcept { return ranks() - 1; }
  [[nodiscard]] int right() const noexcept { return (rank() + 1) % ranks(); }
  [[nodiscard]] int left() const noexcept { return (rank() + ranks() - 1) % ranks(); }
};

/// One row of the table.
struct Task {
  Operation operation;
  std::size_t size;  ///< bytes of one operation
  WindowKind window;
};

/// Does an operation so many times. By all ranks, or by rank 0 alone if it is not collective.
using Subject = std::function<void(std::size_t times)>;

/// A subject out of what is done for one operation, and what is done at the end of all.
template <class Once, class End>
[[nodiscard]] Subject repeat(Once once, End end) {
  return [once = std::move(once), end = std::move(end)](std::size_t times) mutable {
    for (std::size_t i = 0; i < times; ++i) once();
    end();
  };
}
template <class Once>
[[nodiscard]] Subject repeat(Once once) {
  return repeat(std::move(once), [] {});
}

// Collective, and so is the end of a subject. Empty: there is nothing to compare with.
[[nodiscard]] Subject make_oriel(const Stand& stand, const Task& task);
[[nodiscard]] Subject make_mpi(const Stand& stand, const Task& task);
[[nodiscard]] Subject make_floor(const Stand& stand, const Task& task);
// of which
[[nodiscard]] Subject make_memory_floor(const Stand& stand, const Task& task);
[[nodiscard]] Subject make_verbs_floor(const Stand& stand, const Task& task);

/// Bytes of a window that a task works on.
[[nodiscard]] constexpr std::size_t part_bytes(const Task& task) noexcept {
  const std::size_t bytes = task.operation == Operation::strided ? 2 * task.size : task.size;
  return (bytes < 64 ? 64 : bytes) + 64;
}
inline constexpr std::size_t kStridedBlock = 64;  ///< bytes

}  // namespace oriel::bench
