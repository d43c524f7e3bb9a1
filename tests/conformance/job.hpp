#pragma once
/// The ranks that run the suite: how they agree, where they are, and the watch over them. All by
/// MPI, not by what is tested.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace oriel::conformance {

/// Ends the process when one step takes longer than any should; mpirun then ends the others. A hang
/// is a failure with a name.
class Watchdog {
 public:
  /// @param limit  0: never
  Watchdog(int rank, std::chrono::seconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  void now_at(std::string_view step);
  /// Is told with the step, if it hangs.
  void remark(std::string_view text);

 private:
  void run(std::chrono::seconds limit);

  int rank_;
  std::mutex mutex_;
  std::string step_ = "start-up";
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class Job {
 public:
  /// @param neighbours  the ranks on this rank's machine
  Job(const std::vector<int>& neighbours, std::chrono::seconds limit);

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(nodes_.size()); }
  /// Number of every rank's machine.
  [[nodiscard]] const std::vector<int>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] int node_count() const noexcept;
  void now_at(std::string_view step) { watchdog_.now_at(step); }
  void remark(std::string_view text) { watchdog_.remark(text); }

  // Collective.
  void barrier() const;
  /// Whether all ranks say so.
  [[nodiscard]] bool agree(bool mine) const;
  [[nodiscard]] double most(double mine) const;
  [[nodiscard]] std::int64_t sum(std::int64_t mine) const;
  /// What all ranks give, on all ranks.
  [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t mine) const;
  [[nodiscard]] std::vector<std::byte> gather_all(const std::vector<std::byte>& mine) const;
  /// On rank 0 what the ranks have to say, "rank 3 on host: text" each; empty elsewhere.
  [[nodiscard]] std::vector<std::string> gather_texts(const std::string& mine) const;

 private:
  int rank_ = 0;
  std::string host_;
  std::vector<int> nodes_;
  Watchdog watchdog_;
};

}  // namespace oriel::conformance
