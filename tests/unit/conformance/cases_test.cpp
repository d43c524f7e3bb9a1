// Cases are legal, differ, and cover what they are said to.

#include "conformance/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace oriel::conformance {
namespace {

const Setting kOneNode{{0, 0, 0, 0}};
const Setting kTwoNodes{{0, 0, 2, 2}, true};
const Setting kAlone{{0}};

TEST(Cases, PairsAreCovered) {
  const std::vector<Case> cases = pairwise_cases(kTwoNodes, 1);
  std::set<std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>> covered;
  std::set<std::string> names;
  for (const Case& one : cases) {
    EXPECT_EQ(made_legal(one), one) << one.name();
    names.insert(one.name());
    for (std::size_t a = 0; a < kAxes; ++a) {
      for (std::size_t b = a + 1; b < kAxes; ++b) {
        covered.emplace(a, one.point[a], b, one.point[b]);
      }
    }
  }
  EXPECT_GT(names.size(), cases.size() * 9 / 10);  // few counts of different levels are the same
  const auto has = [&](Axis a, std::size_t x, Axis b, std::size_t y) {
    return covered.contains({static_cast<std::size_t>(a), x, static_cast<std::size_t>(b), y});
  };
  for (std::size_t element = 0; element < size_of(Axis::element); ++element) {
    for (std::size_t count = 0; count < size_of(Axis::count); ++count) {
      EXPECT_TRUE(has(Axis::element, element, Axis::count, count));
    }
  }
  for (std::size_t from = 0; from < kShapeKinds; ++from) {
    for (std::size_t to = 0; to < kShapeKinds; ++to) {
      EXPECT_TRUE(has(Axis::origin_shape, from, Axis::target_shape, to));
    }
  }
  for (std::size_t call = 0; call < size_of(Axis::call); ++call) {
    for (const Placement placement :
         {Placement::self, Placement::same_node, Placement::other_node}) {
      EXPECT_TRUE(has(Axis::call, call, Axis::placement, static_cast<std::size_t>(placement)));
    }
  }
}

TEST(Cases, TheChoiceDependsOnTheSeedAlone) {
  EXPECT_EQ(pairwise_cases(kOneNode, 3), pairwise_cases(kOneNode, 3));
  EXPECT_NE(pairwise_cases(kOneNode, 3), pairwise_cases(kOneNode, 4));
}

TEST(Cases, WhatTheJobCannotDoIsNotChosen) {
  for (const Case& one : pairwise_cases(kAlone, 1)) EXPECT_EQ(one.placement(), Placement::self);
  for (const Case& one : pairwise_cases(kTwoNodes, 1)) EXPECT_NE(one.window(), WindowKind::shared);
  const FullCases full(kTwoNodes, 1);
  for (std::size_t i = 0; i < full.size(); i += 997) {
    EXPECT_EQ(made_legal(full.at(i)), full.at(i));
    EXPECT_NE(full.at(i).window(), WindowKind::shared);
  }
}

TEST(Cases, SeedsBringEveryFormWithEveryCountIntoEveryScene) {
  using Scene = std::pair<std::size_t, std::size_t>;
  const auto scene = [](const Case& one) {
    return Scene(one.at(Axis::window), one.at(Axis::placement));
  };
  for (const Setting& setting : {kOneNode, kTwoNodes}) {
    const FullCases first(setting, 1);
    ASSERT_EQ(first.scenes(), setting.has(Placement::other_node) ? 3U * 3U : 2U * 4U);
    for (std::size_t i = 0; i < first.size(); i += 997) {
      std::set<Scene> of_case;
      for (std::uint64_t seed = 1; seed <= first.scenes(); ++seed) {
        of_case.insert(scene(FullCases(setting, seed).at(i)));
      }
      EXPECT_EQ(of_case.size(), first.scenes()) << first.at(i).name();
    }
  }
}

// By a device a form has one count of each threshold, and seeds bring the others.
TEST(Cases, CountsAroundAThresholdTakeTurnsByADevice) {
  std::set<std::size_t> all;
  std::size_t most = 0;
  for (const std::vector<std::size_t>& levels : counts_by_threshold()) {
    all.insert(levels.begin(), levels.end());
    most = std::max(most, levels.size());
  }
  ASSERT_EQ(all.size(), size_of(Axis::count));
  const FullCases first(kTwoNodes, 1);
  const std::size_t forms = first.size() / counts_by_threshold().size();
  for (std::size_t form = 0; form < forms; form += 37) {
    const bool once = facts(first.at(form).call()).single;  // has fewer counts
    std::set<std::size_t> levels;
    for (std::uint64_t seed = 1; seed <= most; ++seed) {
      const FullCases full(kTwoNodes, seed);
      for (std::size_t i = form; i < full.size(); i += forms) {
        levels.insert(full.at(i).at(Axis::count));
      }
    }
    EXPECT_TRUE(once || levels.size() == all.size()) << first.at(form).name();
  }
}

// Between them, the origins of a case touch no place twice, unless that is its point, and never
// what lies outside the window.
TEST(Cases, PhasesStayWithinTheirWindows) {
  const FullCases full(kOneNode, 1);
  Program program = case_windows(kOneNode);
  for (std::size_t i = 0; i < full.size(); i += 401) {
    const Case one = full.at(i);
    const Phase phase = case_phase(one, kOneNode, program);
    ASSERT_EQ(phase.epochs.size(), 1U);
    const WindowPlan& window = program.windows[phase.epochs[0].window];
    const bool may_meet = one.crowd() == Crowd::collide || one.after() == After::flush;
    std::set<std::pair<int, std::size_t>> touched;
    for (const Operation& operation : phase.epochs[0].operations) {
      EXPECT_LE((operation.offset + operation.to.extent()) * one.element().bytes(),
                window.bytes[0]);
      EXPECT_EQ(operation.to.count(),
                facts(operation.call).sends ? operation.from.count() : operation.into.count());
      if (may_meet) continue;
      for (const std::size_t at : operation.to.places()) {
        EXPECT_TRUE(touched.emplace(operation.target, operation.offset + at).second) << one.name();
      }
    }
  }
}

}  // namespace
}  // namespace oriel::conformance
