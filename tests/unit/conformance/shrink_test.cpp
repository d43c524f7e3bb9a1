// The shrinker finds the operation that a failure hangs on.

#include "conformance/shrink.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/generator.hpp"

namespace oriel::conformance {
namespace {

bool has(const Program& program, Call call) {
  return std::ranges::any_of(program.phases, [&](const Phase& phase) {
    return std::ranges::any_of(phase.epochs, [&](const Epoch& epoch) {
      return std::ranges::any_of(epoch.operations,
                                 [&](const Operation& one) { return one.call == call; });
    });
  });
}

std::size_t living(const Program& program) {
  return static_cast<std::size_t>(std::ranges::count_if(
      program.windows, [](const WindowPlan& window) { return window.born != kNever; }));
}

TEST(Shrink, LeavesTheOneOperationThatFails) {
  const Setting setting{{0, 0, 0}};
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Program program = make_program(seed, setting);
    if (!has(program, Call::rget)) continue;
    ++tried;
    const Program shortest = shrink(
        program, [](const Program& one) { return has(one, Call::rget); }, 10'000);
    EXPECT_EQ(shortest.operations(), 1U);
    EXPECT_EQ(shortest.phases.size(), 1U);
    EXPECT_EQ(living(shortest), 1U);
    const WindowPlan& window = shortest.windows[shortest.phases[0].epochs[0].window];
    EXPECT_EQ(window.born, 0U);
    EXPECT_EQ(window.dies, 0U);
  }
  EXPECT_GT(tried, 10);
}

TEST(Shrink, StopsAfterAsManyTriesAsItMay) {
  const Program program = make_program(1, {{0, 0}});
  int asked = 0;
  static_cast<void>(shrink(
      program, [&](const Program&) { return ++asked < 0; }, 7));
  EXPECT_EQ(asked, 7);
}

}  // namespace
}  // namespace oriel::conformance
