#pragma once
/// [implementation] What of a window this rank's CPU reaches by itself: all that the calls look at
/// which are inline.

#include <atomic>
#include <concepts>
#include <cstddef>
#include <vector>

#include <oriel/export.hpp>
#include <oriel/operations.hpp>
#include <oriel/rank.hpp>

namespace oriel::window {

/// The parts of a window that are mapped here. Threads: any.
class ORIEL_API MappedParts {
 public:
  virtual ~MappedParts();
  MappedParts(const MappedParts&) = delete;
  MappedParts& operator=(const MappedParts&) = delete;

  /// Bytes of a part, or null: they are not mapped, or there is no such rank, or they are not all
  /// within the part. Then the way that looks closer tells which.
  [[nodiscard]] std::byte* find(Rank target, std::size_t offset, std::size_t bytes) const noexcept {
    const auto index = static_cast<std::size_t>(static_cast<int>(target));
    if (index >= parts_.size()) return nullptr;
    const Part& part = parts_[index];
    if (part.address == nullptr || offset > part.bytes || bytes > part.bytes - offset)
      return nullptr;
    return part.address + offset;
  }
  /// Whether all that is done to the parts is done when the call returns, accumulates included, by
  /// this thread itself: what flush waits for is its store buffer.
  [[nodiscard]] bool is_in_place() const noexcept { return in_place_; }
  /// The same, of a rank that there is.
  [[nodiscard]] bool is_in_place(Rank target) const noexcept {
    return in_place_ && static_cast<std::size_t>(static_cast<int>(target)) < parts_.size();
  }

 protected:
  struct Part {
    std::byte* address = nullptr;  ///< null: it is not mapped
    std::size_t bytes = 0;
  };

  MappedParts() = default;

  std::vector<Part> parts_{};  // by team rank
  bool in_place_ = false;      // all parts are mapped, and accumulates are the work of CPUs alone
};

/// Types of which accumulates in place are atomic instructions of the CPU: the integers. All others
/// are combined under a lock.
template <class T>
concept InPlaceInteger = std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8;

template <InPlaceInteger T>
[[nodiscard]] T fetch_add_in_place(std::byte* element, T operand) noexcept {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(element)).fetch_add(operand);
}
template <InPlaceInteger T>
[[nodiscard]] T compare_and_swap_in_place(std::byte* element, T compare, T swap) noexcept {
  std::atomic_ref<T>(*reinterpret_cast<T*>(element)).compare_exchange_strong(compare, swap);
  return compare;
}

}  // namespace oriel::window
