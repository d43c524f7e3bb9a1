// Memory that a program has given back, kept for its next MPI_Alloc_mem.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace oriel::mpi {

/// Memory in no use, by its size, up to so many bytes in all. To map pages and to pin them for a
/// device costs milliseconds a megabyte, and programs ask for the same sizes again and again
/// (NWChem: 40 MiB, hundreds of times). `Memory` owns what it stands for and is movable; a
/// default-made one is none. Safe for one thread at a time.
template <class Memory>
class IdleMemory {
 public:
  explicit IdleMemory(std::size_t most_bytes) noexcept : most_bytes_(most_bytes) {}

  /// What to ask for where `bytes` are wanted: small ones are alike, to serve again; of large ones
  /// not a byte too much is pinned.
  [[nodiscard]] static std::size_t room_for(std::size_t bytes) noexcept {
    return bytes > kSmall ? bytes : std::bit_ceil(std::max(bytes, kLeast));
  }

  /// The smallest that is large enough, unless it is more than four times too large; or none.
  [[nodiscard]] Memory take(std::size_t bytes) {
    const auto found = by_size_.lower_bound(bytes);
    if (found == by_size_.end() || found->first / 4 > std::max(bytes, kLeast)) return Memory{};
    return remove(found);
  }

  /// The largest make room for it; it ends at once where it has more bytes than may be kept.
  void keep(std::size_t bytes, Memory memory) {
    if (bytes > most_bytes_) return;
    while (bytes_ + bytes > most_bytes_) static_cast<void>(remove(std::prev(by_size_.end())));
    by_size_.emplace(bytes, std::move(memory));
    bytes_ += bytes;
  }

  void clear() noexcept {
    by_size_.clear();
    bytes_ = 0;
  }

  [[nodiscard]] std::size_t size() const noexcept { return by_size_.size(); }

 private:
  static constexpr std::size_t kLeast = 4096;
  static constexpr std::size_t kSmall = std::size_t{1} << 20U;

  using BySize = std::multimap<std::size_t, Memory>;

  Memory remove(typename BySize::iterator at) {
    Memory memory = std::move(at->second);
    bytes_ -= at->first;
    by_size_.erase(at);
    return memory;
  }

  BySize by_size_;
  std::size_t bytes_ = 0;
  std::size_t most_bytes_;
};

}  // namespace oriel::mpi
