// The contract of the fake's data path and resources: what tests of the transport rely on.
#include "fake_verbs/fake_verbs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "fake_verbs_pair.hpp"

namespace oriel::fake_verbs {
namespace {

class FakeVerbs : public testing::Test {
 protected:
  void SetUp() override { reset(); }
  void TearDown() override {
    EXPECT_TRUE(live_objects().empty()) << "left: " << live_objects().begin()->first;
  }
};

TEST_F(FakeVerbs, PostSendWritesReadsAndSignals) {
  Pair pair;
  pair.origin.words[3] = 33;
  pair.target.words[5] = 55;
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 7, 3, 4, 8), 0);
  EXPECT_EQ(pair.target.words[4], 33U);
  ibv_wc wc = pair.origin.poll();
  EXPECT_EQ(wc.wr_id, 7U);
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(wc.qp_num, pair.origin.qp->qp_num);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_READ, 8, 6, 4, 16), 0);
  EXPECT_EQ(pair.origin.poll().opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(pair.origin.words[6], 33U);
  EXPECT_EQ(pair.origin.words[7], 55U);
  EXPECT_EQ(pair.origin.poll().wr_id, Side::kNone);
  EXPECT_EQ(pair.target.poll().wr_id, Side::kNone);
}

TEST_F(FakeVerbs, UnalignedBytesMoveExactly) {
  Pair pair;
  auto* from = reinterpret_cast<unsigned char*>(pair.origin.words.data());
  auto* to = reinterpret_cast<unsigned char*>(pair.target.words.data());
  for (unsigned i = 0; i < 40; ++i) from[i] = static_cast<unsigned char>(i + 1);
  ibv_wr_start(pair.origin.ex);
  pair.origin.ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(pair.origin.ex, pair.target.mr->rkey, pair.target.address(0) + 3);
  const ibv_sge parts[] = {{pair.origin.address(0) + 1, 5, pair.origin.mr->lkey},
                           {pair.origin.address(0) + 9, 13, pair.origin.mr->lkey}};
  ibv_wr_set_sge_list(pair.origin.ex, 2, parts);
  ASSERT_EQ(ibv_wr_complete(pair.origin.ex), 0);
  EXPECT_EQ(pair.origin.poll().status, IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(to + 3, from + 1, 5), 0);
  EXPECT_EQ(std::memcmp(to + 8, from + 9, 13), 0);
  EXPECT_EQ(to[2], 0);
  EXPECT_EQ(to[21], 0);
}

TEST_F(FakeVerbs, AtomicsReturnTheOldValue) {
  Pair pair;
  pair.target.words[2] = 40;
  const auto address = pair.target.address(2);
  ASSERT_EQ(pair.post_atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, address, 2, 0), 0);
  EXPECT_EQ(pair.origin.words[0], 40U);
  ASSERT_EQ(pair.post_atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 2, address, 41, 9), 0);
  EXPECT_EQ(pair.origin.words[0], 42U);
  EXPECT_EQ(pair.target.words[2], 42U);
  ASSERT_EQ(pair.post_atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 3, address, 42, 9), 0);
  EXPECT_EQ(pair.target.words[2], 9U);
  EXPECT_EQ(pair.origin.poll().opcode, IBV_WC_FETCH_ADD);
  EXPECT_EQ(pair.origin.poll().opcode, IBV_WC_COMP_SWAP);
  EXPECT_EQ(pair.post_atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 4, address + 4, 1, 0), EINVAL);
}

TEST_F(FakeVerbs, WrBatchIsOneDoorbell) {
  Pair pair;
  ibv_qp_ex* ex = pair.origin.ex;
  std::uint64_t value = 11;
  ibv_wr_start(ex);
  ex->wr_id = 1;
  ex->wr_flags = IBV_SEND_INLINE;
  ibv_wr_rdma_write(ex, pair.target.mr->rkey, pair.target.address(0));
  ibv_wr_set_inline_data(ex, &value, sizeof value);
  ex->wr_id = 2;
  ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_atomic_fetch_add(ex, pair.target.mr->rkey, pair.target.address(0), 4);
  ibv_wr_set_sge(ex, pair.origin.mr->lkey, pair.origin.address(1), 8);
  value = 99;  // inline data was taken by the call
  EXPECT_EQ(pair.target.words[0], 0U) << "nothing is posted before ibv_wr_complete";
  ASSERT_EQ(ibv_wr_complete(ex), 0);
  EXPECT_EQ(pair.target.words[0], 15U);
  EXPECT_EQ(pair.origin.words[1], 11U);
  EXPECT_EQ(pair.origin.poll().wr_id, 2U) << "the unsignalled request gives no completion";
  const Statistics seen = statistics();
  EXPECT_EQ(seen.doorbells, 1U);
  EXPECT_EQ(seen.posted(), 2U);
  EXPECT_EQ(seen.posted(IBV_WR_RDMA_WRITE), 1U);
  EXPECT_EQ(seen.inline_bytes, 8U);
  EXPECT_EQ(seen.signalled, 1U);
  EXPECT_EQ(seen.completions, 1U);
}

TEST_F(FakeVerbs, WrErrorsPostNothing) {
  Pair pair;
  ibv_qp_ex* ex = pair.origin.ex;
  std::array<std::byte, 65> big{};
  ibv_wr_start(ex);
  ex->wr_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(ex, pair.target.mr->rkey, pair.target.address(0));
  ibv_wr_set_inline_data(ex, big.data(), 8);
  ibv_wr_rdma_write(ex, pair.target.mr->rkey, pair.target.address(0));
  ibv_wr_set_inline_data(ex, big.data(), pair.origin.cap.max_inline_data + 1);
  EXPECT_EQ(ibv_wr_complete(ex), EINVAL);
  ibv_wr_start(ex);
  ibv_wr_rdma_write(ex, pair.target.mr->rkey, pair.target.address(0));
  ibv_wr_abort(ex);
  EXPECT_EQ(statistics().posted(), 0U);
  EXPECT_EQ(pair.post(IBV_WR_RDMA_WRITE, 1, 0, 0, 8), 0) << "the queue pair is still good";
}

TEST_F(FakeVerbs, InlineWithoutTheFlagIsAProtectionError) {
  Pair pair;
  std::uint64_t value = 1;
  ibv_wr_start(pair.origin.ex);
  pair.origin.ex->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(pair.origin.ex, pair.target.mr->rkey, pair.target.address(0));
  ibv_wr_set_inline_data(pair.origin.ex, &value, sizeof value);
  ASSERT_EQ(ibv_wr_complete(pair.origin.ex), 0);
  EXPECT_EQ(pair.origin.poll().status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(FakeVerbs, SlotsComeBackOnlyWithAPolledCompletion) {
  Pair pair({.depth = 4});
  for (int i = 0; i < 3; ++i) ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 0, 0, 0, 8, 0), 0);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 3, 0, 0, 8), 0);
  EXPECT_EQ(pair.post(IBV_WR_RDMA_WRITE, 4, 0, 0, 8), ENOMEM);
  EXPECT_EQ(pair.origin.poll().wr_id, 3U);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 0, 0, 0, 8, 0), 0);
  EXPECT_EQ(pair.post(IBV_WR_RDMA_WRITE, 4, 0, 0, 8), ENOMEM) << "nobody signalled: stuck";
}

TEST_F(FakeVerbs, AChainPostsUpToTheBadRequest) {
  Pair pair({.depth = 2});
  ibv_sge sge = pair.origin.sge(0, 8);
  std::array<ibv_send_wr, 3> chain{};
  for (std::size_t i = 0; i < chain.size(); ++i) {
    chain[i].wr_id = i;
    chain[i].next = i + 1 < chain.size() ? &chain[i + 1] : nullptr;
    chain[i].opcode = IBV_WR_RDMA_WRITE;
    chain[i].send_flags = IBV_SEND_SIGNALED;
    chain[i].sg_list = &sge;
    chain[i].num_sge = 1;
    chain[i].wr.rdma.remote_addr = pair.target.address(i);
    chain[i].wr.rdma.rkey = pair.target.mr->rkey;
  }
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(pair.origin.qp, chain.data(), &bad), ENOMEM);
  EXPECT_EQ(bad, &chain[2]);
  EXPECT_EQ(pair.origin.poll().wr_id, 0U);
  EXPECT_EQ(pair.origin.poll().wr_id, 1U);
  EXPECT_EQ(statistics().doorbells, 1U);
}

TEST_F(FakeVerbs, RemoteErrorFlushesWhatFollows) {
  Pair pair({}, {.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ});
  set_delivery(Delivery::manual);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_READ, 1, 0, 0, 8, 0), 0);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 2, 0, 0, 8, 0), 0);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_READ, 3, 0, 0, 8, 0), 0);
  EXPECT_EQ(pair.origin.poll().wr_id, Side::kNone) << "posted, not complete";
  EXPECT_EQ(deliver(), 3U);
  ibv_wc wc = pair.origin.poll();
  EXPECT_EQ(wc.wr_id, 2U);
  EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(wc.vendor_err, Device{}.vendor_error);
  EXPECT_EQ(wc.qp_num, pair.origin.qp->qp_num);
  wc = pair.origin.poll();
  EXPECT_EQ(wc.wr_id, 3U) << "flushed though unsignalled";
  EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(pair.origin.state(), IBV_QPS_ERR);
  EXPECT_EQ(pair.target.state(), IBV_QPS_ERR);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 4, 0, 0, 8, 0), 0) << "posting still works";
  EXPECT_EQ(pair.origin.poll().status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(FakeVerbs, BoundsKeysAndLifetimeAreChecked) {
  const auto status_of = [](auto change) {
    Pair pair;
    change(pair);
    return pair.origin.poll().status;
  };
  EXPECT_EQ(status_of([](Pair& p) { p.post(IBV_WR_RDMA_WRITE, 1, 0, 15, 16); }),
            IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(status_of([](Pair& p) { p.post(IBV_WR_RDMA_WRITE, 1, 15, 0, 16); }),
            IBV_WC_LOC_QP_OP_ERR);
  EXPECT_EQ(status_of([](Pair& p) {
              p.stale_rkey = p.target.mr->rkey;
              ibv_dereg_mr(p.target.mr);
              p.target.mr = nullptr;
              p.post(IBV_WR_RDMA_WRITE, 1, 0, 0, 8);
            }),
            IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(status_of([](Pair& p) { p.post(IBV_WR_RDMA_WRITE, 1, 0, 0, 0); }), IBV_WC_SUCCESS);
}

TEST_F(FakeVerbs, NoReadsWithoutResources) {
  Pair origin_without({.reads = 0});
  EXPECT_EQ(origin_without.post(IBV_WR_RDMA_READ, 1, 0, 0, 8), EINVAL);
  Pair target_without({}, {.reads = 0});
  ASSERT_EQ(target_without.post(IBV_WR_RDMA_READ, 1, 0, 0, 8), 0);
  EXPECT_EQ(target_without.origin.poll().status, IBV_WC_REM_INV_REQ_ERR);
}

TEST_F(FakeVerbs, WriteWithImmediateTakesAReceive) {
  Pair pair;
  ibv_recv_wr receive{};
  receive.wr_id = 70;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(pair.target.qp, &receive, &bad), 0);
  pair.origin.words[0] = 5;
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE_WITH_IMM, 1, 0, 1, 8), 0);
  const ibv_wc wc = pair.target.poll();
  EXPECT_EQ(wc.wr_id, 70U);
  EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wc.byte_len, 8U);
  EXPECT_EQ(pair.target.words[1], 5U);
  EXPECT_EQ(pair.origin.poll().status, IBV_WC_SUCCESS);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE_WITH_IMM, 2, 0, 1, 8), 0);
  EXPECT_EQ(pair.origin.poll().status, IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(pair.target.state(), IBV_QPS_RTS);
}

TEST_F(FakeVerbs, SendFillsThePostedReceive) {
  Pair pair;
  ibv_sge sge = pair.target.sge(8, 24);
  ibv_recv_wr receive{.wr_id = 71, .next = nullptr, .sg_list = &sge, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(pair.target.qp, &receive, &bad), 0);
  pair.origin.words[1] = 17;
  ASSERT_EQ(pair.post(IBV_WR_SEND, 1, 0, 0, 16), 0);
  EXPECT_EQ(pair.target.poll().byte_len, 16U);
  EXPECT_EQ(pair.target.words[9], 17U);
}

TEST_F(FakeVerbs, DeliveryOnPollAndByHand) {
  Pair pair;
  pair.origin.words[0] = 1;
  set_delivery(Delivery::on_poll);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 1, 0, 1, 8), 0);
  EXPECT_EQ(pair.target.words[1], 0U);
  EXPECT_EQ(pair.origin.poll().wr_id, 1U);
  EXPECT_EQ(pair.target.words[1], 1U);
  set_delivery(Delivery::manual);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 2, 0, 2, 8), 0);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 3, 0, 3, 8), 0);
  EXPECT_EQ(deliver(1), 1U);
  EXPECT_EQ(pair.target.words[2], 1U);
  EXPECT_EQ(pair.target.words[3], 0U);
  EXPECT_EQ(deliver(), 1U);
  EXPECT_EQ(deliver(), 0U);
}

TEST_F(FakeVerbs, OverrunLosesCompletionsAndSaysSo) {
  Pair pair({.completions = 2});
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, i, 0, 0, 8), 0);
  EXPECT_EQ(pair.origin.poll().wr_id, 0U);
  EXPECT_EQ(pair.origin.poll().wr_id, 1U);
  EXPECT_EQ(pair.origin.poll().wr_id, Side::kNone);
  EXPECT_EQ(pair.origin.state(), IBV_QPS_RTS);
  EXPECT_EQ(statistics().cq_overruns, 3U);
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(pair.origin.context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(event.element.cq, pair.origin.cq);
  ibv_ack_async_event(&event);
}

TEST_F(FakeVerbs, BrokenConnectionExhaustsRetries) {
  Pair pair;
  break_connection(pair.origin.qp->qp_num);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 1, 0, 0, 8, 0), 0);
  EXPECT_EQ(pair.origin.poll().status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(pair.target.state(), IBV_QPS_RTS) << "the other end notices nothing";
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RESET;
  ASSERT_EQ(ibv_modify_qp(pair.origin.qp, &attr, IBV_QP_STATE), 0);
  pair.origin.connect_to(pair.target.qp->qp_num);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 2, 0, 0, 8), 0);
  EXPECT_EQ(pair.origin.poll().status, IBV_WC_SUCCESS) << "a rebuilt connection works";
}

TEST_F(FakeVerbs, PortDownRaisesAnEventAndBreaksRequests) {
  Pair pair;
  set_port_state("fake0", 1, IBV_PORT_DOWN);
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(pair.origin.context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ERR);
  EXPECT_EQ(event.element.port_num, 1);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 1, 0, 0, 8), 0);
  EXPECT_EQ(pair.origin.poll().status, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(FakeVerbs, InjectedFailures) {
  Pair pair;
  fail("ibv_post_send", EAGAIN, 1);
  EXPECT_EQ(pair.post(IBV_WR_RDMA_WRITE, 1, 0, 0, 8), 0);
  EXPECT_EQ(pair.post(IBV_WR_RDMA_WRITE, 2, 0, 0, 8), EAGAIN);
  EXPECT_EQ(pair.post(IBV_WR_RDMA_WRITE, 3, 0, 0, 8), 0);
  fail("ibv_reg_mr", ENOMEM);
  EXPECT_EQ(ibv_reg_mr(pair.origin.pd, pair.origin.words.data(), 8, kLocalAccess), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  fail("ibv_wr_complete", EIO);
  ibv_wr_start(pair.origin.ex);
  EXPECT_EQ(ibv_wr_complete(pair.origin.ex), EIO);
  fail("ibv_poll_cq", EIO);
  ibv_wc wc{};
  EXPECT_LT(ibv_poll_cq(pair.origin.cq, 1, &wc), 0);
  EXPECT_THROW(fail("ibv_reg_mrs", ENOMEM), std::invalid_argument);
  EXPECT_THROW(fail("ibv_reg_mr", 0), std::invalid_argument);
  EXPECT_EQ(pair.origin.poll().wr_id, 1U);
  EXPECT_EQ(pair.origin.poll().wr_id, 3U);
  fail_completion(IBV_WC_GENERAL_ERR);
  ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 4, 0, 0, 8), 0);
  EXPECT_EQ(pair.origin.poll().status, IBV_WC_GENERAL_ERR);
}

}  // namespace
}  // namespace oriel::fake_verbs
