#include "conformance/claims.hpp"

#include "conformance/oracle.hpp"
#include "conformance/predictor.hpp"

namespace oriel::conformance {
namespace {

bool completes_remotely(After after) {
  return after == After::flush || after == After::flush_all || after == After::wait_remote;
}

/// Whether the operation has happened, for its origin, by the time of the next one.
bool is_complete_at_once(const Operation& operation) {
  const CallFacts& call = facts(operation.call);
  if (completes_remotely(operation.after)) return true;
  if (call.accumulates) return false;
  if (call.now) return true;
  const bool locally = operation.after == After::flush_local || operation.after == After::wait;
  return call.fetches && locally;
}

}  // namespace

Claims::Claims(const Program& program) : program_(program) {
  for (const MemoryPlan& memory : program.memories) {
    std::vector<std::vector<Claim>>& parts = claims_.emplace_back();
    for (const std::size_t bytes : memory.bytes)
      parts.emplace_back(bytes / memory.element->bytes());
  }
}

void Claims::begin_phase() {
  ++phase_;
  flushes_.clear();
}

void Claims::flushed(int origin, std::size_t window, int target) {
  ++flushes_[{origin, window, target}];
}

void Claims::all_flushed(std::size_t window) {
  for (int origin = 0; origin < program_.ranks; ++origin) {
    for (int target = 0; target < program_.ranks; ++target) flushed(origin, window, target);
  }
}

std::uint32_t Claims::flushes(int origin, std::size_t window, int target) const {
  const auto found = flushes_.find({origin, window, target});
  return found == flushes_.end() ? 0 : found->second;
}

bool Claims::is_complete(const Claim& claim, int target) const {
  return claim.complete || flushes(claim.origin, claim.window, target) > claim.flushes;
}

/// Makes `claim` what it is after the operation; false if that is illegal.
bool Claims::after(Claim& claim, const Epoch& epoch, const Operation& operation, bool alone) const {
  const CallFacts& call = facts(operation.call);
  const bool shares = call.accumulates && !is_swap(operation.call) && commutes(operation.op);
  State state = claim.phase == phase_ ? claim.state : State::free;
  if (state == State::free && call.fetches && !call.sends) state = State::read;
  switch (state) {
    case State::read:
      if (call.sends) return false;
      claim.state = State::read;
      break;
    case State::shared:
      if (!shares || claim.window != epoch.window) return false;
      if (claim.op != operation.op && claim.op != OpCode::no_op && operation.op != OpCode::no_op) {
        return false;
      }
      if (operation.op != OpCode::no_op) claim.op = operation.op;
      break;
    case State::owned: {
      if (claim.origin != operation.origin) return false;
      const bool in_order = claim.atomic && call.accumulates && claim.window == epoch.window;
      if (!in_order && !is_complete(claim, operation.target)) return false;
      break;
    }
    case State::free:
      claim.state = shares && !alone ? State::shared : State::owned;
      claim.op = operation.op;
      claim.window = static_cast<std::uint32_t>(epoch.window);
      claim.origin = operation.origin;
      break;
  }
  if (claim.state == State::owned) {
    claim.atomic = call.accumulates;
    claim.complete = is_complete_at_once(operation);
    claim.window = static_cast<std::uint32_t>(epoch.window);
    claim.flushes = flushes(operation.origin, epoch.window, operation.target);
  }
  claim.phase = phase_;
  return true;
}

bool Claims::take(const Epoch& epoch, const Operation& operation, bool alone) {
  const Place place = place_of(program_, epoch, operation);
  std::vector<Claim>& part = claims_[place.memory][static_cast<std::size_t>(operation.target)];
  std::vector<std::pair<std::size_t, Claim>> taken;
  for (const std::size_t at : operation.to.places()) {
    Claim claim = part[place.first + at];
    if (!after(claim, epoch, operation, alone)) return false;
    taken.emplace_back(place.first + at, claim);
  }
  for (const auto& [at, claim] : taken) part[at] = claim;
  if (completes_remotely(operation.after) && operation.after != After::wait_remote) {
    if (operation.after == After::flush) {
      flushed(operation.origin, epoch.window, operation.target);
    } else {
      for (int target = 0; target < program_.ranks; ++target) {
        flushed(operation.origin, epoch.window, target);
      }
    }
  }
  return true;
}

}  // namespace oriel::conformance
