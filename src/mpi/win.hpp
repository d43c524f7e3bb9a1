#pragma once
/// A window of the drop-in: Oriel's window, and all that MPI wants to know beside it.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <oriel/window_bytes.hpp>

#include "mpi/call.hpp"
#include "mpi/epochs.hpp"
#include "mpi/objects.hpp"

namespace oriel::mpi {

/// What is attached to a dynamic window, as MPI_Win_detach is told its address alone. Of regions
/// without bytes there may be many at an address, beside one with.
class Regions {
 public:
  void add(void* base, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    bytes_.emplace(base, bytes);
  }
  /// The bytes of the largest.
  [[nodiscard]] std::optional<std::size_t> find(void* base) const {
    const std::scoped_lock lock(mutex_);
    std::optional<std::size_t> largest;
    const auto [first, last] = bytes_.equal_range(base);
    for (auto region = first; region != last; ++region)
      largest = std::max(largest.value_or(0), region->second);
    return largest;
  }
  void remove(void* base, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    const auto [first, last] = bytes_.equal_range(base);
    const auto found = std::find(first, last, std::pair<void* const, std::size_t>(base, bytes));
    if (found != last) bytes_.erase(found);
  }

 private:
  mutable std::mutex mutex_;
  std::multimap<void*, std::size_t> bytes_;
};

/// Windows that Oriel carries have handles of their own; MPI_Win values that MPI made are left to
/// it. Both begin with a pointer, to a class that is MPI's or to a mark that is ours, so that one
/// load tells which.
class Win {
 public:
  /// Null for a handle of MPI's own and MPI_WIN_NULL; and for one of a freed window, which becomes
  /// MPI_WIN_NULL: MPI, which is asked next, would take it for an object of its own.
  [[nodiscard]] static Win* of(MPI_Win& handle) noexcept {
    const auto* const first = reinterpret_cast<const Handle*>(handle);
    if (first == nullptr) return nullptr;
    if (first->mark == &kMark) [[likely]]
      return first->window;
    if (first->mark == &kEnded) handle = MPI_WIN_NULL;
    return nullptr;
  }
  /// The Fortran handle, and back. Null: not one of ours.
  [[nodiscard]] static Win* of_fortran(MPI_Fint index) noexcept;
  [[nodiscard]] MPI_Fint fortran() const noexcept;
  /// How many there are in this process.
  [[nodiscard]] static std::size_t alive() noexcept;
  [[nodiscard]] MPI_Win handle() const noexcept;

  Win(WindowBytes window, MPI_Comm comm, int flavor);
  ~Win();
  Win(const Win&) = delete;
  Win& operator=(const Win&) = delete;

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// Errors: Failure MPI_ERR_RANK.
  void check_rank(int rank) const;
  /// Bytes of one unit of displacement at `rank`.
  [[nodiscard]] int unit_of(int rank) const noexcept {
    return units.empty() ? unit : units[static_cast<std::size_t>(rank)];
  }

  WindowBytes window;
  const int flavor;  ///< MPI_WIN_FLAVOR_*
  int model = MPI_WIN_UNIFIED;
  void* base = nullptr;  ///< of this rank's part
  MPI_Aint bytes = 0;
  int unit = 1;            ///< of this rank
  std::vector<int> units;  ///< by rank; empty: all are `unit`
  Epochs epochs;
  Regions regions;  ///< of dynamic windows
  std::string name;
  MPI_Info info = MPI_INFO_NULL;  ///< what MPI_Win_get_info tells; owned
  Attributes attributes;
  ErrorHandler errors;
  MPI_Group group = MPI_GROUP_NULL;  ///< of the communicator; owned

 private:
  struct Handle {
    const void* mark = nullptr;
    Win* window = nullptr;
    MPI_Fint index = 0;
  };
  static const char kMark;
  static const char kEnded;  // the mark of those that wait to be used again
  friend class Handles;
  Handle* handle_;
  int size_;
  int rank_;
};

}  // namespace oriel::mpi
