#include "transport/verbs/connection_origin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "transport/verbs/connection_hello.hpp"
#include "verbs_pair.hpp"

namespace oriel::verbs {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using transport::PostResult;
using Outcome = fake_verbs::Connection::Outcome;

class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest() { fake_verbs::reset(); }
  ~ConnectionTest() override { EXPECT_TRUE(fake_verbs::live_objects().empty()); }
};

/// A program of the fabric that is not part of the job.
class Stranger {
 public:
  explicit Stranger(const VerbsPair& pair)
      : address_(PeerAddress::from_bytes(pair.ranks[1]->address())) {}

  Hello right_hello() const {
    return {.job_nonce = VerbsPair::kNonce,
            .origin_rank = 0,
            .target_rank = 1,
            .target_incarnation = address_.incarnation};
  }

  /// What comes back: ESTABLISHED, REJECTED, …
  CmEvent ask(const void* data, std::uint8_t bytes) {
    id_ = make_cm_id(channel_, nullptr);
    sockaddr_storage target = address_.socket_address();
    EXPECT_EQ(rdma_resolve_addr(id_.get(), nullptr, reinterpret_cast<sockaddr*>(&target), 1000), 0);
    EXPECT_EQ(next().type, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_EQ(rdma_resolve_route(id_.get(), 1000), 0);
    EXPECT_EQ(next().type, RDMA_CM_EVENT_ROUTE_RESOLVED);
    pd_.reset(ibv_alloc_pd(id_->verbs));
    cq_.reset(ibv_create_cq(id_->verbs, 1, nullptr, nullptr, 0));
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq_.get();
    init.cap = {1, 1, 1, 1, 0};
    init.qp_type = IBV_QPT_RC;
    EXPECT_EQ(rdma_create_qp(id_.get(), pd_.get(), &init), 0);
    rdma_conn_param param{};
    param.private_data = data;
    param.private_data_len = bytes;
    param.initiator_depth = param.responder_resources = 1;
    EXPECT_EQ(rdma_connect(id_.get(), &param), 0);
    const CmEvent answer = next();
    id_.reset();
    return answer;
  }

  std::optional<RejectReason> reason_for(const Hello& hello) {
    const auto answer = ask(&hello, sizeof hello);
    const auto rejection = answer.data_as<Rejection>();
    return answer.type == RDMA_CM_EVENT_REJECTED && rejection ? std::optional(rejection->reason)
                                                              : std::nullopt;
  }

 private:
  CmEvent next() {
    while (true) {
      pollfd readable{channel_.fd(), POLLIN, 0};
      ::poll(&readable, 1, -1);
      if (auto event = channel_.next()) return *event;
    }
  }

  PeerAddress address_;
  CmChannel channel_;
  PdHandle pd_;
  CqHandle cq_;
  CmIdHandle id_;
};

TEST(AckTimeout, SevenTriesFitIntoThePeerTimeout) {
  for (const int seconds : {1, 2, 5, 60, 3600}) {
    const double all_tries = 7 * 4.096e-6 * static_cast<double>(1U << ack_timeout(seconds));
    EXPECT_LE(all_tries, seconds);
    EXPECT_GT(2 * all_tries, seconds);
  }
  EXPECT_EQ(ack_timeout(5), 17);
}

TEST_F(ConnectionTest, AsksForWhatTheDeviceCanDoAndNeverForForever) {
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  driver.flush();
  ASSERT_EQ(fake_verbs::connections().size(), 1U);
  const auto made = fake_verbs::connections()[0];
  EXPECT_EQ(made.outcome, Outcome::accepted);
  EXPECT_EQ(made.connect.initiator_depth, 16);
  EXPECT_EQ(made.connect.retry_count, 6);
  EXPECT_LT(made.connect.rnr_retry_count, 7);
  EXPECT_EQ(made.accept.responder_resources, 16);
  EXPECT_EQ(made.ack_timeout, ack_timeout(1));
}

TEST_F(ConnectionTest, AResponderThatTakesOneReadAtATimeIsEnough) {
  fake_verbs::Fabric fabric;
  fabric.devices[0].max_qp_rd_atom = 1;
  fake_verbs::reset(fabric);
  VerbsPair pair;
  Driver driver = pair.driver(0, 1);
  std::vector<std::uint64_t> olds(100);
  for (auto& old : olds) {
    while (pair.way(0, 1).fetch_add(1, &old, pair.at(1), driver.done) == PostResult::no_credit)
      pair.ranks[0]->progress();
  }
  driver.flush();
  EXPECT_EQ(pair.word(1), 100U);
  EXPECT_EQ(fake_verbs::connections()[0].accept.responder_resources, 1);
}

TEST_F(ConnectionTest, StrangersAreRejectedWithTheReasonAndTheJobGoesOn) {
  VerbsPair pair;
  {
    Stranger stranger(pair);
    EXPECT_EQ(stranger.ask(nullptr, 0).type, RDMA_CM_EVENT_REJECTED);
    EXPECT_EQ(stranger.ask("hello", 5).type, RDMA_CM_EVENT_REJECTED);

    Hello hello = stranger.right_hello();
    hello.magic = 1;
    EXPECT_EQ(stranger.reason_for(hello), RejectReason::not_oriel);
    hello = stranger.right_hello();
    ++hello.version;
    EXPECT_EQ(stranger.reason_for(hello), RejectReason::other_version);
    hello = stranger.right_hello();
    ++hello.job_nonce;
    EXPECT_EQ(stranger.reason_for(hello), RejectReason::other_job);
    hello = stranger.right_hello();
    ++hello.target_incarnation;
    EXPECT_EQ(stranger.reason_for(hello), RejectReason::other_incarnation);
    hello = stranger.right_hello();
    ++hello.target_rank;
    EXPECT_EQ(stranger.reason_for(hello), RejectReason::other_rank);

    hello = stranger.right_hello();
    EXPECT_EQ(stranger.ask(&hello, sizeof hello).type, RDMA_CM_EVENT_ESTABLISHED);
  }
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  driver.flush();
  EXPECT_EQ(driver.done.failure, nullptr);
}

TEST_F(ConnectionTest, OutcomesThatMayPassAreTriedAgain) {
  for (const char* const outcome : {"event:addr_error", "event:route_error", "event:unreachable",
                                    "event:connect_error", "event:rejected"}) {
    fake_verbs::reset();
    VerbsPair pair;
    fake_verbs::fail(outcome, ETIMEDOUT, 0, 2);
    Driver driver = pair.driver(0, 1);
    driver.put(pattern(8), pair.at(1));
    driver.flush();
    EXPECT_EQ(driver.done.failure, nullptr) << outcome;
  }
}

TEST_F(ConnectionTest, AnAbsentPeerIsGivenUpAndIsDead) {
  VerbsPair pair;
  fake_verbs::kill_listener(PeerAddress::from_bytes(pair.ranks[1]->address()).port);
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(100000), pair.at(1));
  driver.flush();
  ASSERT_NE(driver.done.failure, nullptr);
  EXPECT_EQ(driver.done.failure->code(), ErrorCode::connection_failed);
  EXPECT_THAT(
      driver.done.failure->what(),
      AllOf(HasSubstr("10.77.0.1:"), HasSubstr("on fake0"), HasSubstr("nobody listens"),
            HasSubstr("attempts in"), HasSubstr("rank 0 -> 1 (node1)"), HasSubstr("hint:")));
  EXPECT_TRUE(pair.health[0].find(1).has_value());
}

TEST_F(ConnectionTest, ARequestThatIsNeverAnsweredEndsToo) {
  VerbsPair pair;
  fake_verbs::fail("event:lost", ETIMEDOUT, 0, fake_verbs::kForever);
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  ASSERT_NE(driver.done.failure, nullptr);
  EXPECT_THAT(driver.done.failure->what(), HasSubstr("no answer"));
}

TEST_F(ConnectionTest, EveryLocalFailureIsNamedAndIsNotThePeersDeath) {
  struct Case {
    const char* call;
    const char* named;
    int error;
  };
  for (const Case& failing :
       {Case{"rdma_create_id", "rdma_create_id", ENOMEM},
        Case{"rdma_resolve_addr", "rdma_resolve_addr", ENODEV},
        Case{"rdma_resolve_route", "rdma_resolve_route", ENODEV},
        Case{"rdma_create_qp_ex", "rdma_create_qp", ENOMEM},
        Case{"rdma_connect", "rdma_connect", EINVAL}, Case{"ibv_reg_mr", "register", ENOMEM}}) {
    fake_verbs::reset();
    VerbsPair pair;
    fake_verbs::fail(failing.call, failing.error);
    Driver driver = pair.driver(0, 1);
    driver.put(pattern(8), pair.at(1));
    ASSERT_NE(driver.done.failure, nullptr) << failing.call;
    EXPECT_THAT(driver.done.failure->what(),
                AllOf(HasSubstr(failing.named), HasSubstr("errno"), HasSubstr("rank 0 -> 1")));
    EXPECT_EQ(driver.done.remote_pending, 0U);
    EXPECT_EQ(pair.health[0].deaths(), 0U) << failing.call;
  }
}

TEST_F(ConnectionTest, AResponderWithoutQueuePairsSaysSo) {
  VerbsPair pair;
  fake_verbs::fail("rdma_create_qp", ENOMEM);
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  ASSERT_NE(driver.done.failure, nullptr);
  EXPECT_THAT(driver.done.failure->what(), HasSubstr("could not make a queue pair"));
}

TEST_F(ConnectionTest, AMissingAckTimeoutIsNoReasonToGiveUp) {
  VerbsPair pair;
  fake_verbs::fail("rdma_set_option", ENOSYS);
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  driver.flush();
  EXPECT_EQ(driver.done.failure, nullptr);
}

TEST_F(ConnectionTest, AProbeConnectsWithoutBlocking) {
  VerbsPair pair;
  fake_verbs::fail("event:lost", ETIMEDOUT, 0, fake_verbs::kForever);
  transport::Endpoint& way = pair.way(0, 1);
  way.probe();
  EXPECT_EQ(way.failure(), nullptr) << "it returned long before anything was known";
  while (way.failure() == nullptr) way.probe();
  EXPECT_TRUE(pair.health[0].find(1).has_value());
}

TEST_F(ConnectionTest, APeerKnownToBeDeadIsNotWaitedFor) {
  VerbsPair pair;
  pair.health[0].report_dead(1, "killed by a test");
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  ASSERT_NE(driver.done.failure, nullptr);
  EXPECT_EQ(driver.done.failure->code(), ErrorCode::peer_lost);
  EXPECT_THAT(driver.done.failure->what(), HasSubstr("killed by a test"));
  EXPECT_TRUE(fake_verbs::connections().empty());
}

TEST_F(ConnectionTest, PeersOfDifferentFamiliesAreToldApart) {
  VerbsPair pair;
  PeerAddress v6 = PeerAddress::from_bytes(pair.ranks[1]->address());
  v6.family = AF_INET6;
  transport::Peer peer;
  peer.host = "node1";
  peer.address = v6.to_bytes();
  pair.ranks[0]->meet(std::vector{peer, peer});
  Driver driver = pair.driver(0, 1);
  driver.put(pattern(8), pair.at(1));
  ASSERT_NE(driver.done.failure, nullptr);
  EXPECT_THAT(driver.done.failure->what(), HasSubstr("different families"));
}

TEST_F(ConnectionTest, APeerWithoutAnRdmaAddressIsAnErrorAtOnce) {
  VerbsPair pair;
  pair.ranks[0]->meet(std::vector<transport::Peer>(2));
  EXPECT_THROW(static_cast<void>(pair.ranks[0]->endpoint(1)), Error);
}

}  // namespace
}  // namespace oriel::verbs
