// The agent beneath the contract of endpoints: its slots, and what becomes of requests when nobody
// carries them out.

#include "transport/shm/agent.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "sync/flush.hpp"
#include "transport/peer_health.hpp"
#include "transport/shm/shm_transport.hpp"

namespace oriel::shm {
namespace {

/// Requests laid into slots by hand, each to replace the word by its operand.
class AgentSlots : public testing::Test {
 protected:
  void lay(std::size_t index, int requester, std::uint32_t sequence, std::uint64_t value) {
    AgentSlot& slot = block_->slots[index];
    slot.operation = AgentOperation::get_accumulate;
    slot.requester = requester;
    slot.sequence = sequence;
    slot.bytes = sizeof word_;
    slot.address = reinterpret_cast<std::uint64_t>(&word_);
    slot.type = element_type<std::uint64_t>();
    slot.op = OpCode::replace;
    std::memcpy(block_->staging[index].data(), &value, sizeof value);
    slot.pass_on(AgentSlot::ready);
  }
  std::uint64_t old_value(std::size_t index) {
    while (block_->slots[index].look() == AgentSlot::ready) {
      ::sched_yield();
    }
    EXPECT_EQ(block_->slots[index].look(), AgentSlot::done);
    std::uint64_t value = 0;
    std::memcpy(&value, block_->staging[index].data(), sizeof value);
    return value;
  }

  std::uint64_t word_ = 0;
  std::unique_ptr<ControlBlock> block_ = std::make_unique<ControlBlock>();
};

TEST_F(AgentSlots, RequestsOfOneAreCarriedOutInTheOrderOfTheirNumbers) {
  std::atomic<bool> is_held{false};
  std::atomic<bool> may_go{false};
  Agent agent(*block_, [&](int requester) {
    if (requester != 0) return;
    is_held = true;
    while (!may_go) ::sched_yield();
  });
  agent.allow(std::as_writable_bytes(std::span(&word_, 1)));
  lay(0, 0, 0, 1);
  block_->agent_doorbell.ring();
  while (!is_held) ::sched_yield();
  lay(7, 1, 1, 13);
  lay(2, 1, 0, 12);  // numbers wrap around
  lay(9, 1, 0xFFFFFFFF, 11);
  lay(5, 1, 0xFFFFFFFE, 10);
  may_go = true;
  EXPECT_EQ(old_value(5), 1U);
  EXPECT_EQ(old_value(9), 10U);
  EXPECT_EQ(old_value(2), 11U);
  EXPECT_EQ(old_value(7), 12U);
}

// A process that is gone: requests lie in its slots for good.
class NoAgent : public testing::Test {
 protected:
  NoAgent() {
    std::vector<transport::Peer> peers;
    for (int rank = 0; rank < 2; ++rank) {
      peers.push_back({.rank = rank,
                       .host = "here",
                       .pid = ::getpid(),
                       .same_machine = true,
                       .address = (rank == 0 ? origin_ : target_).address()});
    }
    origin_.meet(peers);
    target_.meet(peers);
  }
  /// Whether the request was taken.
  bool ask() {
    const std::uint32_t one = 1;
    return endpoint().accumulate(
               {element_type<std::uint32_t>(), OpCode::sum,
                reinterpret_cast<const std::byte*>(&one), nullptr, 1},
               {reinterpret_cast<std::uint64_t>(&word_), ShmEndpoint::kPeerAddress}, done_) == 1;
  }
  [[nodiscard]] transport::Endpoint& endpoint() { return origin_.endpoint(1); }

  transport::PeerHealth health_;
  ShmTransport origin_{0, health_};
  ShmTransport target_{1, health_};
  std::uint32_t word_ = 0;
  transport::Completion done_;
};

TEST_F(NoAgent, RequestsOfADeadPeerFailAndNewOnesDoAtOnce) {
  std::uint32_t taken = 0;
  while (ask()) ++taken;
  EXPECT_EQ(taken, kAgentSlots);
  EXPECT_EQ(origin_.progress(), 0U);
  health_.report_dead(1, "killed by signal 9");
  for (int again = 0; again < 200; ++again) EXPECT_TRUE(ask());
  transport::Progress progress({&origin_}, nullptr, false);
  try {
    sync::flush(progress, endpoint(), done_);
    ADD_FAILURE() << "was done by nobody";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::peer_lost);
    EXPECT_EQ(error.details().target, 1);
  }
  EXPECT_EQ(done_.local_pending, 0U);
  EXPECT_EQ(done_.remote_pending, 0U);
  EXPECT_EQ(origin_.outstanding(), 0U);
  EXPECT_EQ(word_, 0U);
}

}  // namespace
}  // namespace oriel::shm
