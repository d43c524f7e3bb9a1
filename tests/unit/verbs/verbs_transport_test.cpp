#include "transport/verbs/verbs_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "verbs_pair.hpp"

namespace oriel::verbs {
namespace {

using ::testing::HasSubstr;
using transport::Completion;
using transport::PostResult;

class VerbsTransportTest : public ::testing::Test {
 protected:
  VerbsTransportTest() { fake_verbs::reset(); }
  ~VerbsTransportTest() override { EXPECT_TRUE(fake_verbs::live_objects().empty()); }

  /// Makes the connection, so that what is counted afterwards is the test's own.
  static void connect(Driver driver, VerbsPair& pair, std::size_t to) {
    driver.put(pattern(1), pair.at(to));
    driver.flush();
    fake_verbs::reset_statistics();
  }
};

TEST_F(VerbsTransportTest, MovesEverySizeFromAnywhereToAnywhere) {
  VerbsPair pair;
  for (const std::size_t to : {1U, 0U}) {
    Driver driver = pair.driver(0, to);
    for (const std::size_t bytes : {1U, 7U, 8U, 127U, 128U, 129U, 255U, 4096U, 32767U, 32768U,
                                    32769U, 65536U, 100001U, 400000U}) {
      const auto source = pattern(bytes, static_cast<unsigned>(bytes));
      driver.put(source, pair.at(to, 3));
      driver.flush();
      const std::span there(pair.memory[to].data() + 3, bytes);
      ASSERT_TRUE(std::ranges::equal(source, there)) << bytes << " bytes put to " << to;
      std::vector<std::byte> back(bytes);
      driver.get(back, pair.at(to, 3));
      driver.flush();
      ASSERT_EQ(back, source) << bytes << " bytes got from " << to;
    }
    EXPECT_EQ(driver.done.failure, nullptr);
  }
}

TEST_F(VerbsTransportTest, WindowMemoryTravelsWithoutACopy) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  const auto source = pattern(300000);
  std::ranges::copy(source, pair.memory[0].begin());
  driver.put(std::span(pair.memory[0]).first(300000), pair.at(1));
  EXPECT_EQ(driver.done.local_pending, 1U) << "the device reads the user's memory itself";
  driver.flush();
  EXPECT_EQ(fake_verbs::statistics().posted(IBV_WR_RDMA_WRITE), 1U);
  std::ranges::fill(pair.memory[0], std::byte{0});
  driver.get(std::span(pair.memory[0]).first(300000), pair.at(1));
  driver.flush();
  EXPECT_EQ(fake_verbs::statistics().posted(IBV_WR_RDMA_READ), 1U);
  EXPECT_TRUE(std::ranges::equal(source, std::span(pair.memory[0]).first(300000)));
}

TEST_F(VerbsTransportTest, MemoryThatEndsItsRegistrationGoesOnByCopy) {
  VerbsPair pair(1U << 20U);
  std::vector<std::byte> buffer = pattern(200000);
  const auto exposed =
      pair.ranks[0]->expose({.bytes = std::span(buffer).first(100000), .segment = nullptr});
  Driver driver = pair.driver(0, 1);
  driver.put(buffer, pair.at(1));
  driver.flush();
  EXPECT_TRUE(std::ranges::equal(buffer, std::span(pair.memory[1]).first(buffer.size())));
}

TEST_F(VerbsTransportTest, TransfersAreCutAtTheMessageLimitOfThePort) {
  fake_verbs::Fabric fabric;
  fabric.devices[0].ports[0].max_message_bytes = 1000;
  fake_verbs::reset(fabric);
  VerbsPair pair(8192);
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  std::ranges::copy(pattern(4096), pair.memory[0].begin());
  driver.put(std::span(pair.memory[0]).first(4096), pair.at(1));
  driver.flush();
  EXPECT_EQ(fake_verbs::statistics().posted(IBV_WR_RDMA_WRITE), 5U);
  EXPECT_TRUE(std::ranges::equal(pattern(4096), std::span(pair.memory[1]).first(4096)));
}

TEST_F(VerbsTransportTest, SmallPutsAreLocallyCompleteAtOnceAndTheBufferMayChange) {
  VerbsPair pair;
  fake_verbs::set_delivery(fake_verbs::Delivery::manual);
  Driver driver = pair.driver(0, 1);
  for (const std::size_t bytes : {8U, 20000U}) {
    auto source = pattern(bytes);
    driver.put(source, pair.at(1));
    EXPECT_EQ(driver.done.local_pending, 0U);
    EXPECT_EQ(driver.done.remote_pending, 1U);
    std::ranges::fill(source, std::byte{0});
    while (fake_verbs::deliver() > 0) pair.ranks[0]->progress();
    driver.flush();
    EXPECT_TRUE(std::ranges::equal(pattern(bytes), std::span(pair.memory[1]).first(bytes)));
  }
}

TEST_F(VerbsTransportTest, PutAndFlushAreOneSignalledRequestAndOneDoorbell) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  driver.put(pattern(8), pair.at(1));
  driver.flush();
  const auto seen = fake_verbs::statistics();
  EXPECT_EQ(seen.posted(), 1U);
  EXPECT_EQ(seen.signalled, 1U);
  EXPECT_EQ(seen.doorbells, 1U);
  EXPECT_EQ(seen.inline_requests, 1U);
}

TEST_F(VerbsTransportTest, WhereCompletionIsNotVisibilityAFlushEndsWithARead) {
  auto options = ordered_options();
  options.visibility = base::Visibility::read;
  VerbsPair pair(4096, options);
  EXPECT_FALSE(pair.ranks[0]->capabilities().strictly_ordered);
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  driver.put(pattern(8), pair.at(1));
  driver.flush();
  EXPECT_EQ(fake_verbs::statistics().posted(IBV_WR_RDMA_READ), 1U);
  driver.flush();
  EXPECT_EQ(fake_verbs::statistics().posted(), 2U) << "nothing new to make visible";
}

TEST_F(VerbsTransportTest, AReadOnItsWayIsNotWaitedForByThoseItIsNotCountedFor) {
  auto options = ordered_options();
  options.visibility = base::Visibility::read;
  VerbsPair pair(4096, options);
  connect(pair.driver(0, 1), pair, 1);
  Driver writer = pair.driver(0, 1);
  Driver reader = pair.driver(0, 1);
  std::vector<std::byte> back(8);
  writer.put(pattern(8), pair.at(1));
  reader.get(back, pair.at(1));
  EXPECT_EQ(pair.way(0, 1).seal(writer.done), PostResult::posted);
  EXPECT_EQ(writer.done.remote_pending, 2U) << "the put and its own read";
  writer.flush();
  reader.flush();
}

TEST_F(VerbsTransportTest, WhereWritesMayPassEachOtherASignalFollowsARead) {
  auto options = ordered_options();
  options.visibility = base::Visibility::read;
  VerbsPair pair(4096, options);
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  driver.put(pattern(8), pair.at(1));
  std::uint64_t attempts = 0;
  while (pair.way(0, 1).signal(5, pair.at(1, 64), driver.done) == PostResult::no_credit) {
    ++attempts;
    EXPECT_EQ(pair.word(1, 64), 0U) << "the read is not answered yet";
    pair.ranks[0]->progress();
  }
  EXPECT_EQ(attempts, 1U);
  EXPECT_EQ(fake_verbs::statistics().posted(IBV_WR_RDMA_READ), 1U);
  driver.flush();
  EXPECT_EQ(pair.word(1, 64), 5U);
}

TEST_F(VerbsTransportTest, AtomicsGiveTheOldValueAndAddUp) {
  VerbsPair pair;
  pair.word(1) = 40;
  for (const std::size_t from : {0U, 1U}) {
    Driver driver = pair.driver(from, 1);
    transport::Endpoint& way = pair.way(from, 1);
    std::uint64_t old = 0;
    EXPECT_EQ(way.fetch_add(2, &old, pair.at(1), driver.done), PostResult::posted);
    driver.flush();
    EXPECT_EQ(old, 40U);
    EXPECT_EQ(way.compare_and_swap(42, 7, &old, pair.at(1), driver.done), PostResult::posted);
    driver.flush();
    EXPECT_EQ(old, 42U);
    EXPECT_EQ(way.compare_and_swap(42, 8, &old, pair.at(1), driver.done), PostResult::posted);
    driver.flush();
    EXPECT_EQ(old, 7U);
    EXPECT_EQ(pair.word(1), 7U);
    pair.word(1) = 40;
  }
}

TEST_F(VerbsTransportTest, AThousandPipelinedAtomicsEachHaveTheirOwnResult) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  std::vector<std::uint64_t> olds(1000, ~std::uint64_t{0});
  for (auto& old : olds) {
    while (pair.way(0, 1).fetch_add(1, &old, pair.at(1), driver.done) == PostResult::no_credit)
      pair.ranks[0]->progress();
  }
  driver.flush();
  for (std::size_t i = 0; i < olds.size(); ++i) ASSERT_EQ(olds[i], i);
}

TEST_F(VerbsTransportTest, ASignalIsPostedAtOnceBehindWrites) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  driver.put(pattern(8), pair.at(1));
  driver.put(pattern(8), pair.at(1, 8));
  EXPECT_EQ(pair.way(0, 1).signal(99, pair.at(1, 64), driver.done), PostResult::posted);
  EXPECT_EQ(fake_verbs::statistics().posted(), 3U);
  EXPECT_EQ(pair.word(1, 64), 99U);
  driver.flush();
}

// No request is fenced: one may wait in a queue of Soft-RoCE for ever.
TEST_F(VerbsTransportTest, ASignalHasNoRoomUntilEarlierReadsAreAnswered) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  connect(driver, pair, 1);
  std::vector<std::byte> first(8);
  std::vector<std::byte> second(8);
  driver.get(first, pair.at(1));   // signalled, as nothing is under way
  driver.get(second, pair.at(1));  // not: somebody has to ask for its completion
  EXPECT_EQ(pair.way(0, 1).signal(99, pair.at(1, 64), driver.done), PostResult::no_credit);
  EXPECT_EQ(pair.way(0, 1).add(1, pair.at(1, 72), driver.done), PostResult::no_credit);
  EXPECT_EQ(pair.word(1, 64), 0U);
  EXPECT_EQ(pair.word(1, 72), 0U);
  std::size_t attempts = 0;
  while (pair.way(0, 1).signal(99, pair.at(1, 64), driver.done) == PostResult::no_credit) {
    ASSERT_LT(++attempts, 10U);
    pair.ranks[0]->progress();
  }
  EXPECT_EQ(pair.way(0, 1).add(1, pair.at(1, 72), driver.done), PostResult::posted);
  driver.flush();
  EXPECT_EQ(pair.word(1, 64), 99U);
  EXPECT_EQ(pair.word(1, 72), 1U);
}

TEST_F(VerbsTransportTest, AFullQueueIsNoCreditAndRecovers) {
  VerbsPair pair;
  fake_verbs::set_delivery(fake_verbs::Delivery::manual);
  const auto source = pattern(8);
  Completion done;
  std::size_t accepted = 0;
  while (pair.way(0, 1).put(source.data(), 8, pair.at(1), done) == 8) ++accepted;
  EXPECT_EQ(accepted, kQueueDepth);
  std::uint64_t old = 0;
  EXPECT_EQ(pair.way(0, 1).fetch_add(1, &old, pair.at(1), done), PostResult::no_credit);
  EXPECT_EQ(pair.way(0, 1).signal(1, pair.at(1), done), PostResult::no_credit);
  EXPECT_EQ(done.remote_pending, kQueueDepth) << "a refusal counts nothing";
  fake_verbs::set_delivery(fake_verbs::Delivery::on_poll);
  while (pair.way(0, 1).put(source.data(), 8, pair.at(1), done) == 0) pair.ranks[0]->progress();
  while (pair.way(0, 1).seal(done) == PostResult::no_credit) pair.ranks[0]->progress();
  while (done.remote_pending > 0) pair.ranks[0]->progress();
  EXPECT_EQ(done.failure, nullptr);
  EXPECT_EQ(done.local_pending, 0U);
}

TEST_F(VerbsTransportTest, BounceSlotsComeBackWithoutAFlush) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  fake_verbs::set_delivery(fake_verbs::Delivery::on_poll);
  const auto source = pattern(20000);
  for (int i = 0; i < 500; ++i) driver.put(source, pair.at(1));
  driver.flush();
  EXPECT_EQ(driver.done.failure, nullptr);
}

TEST_F(VerbsTransportTest, ASmallCompletionQueueIsNeverOverrun) {
  fake_verbs::Fabric fabric;
  fabric.devices[0].max_cqe = 20;
  fabric.delivery = fake_verbs::Delivery::on_poll;
  fake_verbs::reset(fabric);
  VerbsPair pair;
  std::array drivers = {pair.driver(0, 1), pair.driver(0, 0)};
  for (std::size_t i = 0; i < 500; ++i) {
    drivers[i % 2].put(pattern(8), pair.at(1 - i % 2, 8 * (i % 100)));
  }
  for (Driver& driver : drivers) driver.flush();
  EXPECT_EQ(fake_verbs::statistics().cq_overruns, 0U);
  EXPECT_EQ(drivers[0].done.failure, nullptr);
}

TEST_F(VerbsTransportTest, ProvidersWithoutTheNewPostingInterfaceWorkTheSame) {
  fake_verbs::Fabric fabric;
  fabric.devices[0].send_ops = 0;
  fabric.devices[0].max_inline_bytes = 60;  // not a power of two, and less than asked for
  fake_verbs::reset(fabric);
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  for (std::size_t i = 0; i < 300; ++i) driver.put(pattern(100, 7), pair.at(1, 100 * i));
  std::uint64_t old = 1;
  EXPECT_EQ(pair.way(0, 1).fetch_add(5, &old, pair.at(1, 400000), driver.done), PostResult::posted);
  driver.flush();
  EXPECT_EQ(old, 0U);
  EXPECT_TRUE(std::ranges::equal(pattern(100, 7), std::span(pair.memory[1]).subspan(29900, 100)));
  EXPECT_THAT(pair.way(0, 1).describe(), HasSubstr("ibv_post_send"));
}

TEST_F(VerbsTransportTest, ShallowQueuesWork) {
  fake_verbs::Fabric fabric;
  fabric.devices[0].max_qp_wr = 3;
  fake_verbs::reset(fabric);
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  for (std::size_t i = 0; i < 50; ++i) driver.put(pattern(8), pair.at(1, 8 * i));
  driver.flush();
  EXPECT_EQ(driver.done.failure, nullptr);
}

TEST_F(VerbsTransportTest, BothDirectionsAndOneselfAtTheSameTime) {
  VerbsPair pair;
  const auto work = [&pair](std::size_t rank) {
    Driver there = pair.driver(rank, 1 - rank);
    Driver here = pair.driver(rank, rank);
    for (std::size_t i = 0; i < 200; ++i) {
      there.put(pattern(64), pair.at(1 - rank, 65536 * rank + 64 * i));
      here.put(pattern(5000), pair.at(rank, 500000));
      if (i % 10 == 0) there.flush();
    }
    there.flush();
    here.flush();
    EXPECT_EQ(there.done.failure, nullptr);
    EXPECT_EQ(here.done.failure, nullptr);
  };
  std::thread other(work, 1);
  work(0);
  other.join();
}

TEST_F(VerbsTransportTest, DescribesItselfAndItsWays) {
  VerbsPair pair;
  EXPECT_EQ(pair.ranks[0]->name(), "verbs");
  EXPECT_EQ(pair.ranks[0]->capabilities().atomics, transport::AtomicScope::device);
  EXPECT_THAT(pair.ranks[0]->describe(), HasSubstr("fake0 port 1"));
  EXPECT_THAT(pair.way(0, 1).describe(), HasSubstr("fake0 port 1 gid 1 mtu 4096, not connected"));
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(1), pair.at(1));
  driver.flush();
  EXPECT_THAT(pair.way(0, 1).describe(), HasSubstr("ibv_wr_*, inline 128, depth 256"));
}

TEST_F(VerbsTransportTest, ThePeersNeverMetCostNoQueuePair) {
  VerbsPair pair;
  static_cast<void>(pair.way(0, 1));
  static_cast<void>(pair.way(1, 0));
  EXPECT_EQ(fake_verbs::statistics().queue_pairs, 0U);
}

}  // namespace
}  // namespace oriel::verbs
