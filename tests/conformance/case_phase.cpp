// A case as a phase of a program.

#include <algorithm>
#include <array>
#include <numeric>

#include "conformance/cases.hpp"
#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

constexpr std::array<std::size_t, 3> kSizes = {std::size_t{8} << 10U, std::size_t{192} << 10U,
                                               std::size_t{1536} << 10U};
constexpr std::size_t kMostOrigins = 8;  // in a crowd
constexpr std::size_t kBefore = 5;       // elements that nobody touches
constexpr std::size_t kBehind = 16;

/// An origin, its target, and which of the target's areas is its own.
struct Pairing {
  int origin;
  int target;
  std::size_t area;
};

bool fits(const Setting& setting, Placement placement, int origin, int target) {
  const bool same = setting.nodes[static_cast<std::size_t>(origin)] ==
                    setting.nodes[static_cast<std::size_t>(target)];
  switch (placement) {
    case Placement::self:
      return origin == target;
    case Placement::same_node:
      return same && origin != target;
    case Placement::other_node:
      return !same;
  }
  return false;
}

std::vector<Pairing> ring(const Setting& setting, Placement placement) {
  std::vector<Pairing> pairs;
  std::vector<std::size_t> taken(setting.nodes.size());
  for (int origin = 0; origin < setting.ranks(); ++origin) {
    for (int step = 0; step < setting.ranks(); ++step) {
      const int target = (origin + step) % setting.ranks();
      if (!fits(setting, placement, origin, target)) continue;
      pairs.push_back({origin, target, taken[static_cast<std::size_t>(target)]++});
      break;
    }
  }
  return pairs;
}

/// All that fit go to the first rank that anybody can go to.
std::vector<Pairing> crowd(const Setting& setting, Placement placement) {
  std::vector<Pairing> pairs;
  for (int target = 0; target < setting.ranks() && pairs.empty(); ++target) {
    for (int origin = 0; origin < setting.ranks() && pairs.size() < kMostOrigins; ++origin) {
      if (fits(setting, placement, origin, target)) {
        pairs.push_back({origin, target, pairs.size()});
      }
    }
  }
  return pairs;
}

Operation operation_of(const Case& one, const Pairing& pair, std::uint64_t seed) {
  Operation operation{.origin = pair.origin,
                      .target = pair.target,
                      .call = one.call(),
                      .op = one.op(),
                      .values = mix(seed, static_cast<std::uint64_t>(pair.origin)),
                      .registered = one.at(Axis::registered) != 0,
                      .after = one.after()};
  operation.matches = operation.values % 3 != 0;
  if (facts(one.call()).notifies) operation.slot = mix(operation.values, 1) % 4;
  return operation;
}

/// One operation of many elements, or many of one.
void add_operations(const Case& one, Operation operation, const Shape& to, std::size_t offset,
                    std::vector<Operation>& all) {
  if (!facts(one.call()).single) {
    operation.offset = offset;
    operation.to = to;
    const auto kind = static_cast<ShapeKind>(one.at(Axis::origin_shape));
    operation.from = make_shape(kind, one.count(), mix(operation.values, 2));
    operation.into = make_shape(kind, one.count(), mix(operation.values, 3));
    all.push_back(std::move(operation));
    return;
  }
  operation.to = operation.from = operation.into = contiguous(1);
  const std::uint64_t values = operation.values;
  std::uint64_t index = 0;
  for (const std::size_t at : to.places()) {
    operation.offset = offset + at;
    operation.values = mix(values, index++);
    operation.matches = operation.values % 3 != 0;
    all.push_back(operation);
  }
}

/// Once its operations are flushed, an origin reads what it has changed.
void add_look_back(const Operation& last, const Shape& to, std::size_t offset,
                   std::vector<Operation>& all) {
  all.push_back({.origin = last.origin,
                 .target = last.target,
                 .call = Call::get,
                 .offset = offset,
                 .to = contiguous(to.extent()),
                 .into = contiguous(to.extent())});
}

}  // namespace

Program case_windows(const Setting& setting) {
  Program program{.ranks = setting.ranks()};
  for (std::size_t kind = 0; kind < size_of(Axis::window); ++kind) {
    const auto window = static_cast<WindowKind>(kind);
    for (const std::size_t size : kSizes) {
      const bool by_program = window == WindowKind::created || window == WindowKind::dynamic;
      const std::vector<std::size_t> bytes(setting.nodes.size(), size);
      program.windows.push_back(
          {.kind = window, .memory = program.memories.size(), .bytes = bytes});
      program.memories.push_back(
          {.element = &elements()[0], .bytes = bytes, .by_program = by_program});
    }
  }
  return program;
}

Phase case_phase(const Case& one, const Setting& setting, Program& program) {
  const std::string name = one.name();
  const std::uint64_t seed = std::accumulate(
      name.begin(), name.end(), std::uint64_t{0},
      [](std::uint64_t s, char c) { return mix(s, static_cast<unsigned char>(c)); });
  const Shape to =
      make_shape(static_cast<ShapeKind>(one.at(Axis::target_shape)), one.count(), mix(seed, 1));
  const std::vector<Pairing> pairs =
      one.crowd() == Crowd::ring ? ring(setting, one.placement()) : crowd(setting, one.placement());
  Phase phase;
  Epoch& epoch = phase.epochs.emplace_back();
  epoch.kind = one.epoch();
  epoch.seed = seed;
  std::size_t end = 0;
  for (const Pairing& pair : pairs) {
    const std::size_t area = one.crowd() == Crowd::collide ? 0 : pair.area;
    const std::size_t offset = kBefore + area * (to.extent() + 3);
    end = std::max(end, offset + to.extent());
    const Operation operation = operation_of(one, pair, seed);
    add_operations(one, operation, to, offset, epoch.operations);
    if (one.after() == After::flush && one.crowd() != Crowd::collide) {
      add_look_back(operation, to, offset, epoch.operations);
    }
  }
  const std::size_t bytes = (end + kBehind) * one.element().bytes();
  const auto size = std::ranges::lower_bound(kSizes, bytes);
  epoch.window = one.at(Axis::window) * kSizes.size() +
                 static_cast<std::size_t>(std::min(size, kSizes.end() - 1) - kSizes.begin());
  program.memories[program.windows[epoch.window].memory].element = &one.element();
  phase.refills.push_back({program.windows[epoch.window].memory, &one.element(), bytes, seed});
  return phase;
}

}  // namespace oriel::conformance
