// The dimensions, and what is legal together.

#include "conformance/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace oriel::conformance {
namespace {

/// A count: elements, or as many as some bytes hold, and one more or less.
struct Level {
  std::size_t elements;
  std::size_t bytes;
  int beyond;
};
// Around every threshold inside the library: small messages, blocks, queues, staging and slots.
constexpr std::array<Level, 20> kLevels = {{
    {1, 0, 0},     {2, 0, 0},      {63, 0, 0},     {64, 0, 0},    {65, 0, 0},
    {255, 0, 0},   {256, 0, 0},    {257, 0, 0},    {0, 128, -1},  {0, 128, 0},
    {0, 128, 1},   {0, 16384, -1}, {0, 16384, 0},  {0, 16384, 1}, {0, 32768, -1},
    {0, 32768, 0}, {0, 32768, 1},  {0, 65536, -1}, {0, 65536, 0}, {0, 65536, 1},
}};
// What works on one element is called so many times. No threshold lies above, and one behind the
// other, through a lock between two machines, hundreds take seconds.
constexpr std::size_t kMostSingles = 65;  // started together
constexpr std::size_t kMostInTurn = 2;    // each of them waited for
constexpr std::size_t kTwo = 1;           // the level of 2

constexpr std::size_t kCaseCalls = static_cast<std::size_t>(Call::store);  // those before it
constexpr std::size_t kOps = 14;
constexpr std::size_t kWindowKinds = 4;
constexpr std::size_t kAfters = 7;

std::size_t level_count(const Level& level, std::size_t element_bytes) {
  if (level.elements != 0) return level.elements;
  const auto whole = static_cast<std::ptrdiff_t>(level.bytes / element_bytes);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, whole + level.beyond));
}

/// What has no operation of its own: puts and gets are replacements.
bool has_meaning_together(const Case& one) {
  const CallFacts& call = facts(one.call());
  if (is_swap(one.call())) return one.op() == OpCode::replace && one.element().bytes() <= 16;
  if (!call.accumulates) return one.op() == OpCode::replace;
  return has_meaning(one.element().type.kind, one.op());
}

void make_shapes_legal(Case& one) {
  const CallFacts& call = facts(one.call());
  if (call.single) {
    one.set(Axis::origin_shape, 0);
  } else if (!call.layouts) {
    one.set(Axis::origin_shape, 0);
    one.set(Axis::target_shape, 0);
  }
}

void make_after_legal(Case& one) {
  const CallFacts& call = facts(one.call());
  if (call.now) {
    one.set(Axis::after, 0);
  } else if (call.requests != (one.after() >= After::wait)) {
    constexpr auto kFirst = static_cast<std::size_t>(After::wait);
    one.set(Axis::after, call.requests ? kFirst + one.at(Axis::after) % (kAfters - kFirst)
                                       : one.at(Axis::after) - kFirst);
  }
}

void make_crowd_legal(Case& one) {
  if (one.placement() == Placement::self) one.set(Axis::crowd, 0);
  if (one.crowd() != Crowd::collide) return;
  const CallFacts& call = facts(one.call());
  const bool determined =
      call.accumulates ? one.op() != OpCode::replace : !call.sends;  // all may read
  if (!determined) one.set(Axis::crowd, static_cast<std::size_t>(Crowd::apart));
}

std::string_view after_name(After after) {
  constexpr std::array<std::string_view, kAfters> kNames = {
      "end", "flush", "flush_all", "flush_local", "wait", "wait_remote", "later"};
  return kNames[static_cast<std::size_t>(after)];
}

}  // namespace

std::string_view to_string(Placement placement) noexcept {
  constexpr std::array<std::string_view, kPlacements> kNames = {"self", "same_node", "other_node"};
  return kNames[static_cast<std::size_t>(placement)];
}

std::string_view to_string(Crowd crowd) noexcept {
  constexpr std::array<std::string_view, kCrowds> kNames = {"ring", "apart", "collide"};
  return kNames[static_cast<std::size_t>(crowd)];
}

bool Setting::has(Placement placement) const {
  if (placement == Placement::self) return true;
  const bool same = placement == Placement::same_node;
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t b = a + 1; b < nodes.size(); ++b) {
      if ((nodes[a] == nodes[b]) == same) return true;
    }
  }
  return false;
}

bool Setting::has_shared_windows() const {
  return !without_shared && !has(Placement::other_node);
}

std::size_t size_of(Axis axis) {
  const std::array<std::size_t, kAxes> sizes = {
      kCaseCalls,   elements().size(), kOps,        kLevels.size(), kShapeKinds, kShapeKinds,
      kWindowKinds, kEpochKinds,       kPlacements, kCrowds,        kAfters,     2};
  return sizes[static_cast<std::size_t>(axis)];
}

std::vector<std::vector<std::size_t>> counts_by_threshold() {
  return {{0}, {1}, {2, 3, 4}, {5, 6, 7}, {8, 9, 10}, {11, 12, 13, 14, 15, 16, 17, 18, 19}};
}

std::size_t Case::count() const {
  return level_count(kLevels[at(Axis::count)], element().bytes());
}

std::string Case::name() const {
  return fmt::format("{}/{}/{}/n={}/from={}/to={}/{}/{}/{}/{}/{}{}", facts(call()).name,
                     element().name, to_string(op()), count(),
                     to_string(static_cast<ShapeKind>(at(Axis::origin_shape))),
                     to_string(static_cast<ShapeKind>(at(Axis::target_shape))), name_of(window()),
                     to_string(epoch()), to_string(placement()), to_string(crowd()),
                     after_name(after()), at(Axis::registered) != 0 ? "/registered" : "");
}

std::optional<Case> made_legal(Case one) {
  if (!has_meaning_together(one)) return std::nullopt;
  make_shapes_legal(one);
  make_after_legal(one);
  make_crowd_legal(one);
  const CallFacts& call = facts(one.call());
  if (call.notifies) one.set(Axis::epoch, static_cast<std::size_t>(EpochKind::notify));
  if (call.single && one.count() > (call.now ? kMostInTurn : kMostSingles)) {
    one.set(Axis::count, kTwo);
  }
  return one;
}

}  // namespace oriel::conformance
