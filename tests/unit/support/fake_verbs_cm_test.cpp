// The contract of the fake's connection manager.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <thread>

#include "fake_verbs/fake_verbs.hpp"
#include "fake_verbs_cm_peer.hpp"
#include "fake_verbs_pair.hpp"

namespace oriel::fake_verbs {
namespace {

using Peer = CmPeer;
using Event = CmEventSeen;

class FakeCm : public testing::Test {
 protected:
  void SetUp() override { reset(); }
  void TearDown() override {
    EXPECT_TRUE(live_objects().empty()) << "left: " << live_objects().begin()->first;
  }

  /// Accepts one connection in the calling thread.
  static void serve(Peer& server, std::string_view reply, std::uint8_t depth = 16) {
    const Event request = server.next();
    ASSERT_EQ(request.type, RDMA_CM_EVENT_CONNECT_REQUEST);
    server.make_qp(request.id);
    rdma_conn_param param{};
    param.private_data = reply.data();
    param.private_data_len = static_cast<std::uint8_t>(reply.size());
    param.responder_resources = depth;
    param.initiator_depth = depth;
    ASSERT_EQ(rdma_accept(request.id, &param), 0);
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
  }

  static void establish(Peer& client, Peer& server, std::uint8_t depth = 16) {
    const std::uint16_t port = server.listen();
    std::jthread serving([&] { serve(server, "welcome", depth); });
    client.resolve(port);
    ASSERT_EQ(client.connect("hello"), 0);
    client.expect(RDMA_CM_EVENT_ESTABLISHED);
  }
};

TEST_F(FakeCm, TwoThreadsConnectTalkAndDisconnect) {
  Peer client, server;
  const std::uint16_t port = server.listen();
  std::uint8_t timeout = 14;
  ASSERT_EQ(rdma_set_option(client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1), 0);
  {
    std::jthread serving([&] { serve(server, "welcome", 8); });
    client.resolve(port);
    ASSERT_EQ(client.connect("hello"), 0);
    const Event answer = client.next();
    EXPECT_EQ(answer.type, RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_EQ(answer.data.substr(0, 8), std::string_view("welcome\0", 8));
    EXPECT_EQ(answer.data.size(), 196U) << "padded like the real message";
    EXPECT_EQ(answer.conn.initiator_depth, 8);
  }
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(ibv_query_qp(client.id->qp, &attr, 0, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.timeout, 14);
  EXPECT_EQ(attr.retry_cnt, 6);
  EXPECT_EQ(attr.max_rd_atomic, 8);
  EXPECT_EQ(attr.dest_qp_num, server.connection->qp->qp_num);

  std::uint64_t word = 0, value = 77;
  ibv_mr* mr = ibv_reg_mr(server.pd, &word, 8, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  ibv_qp_ex* ex = ibv_qp_to_qp_ex(client.id->qp);
  ibv_wr_start(ex);
  ex->wr_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(ex, mr->rkey, reinterpret_cast<std::uint64_t>(&word));
  ibv_wr_set_inline_data(ex, &value, sizeof value);
  ASSERT_EQ(ibv_wr_complete(ex), 0);
  EXPECT_EQ(word, 77U);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);

  ASSERT_EQ(rdma_disconnect(client.id), 0);
  client.expect(RDMA_CM_EVENT_DISCONNECTED);
  server.expect(RDMA_CM_EVENT_DISCONNECTED);
  ASSERT_EQ(ibv_query_qp(client.id->qp, &attr, 0, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_ERR);

  const auto made = connections();
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].outcome, Connection::Outcome::accepted);
  EXPECT_EQ(made[0].connect_data.size(), 5U);
  EXPECT_EQ(made[0].connect.retry_count, 6);
  EXPECT_EQ(made[0].accept.responder_resources, 8);
  EXPECT_EQ(made[0].ack_timeout, 14);
  EXPECT_EQ(made[0].listen_port, port);
}

TEST_F(FakeCm, TheListenerSeesThePaddedRequest) {
  Peer client, server;
  client.resolve(server.listen());
  EXPECT_EQ(client.connect(std::string(57, 'x')), -1);
  EXPECT_EQ(errno, EINVAL);
  ASSERT_EQ(client.connect(std::string(56, 'x'), 3), 0);
  const Event request = server.next();
  EXPECT_EQ(request.data, std::string(56, 'x'));
  EXPECT_EQ(request.conn.responder_resources, 3);
  EXPECT_EQ(request.id->context, &server) << "inherited from the listener";
  EXPECT_EQ(rdma_reject(request.id, "no", 2), 0);
  EXPECT_EQ(rdma_destroy_id(request.id), 0);
  const Event answer = client.next();
  EXPECT_EQ(answer.type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(answer.status, 28);
  EXPECT_EQ(answer.data.substr(0, 3), std::string_view("no\0", 3));
}

TEST_F(FakeCm, NobodyThere) {
  Peer client, server;
  const std::uint16_t port = server.listen();
  EXPECT_TRUE(kill_listener(port));
  EXPECT_FALSE(kill_listener(1));
  client.resolve(port);
  ASSERT_EQ(client.connect("hello"), 0);
  const Event answer = client.next();
  EXPECT_EQ(answer.type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(answer.status, 8);
  EXPECT_TRUE(connections().empty());
}

TEST_F(FakeCm, Addresses) {
  Peer unknown, loopback, any;
  sockaddr_in address = ip4("10.77.0.9", 7);
  EXPECT_EQ(rdma_bind_addr(unknown.id, generic(address)), -1);
  EXPECT_EQ(errno, EADDRNOTAVAIL);
  ASSERT_EQ(rdma_resolve_addr(unknown.id, nullptr, generic(address), 100), 0);
  const Event answer = unknown.next();
  EXPECT_EQ(answer.type, RDMA_CM_EVENT_ADDR_ERROR);
  EXPECT_EQ(answer.status, -ETIMEDOUT);
  address = ip4("127.0.0.1", 7);
  ASSERT_EQ(rdma_resolve_addr(loopback.id, nullptr, generic(address), 100), 0);
  loopback.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(rdma_resolve_route(loopback.id, 100), -1);
  EXPECT_EQ(errno, ENODEV);
  const std::uint16_t port = any.listen("0.0.0.0");
  EXPECT_NE(port, 0);
  EXPECT_EQ(any.id->verbs, nullptr) << "a wildcard is on no device";
  Peer again;
  address = ip4("10.77.0.1", port);
  EXPECT_EQ(rdma_bind_addr(again.id, generic(address)), -1);
  EXPECT_EQ(errno, EADDRINUSE);
}

TEST_F(FakeCm, DepthZeroMeansNoReads) {
  Peer client, server;
  establish(client, server, 0);
  std::uint64_t word = 0;
  ibv_mr* mr = ibv_reg_mr(client.pd, &word, 8, kLocalAccess);
  ibv_sge sge{reinterpret_cast<std::uint64_t>(&word), 8, mr->lkey};
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_RDMA_READ;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(client.id->qp, &wr, &bad), EINVAL);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(FakeCm, DestroyingAnIdDisconnectsThePeer) {
  Peer server;
  {
    Peer client;
    establish(client, server);
  }
  server.expect(RDMA_CM_EVENT_DISCONNECTED);
}

TEST_F(FakeCm, TimewaitExitOnlyWhereAskedFor) {
  reset({.timewait_exit = true});
  Peer client, server;
  establish(client, server);
  ASSERT_EQ(rdma_disconnect(server.connection), 0);
  client.expect(RDMA_CM_EVENT_DISCONNECTED);
  client.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
  EXPECT_TRUE(client.quiet());
}

TEST_F(FakeCm, AListenerTakesUnseenRequestsWithIt) {
  Peer client;
  {
    Peer server;
    client.resolve(server.listen());
    ASSERT_EQ(client.connect("hello"), 0);
  }
  EXPECT_EQ(client.next().type, RDMA_CM_EVENT_REJECTED);
}

TEST_F(FakeCm, MigratingTakesPendingEventsAlong) {
  Peer client, server;
  const std::uint16_t port = server.listen();
  client.resolve(port);
  ASSERT_EQ(client.connect("hello"), 0);
  const Event request = server.next();
  ASSERT_EQ(rdma_reject(request.id, nullptr, 0), 0);
  rdma_event_channel* other = rdma_create_event_channel();
  ASSERT_EQ(rdma_migrate_id(client.id, other), 0);
  EXPECT_TRUE(client.quiet());
  rdma_cm_event* event = nullptr;
  ASSERT_EQ(rdma_get_cm_event(other, &event), 0);
  EXPECT_EQ(event->event, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  ASSERT_EQ(rdma_migrate_id(client.id, client.channel), 0);
  rdma_destroy_event_channel(other);
  EXPECT_EQ(rdma_destroy_id(request.id), 0);
}

TEST_F(FakeCm, ANonBlockingChannelSaysTryAgain) {
  Peer peer;
  ASSERT_EQ(fcntl(peer.channel->fd, F_SETFL, O_NONBLOCK), 0);
  rdma_cm_event* event = nullptr;
  EXPECT_EQ(rdma_get_cm_event(peer.channel, &event), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(FakeCm, InjectedOutcomes) {
  Peer client, server;
  client.resolve(server.listen());
  fail("event:unreachable", -ETIMEDOUT);
  ASSERT_EQ(client.connect("hello"), 0);
  const Event answer = client.next();
  EXPECT_EQ(answer.type, RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_EQ(answer.status, -ETIMEDOUT);
  fail("rdma_connect", ENOMEM);
  EXPECT_EQ(client.connect("hello"), -1);
  EXPECT_EQ(errno, ENOMEM);
  fail("event:lost", 1);
  ASSERT_EQ(client.connect("hello"), 0);
  EXPECT_TRUE(client.quiet());
  EXPECT_TRUE(server.quiet());
}

TEST_F(FakeCm, AQueuePairNeedsTheCmsOwnContext) {
  Peer client, server;
  sockaddr_in address = ip4("10.77.0.1", server.listen());
  ASSERT_EQ(rdma_resolve_addr(client.id, nullptr, generic(address), 1000), 0);
  client.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  Side foreign;
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = init.recv_cq = foreign.cq;
  init.cap = {4, 1, 1, 1, 0};
  EXPECT_EQ(rdma_create_qp(client.id, foreign.pd, &init), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(FakeCm, GetAddrInfoReadsNumbers) {
  rdma_addrinfo* info = nullptr;
  ASSERT_EQ(rdma_getaddrinfo("10.77.0.1", "4711", nullptr, &info), 0);
  EXPECT_EQ(reinterpret_cast<sockaddr_in*>(info->ai_dst_addr)->sin_port, htons(4711));
  rdma_freeaddrinfo(info);
  EXPECT_EQ(rdma_getaddrinfo("nowhere", "1", nullptr, &info), -1);
}

}  // namespace
}  // namespace oriel::fake_verbs
