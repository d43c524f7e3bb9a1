// Accumulates and compare-and-swaps: what the public calls say, in the words of the Accumulator.

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/throw_error.hpp"
#include "sync/flush.hpp"
#include "window/window_state.hpp"

namespace oriel::window {

void WindowState::check_atomics(std::string_view operation) const {
  if (!atomics_refused_) return;
  base::throw_error(ErrorCode::unsupported, {.operation = std::string(operation),
                                             .problem = std::string(coherence_.reason),
                                             .origin = team_state_->job().world_rank,
                                             .window = number_,
                                             .hint = "use a device with atomics, or one machine"});
}

/// Runs use(target, offset).
template <class Use>
void WindowState::at_target(const TargetBytes& where, std::size_t bytes, Peer& peer, Use&& use) {
  if (kind_ == WindowKind::dynamic) {
    const Spot spot = locate_region(where, bytes, peer);
    use(spot.target, spot.offset);
  } else {
    check_range(where, bytes, peer.target);
    use(peer.target, where.offset);
  }
}

/// Of elements that reach `bytes` far at the target; the request's place there is yet to be found.
void WindowState::accumulate(AccumulateRequest request, const TargetBytes& where, std::size_t bytes,
                             const Route& route) {
  at_target(where, bytes, route.peer, [&](const Target& target, std::size_t offset) {
    request.offset_bytes = offset;
    accumulator_->accumulate(request, static_cast<std::size_t>(static_cast<int>(where.rank)),
                             target, route.done);
  });
}

/// The short way of what is asked for most: the sum of one integer of 64 bits, which the target's
/// device adds. False, and nothing is done, where it is another's, or not there.
[[gnu::hot]] bool WindowState::add_word(const void* operand, void* result, const TargetBytes& where,
                                        const Route& route) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const Target& part = route.peer.target;
  if (!route.peer.adds_words || where.offset > part.bytes || part.bytes - where.offset < kWord)
    return false;
  const transport::RemoteAddress at = part.atomics_base.plus(where.offset);
  if (((at.address | std::bit_cast<std::uintptr_t>(result)) & (kWord - 1)) != 0) return false;
  std::uint64_t value = 0;
  std::memcpy(&value, operand, kWord);
  sync::post(route.way.turns(), [=, &endpoint = *part.atomics, &done = route.done]() noexcept {
    return endpoint.fetch_add(value, static_cast<std::uint64_t*>(result), at, done);
  });
  return true;
}

[[gnu::hot]] void WindowState::accumulate(ElementType type, OpCode op, const void* operands,
                                          void* results, std::size_t count,
                                          const TargetBytes& where, const Route& route) {
  const bool is_word = type.kind == ElementKind::unsigned64 || type.kind == ElementKind::signed64;
  if (is_word && type.bytes == sizeof(std::uint64_t) && op == OpCode::sum && count == 1 &&
      add_word(operands, results, where, route))
    return;
  check_atomics(where.operation);
  check_supported(where.operation, type, op);
  accumulate({.operation = where.operation,
              .type = type,
              .op = op,
              .count = count,
              .operands = static_cast<const std::byte*>(operands),
              .results = static_cast<std::byte*>(results)},
             where, checked_bytes(where.operation, count, type.bytes), route);
}

void WindowState::accumulate(const Accumulation& what, const TargetBytes& where,
                             const Route& route) {
  check_atomics(where.operation);
  check_supported(where.operation, what.type, what.op);
  if (what.op != OpCode::no_op || what.operands != nullptr) {
    check_counts(where, what.operands_layout.count(), what.target_layout.count());
  }
  if (what.results != nullptr) {
    check_counts(where, what.results_layout.count(), what.target_layout.count());
  }
  const auto layout = [](const Layout& all) { return all.is_contiguous() ? nullptr : &all; };
  accumulate({.operation = where.operation,
              .type = what.type,
              .op = what.op,
              .count = what.target_layout.count(),
              .operands = static_cast<const std::byte*>(what.operands),
              .results = static_cast<std::byte*>(what.results),
              .operand_layout = layout(what.operands_layout),
              .result_layout = layout(what.results_layout),
              .target_layout = layout(what.target_layout)},
             where, checked_bytes(where.operation, what.target_layout.extent(), what.type.bytes),
             route);
}

void WindowState::compare_and_swap(const Swap& what, const TargetBytes& where, const Route& route) {
  check_atomics(where.operation);
  at_target(where, what.type.bytes, route.peer, [&](const Target& target, std::size_t offset) {
    accumulator_->compare_and_swap({.operation = where.operation,
                                    .type = what.type,
                                    .compare = static_cast<const std::byte*>(what.compare),
                                    .swap = static_cast<const std::byte*>(what.swap),
                                    .result = static_cast<std::byte*>(what.result),
                                    .offset_bytes = offset},
                                   static_cast<std::size_t>(static_cast<int>(where.rank)), target,
                                   route.done);
  });
}

}  // namespace oriel::window
