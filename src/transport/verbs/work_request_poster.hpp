#pragma once

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
  /// Posts everything staged with one doorbell. The queue has room for it: the ledger is never
  /// deeper than the queue, so every error is a real one.
  [[nodiscard]] Result post(const SendLedger& ledger) const noexcept;

  [[nodiscard]] std::uint32_t max_inline() const noexcept { return max_inline_; }
  [[nodiscard]] std::string_view interface_name() const noexcept {
    return extended_ != nullptr ? "ibv_wr_*" : "ibv_post_send";
  }

 private:
  WorkRequestPoster(ibv_qp* qp, ibv_qp_ex* extended, std::uint32_t max_inline,
                    std::uint64_t wr_id_base) noexcept
      : qp_(qp), extended_(extended), max_inline_(max_inline), wr_id_base_(wr_id_base) {}

  [[nodiscard]] bool fits_inline(const WorkRecord& record) const noexcept {
    return record.opcode == Opcode::write && record.length > 0 && record.length <= max_inline_;
  }
  [[nodiscard]] unsigned flags(const WorkRecord& record) const noexcept {
    unsigned flags = 0;
    if (record.signalled) flags |= IBV_SEND_SIGNALED;
    if (fits_inline(record)) flags |= IBV_SEND_INLINE;
    return flags;
  }
  [[nodiscard]] Result post_extended(const SendLedger& ledger) const noexcept;
  [[nodiscard]] Result post_chained(const SendLedger& ledger) const noexcept;

  ibv_qp* qp_;
  ibv_qp_ex* extended_;  ///< null: the provider has no ibv_wr_*
  std::uint32_t max_inline_;
  std::uint64_t wr_id_base_;
};

}  // namespace oriel::verbs
