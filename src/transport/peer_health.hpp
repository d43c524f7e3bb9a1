#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace oriel::transport {

/// Who is known to be dead, and how that was learnt. Agent threads and endpoints report; every wait
/// looks. Threads: any. deaths() is one atomic load, so that a wait may look at it in each turn.
class PeerHealth {
 public:
  struct Death {
    int rank = 0;  ///< world rank
    std::string host{};
    std::string how{};
  };

  /// Host names by world rank, for messages; set once, before anyone can report.
  void set_hosts(std::vector<std::string> hosts) { hosts_ = std::move(hosts); }
  [[nodiscard]] std::string host(int world_rank) const;

  /// Only the first report of a rank counts.
  void report_dead(int world_rank, std::string how);
  [[nodiscard]] std::uint32_t deaths() const noexcept {
    return count_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::vector<Death> list() const;
  [[nodiscard]] std::optional<Death> find(int world_rank) const;

 private:
  std::vector<std::string> hosts_;
  std::atomic<std::uint32_t> count_{0};
  mutable std::mutex mutex_;
  std::vector<Death> dead_;
};

}  // namespace oriel::transport
