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
void reduce_all(std::byte* target, const std::byte* operands, std::size_t count) noexcept {
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

struct MakeReduce {
  using Function = void (*)(std::byte*, const std::byte*, std::size_t) noexcept;
  template <class T, class Operation>
  static constexpr Function of() {
    return &reduce_all<T, Operation>;
  }
};

constexpr ReductionTable<MakeReduce> kReduce;

}  // namespace

void reduce(ElementType type, OpCode code, std::byte* target, const std::byte* operands,
            std::size_t count) noexcept {
  if (code == OpCode::no_op) return;
  if (code == OpCode::replace) {
    std::memmove(target, operands, count * type.bytes);
  } else {
    kReduce.at(type.kind, code)(target, operands, count);
  }
}

}  // namespace oriel::base
