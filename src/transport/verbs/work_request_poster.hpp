#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "transport/verbs/send_ledger.hpp"
#include "transport/verbs/verbs_handles.hpp"

namespace oriel::verbs {

/// Hands the staged records of a ledger to a queue pair, by whichever interface the provider has:
/// ibv_wr_* or ibv_post_send. The one place that knows the difference.
class WorkRequestPoster {
 public:
  /// Makes the queue pair of `id` (owned by the id) for requests only: no receives, minimal
  /// receive queue. `wr_id_base` is added to record numbers to make wr_ids.
  /// @param depth, inline_bytes  wanted; the device may grant less inline, never less depth
  /// Errors: out_of_memory, transport_failed.
  static WorkRequestPoster create(rdma_cm_id* id, ibv_pd* pd, ibv_cq* cq, std::uint32_t depth,
                                  std::uint32_t inline_bytes, std::uint64_t wr_id_base,
                                  const std::string& device);

  struct Result {
    std::uint32_t posted = 0;
    int error = 0;  ///< errno of the first record that was not posted
  };
  /// Posts everything staged, at least one record, with one doorbell. The queue has room for it:
  /// the ledger is never deeper than the queue, so every error is a real one.
  [[nodiscard]] Result post(const SendLedger& ledger) const noexcept {
    return extended_ != nullptr ? post_extended(ledger) : post_chained(ledger);
  }
  /// Posts a record that has nothing before it; returns 0 or errno. @param opcode  the record's
  [[nodiscard]] int post_alone(const WorkRecord& record, Opcode opcode, std::uint32_t number,
                               bool is_inline) const noexcept {
    ibv_qp_ex* const qp = extended_;
    if (qp == nullptr) [[unlikely]]
      return post_plain(record, number);
    // These are the caller's, which the start of a batch leaves alone: so they cross no call here.
    qp->wr_id = wr_id_base_ | number;
    qp->wr_flags = flags_of(true, is_inline);
    ibv_wr_start(qp);
    build(qp, record, opcode, is_inline);
    return ibv_wr_complete(qp);
  }

  [[nodiscard]] std::uint32_t max_inline() const noexcept { return max_inline_; }
  [[nodiscard]] bool fits_inline(Opcode opcode, std::uint32_t length) const noexcept {
    return opcode == Opcode::write && length - 1 < max_inline_;  // no bytes become very many
  }
  [[nodiscard]] static std::uint64_t address_of(const WorkRecord& record) noexcept {
    return std::bit_cast<std::uintptr_t>(record.local);
  }
  [[nodiscard]] std::string_view interface_name() const noexcept {
    return extended_ != nullptr ? "ibv_wr_*" : "ibv_post_send";
  }

 private:
  WorkRequestPoster(ibv_qp* qp, ibv_qp_ex* extended, std::uint32_t max_inline,
                    std::uint64_t wr_id_base) noexcept
      : qp_(qp), extended_(extended), max_inline_(max_inline), wr_id_base_(wr_id_base) {}

  [[nodiscard]] static unsigned flags_of(bool is_signalled, bool is_inline) noexcept {
    unsigned flags = is_signalled ? unsigned{IBV_SEND_SIGNALED} : 0U;
    if (is_inline) flags |= IBV_SEND_INLINE;  // Soft-RoCE asks for it
    return flags;
  }
  static void build(ibv_qp_ex* qp, const WorkRecord& record, Opcode opcode,
                    bool is_inline) noexcept;
  [[nodiscard]] ibv_send_wr plain_request(const WorkRecord& record, std::uint32_t number,
                                          ibv_sge& sge) const noexcept;
  [[nodiscard]] int post_plain(const WorkRecord& record, std::uint32_t number) const noexcept;
  [[nodiscard]] Result post_extended(const SendLedger& ledger) const noexcept;
  [[nodiscard]] Result post_chained(const SendLedger& ledger) const noexcept;

  ibv_qp* qp_;
  ibv_qp_ex* extended_;  ///< null: the provider has no ibv_wr_*
  std::uint32_t max_inline_;
  std::uint64_t wr_id_base_;
};

inline WorkRequestPoster::Result WorkRequestPoster::post_extended(
    const SendLedger& ledger) const noexcept {
  ibv_wr_start(extended_);
  std::uint32_t number = ledger.posted();
  do {
    const WorkRecord& record = ledger.record(number);
    const bool is_inline = fits_inline(record.opcode, record.length);
    extended_->wr_id = wr_id_base_ | number;
    extended_->wr_flags = flags_of(record.signalled, is_inline);
    build(extended_, record, record.opcode, is_inline);
  } while (++number != ledger.next());
  const int error = ibv_wr_complete(extended_);
  return {.posted = error == 0 ? ledger.staged() : 0, .error = error};
}

inline void WorkRequestPoster::build(ibv_qp_ex* qp, const WorkRecord& record, Opcode opcode,
                                     bool is_inline) noexcept {
  switch (opcode) {
    case Opcode::write:
      ibv_wr_rdma_write(qp, record.rkey, record.remote_address);
      break;
    case Opcode::read:
      ibv_wr_rdma_read(qp, record.rkey, record.remote_address);
      break;
    case Opcode::fetch_add:
      ibv_wr_atomic_fetch_add(qp, record.rkey, record.remote_address, record.operand);
      break;
    case Opcode::compare_and_swap:
      ibv_wr_atomic_cmp_swp(qp, record.rkey, record.remote_address, record.operand, record.swap);
      break;
  }
  if (is_inline) {
    ibv_wr_set_inline_data(qp, record.local, record.length);
  } else {  // also for no bytes at all: some providers end a request by its buffer
    ibv_wr_set_sge(qp, record.lkey, address_of(record), record.length);
  }
}

}  // namespace oriel::verbs
