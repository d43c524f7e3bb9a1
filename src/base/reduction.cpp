#include "base/reduction.hpp"

#include <cstring>

#include "base/reduction_table.hpp"

namespace oriel::base {
namespace {

template <class Operation>
concept Chooses = std::same_as<Operation, Minloc> || std::same_as<Operation, Maxloc>;

/// Elements are loaded and stored by memcpy, which costs nothing, needs no alignment, and leaves
/// the loop to the compiler's vectors.
template <class T, class Operation>
[[gnu::always_inline]] inline void reduce_each(std::byte* target, const std::byte* operands,
                                               std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i, target += sizeof(T), operands += sizeof(T)) {
    const T old = load_element<T>(target);
    const T operand = load_element<T>(operands);
    if constexpr (Chooses<Operation>) {
      if (Operation::takes_operand(old, operand)) std::memcpy(target, operands, sizeof(T));
    } else {
      store_element(Operation::of(old, operand), target);
    }
  }
}

/// What every machine has.
struct Plain {
  using Function = void (*)(std::byte*, const std::byte*, std::size_t) noexcept;
  template <class T, class Operation>
  static void reduce(std::byte* target, const std::byte* operands, std::size_t count) noexcept {
    reduce_each<T, Operation>(target, operands, count);
  }
  template <class T, class Operation>
  static constexpr Function of() {
    return &reduce<T, Operation>;
  }
};
constexpr ReductionTable<Plain> kPlain;

#ifdef __x86_64__
/// Vectors twice as wide, where they are of use. Results are the same bit by bit: without fused
/// multiplications.
struct Wide256 {
  using Function = Plain::Function;
  template <class T, class Operation>
  [[gnu::target("avx2")]] static void reduce(std::byte* target, const std::byte* operands,
                                             std::size_t count) noexcept {
    reduce_each<T, Operation>(target, operands, count);
  }
  template <class T, class Operation>
  static constexpr Function of() {
    if constexpr (std::is_arithmetic_v<T> && sizeof(T) <= 8) return &reduce<T, Operation>;
    return Plain::of<T, Operation>();
  }
};
constexpr ReductionTable<Wide256> kWide256;

const bool has_wide = __builtin_cpu_supports("avx2") != 0;

Plain::Function function_for(ElementKind kind, OpCode code) noexcept {
  return has_wide ? kWide256.at(kind, code) : kPlain.at(kind, code);
}
#else
Plain::Function function_for(ElementKind kind, OpCode code) noexcept {
  return kPlain.at(kind, code);
}
#endif

}  // namespace

void reduce(ElementType type, OpCode code, std::byte* target, const std::byte* operands,
            std::size_t count) noexcept {
  if (code == OpCode::no_op) return;
  if (code == OpCode::replace) {
    std::memmove(target, operands, count * type.bytes);
  } else {
    function_for(type.kind, code)(target, operands, count);
  }
}

}  // namespace oriel::base
