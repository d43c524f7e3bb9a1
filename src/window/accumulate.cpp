// Accumulates: which mechanism, and those that leave the work to a CPU.

#include "window/accumulate.hpp"

#include "base/reduction.hpp"
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

/// The part's base may be the program's own pointer: what counts is the address, not the offset.
/// Elements whose size is no power of two are not asked about.
Mechanism Accumulator::mechanism(const Target& target, ElementType type,
                                 std::size_t offset) const noexcept {
  const Reach reach = facts_.stripes != nullptr ? Reach::all_mapped : reach_of(target);
  const bool aligned = ((target.atomics_base.address + offset) & (type.bytes - 1)) == 0;
  return choose_mechanism(facts_.domain, reach, type, facts_.promises, aligned);
}

void Accumulator::accumulate(const AccumulateRequest& request, std::size_t team_rank,
                             const Target& target, transport::Completion& done) {
  if (request.count == 0) return;
  if (request.op == OpCode::no_op && request.results == nullptr) return;
  switch (const Mechanism chosen = mechanism(target, request.type, request.offset_bytes)) {
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

void Accumulator::swap_in_place(const CompareAndSwapRequest& request,
                                const Stripes::Place& target) const {
  if (is_atomic_in_place(request.type, target.bytes)) {
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
  const transport::RemoteAddress at = target.atomics_base.plus(request.offset_bytes);
  switch (const Mechanism chosen = mechanism(target, request.type, request.offset_bytes)) {
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
