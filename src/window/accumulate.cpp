// Accumulates: which mechanism, and those that leave the work to a CPU.

#include "window/accumulate.hpp"

#include <cstring>
#include <string>

#include <fmt/format.h>

#include "base/reduction.hpp"
#include "base/throw_error.hpp"
#include "sync/flush.hpp"
#include "window/accumulate_copies.hpp"
#include "window/accumulate_pieces.hpp"

namespace oriel::window {

Reach reach_of(const Target& target) noexcept {
  if (target.by_cpu()) return Reach::mapped;
  return target.atomics->has_accumulate() ? Reach::agent : Reach::device;
}

Accumulator::Accumulator(transport::Progress& progress, TargetMutex& locks,
                         const AccumulateFacts& facts)
    : progress_(progress), locks_(locks), facts_(facts) {}

Accumulator::~Accumulator() = default;

Mechanism Accumulator::mechanism(const Target& target, ElementType type) const noexcept {
  const Reach reach = facts_.stripes != nullptr ? Reach::all_mapped : reach_of(target);
  return choose_mechanism(facts_.domain, reach, type, facts_.promises);
}

/// The part's base may be the program's own pointer: what counts is the address, not the offset.
void Accumulator::check_aligned(std::string_view operation, std::size_t element_bytes,
                                std::size_t offset, std::size_t team_rank,
                                const Target& target) const {
  if (!is_word(element_bytes) || (target.atomics_base.address + offset) % element_bytes == 0)
    return;
  base::throw_error(
      ErrorCode::misaligned,
      {.operation = std::string(operation),
       .problem = fmt::format("elements of {0} bytes need an address that is a multiple of {0}",
                              element_bytes),
       .origin = facts_.world_rank,
       .target = facts_.members[team_rank],
       .window = facts_.window,
       .offset_bytes = offset,
       .length_bytes = element_bytes,
       .hint = fmt::format("align the target's memory and the offset to {} bytes", element_bytes)});
}

void Accumulator::accumulate(const AccumulateRequest& request, std::size_t team_rank,
                             const Target& target, transport::Completion& done) {
  check_aligned(request.operation, request.type.bytes, request.offset_bytes, team_rank, target);
  if (request.count == 0) return;
  if (request.op == OpCode::no_op && request.results == nullptr) return;
  switch (const Mechanism chosen = mechanism(target, request.type)) {
    case Mechanism::in_place:
      return for_each_piece(request, [&](const ElementPiece& piece) {
        in_place(request.type, request.op, {target.mapped + piece.offset, piece.offset, team_rank},
                 piece.operands, piece.results, piece.elements);
      });
    case Mechanism::cpu:
      return by_cpu(request, target);
    case Mechanism::agent:
      return by_agent(request, target, done);
    case Mechanism::words:
      return by_words(request, target, done);
    case Mechanism::locked:
    case Mechanism::unguarded:
      return by_copies(request, chosen, team_rank, target, done);
  }
}

namespace {

/// Those that atomic instructions combine.
bool is_integer(ElementKind kind) noexcept {
  return detail::is_between(kind, ElementKind::signed8, ElementKind::unsigned64);
}

}  // namespace

void Accumulator::in_place(ElementType type, OpCode op, const Stripes::Place& target,
                           const std::byte* operands, std::byte* results, std::size_t count) const {
  if (facts_.promises.no_concurrent) {
    if (results != nullptr) std::memcpy(results, target.bytes, count * type.bytes);
    base::reduce(type, op, target.bytes, operands, count);
  } else if (is_integer(type.kind)) {
    base::reduce_shared(type, op, target.bytes, operands, results, count);
  } else {
    facts_.stripes->reduce(type, op, target, operands, results, count);
  }
}

void Accumulator::swap_in_place(const CompareAndSwapRequest& request,
                                const Stripes::Place& target) const {
  if (is_integer(request.type.kind)) {
    base::compare_and_swap_shared(request.type.bytes, target.bytes, request.compare, request.swap,
                                  request.result);
  } else {
    facts_.stripes->compare_and_swap(request.type.bytes, target, request.compare, request.swap,
                                     request.result);
  }
}

void Accumulator::by_cpu(const AccumulateRequest& request, const Target& target) const {
  for_each_piece(request, [&](const ElementPiece& piece) {
    base::reduce_shared(request.type, request.op, target.mapped + piece.offset, piece.operands,
                        piece.results, piece.elements);
  });
}

void Accumulator::by_agent(const AccumulateRequest& request, const Target& target,
                           transport::Completion& done) const {
  for_each_piece(request, [&](const ElementPiece& piece) {
    sync::post_all(progress_, piece.elements, [&](std::size_t taken) noexcept {
      const ElementPiece rest = piece.without(taken, request.type.bytes);
      return target.atomics->accumulate({.type = request.type,
                                         .op = request.op,
                                         .operands = rest.operands,
                                         .results = rest.results,
                                         .count = rest.elements},
                                        target.atomics_base.plus(rest.offset), done);
    });
  });
}

void Accumulator::compare_and_swap(const CompareAndSwapRequest& request, std::size_t team_rank,
                                   const Target& target, transport::Completion& done) {
  check_aligned(request.operation, request.type.bytes, request.offset_bytes, team_rank, target);
  const transport::RemoteAddress at = target.atomics_base.plus(request.offset_bytes);
  switch (const Mechanism chosen = mechanism(target, request.type)) {
    case Mechanism::in_place:
      return swap_in_place(request,
                           {target.mapped + request.offset_bytes, request.offset_bytes, team_rank});
    case Mechanism::cpu:
      return base::compare_and_swap_shared(request.type.bytes, target.mapped + request.offset_bytes,
                                           request.compare, request.swap, request.result);
    case Mechanism::agent:
      return sync::post(progress_, [&]() noexcept {
        return target.atomics->swap_element(request.type.bytes, request.compare, request.swap,
                                            request.result, at, done);
      });
    case Mechanism::words:
      return swap_word(request, target, done);
    case Mechanism::locked:
    case Mechanism::unguarded:
      return swap_by_copies(request, chosen, team_rank, target, done);
  }
}

}  // namespace oriel::window
