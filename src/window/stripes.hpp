#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <oriel/operations.hpp>

#include "sync/control_words.hpp"
#include "sync/vigil.hpp"

namespace oriel::window {

/// Accumulates on elements that no atomic instruction combines, where every rank has every part
/// mapped: in place, by plain loads and stores that the compiler makes vectors of, under locks of
/// which each covers stretches of a part.
///
/// Invariant. An element is combined under the lock of the stretch that it begins in, whoever
/// combines it, whatever their counts. A thread holds one lock at a time, waits for nothing while
/// it holds it, and so gives it back, unless its process dies: then those who wait find that out.
///
/// Errors: peer_lost, peer_failed, of who waits. Threads: any. Cost: an atomic and a store for each
/// kStretch bytes.
class Stripes {
 public:
  static constexpr std::size_t kStretch = 16384;

  /// Bytes of a part, where they are, and whose part it is.
  struct Place {
    std::byte* bytes = nullptr;
    std::size_t offset = 0;  ///< in the part
    std::size_t team_rank = 0;
  };

  /// @param words  of all ranks, by team rank, mapped
  Stripes(std::span<sync::ControlWords* const> words, const sync::Vigil& vigil) noexcept
      : words_(words), vigil_(vigil) {}

  /// target[i] = op(target[i], operands[i]); results[i] becomes the value before unless `results`
  /// is null. No alignment is needed.
  void reduce(ElementType type, OpCode op, const Place& target, const std::byte* operands,
              std::byte* results, std::size_t count) const;
  /// result = target; if it equals `compare`, target = swap.
  void compare_and_swap(std::size_t bytes, const Place& target, const std::byte* compare,
                        const std::byte* swap, std::byte* result) const;

 private:
  class Held;

  /// The same, of elements that begin in one stretch.
  void reduce_stretch(ElementType type, OpCode op, const Place& target, const std::byte* operands,
                      std::byte* results, std::size_t count) const;

  std::span<sync::ControlWords* const> words_;
  const sync::Vigil& vigil_;
};

}  // namespace oriel::window
