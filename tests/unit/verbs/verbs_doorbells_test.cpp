// How many requests share a doorbell and a completion, and when a wait is over with one look.

#include <gtest/gtest.h>

#include <algorithm>

#include "transport/verbs/verbs_transport.hpp"
#include "verbs_pair.hpp"

namespace oriel::verbs {
namespace {

using transport::PostResult;

class VerbsDoorbellsTest : public ::testing::Test {
 protected:
  VerbsDoorbellsTest() { fake_verbs::reset(); }
  ~VerbsDoorbellsTest() override { EXPECT_TRUE(fake_verbs::live_objects().empty()); }

  /// Makes the connection, so that what is counted afterwards is the test's own.
  static void connect(Driver driver, VerbsPair& pair, std::size_t to) {
    driver.put(pattern(1), pair.at(to));
    driver.flush();
    fake_verbs::reset_statistics();
  }
};

TEST_F(VerbsDoorbellsTest, AHundredPutsShareDoorbellsAndCompletions) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  for (std::size_t i = 0; i < 100; ++i) driver.put(pattern(8), pair.at(1, 8 * i));
  driver.flush();
  const auto seen = fake_verbs::statistics();
  EXPECT_EQ(seen.posted(), 100U) << "sealing found the last one still staged";
  EXPECT_EQ(seen.signalled, 3U) << "the first, the 64th after it, the last";
  EXPECT_EQ(seen.doorbells, 5U) << "the first alone, three of thirty-two, the rest";
}

TEST_F(VerbsDoorbellsTest, PagesShareThemBehindEnoughOthersAndWhatIsLongerNever) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  const std::span memory(pair.memory[0]);
  for (std::size_t i = 0; i < 100; ++i) driver.put(memory.first(4096), pair.at(1));
  driver.flush();
  EXPECT_EQ(fake_verbs::statistics().posted(), 100U);
  EXPECT_EQ(fake_verbs::statistics().doorbells, 35U)
      << "thirty-two alone, two of thirty-two, the rest";
  fake_verbs::reset_statistics();
  for (std::size_t i = 0; i < 100; ++i) driver.put(memory.first(4097), pair.at(1));
  EXPECT_EQ(fake_verbs::statistics().doorbells, 100U);
  driver.flush();
}

TEST_F(VerbsDoorbellsTest, WhatSealingCannotReachGetsARequestOfNoBytesBehindIt) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  for (std::size_t i = 0; i < 33; ++i) driver.put(pattern(8), pair.at(1, 8 * i));  // 1 + 32 posted
  driver.flush();
  const auto seen = fake_verbs::statistics();
  EXPECT_EQ(seen.posted(), 34U);
  EXPECT_EQ(seen.signalled, 2U);
}

TEST_F(VerbsDoorbellsTest, ProgressPostsWhatIsStaged) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  fake_verbs::set_delivery(fake_verbs::Delivery::manual);
  driver.put(pattern(8), pair.at(1));
  driver.put(pattern(8, 2), pair.at(1, 8));
  EXPECT_EQ(fake_verbs::statistics().posted(), 1U);
  EXPECT_EQ(pair.ranks[0]->outstanding(), 2U);
  pair.ranks[0]->progress();
  EXPECT_EQ(fake_verbs::statistics().posted(), 2U);
  fake_verbs::set_delivery(fake_verbs::Delivery::immediate);
  fake_verbs::deliver();
  driver.flush();
  EXPECT_EQ(pair.ranks[0]->outstanding(), 0U);
}

TEST_F(VerbsDoorbellsTest, ALookFinishesWhatIsDone) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  std::vector<std::byte> back(8);
  driver.get(back, pair.at(1));
  EXPECT_EQ(driver.done.local_pending, 1U);
  EXPECT_EQ(pair.way(0, 1).seal_and_look(driver.done), PostResult::posted);
  EXPECT_EQ(driver.done.remote_pending, 0U);
  EXPECT_TRUE(std::ranges::equal(back, std::span(pair.memory[1]).first(8)));
}

TEST_F(VerbsDoorbellsTest, ALookAtWhatIsNotDoneFinishesNothing) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  fake_verbs::set_delivery(fake_verbs::Delivery::manual);
  driver.put(pattern(8), pair.at(1));
  EXPECT_EQ(pair.way(0, 1).seal_and_look(driver.done), PostResult::posted);
  EXPECT_EQ(driver.done.remote_pending, 1U);
  fake_verbs::set_delivery(fake_verbs::Delivery::immediate);
  fake_verbs::deliver();
  driver.flush();
}

TEST_F(VerbsDoorbellsTest, ALookMayFindAnothersCompletion) {
  VerbsPair pair;
  Driver other = pair.driver(0, 0);
  Driver driver = pair.driver(0, 1);
  connect(other, pair, 0);
  connect(driver, pair, 1);
  other.put(pattern(8), pair.at(0));
  driver.put(pattern(8), pair.at(1));
  EXPECT_EQ(pair.way(0, 1).seal_and_look(driver.done), PostResult::posted);
  EXPECT_EQ(other.done.remote_pending, 0U);
  EXPECT_EQ(driver.done.remote_pending, 1U);
  driver.flush();
}

TEST_F(VerbsDoorbellsTest, ALookThatFindsAFailureEndsTheWait) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  driver.put(pattern(8), transport::RemoteAddress{pair.at(1).address, 0xbad});
  EXPECT_EQ(pair.way(0, 1).seal_and_look(driver.done), PostResult::posted);
  EXPECT_EQ(driver.done.remote_pending, 0U);
  ASSERT_NE(driver.done.failure, nullptr);
  EXPECT_EQ(driver.done.failure, pair.way(0, 1).failure());
}

TEST_F(VerbsDoorbellsTest, WhatIsStagedElsewhereIsLeftToProgress) {
  VerbsPair pair;
  Driver other = pair.driver(0, 0);
  Driver driver = pair.driver(0, 1);
  connect(other, pair, 0);
  connect(driver, pair, 1);
  other.put(pattern(8), pair.at(0));
  other.put(pattern(8), pair.at(0));  // staged
  driver.put(pattern(8), pair.at(1));
  EXPECT_EQ(pair.way(0, 1).seal_and_look(driver.done), PostResult::posted);
  EXPECT_EQ(driver.done.remote_pending, 1U) << "no look: who waits comes to progress()";
  driver.flush();
  EXPECT_EQ(fake_verbs::statistics().posted(), 3U);
  other.flush();
}

}  // namespace
}  // namespace oriel::verbs
