#include "conformance/contests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

/// A step of a sum, relative to the value before.
struct Step {
  std::uint64_t old;
  std::uint64_t operand;
};

/// A number as an unsigned one of as many bits; reals are whole.
std::uint64_t number(const Element& element, const std::byte* value) {
  if (is_floating(element.first.scalar)) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(load_real(element.first, value)));
  }
  return load_integer(element.first, value);
}

std::uint64_t mask_of(const Element& element) {
  const std::size_t bits = 8 * bytes_of(element.first.scalar);
  return is_floating(element.first.scalar) || bits == 64 ? ~std::uint64_t{0}
                                                         : (std::uint64_t{1} << bits) - 1;
}

/// @param total  from before to after
std::string check_order(std::vector<Step> steps, std::uint64_t total, bool complete) {
  std::ranges::sort(steps, {}, [](const Step& s) { return std::tuple(s.old, s.operand); });
  steps.push_back({total, 0});
  std::uint64_t reached = 0;
  for (const Step& step : steps) {
    if (step.old < reached || (complete && step.old != reached)) {
      return fmt::format("a fetch found before+{} where before+{}{} had been reached", step.old,
                         reached, complete ? "" : " at least");
    }
    reached = step.old + step.operand;
  }
  return {};
}

struct Key {
  std::size_t memory;
  std::size_t element;
  auto operator<=>(const Key&) const = default;
};

struct Scene {
  const Program& program;
  const ContestedParts& parts;
  int rank;
  Predictor& after;
};

/// What `steps` tell of one element.
std::string check_sum(const Scene& scene, const Key& key, std::vector<Step> steps) {
  const Element& element = *scene.program.memories[key.memory].element;
  const ContestedPart& part = scene.parts.at({key.memory, scene.rank});
  const std::size_t at = key.element * element.bytes();
  const std::uint64_t mask = mask_of(element);
  const std::uint64_t before = number(element, part.before.data() + at);
  const std::uint64_t total =
      (number(element, scene.after.part(key.memory, scene.rank).data() + at) - before) & mask;
  for (Step& step : steps) step = {(step.old - before) & mask, step.operand & mask};
  const Contest& contest = part.elements[key.element];
  if (contest.added > static_cast<double>(mask / 2)) return {};  // what wraps around has no order
  const std::string wrong = check_order(std::move(steps), total, contest.silent == 0);
  if (wrong.empty()) return {};
  return fmt::format("sums on element {} of memory m{}: {}", key.element, key.memory, wrong);
}

/// The operations of a phase, by number.
std::vector<std::pair<const Epoch*, const Operation*>> numbered(const Phase& phase) {
  std::vector<std::pair<const Epoch*, const Operation*>> all;
  for (const Epoch& epoch : phase.epochs) {
    for (const Operation& operation : epoch.operations) all.emplace_back(&epoch, &operation);
  }
  return all;
}

}  // namespace

std::string check_contests(const Program& program, const Phase& phase, int rank,
                           const ContestedParts& parts, std::span<const Witness> witnesses,
                           Predictor& after) {
  const Scene scene{program, parts, rank, after};
  const auto operations = numbered(phase);
  std::map<Key, std::vector<Step>> sums;
  std::map<std::uint32_t, std::vector<std::size_t>> places;
  for (const Witness& witness : witnesses) {
    const auto& [epoch, operation] = operations[witness.operation];
    if (operation->target != rank) continue;
    const Place place = place_of(program, *epoch, *operation);
    std::vector<std::size_t>& to = places[witness.operation];
    if (to.empty()) to = operation->to.places();
    const Key key{place.memory, place.first + to[witness.index]};
    const Element& element = *program.memories[key.memory].element;
    const ContestedPart& part = parts.at({key.memory, rank});
    const OpCode op = part.elements[key.element].op;
    if (element.bytes() > 8) continue;
    std::array<std::byte, 32> old{};
    std::memcpy(old.data(), &witness.old, 8);
    if (op == OpCode::sum && element.family == Family::number) {
      std::array<std::byte, 32> operand{};
      if (operation->op == op) {
        make_value(element, op, operation->values, witness.index, operand.data());
      }
      sums[key].push_back({number(element, old.data()), number(element, operand.data())});
    } else if (!plausible(element, op, part.before.data() + key.element * element.bytes(),
                          old.data(),
                          after.part(key.memory, rank).data() + key.element * element.bytes())) {
      return fmt::format("{}: element {} of the result: {} cannot have been there",
                         to_text(program, *epoch, *operation), witness.index,
                         to_text(element, old.data()));
    }
  }
  for (auto& [key, steps] : sums) {
    std::string wrong = check_sum(scene, key, std::move(steps));
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace oriel::conformance
