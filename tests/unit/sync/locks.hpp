#pragma once
/// The locks of a team whose ranks are threads.

#include <cstddef>
#include <deque>
#include <thread>

#include <gtest/gtest.h>

#include "sync/queued_lock.hpp"
#include "unit/sync/ranks.hpp"

namespace oriel::test {

using sync::ControlWords;
using Mode = sync::LockMode;

inline constexpr std::size_t kPart = offsetof(ControlWords, part_lock);
inline constexpr std::size_t kWindow = offsetof(ControlWords, window_lock);

inline void pause() {
  std::this_thread::yield();
}

inline std::size_t index_of(int rank) {
  return static_cast<std::size_t>(rank);
}

/// The locks of all ranks of a team.
class Locks : public Ranks {
 public:
  explicit Locks(int size) : Ranks(size) {
    for (int rank = 0; rank < size; ++rank) {
      locks_.emplace_back(words[index_of(rank)], &ControlWords::lock_node, partners(rank),
                          progress[index_of(rank)], vigils[index_of(rank)]);
    }
  }

  void lock(int rank, Mode mode, int owner = 0, std::size_t which = kPart) {
    of(rank).lock("lock", partner(rank, owner).at(which), mode);
  }
  void unlock(int rank, Mode mode, int owner = 0, std::size_t which = kPart) {
    of(rank).unlock(partner(rank, owner).at(which), mode);
  }
  [[nodiscard]] sync::QueuedLock& of(int rank) { return locks_[index_of(rank)]; }
  [[nodiscard]] sync::LockState state() { return {sync::load(words[0].part_lock.state)}; }
  /// Whether `rank` is the last of the queue at the part of rank 0, and the queue has a head.
  [[nodiscard]] bool is_last(int rank) {
    return sync::load(words[0].part_lock.tail) == index_of(rank) + 1 && state().head() != 0;
  }
  void expect_free() {
    for (ControlWords& one : words) {
      EXPECT_EQ(one.part_lock.state, 0U);
      EXPECT_EQ(one.part_lock.tail, 0U);
      EXPECT_EQ(one.window_lock.state, 0U);
      EXPECT_EQ(one.window_lock.tail, 0U);
    }
  }

 private:
  std::deque<sync::QueuedLock> locks_;
};

}  // namespace oriel::test
