#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "fake_verbs/fake_verbs.hpp"

namespace oriel::fake_verbs {

inline constexpr unsigned kLocalAccess = IBV_ACCESS_LOCAL_WRITE;
inline constexpr unsigned kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
inline constexpr std::uint64_t kAllOps =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
    IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

inline ibv_context* open_first_device() {
  ibv_device** list = ibv_get_device_list(nullptr);
  ibv_context* context = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  return context;
}

/// RESET to RTS by hand, as without a connection manager.
inline void connect_qp(ibv_qp* qp, std::uint32_t peer_qp_num, std::uint8_t reads = 4) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = kAllAccess;
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  ASSERT_EQ(ibv_modify_qp(qp, &attr, mask), 0);
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_4096;
  attr.dest_qp_num = peer_qp_num;
  attr.max_dest_rd_atomic = reads;
  mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  ASSERT_EQ(ibv_modify_qp(qp, &attr, mask), 0);
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = 6;
  attr.max_rd_atomic = reads;
  mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
         IBV_QP_MAX_QP_RD_ATOMIC;
  ASSERT_EQ(ibv_modify_qp(qp, &attr, mask), 0);
}

struct SideOptions {
  std::uint32_t depth = 16;
  std::uint32_t inline_bytes = 64;
  int completions = 64;
  unsigned access = kAllAccess;
  std::uint8_t reads = 4;
};

/// One end of a queue pair with its own device context and a registered array of words.
class Side {
 public:
  explicit Side(const SideOptions& options = {}) : options_(options) {
    context = open_first_device();
    pd = ibv_alloc_pd(context);
    cq = ibv_create_cq(context, options.completions, nullptr, nullptr, 0);
    mr = ibv_reg_mr(pd, words.data(), sizeof words, options.access);
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_RC;
    init.send_cq = init.recv_cq = cq;
    init.cap = {options.depth, 4, 2, 2, options.inline_bytes};
    init.pd = pd;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.send_ops_flags = kAllOps;
    qp = ibv_create_qp_ex(context, &init);
    cap = init.cap;
    ex = ibv_qp_to_qp_ex(qp);
  }
  ~Side() {
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    EXPECT_EQ(mr == nullptr ? 0 : ibv_dereg_mr(mr), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
    EXPECT_EQ(ibv_close_device(context), 0);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  void connect_to(std::uint32_t peer_qp_num) const { connect_qp(qp, peer_qp_num, options_.reads); }

  [[nodiscard]] std::uint64_t address(std::size_t index) const {
    return reinterpret_cast<std::uint64_t>(words.data() + index);
  }
  [[nodiscard]] ibv_sge sge(std::size_t index, std::uint32_t bytes) const {
    return {address(index), bytes, mr->lkey};
  }
  /// The next completion, or one with wr_id kNone.
  [[nodiscard]] ibv_wc poll() const {
    ibv_wc wc{};
    wc.wr_id = kNone;
    EXPECT_GE(ibv_poll_cq(cq, 1, &wc), 0);
    return wc;
  }
  [[nodiscard]] ibv_qp_state state() const {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    EXPECT_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
    return attr.qp_state;
  }

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp* qp = nullptr;
  ibv_qp_ex* ex = nullptr;
  ibv_qp_cap cap{};
  alignas(8) std::array<std::uint64_t, 16> words{};

 private:
  SideOptions options_;
};

/// An origin and a target, connected.
class Pair {
 public:
  explicit Pair(const SideOptions& origin_options = {}, const SideOptions& target_options = {})
      : origin(origin_options), target(target_options) {
    origin.connect_to(target.qp->qp_num);
    target.connect_to(origin.qp->qp_num);
  }

  /// Posts one request through ibv_post_send: `bytes` between word `from` of the origin and word
  /// `to` of the target.
  int post(ibv_wr_opcode opcode, std::uint64_t wr_id, std::size_t from, std::size_t to,
           std::uint32_t bytes, unsigned flags = IBV_SEND_SIGNALED) {
    ibv_sge sge = origin.sge(from, bytes);
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.send_flags = flags;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.rdma.remote_addr = target.address(to);
    wr.wr.rdma.rkey = target.mr == nullptr ? stale_rkey : target.mr->rkey;
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(origin.qp, &wr, &bad);
  }

  int post_atomic(ibv_wr_opcode opcode, std::uint64_t wr_id, std::uint64_t remote_address,
                  std::uint64_t compare_add, std::uint64_t swap) {
    ibv_sge sge = origin.sge(0, 8);
    ibv_send_wr wr{};
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.wr.atomic.remote_addr = remote_address;
    wr.wr.atomic.rkey = target.mr->rkey;
    wr.wr.atomic.compare_add = compare_add;
    wr.wr.atomic.swap = swap;
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(origin.qp, &wr, &bad);
  }

  Side origin, target;
  std::uint32_t stale_rkey = 0;
};

}  // namespace oriel::fake_verbs
