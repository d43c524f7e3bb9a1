#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "event_queue.hpp"
#include "fake_verbs.hpp"

/// What stands behind the opaque pointers that verbs hands out. Every object derives from (or, for
/// queue pairs, starts with) the public struct, so that casting back needs no table.
namespace oriel::fake_verbs {

/// In line, so that whoever counts the instructions of a caller finds it among the fake's.
class SpinLock {
 public:
  void lock() noexcept {
    while (taken_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

struct DeviceState : ibv_device {
  DeviceState() : ibv_device{} {}
  Device config;
};

struct Context : verbs_context {
  Context() : verbs_context{} {}
  DeviceState* device = nullptr;
  bool owned_by_cm = false;  ///< librdmacm opens each device once and never gives it back
  EventQueue<ibv_async_event> async_events;
};

struct Pd : ibv_pd {
  Pd() : ibv_pd{} {}
  int users = 0;
};

struct Mr : ibv_mr {
  Mr() : ibv_mr{} {}
  std::uint64_t iova = 0;
  unsigned access = 0;
};

struct Cq;

struct CompChannel : ibv_comp_channel {
  CompChannel() : ibv_comp_channel{} {}
  EventQueue<Cq*> events;
};

struct Cqe {
  static constexpr std::uint64_t kReceive = ~std::uint64_t{0};
  ibv_wc wc{};
  std::uint64_t send_index = kReceive;  ///< polling it frees the send queue up to this request
};

struct Qp;

struct Cq : ibv_cq_ex {
  Cq() : ibv_cq_ex{} {}
  std::vector<Cqe> ring;
  std::uint64_t head = 0;  ///< next to poll
  std::uint64_t tail = 0;  ///< next to fill
  std::atomic<std::uint64_t> ready{0};
  bool armed = false;
  bool armed_solicited_only = false;
  bool overrun = false;
  std::vector<Qp*> users;  ///< twice for a queue pair that sends and receives here
  std::uint32_t unacknowledged = 0;
  Cqe current{};  ///< of the extended polling interface
};

/// One posted send request; its sges and inline bytes are in the queue pair's flat arrays.
struct Request {
  std::uint64_t wr_id = 0;
  std::uint64_t remote_addr = 0;
  std::uint64_t operand = 0;  ///< compare or add
  std::uint64_t swap = 0;
  std::uint64_t order = 0;  ///< of posting, over all queue pairs
  std::uint64_t length = 0;
  std::uint32_t rkey = 0;
  __be32 imm = 0;
  std::uint32_t sge_count = 0;
  unsigned flags = 0;
  ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
  ibv_wc_status doomed = IBV_WC_SUCCESS;  ///< completes with this, whatever it asks for
  bool inlined = false;
};

struct Receive {
  std::uint64_t wr_id = 0;
  std::vector<ibv_sge> sges;
};

/// Indices count requests from the birth (or last reset) of the queue pair: freed <= executed <=
/// posted <= staged <= freed + depth. Between wr_start and wr_complete only the staging thread,
/// which holds `posting`, touches requests at and after `posted`.
struct Qp : ibv_qp_ex {
  Qp() : ibv_qp_ex{} {}

  SpinLock posting;  ///< taken before the fabric's lock, never inside it
  std::vector<Request> ring;
  std::vector<ibv_sge> sges;
  std::vector<std::byte> inline_bytes;
  std::uint64_t mask = 0;
  std::uint64_t staged = 0;
  std::uint64_t posted = 0;
  std::uint64_t executed = 0;
  std::atomic<std::uint64_t> freed{0};
  int stage_error = 0;

  std::vector<Receive> receives;  ///< a ring like the send queue's
  std::uint64_t receive_head = 0;
  std::uint64_t receive_tail = 0;

  /// ibv_qp::state is only what the application last asked for, as in the real library.
  ibv_qp_state actual = IBV_QPS_RESET;
  ibv_qp_attr attr{};
  ibv_qp_cap cap{};
  bool extended = false;
  bool signal_all = false;
  bool broken = false;

  [[nodiscard]] Request& request(std::uint64_t index) { return ring[index & mask]; }
  [[nodiscard]] ibv_sge* request_sges(std::uint64_t index) {
    return sges.data() + (index & mask) * cap.max_send_sge;
  }
  [[nodiscard]] std::byte* request_inline(std::uint64_t index) {
    return inline_bytes.data() + (index & mask) * cap.max_inline_data;
  }
};

inline Context& context_of(ibv_context* context) {
  return static_cast<Context&>(*verbs_get_ctx(context));
}
inline DeviceState& device_of(ibv_context* context) {
  return *context_of(context).device;
}
inline Cq& cq_of(ibv_cq* cq) {
  return static_cast<Cq&>(*reinterpret_cast<ibv_cq_ex*>(cq));
}
inline ibv_cq* base_of(Cq& cq) {
  return ibv_cq_ex_to_cq(&cq);
}
inline Qp& qp_of(ibv_qp* qp) {
  return static_cast<Qp&>(*reinterpret_cast<ibv_qp_ex*>(qp));
}

}  // namespace oriel::fake_verbs
