#include <cerrno>
#include <cstring>
#include <span>

#include "fabric_state.hpp"

/// Both posting interfaces stage requests into the send ring, then commit them with one doorbell.
namespace oriel::fake_verbs {
namespace {

/// The next free request, or null with qp.stage_error set.
Request* stage(Qp& qp, ibv_wr_opcode opcode, std::uint64_t wr_id, unsigned flags,
               std::uint32_t rkey, std::uint64_t remote_addr) {
  if (qp.stage_error != 0) return nullptr;
  if (qp.staged - qp.freed.load(std::memory_order_acquire) >= qp.cap.max_send_wr) {
    qp.stage_error = ENOMEM;
    return nullptr;
  }
  Request& request = qp.request(qp.staged++);
  request = Request{};
  request.opcode = opcode;
  request.wr_id = wr_id;
  request.flags = flags;
  request.rkey = rkey;
  request.remote_addr = remote_addr;
  return &request;
}

void set_sges(Qp& qp, Request& request, std::span<const ibv_sge> list) {
  if (list.size() > qp.cap.max_send_sge) {
    qp.stage_error = EINVAL;
    return;
  }
  ibv_sge* stored = qp.request_sges(qp.staged - 1);
  for (const ibv_sge& sge : list) {
    *stored++ = sge;
    request.length += sge.length;
  }
  request.sge_count = static_cast<std::uint32_t>(list.size());
}

void add_inline(Qp& qp, Request& request, const void* data, std::size_t length) {
  if (request.length + length > qp.cap.max_inline_data) {
    qp.stage_error = EINVAL;
    return;
  }
  if (length != 0) std::memcpy(qp.request_inline(qp.staged - 1) + request.length, data, length);
  request.length += length;
}

bool is_atomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/// What Soft-RoCE's provider refuses at the call, once the request is complete.
int check(const Qp& qp, const Request& request) {
  const bool atomic = is_atomic(request.opcode);
  const bool fetches = atomic || request.opcode == IBV_WR_RDMA_READ;
  if (atomic && (request.length != 8 || request.remote_addr % 8 != 0)) return EINVAL;
  if (atomic && device_of(qp.qp_base.context).config.atomic_cap == IBV_ATOMIC_NONE)
    return EOPNOTSUPP;
  if (fetches && (request.inlined || qp.attr.max_rd_atomic == 0)) return EINVAL;
  return 0;
}

void count(const Qp& qp, const Request& request) {
  auto& counters = state().statistics;
  ++counters.requests[request.opcode];
  if (qp.signal_all || (request.flags & IBV_SEND_SIGNALED) != 0) ++counters.signalled;
  if (!request.inlined) return;
  ++counters.inline_requests;
  counters.inline_bytes += request.length;
}

/// Hands what is staged to the device. The caller holds qp.posting.
int commit(Qp& qp) {
  if (qp.staged == qp.posted) return 0;
  const auto lock = lock_state();
  State& all = state();
  if (qp.actual != IBV_QPS_RTS && qp.actual != IBV_QPS_ERR) {
    qp.staged = qp.posted;
    return EINVAL;
  }
  for (; qp.posted != qp.staged; ++qp.posted) {
    Request& request = qp.request(qp.posted);
    request.order = all.next_order++;
    count(qp, request);
  }
  ++all.statistics.doorbells;
  if (all.delivery == Delivery::immediate || qp.actual == IBV_QPS_ERR) run(qp, ~std::size_t{0});
  return 0;
}

int stage_send_wr(Qp& qp, const ibv_send_wr& wr) {
  const bool atomic = is_atomic(wr.opcode);
  if (wr.opcode > IBV_WR_ATOMIC_FETCH_AND_ADD) return EOPNOTSUPP;
  Request* request =
      stage(qp, wr.opcode, wr.wr_id, wr.send_flags, atomic ? wr.wr.atomic.rkey : wr.wr.rdma.rkey,
            atomic ? wr.wr.atomic.remote_addr : wr.wr.rdma.remote_addr);
  if (request == nullptr) return qp.stage_error;
  if (atomic) {
    request->operand = wr.wr.atomic.compare_add;
    request->swap = wr.wr.atomic.swap;
  }
  request->imm = wr.imm_data;
  const std::span<const ibv_sge> list(wr.sg_list, static_cast<std::size_t>(wr.num_sge));
  request->inlined = (wr.send_flags & IBV_SEND_INLINE) != 0;
  if (request->inlined) {
    for (const ibv_sge& sge : list) {
      add_inline(qp, *request, reinterpret_cast<const void*>(sge.addr), sge.length);
    }
  } else {
    set_sges(qp, *request, list);
  }
  if (qp.stage_error == 0) qp.stage_error = check(qp, *request);
  if (qp.stage_error != 0) --qp.staged;
  return qp.stage_error;
}

// ---- ibv_wr_* ----

Request* begin(ibv_qp_ex* base, ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t address) {
  return stage(static_cast<Qp&>(*base), opcode, base->wr_id, base->wr_flags, rkey, address);
}

/// The request that the data setters refer to, or null after an error.
Request* last(Qp& qp) {
  return qp.stage_error != 0 || qp.staged == qp.posted ? nullptr : &qp.request(qp.staged - 1);
}

void wr_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  begin(qp, IBV_WR_RDMA_WRITE, rkey, address);
}
void wr_write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, __be32 imm) {
  if (Request* r = begin(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address)) r->imm = imm;
}
void wr_read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  begin(qp, IBV_WR_RDMA_READ, rkey, address);
}
void wr_send(ibv_qp_ex* qp) {
  begin(qp, IBV_WR_SEND, 0, 0);
}
void wr_send_imm(ibv_qp_ex* qp, __be32 imm) {
  if (Request* r = begin(qp, IBV_WR_SEND_WITH_IMM, 0, 0)) r->imm = imm;
}
void wr_fetch_add(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::uint64_t add) {
  if (Request* r = begin(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, address)) r->operand = add;
}
void wr_cmp_swp(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::uint64_t compare,
                std::uint64_t swap) {
  Request* r = begin(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, address);
  if (r == nullptr) return;
  r->operand = compare;
  r->swap = swap;
}

void set_inline_list(ibv_qp_ex* base, std::size_t count, const ibv_data_buf* list) {
  Qp& qp = static_cast<Qp&>(*base);
  Request* request = last(qp);
  if (request == nullptr) return;
  request->inlined = true;
  const bool flagged = (request->flags & IBV_SEND_INLINE) != 0;
  if (!flagged && device_of(base->qp_base.context).config.inline_needs_flag) {
    request->doomed = IBV_WC_LOC_PROT_ERR;
  }
  for (const auto& part : std::span(list, count)) add_inline(qp, *request, part.addr, part.length);
}
void set_inline(ibv_qp_ex* qp, void* data, std::size_t length) {
  const ibv_data_buf part{data, length};
  set_inline_list(qp, 1, &part);
}
void set_sge_list(ibv_qp_ex* base, std::size_t count, const ibv_sge* list) {
  Qp& qp = static_cast<Qp&>(*base);
  if (Request* request = last(qp)) set_sges(qp, *request, {list, count});
}
void set_sge(ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) {
  const ibv_sge sge{address, length, lkey};
  set_sge_list(qp, 1, &sge);
}

void start(ibv_qp_ex* base) {
  Qp& qp = static_cast<Qp&>(*base);
  qp.posting.lock();  // until complete() or abort(), as providers do
  qp.stage_error = 0;
}

/// All or nothing: after an error none of the batch is posted.
int complete(ibv_qp_ex* base) {
  Qp& qp = static_cast<Qp&>(*base);
  int error = injected("ibv_wr_complete");
  if (error == 0) error = qp.stage_error;
  for (auto i = qp.posted; error == 0 && i != qp.staged; ++i) error = check(qp, qp.request(i));
  if (error != 0) {
    qp.staged = qp.posted;
  } else {
    error = commit(qp);
  }
  qp.posting.unlock();
  return error;
}

void abort_batch(ibv_qp_ex* base) {
  Qp& qp = static_cast<Qp&>(*base);
  qp.staged = qp.posted;
  qp.posting.unlock();
}

}  // namespace

/// Calls that were not asked for at creation stay null and crash, as with real providers.
void install_send_ops(Qp& qp, std::uint64_t ops) {
  const auto has = [ops](std::uint64_t flag) { return (ops & flag) != 0; };
  if (has(IBV_QP_EX_WITH_RDMA_WRITE)) qp.wr_rdma_write = wr_write;
  if (has(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)) qp.wr_rdma_write_imm = wr_write_imm;
  if (has(IBV_QP_EX_WITH_RDMA_READ)) qp.wr_rdma_read = wr_read;
  if (has(IBV_QP_EX_WITH_SEND)) qp.wr_send = wr_send;
  if (has(IBV_QP_EX_WITH_SEND_WITH_IMM)) qp.wr_send_imm = wr_send_imm;
  if (has(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)) qp.wr_atomic_fetch_add = wr_fetch_add;
  if (has(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)) qp.wr_atomic_cmp_swp = wr_cmp_swp;
  qp.wr_set_inline_data = set_inline;
  qp.wr_set_inline_data_list = set_inline_list;
  qp.wr_set_sge = set_sge;
  qp.wr_set_sge_list = set_sge_list;
  qp.wr_start = start;
  qp.wr_complete = complete;
  qp.wr_abort = abort_batch;
}

/// Requests before the failing one are posted, as the verb promises.
int post_send(ibv_qp* base, ibv_send_wr* first, ibv_send_wr** bad) {
  Qp& qp = qp_of(base);
  const std::lock_guard guard(qp.posting);
  qp.stage_error = injected("ibv_post_send");
  int error = qp.stage_error;
  ibv_send_wr* wr = first;
  for (; wr != nullptr && error == 0; wr = wr->next) {
    error = stage_send_wr(qp, *wr);
    if (error != 0) break;
  }
  const int refused = commit(qp);
  if (refused != 0) wr = first;
  if (error != 0 || refused != 0) *bad = wr;
  return refused != 0 ? refused : error;
}

int post_receive(ibv_qp* base, ibv_recv_wr* first, ibv_recv_wr** bad) {
  Qp& qp = qp_of(base);
  int error = injected("ibv_post_recv");
  const auto lock = lock_state();
  ibv_recv_wr* wr = first;
  for (; wr != nullptr && error == 0; wr = wr->next) {
    const auto sge_count = static_cast<std::size_t>(wr->num_sge);
    if (qp.actual == IBV_QPS_RESET || sge_count > qp.cap.max_recv_sge) error = EINVAL;
    if (qp.receive_tail - qp.receive_head >= qp.cap.max_recv_wr) error = ENOMEM;
    if (error != 0) break;
    Receive& receive = qp.receives[qp.receive_tail++ % qp.receives.size()];
    receive.wr_id = wr->wr_id;
    receive.sges.assign(wr->sg_list, wr->sg_list + sge_count);
    ++state().statistics.receives;
  }
  if (error != 0) *bad = wr;
  if (qp.actual == IBV_QPS_ERR) enter_error(qp);
  Qp* sender = state().find_qp(qp.attr.dest_qp_num);
  if (sender != nullptr && state().delivery == Delivery::immediate) run(*sender, ~std::size_t{0});
  return error;
}

}  // namespace oriel::fake_verbs
