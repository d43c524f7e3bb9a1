#include "conformance/mpi_rules.hpp"

namespace oriel::conformance::mpi {

bool is_passive(EpochKind kind) noexcept {
  return kind != EpochKind::fence && kind != EpochKind::pscw;
}

bool has_type(const Element& element) noexcept {
  return element.family != Family::pair || bytes_of(element.second.scalar) == sizeof(int);
}

bool allows(EpochKind kind, const Element& element, Call call) noexcept {
  const CallFacts& what = facts(call);
  if ((what.requests || what.notifies || what.now) && !is_passive(kind)) return false;
  if (what.single && element.family == Family::opaque) return false;
  if (!is_swap(call)) return true;
  return !what.requests && element.family == Family::number && !is_floating(element.first.scalar);
}

bool allows(Call call, OpCode op) noexcept {
  return op != OpCode::no_op || facts(call).fetches;
}

}  // namespace oriel::conformance::mpi
