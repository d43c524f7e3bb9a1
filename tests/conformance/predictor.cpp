#include "conformance/predictor.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

template <class Visit>
void for_each_operation(const Phase& phase, Visit&& visit) {
  std::size_t number = 0;
  for (const Epoch& epoch : phase.epochs) {
    for (const Operation& operation : epoch.operations) visit(epoch, operation, number++);
  }
}

/// Parts on which more than one rank accumulates, and how far.
std::map<std::pair<std::size_t, int>, std::size_t> crowded_parts(const Program& program,
                                                                 const Phase& phase) {
  std::map<std::pair<std::size_t, int>, std::set<int>> origins;
  std::map<std::pair<std::size_t, int>, std::size_t> reach;
  for_each_operation(phase, [&](const Epoch& epoch, const Operation& operation, std::size_t) {
    if (!facts(operation.call).accumulates) return;
    const Place place = place_of(program, epoch, operation);
    const std::pair key(place.memory, operation.target);
    origins[key].insert(operation.origin);
    reach[key] = std::max(reach[key], place.first + operation.to.extent());
  });
  std::erase_if(reach, [&](const auto& entry) { return origins[entry.first].size() < 2; });
  return reach;
}

/// A zero's sign depends on the order of operations, which bits that are compared must not.
bool has_zero(const Element& element, const std::byte* value) {
  const auto is_zero = [&](Part part) {
    return is_floating(part.scalar) && load_real(part, value) > -1 && load_real(part, value) < 1;
  };
  return element.family != Family::opaque &&
         (is_zero(element.first) || (element.family != Family::number && is_zero(element.second)));
}

double magnitude(const Element& element, const Operation& operation, std::size_t index) {
  std::array<std::byte, 32> operand{};
  make_value(element, operation.op, operation.values, index, operand.data());
  if (is_floating(element.first.scalar)) return load_real(element.first, operand.data());
  return static_cast<double>(load_integer(element.first, operand.data()));
}

void note(Contest& contest, const Element& element, const Operation& operation, std::size_t index) {
  if (contest.first_origin < 0) contest.first_origin = operation.origin;
  contest.several = contest.several || contest.first_origin != operation.origin;
  if (!is_swap(operation.call) && operation.op == OpCode::no_op) return;
  contest.changes = true;
  contest.op = operation.op;
  if (!facts(operation.call).fetches) ++contest.silent;
  if (operation.op == OpCode::sum && element.family == Family::number) {
    contest.added += magnitude(element, operation, index);
  }
}

}  // namespace

Place place_of(const Program& program, const Epoch& epoch, const Operation& operation) {
  const WindowPlan& window = program.windows[epoch.window];
  return {window.memory,
          window.first_byte / program.memories[window.memory].element->bytes() + operation.offset};
}

void fill(const Refill& refill, std::span<std::byte> part, int rank) {
  const std::size_t size = refill.element->bytes();
  const std::size_t count = std::min(refill.bytes, part.size()) / size;
  const std::uint64_t seed = mix(refill.seed, static_cast<std::uint64_t>(rank));
  for (std::size_t i = 0; i < count; ++i) {
    make_value(*refill.element, OpCode::replace, seed, i, part.data() + i * size);
  }
}

Predictor::Predictor(const Program& program) : program_(program) {
  for (const MemoryPlan& memory : program.memories) {
    std::vector<std::vector<std::byte>>& parts = memories_.emplace_back();
    for (const std::size_t bytes : memory.bytes) parts.emplace_back(bytes);
  }
}

std::span<std::byte> Predictor::part(std::size_t memory, int rank) {
  return memories_[memory][static_cast<std::size_t>(rank)];
}

void Predictor::refill(const Refill& refill) {
  for (int rank = 0; rank < program_.ranks; ++rank) fill(refill, part(refill.memory, rank), rank);
}

ContestedParts Predictor::find_contests(const Phase& phase) {
  ContestedParts parts;
  for (const auto& [key, elements] : crowded_parts(program_, phase)) {
    ContestedPart& contested = parts[key];
    contested.elements.resize(elements);
    const std::span<std::byte> now = part(key.first, key.second);
    contested.before.assign(now.begin(), now.end());
  }
  if (parts.empty()) return parts;
  for_each_operation(phase, [&](const Epoch& epoch, const Operation& operation, std::size_t) {
    if (!facts(operation.call).accumulates) return;
    const Place place = place_of(program_, epoch, operation);
    const auto found = parts.find({place.memory, operation.target});
    if (found == parts.end()) return;
    const Element& element = *program_.memories[place.memory].element;
    std::size_t index = 0;
    for (const std::size_t at : operation.to.places()) {
      note(found->second.elements[place.first + at], element, operation, index++);
    }
  });
  return parts;
}

Forecast Predictor::run(const Phase& phase, int rank) {
  Forecast forecast;
  forecast.contested = find_contests(phase);
  for_each_operation(phase, [&](const Epoch& epoch, const Operation& operation, std::size_t) {
    Expectation& expectation = forecast.operations.emplace_back();
    run(epoch, operation, operation.origin == rank, forecast, expectation);
  });
  return forecast;
}

void Predictor::run(const Epoch& epoch, const Operation& operation, bool wanted, Forecast& forecast,
                    Expectation& expectation) {
  const CallFacts& call = facts(operation.call);
  if (!call.sends && !wanted) return;  // changes nothing
  const Place place = place_of(program_, epoch, operation);
  const Element& element = *program_.memories[place.memory].element;
  const std::size_t size = element.bytes();
  const auto contested = forecast.contested.find({place.memory, operation.target});
  std::byte* const base = part(place.memory, operation.target).data() + place.first * size;
  std::array<std::byte, 32> operand{};
  std::size_t index = 0;
  for (const std::size_t at : operation.to.places()) {
    std::byte* const target = base + at * size;
    if (wanted && call.fetches) {
      expectation.old.insert(expectation.old.end(), target, target + size);
      if (contested != forecast.contested.end()) {
        expectation.contested.push_back(contested->second.is_contested(place.first + at));
      }
    }
    if (is_swap(operation.call)) {
      const bool matches = operation.matches && !has_zero(element, target);
      if (wanted) {
        expectation.compare.assign(target, target + size);
        if (!matches) make_other(element, target, expectation.compare.data());
      }
      if (!matches) continue;
    }
    if (call.sends) {
      make_value(element, operation.op, operation.values, index++, operand.data());
      apply(element, call.accumulates ? operation.op : OpCode::replace, target, operand.data());
    }
  }
}

}  // namespace oriel::conformance
