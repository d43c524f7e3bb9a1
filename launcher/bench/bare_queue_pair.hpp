#pragma once
/// A reliable connection made by hand, with nothing of Oriel's on the way: what the device itself
/// can do.

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/verbs/verbs_handles.hpp"

namespace oriel::bench {

struct Stand;

class BareQueuePair {
 public:
  /// How requests are posted and their completions asked for.
  struct Manner {
    std::uint32_t batch;  ///< requests to a doorbell, of which the last asks for its completion
    std::uint32_t depth;  ///< most of them under way
  };

  /// Collective: connects rank 0 with the target, whose memory of `bytes` is the remote side.
  BareQueuePair(const Stand& stand, std::size_t bytes);
  BareQueuePair(const BareQueuePair&) = delete;
  BareQueuePair& operator=(const BareQueuePair&) = delete;
  ~BareQueuePair();

  /// On rank 0: posts `times` requests and waits for all of them.
  void run(ibv_wr_opcode opcode, std::size_t bytes, std::size_t times, Manner manner);

 private:
  struct QueuePairDestroyer {
    void operator()(ibv_qp* qp) const noexcept { ibv_destroy_qp(qp); }
  };
  struct Address {
    std::uint32_t queue_pair;
    std::uint32_t rkey;
    std::uint64_t memory;
    std::uint16_t lid;
    std::uint8_t gid[16];
  };

  void open_device();
  void make_queue_pair();
  void connect(const Address& peer);
  [[nodiscard]] bool fits_inline(ibv_wr_opcode opcode, std::size_t bytes) const noexcept {
    return opcode == IBV_WR_RDMA_WRITE && bytes <= max_inline_;
  }
  void post(ibv_wr_opcode opcode, std::size_t bytes, std::uint32_t count);
  void post_extended(ibv_wr_opcode opcode, std::size_t bytes, std::uint32_t count);
  void post_chained(ibv_wr_opcode opcode, std::size_t bytes, std::uint32_t count);
  void poll(std::uint32_t& under_way, std::uint32_t batch);

  std::vector<std::byte> memory_;
  verbs::ContextHandle context_;
  verbs::PdHandle pd_;
  verbs::MrHandle mr_;
  verbs::CqHandle cq_;
  std::unique_ptr<ibv_qp, QueuePairDestroyer> qp_;
  ibv_qp_ex* extended_ = nullptr;  ///< null: the provider has no ibv_wr_*
  std::uint32_t max_inline_ = 0;
  std::uint8_t port_ = 1;
  int gid_index_ = 0;
  ibv_mtu mtu_ = IBV_MTU_1024;
  std::uint8_t reads_ = 1;  ///< reads and atomics that the device has under way
  Address own_{};
  Address remote_{};
};

}  // namespace oriel::bench
