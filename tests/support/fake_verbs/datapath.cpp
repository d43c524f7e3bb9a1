#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <span>

#include "fabric_state.hpp"

/// Carries out posted requests on the memory of the target. Everything here is under the lock.
namespace oriel::fake_verbs {
namespace {

/// Beyond this the bytes are moved by memcpy: words that threads poll are not part of so much data.
constexpr std::size_t kWordwiseBytes = 4096;
constexpr std::size_t kWord = sizeof(std::uint64_t);

bool word_aligned(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kWord == 0;
}

std::atomic_ref<std::uint64_t> word(std::byte* address) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(address));
}

/// Aligned words move whole and with release order, as a device writes them over a coherent bus.
void move_bytes(std::byte* target, std::byte* source, std::size_t length) {
  std::size_t done = 0;
  if (length <= kWordwiseBytes && word_aligned(target)) {
    const bool aligned_source = word_aligned(source);
    for (; done + kWord <= length; done += kWord) {
      std::uint64_t value = 0;
      if (aligned_source) {
        value = word(source + done).load(std::memory_order_acquire);
      } else {
        std::memcpy(&value, source + done, kWord);
      }
      word(target + done).store(value, std::memory_order_release);
    }
  }
  if (done < length) std::memcpy(target + done, source + done, length - done);
}

std::byte* translate(const Mr& mr, std::uint64_t address) {
  return static_cast<std::byte*>(mr.addr) + (address - mr.iova);
}

bool covers(const Mr& mr, std::uint64_t address, std::uint64_t length) {
  return address >= mr.iova && length <= mr.length && address - mr.iova <= mr.length - length;
}

Mr* find_region(std::uint32_t key) {
  const auto& all = state().mr_by_index;
  return key >> 8U < all.size() ? all[key >> 8U] : nullptr;
}

/// The host address of a local piece, or null if the key does not allow it.
std::byte* local_piece(const Qp& qp, const ibv_sge& sge, bool written) {
  const Mr* mr = find_region(sge.lkey);
  if (mr == nullptr || mr->lkey != sge.lkey || mr->pd != qp.qp_base.pd) return nullptr;
  if (written && (mr->access & IBV_ACCESS_LOCAL_WRITE) == 0) return nullptr;
  return covers(*mr, sge.addr, sge.length) ? translate(*mr, sge.addr) : nullptr;
}

std::byte* remote_piece(const Qp& peer, const Request& request, unsigned access) {
  const Mr* mr = find_region(request.rkey);
  if (mr == nullptr || mr->rkey != request.rkey || mr->pd != peer.qp_base.pd) return nullptr;
  if ((mr->access & access) != access) return nullptr;
  return covers(*mr, request.remote_addr, request.length) ? translate(*mr, request.remote_addr)
                                                          : nullptr;
}

/// Checks every piece before any byte moves.
bool local_ok(Qp& qp, std::uint64_t index, bool written) {
  const Request& request = qp.request(index);
  const std::span list(qp.request_sges(index), request.inlined ? 0 : request.sge_count);
  return std::all_of(list.begin(), list.end(), [&](const ibv_sge& sge) {
    return sge.length == 0 || local_piece(qp, sge, written) != nullptr;
  });
}

/// Calls `use(piece, length)` for each local piece in order.
template <class Use>
void for_each_piece(Qp& qp, std::uint64_t index, Use use) {
  const Request& request = qp.request(index);
  if (request.inlined) {
    use(qp.request_inline(index), request.length);
    return;
  }
  for (const ibv_sge& sge : std::span(qp.request_sges(index), request.sge_count)) {
    if (sge.length != 0) use(local_piece(qp, sge, false), std::size_t{sge.length});
  }
}

void gather(Qp& qp, std::uint64_t index, std::byte* target) {
  for_each_piece(qp, index, [&](std::byte* piece, std::size_t length) {
    move_bytes(target, piece, length);
    target += length;
  });
}

void scatter(Qp& qp, std::uint64_t index, std::byte* source) {
  for_each_piece(qp, index, [&](std::byte* piece, std::size_t length) {
    move_bytes(piece, source, length);
    source += length;
  });
}

ibv_wc_status perform_write(Qp& qp, Qp& peer, std::uint64_t index) {
  const Request& request = qp.request(index);
  if ((peer.attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0) return IBV_WC_REM_INV_REQ_ERR;
  if (request.length == 0) return IBV_WC_SUCCESS;
  std::byte* target = remote_piece(peer, request, IBV_ACCESS_REMOTE_WRITE);
  if (target == nullptr) return IBV_WC_REM_ACCESS_ERR;
  gather(qp, index, target);
  state().statistics.bytes_out += request.length;
  return IBV_WC_SUCCESS;
}

ibv_wc_status perform_read(Qp& qp, Qp& peer, std::uint64_t index) {
  const Request& request = qp.request(index);
  const bool served = (peer.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0;
  if (!served || peer.attr.max_dest_rd_atomic == 0) return IBV_WC_REM_INV_REQ_ERR;
  if (request.length == 0) return IBV_WC_SUCCESS;
  std::byte* source = remote_piece(peer, request, IBV_ACCESS_REMOTE_READ);
  if (source == nullptr) return IBV_WC_REM_ACCESS_ERR;
  scatter(qp, index, source);
  state().statistics.bytes_in += request.length;
  return IBV_WC_SUCCESS;
}

/// A load and a store: atomic to other requests by the lock, not to the CPU, like IBV_ATOMIC_HCA.
ibv_wc_status perform_atomic(Qp& qp, Qp& peer, std::uint64_t index) {
  const Request& request = qp.request(index);
  const bool served = (peer.attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) != 0;
  if (!served || peer.attr.max_dest_rd_atomic == 0) return IBV_WC_REM_INV_REQ_ERR;
  std::byte* target = remote_piece(peer, request, IBV_ACCESS_REMOTE_ATOMIC);
  if (target == nullptr || !word_aligned(target)) return IBV_WC_REM_ACCESS_ERR;
  std::uint64_t old = word(target).load(std::memory_order_acquire);
  if (request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    word(target).store(old + request.operand, std::memory_order_release);
  } else if (old == request.operand) {
    word(target).store(request.swap, std::memory_order_release);
  }
  scatter(qp, index, reinterpret_cast<std::byte*>(&old));
  state().statistics.bytes_in += request.length;
  return IBV_WC_SUCCESS;
}

Cqe failed_cqe(const Qp& qp, std::uint64_t wr_id, ibv_wc_status status) {
  Cqe cqe;
  // Only four fields of a completion in error may be looked at: the rest is rubbish on purpose.
  std::memset(&cqe.wc, 0x5a, sizeof cqe.wc);
  cqe.wc.wr_id = wr_id;
  cqe.wc.status = status;
  cqe.wc.qp_num = qp.qp_base.qp_num;
  cqe.wc.vendor_err = device_of(qp.qp_base.context).config.vendor_error;
  return cqe;
}

void complete_receive(Qp& qp, const Request& request, ibv_wc_opcode opcode) {
  Cqe cqe;
  cqe.wc.wr_id = qp.receives[qp.receive_head++ % qp.receives.size()].wr_id;
  cqe.wc.opcode = opcode;
  cqe.wc.byte_len = static_cast<std::uint32_t>(request.length);
  cqe.wc.qp_num = qp.qp_base.qp_num;
  if (request.opcode != IBV_WR_SEND) {
    cqe.wc.imm_data = request.imm;
    cqe.wc.wc_flags = IBV_WC_WITH_IMM;
  }
  push_completion(cq_of(qp.qp_base.recv_cq), cqe, (request.flags & IBV_SEND_SOLICITED) != 0);
}

ibv_wc_status perform_send(Qp& qp, Qp& peer, std::uint64_t index) {
  const Request& request = qp.request(index);
  const Receive& receive = peer.receives[peer.receive_head % peer.receives.size()];
  std::vector<std::byte> message(request.length);
  gather(qp, index, message.data());
  std::size_t done = 0;
  for (const ibv_sge& sge : receive.sges) {
    const std::size_t length = std::min<std::size_t>(sge.length, message.size() - done);
    if (length == 0) continue;
    std::byte* piece = local_piece(peer, sge, true);
    if (piece == nullptr) return IBV_WC_REM_OP_ERR;
    move_bytes(piece, message.data() + done, length);
    done += length;
  }
  if (done < message.size()) return IBV_WC_REM_INV_REQ_ERR;
  state().statistics.bytes_out += request.length;
  complete_receive(peer, request, IBV_WC_RECV);
  return IBV_WC_SUCCESS;
}

bool needs_receive(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
         opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

constexpr std::uint8_t kRnrForEver = 7;

/// Nothing: the request waits for a receive.
std::optional<ibv_wc_status> perform(Qp& qp, Qp& peer, std::uint64_t index) {
  const Request& request = qp.request(index);
  if (needs_receive(request.opcode) && peer.receive_head == peer.receive_tail) {
    if (qp.attr.rnr_retry == kRnrForEver) return std::nullopt;
    return IBV_WC_RNR_RETRY_EXC_ERR;
  }
  switch (request.opcode) {
    case IBV_WR_RDMA_WRITE:
      return perform_write(qp, peer, index);
    case IBV_WR_RDMA_READ:
      return perform_read(qp, peer, index);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return perform_atomic(qp, peer, index);
    case IBV_WR_RDMA_WRITE_WITH_IMM: {
      const auto status = perform_write(qp, peer, index);
      if (status == IBV_WC_SUCCESS) complete_receive(peer, request, IBV_WC_RECV_RDMA_WITH_IMM);
      return status;
    }
    default:
      return perform_send(qp, peer, index);
  }
}

/// What keeps a request from reaching the peer at all.
ibv_wc_status obstacle(Qp& qp, std::uint64_t index, const Qp* peer) {
  const Request& request = qp.request(index);
  const auto& config = device_of(qp.qp_base.context).config;
  if (const auto status = injected_completion(); status != IBV_WC_SUCCESS) return status;
  if (request.doomed != IBV_WC_SUCCESS) return request.doomed;
  if (request.length > config.ports[qp.attr.port_num - 1U].max_message_bytes) {
    return IBV_WC_LOC_LEN_ERR;
  }
  const bool written = request.opcode >= IBV_WR_RDMA_READ;
  if (!local_ok(qp, index, written)) return config.bad_lkey_status;
  const bool reachable = peer != nullptr && peer->attr.dest_qp_num == qp.qp_base.qp_num &&
                         !qp.broken &&
                         (peer->actual == IBV_QPS_RTR || peer->actual == IBV_QPS_RTS) &&
                         port_active(qp) && port_active(*peer);
  return reachable ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR;
}

/// Refusals by the responder break both ends; all else only the requester's.
bool breaks_peer(ibv_wc_status status) {
  return status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR ||
         status == IBV_WC_REM_OP_ERR;
}

ibv_wc_opcode completed_opcode(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    default:
      return IBV_WC_SEND;
  }
}

void complete(Qp& qp, std::uint64_t index, ibv_wc_status status) {
  const Request& request = qp.request(index);
  const bool signalled = qp.signal_all || (request.flags & IBV_SEND_SIGNALED) != 0;
  if (status == IBV_WC_SUCCESS && !signalled) return;
  Cqe cqe;
  if (status == IBV_WC_SUCCESS) {
    cqe.wc.wr_id = request.wr_id;
    cqe.wc.opcode = completed_opcode(request.opcode);
    cqe.wc.byte_len = static_cast<std::uint32_t>(request.length);
    cqe.wc.qp_num = qp.qp_base.qp_num;
  } else {
    cqe = failed_cqe(qp, request.wr_id, status);
  }
  cqe.send_index = index;
  push_completion(cq_of(qp.qp_base.send_cq), cqe, status != IBV_WC_SUCCESS);
}

}  // namespace

void enter_error(Qp& qp) {
  qp.actual = IBV_QPS_ERR;
  for (; qp.executed != qp.posted; ++qp.executed) complete(qp, qp.executed, IBV_WC_WR_FLUSH_ERR);
  while (qp.receive_head != qp.receive_tail) {
    const auto& receive = qp.receives[qp.receive_head++ % qp.receives.size()];
    push_completion(cq_of(qp.qp_base.recv_cq), failed_cqe(qp, receive.wr_id, IBV_WC_WR_FLUSH_ERR),
                    true);
  }
}

std::size_t run(Qp& qp, std::size_t limit) {
  const std::uint64_t first = qp.executed;
  while (qp.executed != qp.posted && qp.executed - first < limit) {
    if (qp.actual == IBV_QPS_ERR) {
      enter_error(qp);
      break;
    }
    Qp* peer = state().find_qp(qp.attr.dest_qp_num);
    std::optional<ibv_wc_status> status = obstacle(qp, qp.executed, peer);
    if (*status == IBV_WC_SUCCESS) status = perform(qp, *peer, qp.executed);
    if (!status) break;
    complete(qp, qp.executed++, *status);
    if (*status == IBV_WC_SUCCESS) continue;
    enter_error(qp);
    if (breaks_peer(*status) && peer != nullptr) enter_error(*peer);
  }
  return qp.executed - first;
}

void run_senders(Cq& cq) {
  for (Qp* qp : cq.users) {
    if (base_of(cq) == qp->qp_base.send_cq) run(*qp, ~std::size_t{0});
  }
}

}  // namespace oriel::fake_verbs
