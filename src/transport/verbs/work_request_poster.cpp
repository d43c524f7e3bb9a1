#include "transport/verbs/work_request_poster.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include "transport/verbs/verbs_call.hpp"

namespace oriel::verbs {
namespace {

constexpr std::uint64_t kOperations = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
                                      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                                      IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;
constexpr std::size_t kChain = 32;

/// Returns 0 or errno, and the granted inline size in `cap`.
int create_extended(rdma_cm_id* id, ibv_pd* pd, ibv_cq* cq, ibv_qp_cap& cap) {
  ibv_qp_init_attr_ex init{};
  init.send_cq = init.recv_cq = cq;
  init.cap = cap;
  init.qp_type = IBV_QPT_RC;
  init.pd = pd;
  init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  init.send_ops_flags = kOperations;
  if (rdma_create_qp_ex(id, &init) != 0) return errno;
  cap = init.cap;
  return 0;
}

int create_plain(rdma_cm_id* id, ibv_pd* pd, ibv_cq* cq, ibv_qp_cap& cap) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.cap = cap;
  init.qp_type = IBV_QPT_RC;
  if (rdma_create_qp(id, pd, &init) != 0) return errno;
  cap = init.cap;
  return 0;
}

bool may_be_unsupported(int error) {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

ibv_send_wr request_of(const WorkRecord& record) noexcept {
  ibv_send_wr request{};
  switch (record.opcode) {
    case Opcode::write:
    case Opcode::read:
      request.opcode = record.opcode == Opcode::write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
      request.wr.rdma.remote_addr = record.remote_address;
      request.wr.rdma.rkey = record.rkey;
      return request;
    case Opcode::fetch_add:
    case Opcode::compare_and_swap:
      break;
  }
  const bool adds = record.opcode == Opcode::fetch_add;
  request.opcode = adds ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
  request.wr.atomic.remote_addr = record.remote_address;
  request.wr.atomic.rkey = record.rkey;
  request.wr.atomic.compare_add = record.operand;
  request.wr.atomic.swap = record.swap;
  return request;
}

}  // namespace

WorkRequestPoster WorkRequestPoster::create(rdma_cm_id* id, ibv_pd* pd, ibv_cq* cq,
                                            std::uint32_t depth, std::uint32_t inline_bytes,
                                            std::uint64_t wr_id_base, const std::string& device) {
  int error = 0;
  // Devices say only by refusing how much they send inline.
  for (std::uint32_t wanted = inline_bytes;; wanted = wanted > 16 ? wanted / 2 : 0) {
    ibv_qp_cap cap{.max_send_wr = depth,
                   .max_recv_wr = 1,
                   .max_send_sge = 1,
                   .max_recv_sge = 1,
                   .max_inline_data = wanted};
    error = create_extended(id, pd, cq, cap);
    if (error == 0) {
      return {id->qp, ibv_qp_to_qp_ex(id->qp), std::min(cap.max_inline_data, inline_bytes),
              wr_id_base};
    }
    if (may_be_unsupported(error)) error = create_plain(id, pd, cq, cap);
    if (error == 0) {
      return {id->qp, nullptr, std::min(cap.max_inline_data, inline_bytes), wr_id_base};
    }
    if (error != EINVAL || wanted == 0) throw_failed_call("rdma_create_qp", error, device);
  }
}

/// The request of a record, with `sge` for its memory.
ibv_send_wr WorkRequestPoster::plain_request(const WorkRecord& record, std::uint32_t number,
                                             ibv_sge& sge) const noexcept {
  sge = {.addr = address_of(record), .length = record.length, .lkey = record.lkey};
  ibv_send_wr request = request_of(record);
  request.wr_id = wr_id_base_ | number;
  request.sg_list = &sge;
  request.num_sge = record.length > 0 ? 1 : 0;
  request.send_flags = flags_of(record.signalled, fits_inline(record.opcode, record.length));
  return request;
}

int WorkRequestPoster::post_plain(const WorkRecord& record, std::uint32_t number) const noexcept {
  ibv_sge sge;
  ibv_send_wr request = plain_request(record, number, sge);
  ibv_send_wr* refused = nullptr;
  return ibv_post_send(qp_, &request, &refused);
}

WorkRequestPoster::Result WorkRequestPoster::post_chained(const SendLedger& ledger) const noexcept {
  std::array<ibv_send_wr, kChain> requests;
  std::array<ibv_sge, kChain> sges;
  std::uint32_t number = ledger.posted();
  while (number != ledger.next()) {
    const std::size_t count = std::min<std::size_t>(kChain, ledger.next() - number);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t at = number + static_cast<std::uint32_t>(i);
      requests[i] = plain_request(ledger.record(at), at, sges[i]);
      requests[i].next = i + 1 < count ? &requests[i + 1] : nullptr;
    }
    ibv_send_wr* refused = nullptr;
    if (const int error = ibv_post_send(qp_, requests.data(), &refused); error != 0) {
      const auto taken = static_cast<std::uint32_t>(refused - requests.data());
      return {.posted = number - ledger.posted() + taken, .error = error};
    }
    number += static_cast<std::uint32_t>(count);
  }
  return {.posted = ledger.staged(), .error = 0};
}

}  // namespace oriel::verbs
