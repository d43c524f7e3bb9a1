#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "transport/verbs/verbs_call.hpp"
#include "transport/verbs/verbs_handles.hpp"

namespace oriel::verbs {

/// The one completion queue of a process, and the credits that keep it from overrunning (an overrun
/// loses completions, and nothing tells).
///
/// Each work request holds one credit from when it is recorded until it is retired: in the worst
/// case, a broken queue pair, every request makes a completion, signalled or not.
class CompletionQueue {
 public:
  static constexpr int kWantedEntries = 8192;

  CompletionQueue(ibv_context* context, int max_entries, const std::string& device)
      : cq_(check_made<CqHandle>(
            ibv_create_cq(context, std::min(kWantedEntries, std::max(max_entries, 1)), nullptr,
                          nullptr, 0),
            "ibv_create_cq", device)),
        capacity_(static_cast<std::uint32_t>(cq_->cqe)),
        free_(capacity_) {}

  [[nodiscard]] ibv_cq* get() const noexcept { return cq_.get(); }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  /// Work requests recorded and not retired, over all queue pairs.
  [[nodiscard]] std::uint32_t outstanding() const noexcept { return capacity_ - free_ - gone_; }

  [[nodiscard]] bool has_credit() const noexcept { return free_ != 0; }
  /// From here on every request asks for its completion. So at least half of a full queue's
  /// credits are held by requests that complete by themselves, however many queue pairs hold
  /// unsignalled ones: whoever waits for credit gets it.
  [[nodiscard]] bool is_half_used() const noexcept { return free_ <= capacity_ - capacity_ / 2; }

  void take_credit() noexcept { --free_; }
  void give_back(std::uint32_t credits) noexcept { free_ += credits; }
  /// For requests of a destroyed queue pair: their completions may still be in the queue, so their
  /// credits come back when it has been seen empty.
  void give_back_when_empty(std::uint32_t credits) noexcept { gone_ += credits; }
  void was_empty() noexcept {
    free_ += gone_;
    gone_ = 0;
  }

 private:
  CqHandle cq_;
  std::uint32_t capacity_;
  std::uint32_t free_;
  std::uint32_t gone_ = 0;
};

}  // namespace oriel::verbs
