#pragma once
/// What rank 0 tells the user: a progress bar while running, a table at the end.

#include <cstddef>
#include <string>
#include <vector>

#include "stencil/rank_grid.hpp"
#include "stencil/step_times.hpp"
#include "stencil/sync.hpp"

namespace stencil {

/// A bar on one line of the terminal; silent if `shown` is false.
class ProgressBar {
 public:
  ProgressBar(bool shown, std::size_t steps) : shown_(shown), steps_(steps) {}
  ~ProgressBar();
  ProgressBar(ProgressBar&&) = delete;
  ProgressBar& operator=(ProgressBar&&) = delete;
  void update(std::size_t done);

 private:
  bool shown_;
  std::size_t steps_;
  std::size_t percent_ = 0;
};

/// A bar is for people: true if standard output is a terminal.
[[nodiscard]] bool output_is_terminal();

/// The line of the bar, without control characters.
[[nodiscard]] std::string bar_line(std::size_t percent);

struct Summary {
  Extent extent;
  RankGrid grid;
  Sync sync = Sync::fence;
  std::vector<std::string> peer_fabrics;  ///< of every rank but this one
  StepTimes times;                        ///< as this rank saw them
};

/// Aligned lines, each ended.
[[nodiscard]] std::string format_summary(const Summary& summary);

/// "shm: 3 peers, verbs: 2 peers".
[[nodiscard]] std::string summarise_fabrics(const std::vector<std::string>& peer_fabrics);

// Numbers with a fitting unit: "12.3 us", "4.00 KiB", "1.25 G".
[[nodiscard]] std::string format_seconds(double seconds);
[[nodiscard]] std::string format_bytes(std::size_t bytes);
[[nodiscard]] std::string format_count(double count);

}  // namespace stencil
