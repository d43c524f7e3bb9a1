#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "fake_verbs/fake_verbs.hpp"
#include "fake_verbs_pair.hpp"

namespace oriel::fake_verbs {

inline sockaddr_in ip4(const char* text, std::uint16_t port = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, text, &address.sin_addr), 1);
  return address;
}

inline sockaddr* generic(sockaddr_in& address) {
  return reinterpret_cast<sockaddr*>(&address);
}

struct CmEventSeen {
  rdma_cm_event_type type;
  int status;
  rdma_cm_id* id;
  rdma_conn_param conn;
  std::string data;
};

/// One process' worth of CM and verbs objects: an event channel, and a queue pair once it is known
/// on which device.
class CmPeer {
 public:
  CmPeer() {
    channel = rdma_create_event_channel();
    EXPECT_EQ(rdma_create_id(channel, &id, this, RDMA_PS_TCP), 0);
  }
  ~CmPeer() {
    if (connection != nullptr && connection != id) drop(connection);
    drop(id);
    EXPECT_EQ(cq == nullptr ? 0 : ibv_destroy_cq(cq), 0);
    EXPECT_EQ(pd == nullptr ? 0 : ibv_dealloc_pd(pd), 0);
    rdma_destroy_event_channel(channel);
  }
  CmPeer(const CmPeer&) = delete;
  CmPeer& operator=(const CmPeer&) = delete;

  std::uint16_t listen(const char* at = "10.77.0.1") {
    sockaddr_in address = ip4(at);
    EXPECT_EQ(rdma_bind_addr(id, generic(address)), 0);
    EXPECT_EQ(rdma_listen(id, 4), 0);
    return ntohs(rdma_get_src_port(id));
  }

  CmEventSeen next() const {
    rdma_cm_event* event = nullptr;
    EXPECT_EQ(rdma_get_cm_event(channel, &event), 0);
    CmEventSeen seen{event->event, event->status, event->id, event->param.conn, {}};
    if (event->param.conn.private_data != nullptr) {
      seen.data.assign(static_cast<const char*>(event->param.conn.private_data),
                       event->param.conn.private_data_len);
    }
    EXPECT_EQ(rdma_ack_cm_event(event), 0);
    return seen;
  }

  void expect(rdma_cm_event_type type) const {
    EXPECT_STREQ(rdma_event_str(next().type), rdma_event_str(type));
  }
  [[nodiscard]] bool quiet() const {
    pollfd waited{channel->fd, POLLIN, 0};
    return poll(&waited, 1, 0) == 0;
  }

  void make_qp(rdma_cm_id* on) {
    connection = on;
    pd = ibv_alloc_pd(on->verbs);
    cq = ibv_create_cq(on->verbs, 16, nullptr, nullptr, 0);
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_RC;
    init.send_cq = init.recv_cq = cq;
    init.cap = {8, 1, 1, 1, 64};
    init.pd = pd;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.send_ops_flags = kAllOps;
    ASSERT_EQ(rdma_create_qp_ex(on, &init), 0);
  }

  /// Up to a queue pair, ready for rdma_connect.
  void resolve(std::uint16_t port) {
    sockaddr_in address = ip4("10.77.0.1", port);
    ASSERT_EQ(rdma_resolve_addr(id, nullptr, generic(address), 1000), 0);
    expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    ASSERT_NE(id->verbs, nullptr);
    ASSERT_EQ(rdma_resolve_route(id, 1000), 0);
    expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    make_qp(id);
  }

  int connect(std::string_view hello, std::uint8_t depth = 16) const {
    rdma_conn_param param{};
    param.private_data = hello.data();
    param.private_data_len = static_cast<std::uint8_t>(hello.size());
    param.responder_resources = param.initiator_depth = depth;
    param.retry_count = 6;
    param.rnr_retry_count = 7;
    return rdma_connect(id, &param);
  }

  rdma_event_channel* channel = nullptr;
  rdma_cm_id* id = nullptr;          ///< listens, or connects
  rdma_cm_id* connection = nullptr;  ///< the id with the queue pair
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;

 private:
  static void drop(rdma_cm_id* dropped) {
    if (dropped->qp != nullptr) rdma_destroy_qp(dropped);
    EXPECT_EQ(rdma_destroy_id(dropped), 0);
  }
};

}  // namespace oriel::fake_verbs
