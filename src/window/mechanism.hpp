#pragma once

#include <cstddef>
#include <cstdint>

#include <oriel/window_bytes.hpp>

namespace oriel::window {

/// How an accumulate is carried out.
enum class Mechanism : std::uint8_t {
  in_place,   ///< CPU atomics on aligned integers; loads and stores under a lock on all else
  cpu,        ///< CPU atomics on mapped memory
  agent,      ///< the same, by the agent of the process that owns the memory
  words,      ///< the device's 64-bit atomics
  locked,     ///< get, compute, put, under the target's accumulate lock
  unguarded,  ///< the same without the lock
};

/// What leads from an origin to the words of a target.
enum class Reach : std::uint8_t {
  all_mapped,  ///< they are mapped, as all parts of the window are at all ranks
  mapped,
  agent,
  device,
};

/// What the program promises when it makes a window. A mechanism that is right without a promise is
/// right with it.
struct AccumulatePromises {
  /// No accumulate has more than one element: those that a device's atomics do not combine go by
  /// compare-and-swap, for many of which a lock is better.
  bool single_element = false;
  /// No two ranks accumulate on the same location at the same time, nor does one while another
  /// swaps or adds there.
  bool no_concurrent = false;
};

/// Whether one atomic instruction of a CPU covers an element.
[[nodiscard]] constexpr bool is_word(std::size_t element_bytes) noexcept {
  return element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8;
}

/// Elements that are combined as words, by atomics of 64 bits where not a CPU does it alone. One by
/// one: a sum of integers that a device can do itself, all else by a read and compare-and-swaps. A
/// thousand of those cost more than a thousand times what a lock, a read and a write of all do, and
/// who sends doubles sends thousands: but for integers, whose sums must meet all else, and for
/// elements that are only swapped, words are for those who promise that there is one at a time.
[[nodiscard]] constexpr bool goes_by_words(ElementType type, AccumulatePromises promises) noexcept {
  const bool is_combined = type.kind > ElementKind::unsigned64;  // floating, complex, pairs
  return type.bytes == 8 && (!is_combined || promises.single_element);
}

/// The mechanism of an origin, for accumulates, fetching ones and compare-and-swaps alike.
///
/// Invariant: whatever two origins do to one location at the same time, with elements of the same
/// kind and size, is atomic. Mechanisms that are atomic to each other are one family:
///   in_place   kind and address of the element tell how, and all origins have the same means
///   locked     among origins, by the lock
///   cpu agent  CPU atomics; the domain `nic` has none of them
///   words      atomics of the target's device; atomic to the CPU's in the domain `cpu_and_nic`
///              alone, and the domain `cpu` has none of them
/// So all origins of a window must find the same family, by what is the same for all of them: the
/// domain, the promises, the kind and size of the element, whether its address at the target is a
/// multiple of its size (no atomic covers it otherwise), and whether all parts are mapped at all
/// ranks. How many there are and the operation do not count. Reach, in which origins differ
/// otherwise, chooses only within the family: elements that do not go by words are locked even
/// where the CPU could reach them, as soon as one origin might have to come through a device, which
/// cannot. Requires: reach is not `device` in the domain `cpu`, and `all_mapped` in no other. Pure.
[[nodiscard]] constexpr Mechanism choose_mechanism(CoherenceDomain domain, Reach reach,
                                                   ElementType type, AccumulatePromises promises,
                                                   bool aligned = true) noexcept {
  if (reach == Reach::all_mapped) return Mechanism::in_place;
  if (promises.no_concurrent) return Mechanism::unguarded;
  const bool all_by_cpu = domain == CoherenceDomain::cpu;
  const bool atomic = all_by_cpu ? is_word(type.bytes) : goes_by_words(type, promises);
  if (!atomic || !aligned) return Mechanism::locked;
  if (reach == Reach::device) return Mechanism::words;
  return reach == Reach::mapped ? Mechanism::cpu : Mechanism::agent;
}

}  // namespace oriel::window
