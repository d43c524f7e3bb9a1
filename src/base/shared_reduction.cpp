// Reductions by CPU atomics.

#include <atomic>
#include <bit>
#include <cstring>

#include <oriel/shared_bytes.hpp>

#include "base/reduction.hpp"
#include "base/reduction_table.hpp"

namespace oriel::base {
namespace {

template <std::size_t Bytes>
struct BitsOf;
template <>
struct BitsOf<1> : std::type_identity<std::uint8_t> {};
template <>
struct BitsOf<2> : std::type_identity<std::uint16_t> {};
template <>
struct BitsOf<4> : std::type_identity<std::uint32_t> {};
template <>
struct BitsOf<8> : std::type_identity<std::uint64_t> {};

template <class Bits>
std::atomic_ref<Bits> word(std::byte* shared) noexcept {
  static_assert(std::atomic_ref<Bits>::is_always_lock_free);
  return std::atomic_ref(*reinterpret_cast<Bits*>(shared));
}

struct Replace {};

/// What is to be stored where `old` is.
template <class T, class Operation, class Bits>
Bits combined(Bits old, Bits operand) noexcept {
  const T mine = std::bit_cast<T>(operand);
  const T theirs = std::bit_cast<T>(old);
  if constexpr (requires { Operation::takes_operand(theirs, mine); }) {
    return Operation::takes_operand(theirs, mine) ? operand : old;
  } else {
    return std::bit_cast<Bits>(Operation::of(theirs, mine));
  }
}

/// One element; returns what was there before.
template <class T, class Operation, class Bits>
Bits exchange(std::atomic_ref<Bits> shared, Bits operand) noexcept {
  if constexpr (std::same_as<Operation, Replace>)
    return shared.exchange(operand);
  else if constexpr (std::same_as<Operation, Sum> && std::integral<T>)
    return shared.fetch_add(operand);
  else if constexpr (std::same_as<Operation, Band>)
    return shared.fetch_and(operand);
  else if constexpr (std::same_as<Operation, Bor>)
    return shared.fetch_or(operand);
  else if constexpr (std::same_as<Operation, Bxor>)
    return shared.fetch_xor(operand);
  else {
    Bits old = shared.load(std::memory_order_relaxed);
    while (!shared.compare_exchange_weak(old, combined<T, Operation>(old, operand))) {
    }
    return old;
  }
}

template <class T, class Operation>
void reduce_all(std::byte* shared, const std::byte* operands, std::byte* results,
                std::size_t count) noexcept {
  using Bits = typename BitsOf<sizeof(T)>::type;
  for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
    const Bits operand = load_element<Bits>(operands + at);
    const Bits old = exchange<T, Operation>(word<Bits>(shared + at), operand);
    if (results != nullptr) std::memcpy(results + at, &old, sizeof old);
  }
}

struct MakeReduceShared {
  using Function = void (*)(std::byte*, const std::byte*, std::byte*, std::size_t) noexcept;
  template <class T, class Operation>
  static constexpr Function of() {
    if constexpr (sizeof(T) <= 8) return &reduce_all<T, Operation>;
    return nullptr;
  }
};

constexpr ReductionTable<MakeReduceShared> kReduceShared;

/// Calls use(Bits{}) with the unsigned integer of that many bytes.
template <class Use>
void with_bits(std::size_t bytes, Use&& use) noexcept {
  switch (bytes) {
    case 1:
      return use(std::uint8_t{});
    case 2:
      return use(std::uint16_t{});
    case 4:
      return use(std::uint32_t{});
    default:
      return use(std::uint64_t{});
  }
}

/// Elements that are only written, or only read, go by whole words where they can: an aligned word
/// is written and read at once, and so is each element in it. No instruction is locked.
/// @param move  called with the word and its place in the other memory
template <class Bits, class Move>
void move_elements(std::byte* shared, std::size_t bytes, Move&& move) noexcept {
  using Word = std::uint64_t;
  std::size_t at = 0;
  const auto move_one = [&]<class T>(T) {
    move(word<T>(shared + at), at);
    at += sizeof(T);
  };
  while (at < bytes && std::bit_cast<std::uintptr_t>(shared + at) % sizeof(Word) != 0)
    move_one(Bits{});
  while (bytes - at >= sizeof(Word)) move_one(Word{});
  while (at < bytes) move_one(Bits{});
}

template <class Bits>
void write_elements(std::byte* shared, const std::byte* operands, std::size_t bytes) noexcept {
  oriel::detail::has_stored = true;
  move_elements<Bits>(shared, bytes, [&]<class T>(std::atomic_ref<T> there, std::size_t at) {
    there.store(load_element<T>(operands + at), std::memory_order_release);
  });
}
template <class Bits>
void read_elements(std::byte* shared, std::byte* results, std::size_t bytes) noexcept {
  oriel::detail::before_loads();
  move_elements<Bits>(shared, bytes, [&]<class T>(std::atomic_ref<T> there, std::size_t at) {
    const T value = there.load(std::memory_order_acquire);
    std::memcpy(results + at, &value, sizeof value);
  });
}

}  // namespace

void reduce_shared(ElementType type, OpCode code, std::byte* shared, const std::byte* operands,
                   std::byte* results, std::size_t count) noexcept {
  if (code != OpCode::replace && code != OpCode::no_op) {
    return kReduceShared.at(type.kind, code)(shared, operands, results, count);
  }
  with_bits(type.bytes, [&]<class Bits>(Bits) {
    if (code == OpCode::no_op) {
      if (results != nullptr) read_elements<Bits>(shared, results, count * sizeof(Bits));
    } else if (results == nullptr) {
      write_elements<Bits>(shared, operands, count * sizeof(Bits));
    } else {
      reduce_all<Bits, Replace>(shared, operands, results, count);
    }
  });
}

void compare_and_swap_shared(std::size_t bytes, std::byte* shared, const std::byte* compare,
                             const std::byte* swap, std::byte* result) noexcept {
  with_bits(bytes, [&](auto old) {
    using Bits = decltype(old);
    old = load_element<Bits>(compare);
    word<Bits>(shared).compare_exchange_strong(old, load_element<Bits>(swap));
    std::memcpy(result, &old, sizeof old);
  });
}

}  // namespace oriel::base
