#include "window/mechanism.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
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
constexpr ElementType opaque(std::uint32_t bytes) {
  return {ElementKind::opaque, bytes};
}
const ElementType kTypes[] = {opaque(1),
                              opaque(3),
                              opaque(8),
                              opaque(4096),
                              element_type<std::int8_t>(),
                              element_type<std::uint16_t>(),
                              element_type<int>(),
                              element_type<std::int64_t>(),
                              element_type<std::uint64_t>(),
                              element_type<float>(),
                              element_type<double>(),
                              element_type<std::complex<float>>(),
                              element_type<std::complex<double>>(),
                              element_type<ValueIndex<int, int>>(),
                              element_type<ValueIndex<double, int>>()};

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
      return choose_mechanism(row.domain, row.reach, opaque(static_cast<std::uint32_t>(bytes)), {});
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

// Of the elements of 8 bytes, those that are combined, but not by a device, are not words of it.
TEST(ChooseMechanism, OfTheElementsOfEightBytesDevicesTakeIntegersAndWhatIsOnlySwapped) {
  const ElementType words_always[] = {opaque(8), element_type<std::int64_t>(),
                                      element_type<std::uint64_t>()};
  const ElementType words_if_alone[] = {element_type<double>(), element_type<std::complex<float>>(),
                                        element_type<ValueIndex<int, int>>()};
  for (const CoherenceDomain domain : {kBoth, kNic}) {
    for (const ElementType type : words_always) {
      EXPECT_EQ(choose_mechanism(domain, Reach::device, type, {}), words);
    }
    for (const ElementType type : words_if_alone) {
      EXPECT_EQ(choose_mechanism(domain, Reach::device, type, {}), locked);
      EXPECT_EQ(choose_mechanism(domain, Reach::device, type, {.single_element = true}), words);
    }
  }
  for (const ElementType type : words_if_alone) {
    EXPECT_EQ(choose_mechanism(kCpu, Reach::mapped, type, {}), cpu);
    EXPECT_EQ(choose_mechanism(kBoth, Reach::mapped, type, {}), locked);
  }
}

TEST(ChooseMechanism, NoAtomicCoversWhatIsMisaligned) {
  for (const CoherenceDomain domain : {kCpu, kBoth, kNic}) {
    for (const Reach reach : reaches_of(domain)) {
      for (const ElementType type : kTypes) {
        EXPECT_EQ(choose_mechanism(domain, reach, type, {}, false), locked);
        EXPECT_EQ(choose_mechanism(domain, reach, type, {.single_element = true}, false), locked);
        EXPECT_EQ(choose_mechanism(domain, reach, type, {.no_concurrent = true}, false), unguarded);
      }
    }
  }
  EXPECT_EQ(choose_mechanism(kCpu, Reach::all_mapped, opaque(8), {}, false), in_place);
}

// Whoever meets on one location is atomic to each other: the invariant that the choice is for.
TEST(ChooseMechanism, OriginsOfAWindowMeetByOneFamily) {
  for (const CoherenceDomain domain : {kCpu, kBoth, kNic}) {
    for (const ElementType type : kTypes) {
      for (const bool alone : {false, true}) {
        std::set<Mechanism> met;
        for (const Reach reach : reaches_of(domain)) {
          met.insert(choose_mechanism(domain, reach, type, {.single_element = alone}));
        }
        EXPECT_FALSE(met.contains(unguarded));
        if (met.contains(locked)) {
          EXPECT_EQ(met.size(), 1U);
        } else {
          EXPECT_EQ(met.contains(words), domain != kCpu);
          EXPECT_TRUE(domain != kNic || met.size() == 1) << "a CPU beside the device";
          EXPECT_TRUE(domain == kCpu || type.bytes == 8) << "a device knows no such word";
        }
      }
    }
  }
}

TEST(ChooseMechanism, PromisesSpareTheLock) {
  for (const CoherenceDomain domain : {kCpu, kBoth, kNic}) {
    for (const Reach reach : reaches_of(domain)) {
      for (const ElementType type : kTypes) {
        EXPECT_EQ(choose_mechanism(domain, reach, type, {.no_concurrent = true}), unguarded);
        const Mechanism alone = choose_mechanism(domain, reach, type, {.single_element = true});
        const Mechanism many = choose_mechanism(domain, reach, type, {});
        EXPECT_TRUE(alone == many || many == locked);
      }
    }
  }
  for (const ElementType type : kTypes) {  // where each accumulate looks at the promises itself
    EXPECT_EQ(choose_mechanism(kCpu, Reach::all_mapped, type, {.no_concurrent = true}), in_place);
  }
}

}  // namespace
}  // namespace oriel::window
