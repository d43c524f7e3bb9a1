#include "window/mechanism.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace oriel::window {

inline void PrintTo(Mechanism mechanism, std::ostream* out) {  // NOLINT: GoogleTest's name
  constexpr const char* kNames[] = {"in_place", "cpu", "agent", "words", "locked", "unguarded"};
  *out << kNames[static_cast<int>(mechanism)];
}

namespace {

using enum Mechanism;
constexpr auto kCpu = CoherenceDomain::cpu;
constexpr auto kBoth = CoherenceDomain::cpu_and_nic;
constexpr auto kNic = CoherenceDomain::nic;
constexpr std::size_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 4096};

std::vector<Reach> reaches_of(CoherenceDomain domain) {
  switch (domain) {
    case CoherenceDomain::cpu:
      return {Reach::mapped, Reach::agent};
    case CoherenceDomain::cpu_and_nic:
      return {Reach::mapped, Reach::agent, Reach::device};
    case CoherenceDomain::nic:
      return {Reach::device};
  }
  return {};
}

TEST(ChooseMechanism, IsThisTable) {
  struct Row {
    CoherenceDomain domain;
    Reach reach;
    Mechanism of_1, of_2, of_4, of_8, of_others;
  };
  constexpr Row kTable[] = {
      {kCpu, Reach::all_mapped, in_place, in_place, in_place, in_place, in_place},
      {kCpu, Reach::mapped, cpu, cpu, cpu, cpu, locked},
      {kCpu, Reach::agent, agent, agent, agent, agent, locked},
      {kBoth, Reach::mapped, locked, locked, locked, cpu, locked},
      {kBoth, Reach::agent, locked, locked, locked, agent, locked},
      {kBoth, Reach::device, locked, locked, locked, words, locked},
      {kNic, Reach::device, locked, locked, locked, words, locked},
  };
  for (const Row& row : kTable) {
    const auto chosen = [&](std::size_t bytes) {
      return choose_mechanism(row.domain, row.reach, bytes, {});
    };
    EXPECT_EQ(chosen(1), row.of_1);
    EXPECT_EQ(chosen(2), row.of_2);
    EXPECT_EQ(chosen(4), row.of_4);
    EXPECT_EQ(chosen(8), row.of_8);
    for (const std::size_t others : {3U, 5U, 6U, 7U, 9U, 12U, 16U, 1000U}) {
      EXPECT_EQ(chosen(others), row.of_others) << others;
    }
  }
}

// Whoever meets on one location is atomic to each other: the invariant that the choice is for.
TEST(ChooseMechanism, OriginsOfAWindowMeetByOneFamily) {
  for (const CoherenceDomain domain : {kCpu, kBoth, kNic}) {
    for (const std::size_t bytes : kSizes) {
      std::set<Mechanism> met;
      for (const Reach reach : reaches_of(domain)) {
        met.insert(choose_mechanism(domain, reach, bytes, {}));
      }
      EXPECT_FALSE(met.contains(unguarded));
      if (met.contains(locked)) {
        EXPECT_EQ(met.size(), 1U);
      } else {
        EXPECT_EQ(met.contains(words), domain != kCpu);
        EXPECT_TRUE(domain != kNic || met.size() == 1) << "a CPU beside the device";
        EXPECT_TRUE(domain == kCpu || bytes == 8) << "a device knows no such word";
      }
    }
  }
}

TEST(ChooseMechanism, PromisesSpareTheLockOrChangeNothing) {
  for (const CoherenceDomain domain : {kCpu, kBoth, kNic}) {
    for (const Reach reach : reaches_of(domain)) {
      for (const std::size_t bytes : kSizes) {
        EXPECT_EQ(choose_mechanism(domain, reach, bytes, {.no_concurrent = true}), unguarded);
        EXPECT_EQ(choose_mechanism(domain, reach, bytes, {.single_element = true}),
                  choose_mechanism(domain, reach, bytes, {}));
      }
    }
  }
  for (const std::size_t bytes : kSizes) {  // where each accumulate looks at the promises itself
    EXPECT_EQ(choose_mechanism(kCpu, Reach::all_mapped, bytes, {.no_concurrent = true}), in_place);
  }
}

}  // namespace
}  // namespace oriel::window
