#pragma once
/// Litmus tests: small races whose outcomes a memory model allows or forbids, on typed windows.

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <oriel/oriel.hpp>

#include "conformance/job.hpp"

namespace oriel::conformance {

/// What a litmus test is given.
struct Stand {
  Job& job;
  const Team& world;
  WindowKind kind;
  bool full;
  [[nodiscard]] int rank() const noexcept { return job.rank(); }
  [[nodiscard]] int ranks() const noexcept { return job.ranks(); }
  [[nodiscard]] Rank right() const noexcept { return Rank((rank() + 1) % ranks()); }
  [[nodiscard]] Rank left() const noexcept { return Rank((rank() + ranks() - 1) % ranks()); }
};

/// The rounds of a test: `most` of them, but only `least` where they take long.
class Rounds {
 public:
  enum class Pace : std::uint8_t {
    own,     ///< each rank takes as many as it can
    common,  ///< all take the same number
  };
  Rounds(const Stand& stand, std::int64_t least, std::int64_t most, Pace pace = Pace::own)
      : job_(stand.job),
        least_(least),
        most_(std::max(least, most)),
        pace_(pace),
        end_(Clock::now() + std::chrono::milliseconds(stand.full ? 5'000 : 150)) {}
  /// Whether there is another one. Collective now and then if the pace is common.
  [[nodiscard]] bool next() {
    if (done_ >= most_ || (done_ >= least_ && is_late())) return false;
    ++done_;
    return true;
  }
  /// The number of this round, from 1 on; after the last one, how many there were.
  [[nodiscard]] std::int64_t number() const noexcept { return done_; }

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] bool is_late() const {
    const bool mine = Clock::now() >= end_;
    if (pace_ == Pace::own) return mine;
    return (done_ - least_) % 50 == 0 && !job_.agree(!mine);
  }

  Job& job_;
  std::int64_t least_;
  std::int64_t most_;
  Pace pace_;
  Clock::time_point end_;
  std::int64_t done_ = 0;
};

/// Words of 64 bits on every rank, in a window of any kind.
class Words {
 public:
  using Word = std::int64_t;
  Words(const Stand& stand, std::size_t count);

  [[nodiscard]] Window<Word>& window() noexcept { return window_; }
  /// The offset of a word for operations.
  [[nodiscard]] std::size_t at(Rank target, std::size_t index) const {
    return bases_[static_cast<std::size_t>(static_cast<int>(target))] + index;
  }
  /// A look at this rank's own word, while others may change it.
  [[nodiscard]] Word look(std::size_t index) {
    return std::atomic_ref<Word>(mine_[index]).load(std::memory_order_acquire);
  }
  void wait_until(std::size_t index, Word least) {
    while (look(index) < least) ::sched_yield();
  }
  [[nodiscard]] std::span<Word> mine() noexcept { return mine_; }

 private:
  std::vector<Word> own_;  // goes after the window
  Window<Word> window_;
  std::span<Word> mine_;
  std::vector<std::uint64_t> bases_;
};

/// The words of all ranks, in their order. Collective.
[[nodiscard]] std::vector<Words::Word> gather_words(const Stand& stand,
                                                    std::span<const Words::Word> mine);

/// Each returns what this rank has found wrong; empty: nothing. Collective.
using Litmus = std::string (*)(const Stand&);

// litmus_messages.cpp: data, then a sign that it is there
std::string message_by_flag(const Stand& stand);
std::string message_by_notification(const Stand& stand);
std::string message_behind_reads(const Stand& stand);
std::string message_by_fence(const Stand& stand);
std::string message_by_pscw(const Stand& stand);
std::string message_by_lock(const Stand& stand);
std::string store_buffering(const Stand& stand);
// litmus_atomics.cpp
std::string atomics_on_one_word(const Stand& stand);
std::string election(const Stand& stand);
// litmus_epochs.cpp
std::string exclusive_lock(const Stand& stand);
std::string untorn_pairs(const Stand& stand);
std::string changing_groups(const Stand& stand);
std::string two_windows(const Stand& stand);

}  // namespace oriel::conformance
