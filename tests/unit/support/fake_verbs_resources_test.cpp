// The contract of the fake's devices, memory, completion channels and threads.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fake_verbs/fake_verbs.hpp"
#include "fake_verbs_pair.hpp"

namespace oriel::fake_verbs {
namespace {

class FakeVerbsResources : public testing::Test {
 protected:
  void SetUp() override { reset(); }
  void TearDown() override {
    EXPECT_TRUE(live_objects().empty()) << "left: " << live_objects().begin()->first;
  }
};

bool readable(int fd) {
  pollfd waited{fd, POLLIN, 0};
  return poll(&waited, 1, 0) == 1;
}

TEST_F(FakeVerbsResources, TheFabricDescribesTheDevices) {
  Device second;
  second.name = "fake1";
  second.max_qp_rd_atom = 16;
  second.ports[0].active_mtu = IBV_MTU_1024;
  second.ports[0].gids = {{"fe80::2"}, {"::ffff:10.77.0.2", IBV_GID_TYPE_ROCE_V1}};
  reset({.devices = {Device{}, second}});
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ASSERT_EQ(count, 2);
  EXPECT_STREQ(ibv_get_device_name(list[1]), "fake1");
  EXPECT_EQ(list[2], nullptr);
  ibv_context* context = ibv_open_device(list[1]);
  ibv_free_device_list(list);

  ibv_device_attr attr{};
  ASSERT_EQ(ibv_query_device(context, &attr), 0);
  EXPECT_EQ(attr.max_qp_rd_atom, 16);
  EXPECT_EQ(attr.phys_port_cnt, 1);
  ibv_device_attr_ex extended{};
  ASSERT_EQ(ibv_query_device_ex(context, nullptr, &extended), 0);
  EXPECT_EQ(extended.orig_attr.atomic_cap, IBV_ATOMIC_HCA);
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(context, 1, &port), 0);
  EXPECT_EQ(port.active_mtu, IBV_MTU_1024);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(port.max_msg_sz, 8U << 20U);
  EXPECT_EQ(ibv_query_port(context, 2, &port), EINVAL);
  ibv_gid_entry entry{};
  ASSERT_EQ(ibv_query_gid_ex(context, 1, 1, &entry, 0), 0);
  EXPECT_EQ(entry.gid_type, static_cast<std::uint32_t>(IBV_GID_TYPE_ROCE_V1));
  EXPECT_EQ(entry.gid.raw[15], 2);
  EXPECT_EQ(ibv_query_gid_ex(context, 1, 2, &entry, 0), ENODATA);
  std::array<ibv_gid_entry, 4> table{};
  EXPECT_EQ(ibv_query_gid_table(context, table.data(), table.size(), 0), 2);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST_F(FakeVerbsResources, NoDeviceIsAnEmptyList) {
  reset({.devices = {}});
  int count = -1;
  ibv_device** list = ibv_get_device_list(&count);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(count, 0);
  ibv_free_device_list(list);
}

TEST_F(FakeVerbsResources, LeftoversAreNamed) {
  ibv_context* context = open_first_device();
  ibv_pd* pd = ibv_alloc_pd(context);
  const std::map<std::string, std::size_t> expected{{"ibv_context", 1}, {"ibv_pd", 1}};
  EXPECT_EQ(live_objects(), expected);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST_F(FakeVerbsResources, RegistrationIsCheckedAsByTheKernel) {
  reset({.lockable_bytes = 8192});
  ibv_context* context = open_first_device();
  ibv_pd* pd = ibv_alloc_pd(context);
  void* memory = mmap(nullptr, 16384, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto error_of = [&](std::size_t length, unsigned access) {
    errno = 0;
    EXPECT_EQ(ibv_reg_mr(pd, memory, length, access), nullptr);
    return errno;
  };
  EXPECT_EQ(error_of(0, IBV_ACCESS_LOCAL_WRITE), EINVAL);
  EXPECT_EQ(error_of(4096, IBV_ACCESS_REMOTE_WRITE), EINVAL);
  EXPECT_EQ(error_of(4096, IBV_ACCESS_LOCAL_WRITE), EFAULT) << "read-only pages";
  EXPECT_EQ(error_of(16384, 0), ENOMEM) << "locked-memory limit";
  ibv_mr* mr = ibv_reg_mr(pd, memory, 8192, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING);
  ASSERT_NE(mr, nullptr);
  EXPECT_NE(mr->lkey, mr->rkey);
  EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
  EXPECT_EQ(error_of(1, 0), ENOMEM);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  munmap(memory, 16384);
  EXPECT_EQ(error_of(4096, 0), EFAULT) << "unmapped";
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST_F(FakeVerbsResources, QueuePairLimitsAndGrants) {
  Side side({.inline_bytes = 8});
  EXPECT_EQ(side.cap.max_inline_data, 32U) << "room for two sges is room for inline data";
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = init.recv_cq = side.cq;
  init.cap = {16, 1, 1, 1, 513};
  EXPECT_EQ(ibv_create_qp(side.pd, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
  init.cap.max_inline_data = 0;
  ibv_qp* plain = ibv_create_qp(side.pd, &init);
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(ibv_qp_to_qp_ex(plain), nullptr) << "made without send operations";
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_RDMA_WRITE;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(plain, &wr, &bad), EINVAL) << "not connected";
  EXPECT_EQ(bad, &wr);
  EXPECT_EQ(ibv_destroy_cq(side.cq), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(plain), 0);
}

TEST_F(FakeVerbsResources, WithoutSendOpsTheExtendedPairIsRefused) {
  Device device;
  device.send_ops = 0;
  reset({.devices = {device}});
  ibv_context* context = open_first_device();
  ibv_pd* pd = ibv_alloc_pd(context);
  ibv_cq* cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
  ibv_qp_init_attr_ex init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = init.recv_cq = cq;
  init.cap = {4, 1, 1, 1, 0};
  init.pd = pd;
  init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
  EXPECT_EQ(ibv_create_qp_ex(context, &init), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST_F(FakeVerbsResources, CompletionChannelWakesOncePerArming) {
  Pair pair;
  ibv_comp_channel* channel = ibv_create_comp_channel(pair.origin.context);
  ASSERT_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
  int tag = 0;
  ibv_cq* cq = ibv_create_cq(pair.origin.context, 8, &tag, channel, 0);
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = init.recv_cq = cq;
  init.cap = {4, 4, 1, 1, 0};
  ibv_qp* qp = ibv_create_qp(pair.origin.pd, &init);
  ibv_cq* got = nullptr;
  void* user = nullptr;
  EXPECT_EQ(ibv_get_cq_event(channel, &got, &user), -1);
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
  EXPECT_FALSE(readable(channel->fd));
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  ASSERT_EQ(ibv_modify_qp(qp, &attr,
                          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
            0);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad = nullptr;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(ibv_post_recv(qp, &receive, &bad), 0);
  attr.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
  ASSERT_TRUE(readable(channel->fd));
  ASSERT_EQ(ibv_get_cq_event(channel, &got, &user), 0);
  EXPECT_EQ(got, cq);
  EXPECT_EQ(user, &tag);
  EXPECT_FALSE(readable(channel->fd)) << "two completions, one arming, one event";
  ibv_ack_cq_events(cq, 1);
  std::array<ibv_wc, 4> flushed{};
  EXPECT_EQ(ibv_poll_cq(cq, 4, flushed.data()), 2);
  EXPECT_EQ(flushed[1].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

TEST_F(FakeVerbsResources, ExtendedPollingGivesTheSameCompletions) {
  ibv_context* context = open_first_device();
  ibv_cq_init_attr_ex cq_init{};
  cq_init.cqe = 4;
  cq_init.wc_flags = IBV_WC_EX_WITH_QP_NUM;
  ibv_cq_ex* cq = ibv_create_cq_ex(context, &cq_init);
  ASSERT_NE(cq, nullptr);
  ibv_pd* pd = ibv_alloc_pd(context);
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
  init.cap = {4, 4, 1, 1, 0};
  ibv_qp* qp = ibv_create_qp(pd, &init);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
  std::uint64_t word = 0;
  ibv_sge none{reinterpret_cast<std::uint64_t>(&word), 0, 0};
  ibv_send_wr wr{};
  wr.wr_id = 5;
  wr.sg_list = &none;
  wr.num_sge = 1;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(qp, &wr, &bad), 0);
  ibv_poll_cq_attr poll_attr{};
  ASSERT_EQ(ibv_start_poll(cq, &poll_attr), 0);
  EXPECT_EQ(cq->wr_id, 5U);
  EXPECT_EQ(cq->status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(ibv_wc_read_qp_num(cq), qp->qp_num);
  EXPECT_EQ(ibv_next_poll(cq), ENOENT);
  ibv_end_poll(cq);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST_F(FakeVerbsResources, DeviceAtomicsOfManyThreadsAddUp) {
  constexpr std::size_t kThreads = 4;
  constexpr std::uint64_t kAdds = 500;
  Side home;
  std::array<Side, kThreads> origins;
  std::array<ibv_qp*, kThreads> answering{};
  for (std::size_t i = 0; i < kThreads; ++i) {
    ibv_qp_init_attr init{};
    init.qp_type = IBV_QPT_RC;
    init.send_cq = init.recv_cq = home.cq;
    init.cap = {1, 1, 1, 1, 0};
    answering[i] = ibv_create_qp(home.pd, &init);
    connect_qp(answering[i], origins[i].qp->qp_num);
    connect_qp(origins[i].qp, answering[i]->qp_num);
  }
  {
    std::vector<std::jthread> ranks;
    for (Side& origin : origins) {
      ranks.emplace_back([&origin, &home] {
        for (std::uint64_t i = 0; i < kAdds; ++i) {
          ibv_wr_start(origin.ex);
          origin.ex->wr_id = i;
          origin.ex->wr_flags = IBV_SEND_SIGNALED;
          ibv_wr_atomic_fetch_add(origin.ex, home.mr->rkey, home.address(0), 1);
          ibv_wr_set_sge(origin.ex, origin.mr->lkey, origin.address(0), 8);
          ASSERT_EQ(ibv_wr_complete(origin.ex), 0);
          while (origin.poll().wr_id != i) std::this_thread::yield();
        }
      });
    }
  }
  EXPECT_EQ(home.words[0], kThreads * kAdds);
  for (ibv_qp* qp : answering) EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

TEST_F(FakeVerbsResources, APollingThreadSeesDataBeforeTheFlag) {
  Pair pair;
  constexpr std::uint64_t kRounds = 100;
  std::jthread target([&pair] {
    std::atomic_ref flag(pair.target.words[15]);
    std::atomic_ref reply(pair.target.words[14]);
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      while (flag.load(std::memory_order_acquire) != round) std::this_thread::yield();
      EXPECT_EQ(pair.target.words[3], round * 3);
      reply.store(round, std::memory_order_release);
    }
  });
  std::uint64_t answered = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    pair.origin.words[1] = round * 3;
    pair.origin.words[2] = round;
    ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 1, 1, 3, 8, 0), 0);
    ASSERT_EQ(pair.post(IBV_WR_RDMA_WRITE, 2, 2, 15, 8), 0);
    while (pair.origin.poll().wr_id != 2) std::this_thread::yield();
    while (answered != round) {
      ASSERT_EQ(pair.post(IBV_WR_RDMA_READ, 3, 0, 14, 8), 0);
      while (pair.origin.poll().wr_id != 3) std::this_thread::yield();
      answered = pair.origin.words[0];
    }
  }
}

}  // namespace
}  // namespace oriel::fake_verbs
