#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "verbs_pair.hpp"

namespace oriel::verbs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using transport::Completion;
using transport::PostResult;

class VerbsFailureTest : public ::testing::Test {
 protected:
  VerbsFailureTest() { fake_verbs::reset(); }
  ~VerbsFailureTest() override { EXPECT_TRUE(fake_verbs::live_objects().empty()); }
};

TEST_F(VerbsFailureTest, ARefusedAccessBreaksTheConnectionWithAFullText) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(64), transport::RemoteAddress{pair.at(1).address, 0xbad});
  driver.flush();
  ASSERT_NE(driver.done.failure, nullptr);
  EXPECT_EQ(driver.done.failure, pair.way(0, 1).failure());
  EXPECT_EQ(driver.done.failure->code(), ErrorCode::transport_failed);
  EXPECT_THAT(driver.done.failure->what(),
              AllOf(HasSubstr("put: "), HasSubstr("remote access error (status 10)"),
                    HasSubstr("vendor 0x81"), HasSubstr("fake0 port 1"),
                    HasSubstr("rank 0 -> 1 (node1)"), HasSubstr("64 bytes"), HasSubstr("hint:")));
  EXPECT_EQ(pair.health[0].deaths(), 0U) << "the peer is alive, it refused";
}

TEST_F(VerbsFailureTest, TheFirstBadCompletionNamesTheCulpritAndEveryWaitEnds) {
  VerbsPair pair;
  fake_verbs::set_delivery(fake_verbs::Delivery::on_poll);
  Driver good = pair.driver(0, 1);
  Driver bad = pair.driver(0, 1);
  Driver later = pair.driver(0, 1);
  good.put(pattern(20000), pair.at(1));
  std::vector<std::byte> back(300);
  bad.get(back, transport::RemoteAddress{pair.at(1).address, 0xbad});
  for (std::size_t i = 0; i < 40; ++i) later.put(pattern(8), pair.at(1));
  later.flush();
  EXPECT_EQ(good.done.remote_pending + bad.done.remote_pending, 0U);
  EXPECT_EQ(good.done.local_pending + bad.done.local_pending + later.done.local_pending, 0U);
  EXPECT_EQ(good.done.failure, nullptr) << "it was done before the culprit";
  ASSERT_NE(later.done.failure, nullptr);
  EXPECT_THAT(later.done.failure->what(), HasSubstr("get: "));
  EXPECT_EQ(pair.ranks[0]->outstanding(), 0U);
}

TEST_F(VerbsFailureTest, AFailedEndpointTakesEverythingAndFailsItAtOnce) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), transport::RemoteAddress{pair.at(1).address, 0xbad});
  driver.flush();
  Completion done;
  std::uint64_t old = 0;
  std::vector<std::byte> big(1U << 20U);
  transport::Endpoint& way = pair.way(0, 1);
  EXPECT_EQ(way.put(big.data(), big.size(), pair.at(1), done), big.size());
  EXPECT_EQ(way.get(big.data(), big.size(), pair.at(1), done), big.size());
  EXPECT_EQ(way.fetch_add(1, &old, pair.at(1), done), PostResult::posted);
  EXPECT_EQ(way.compare_and_swap(1, 2, &old, pair.at(1), done), PostResult::posted);
  EXPECT_EQ(way.signal(1, pair.at(1), done), PostResult::posted);
  EXPECT_EQ(way.seal(done), PostResult::posted);
  way.probe();
  EXPECT_EQ(done.local_pending + done.remote_pending, 0U);
  EXPECT_EQ(done.failure, way.failure());
}

TEST_F(VerbsFailureTest, OtherWaysGoOn) {
  VerbsPair pair;
  Driver bad = pair.driver(0, 1);
  bad.put(pattern(8), transport::RemoteAddress{pair.at(1).address, 0xbad});
  bad.flush();
  Driver self = pair.driver(0, 0);
  Driver back = pair.driver(1, 0);
  self.put(pattern(50000), pair.at(0));
  self.flush();
  back.put(pattern(50000), pair.at(0));
  back.flush();
  EXPECT_EQ(self.done.failure, nullptr);
  EXPECT_EQ(back.done.failure, nullptr);
}

TEST_F(VerbsFailureTest, ResourcesOfABrokenWayComeBack) {
  fake_verbs::Fabric fabric;
  fabric.devices[0].max_cqe = 300;
  fake_verbs::reset(fabric);
  VerbsPair pair;
  fake_verbs::set_delivery(fake_verbs::Delivery::manual);
  Driver bad = pair.driver(0, 1);
  for (std::size_t i = 0; i < BouncePool::kSlots; ++i)
    ASSERT_GT(pair.way(0, 1).put(pattern(20000).data(), 20000, pair.at(1), bad.done), 0U);
  for (std::size_t i = 0; i < 150; ++i)
    ASSERT_EQ(pair.way(0, 1).put(pattern(8).data(), 8, pair.at(1), bad.done), 8U);
  fake_verbs::break_connections();
  fake_verbs::set_delivery(fake_verbs::Delivery::on_poll);
  fake_verbs::deliver();
  bad.flush();
  ASSERT_NE(bad.done.failure, nullptr);
  Driver self = pair.driver(0, 0);
  for (std::size_t i = 0; i < 300; ++i) self.put(pattern(8), pair.at(0));
  self.put(pattern(1U << 20U), pair.at(0));
  self.flush();
  EXPECT_EQ(self.done.failure, nullptr);
  EXPECT_EQ(fake_verbs::statistics().cq_overruns, 0U);
}

TEST_F(VerbsFailureTest, APeerThatDoesNotAnswerIsDead) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  driver.flush();
  fake_verbs::break_connections();
  driver.put(pattern(8), pair.at(1));
  driver.flush();
  ASSERT_NE(driver.done.failure, nullptr);
  EXPECT_EQ(driver.done.failure->code(), ErrorCode::peer_lost);
  EXPECT_THAT(driver.done.failure->what(), HasSubstr("does not answer"));
  ASSERT_TRUE(pair.health[0].find(1).has_value());
  EXPECT_EQ(pair.health[1].deaths(), 0U);
}

TEST_F(VerbsFailureTest, AProbeFindsThatOut) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  driver.flush();
  fake_verbs::reset_statistics();
  transport::Endpoint& way = pair.way(0, 1);
  way.probe();
  pair.ranks[0]->progress();
  EXPECT_EQ(way.failure(), nullptr);
  EXPECT_EQ(fake_verbs::statistics().bytes_out, 0U);
  EXPECT_EQ(fake_verbs::statistics().posted(IBV_WR_RDMA_WRITE), 1U);
  fake_verbs::break_connections();
  way.probe();
  pair.ranks[0]->progress();
  ASSERT_NE(way.failure(), nullptr);
  EXPECT_EQ(way.failure()->code(), ErrorCode::peer_lost);
}

TEST_F(VerbsFailureTest, APeerThatLeftAndIsStillWaitedForIsLost) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  driver.flush();
  pair.exposed[1].reset();
  pair.ranks[1].reset();
  transport::Endpoint& way = pair.way(0, 1);
  while (way.failure() == nullptr) {
    way.probe();
    pair.ranks[0]->progress();
  }
  EXPECT_EQ(way.failure()->code(), ErrorCode::peer_lost);
}

TEST_F(VerbsFailureTest, APostThatFailsIsAFailureNotAReasonToTryForEver) {
  for (const std::uint64_t send_ops : {std::uint64_t{0}, fake_verbs::Device{}.send_ops}) {
    fake_verbs::Fabric fabric;
    fabric.devices[0].send_ops = send_ops;
    fake_verbs::reset(fabric);
    VerbsPair pair;
    Driver driver = pair.driver(0, 1);
    driver.put(pattern(8), pair.at(1));
    driver.flush();
    fake_verbs::fail(send_ops == 0 ? "ibv_post_send" : "ibv_wr_complete", EIO);
    driver.put(pattern(8), pair.at(1));
    driver.flush();
    ASSERT_NE(driver.done.failure, nullptr);
    EXPECT_THAT(driver.done.failure->what(), AllOf(HasSubstr("posting"), HasSubstr("errno 5")));
  }
}

TEST_F(VerbsFailureTest, AFailingCompletionQueueFailsEveryWay) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  fake_verbs::fail("ibv_poll_cq", EIO);
  driver.flush();
  ASSERT_NE(driver.done.failure, nullptr);
  EXPECT_THAT(driver.done.failure->what(), HasSubstr("ibv_poll_cq"));
}

TEST_F(VerbsFailureTest, EveryStatusHasAText) {
  for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_TM_RNDV_INCOMPLETE; ++status) {
    fake_verbs::reset();
    VerbsPair pair;
    fake_verbs::fail_completion(static_cast<ibv_wc_status>(status));
    Driver driver = pair.driver(0, 1);
    driver.put(pattern(8), pair.at(1));
    driver.flush();
    ASSERT_NE(driver.done.failure, nullptr) << status;
    EXPECT_THAT(driver.done.failure->what(),
                AllOf(HasSubstr("(status " + std::to_string(status) + ")"), HasSubstr("hint:")));
  }
}

TEST_F(VerbsFailureTest, EveryFailingSetUpCallIsNamedAndLeavesNothing) {
  for (const char* const call : {"rdma_create_event_channel", "rdma_create_id", "rdma_bind_addr",
                                 "ibv_alloc_pd", "ibv_create_cq", "ibv_reg_mr", "rdma_listen"}) {
    for (std::uint64_t after = 0; after < 2; ++after) {
      fake_verbs::reset();
      transport::PeerHealth health;
      fake_verbs::fail(call, ENOMEM, after);
      try {
        const VerbsTransport transport(ordered_options(), "", 0, 1, health);
        EXPECT_GT(after, 0U) << call << " failed unseen";
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr(call), HasSubstr("hint:")));
      }
      EXPECT_TRUE(fake_verbs::live_objects().empty()) << call << ", after " << after;
    }
  }
}

TEST_F(VerbsFailureTest, WithoutADeviceTheMessageSaysHowToAddOne) {
  fake_verbs::reset({.devices = {}});
  transport::PeerHealth health;
  try {
    const VerbsTransport transport(ordered_options(), "", 0, 1, health);
    FAIL() << "there is no device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("modprobe rdma_rxe"),
                                    HasSubstr("rdma link add rxe0 type rxe netdev ")));
  }
}

TEST_F(VerbsFailureTest, ADeviceThatMayNotBeOpenedIsToldFromNone) {
  fake_verbs::fail("ibv_open_device", EACCES);
  transport::PeerHealth health;
  try {
    const VerbsTransport transport(ordered_options(), "", 0, 1, health);
    FAIL() << "the device cannot be opened";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("fake0: cannot be opened"), HasSubstr("uverbs")));
  }
}

TEST_F(VerbsFailureTest, TheLastWriteArrivesAlthoughNobodyWaitsForIt) {
  fake_verbs::reset({.delivery = fake_verbs::Delivery::on_poll});
  VerbsPair pair;
  Completion done;
  EXPECT_EQ(pair.way(0, 1).signal(7, pair.at(1), done), PostResult::posted);
  EXPECT_EQ(pair.word(1), 0U);
  pair.exposed[0].reset();
  pair.ranks[0].reset();
  EXPECT_EQ(pair.word(1), 7U);
}

}  // namespace
}  // namespace oriel::verbs
