#include "sync/queued_lock.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "unit/sync/locks.hpp"

namespace oriel::sync {
namespace {

using test::Locks;
using test::Mode;
using test::pause;
using testing::ElementsAre;
using testing::HasSubstr;

/// Ranks that come to queue at the part of rank 0, one after the other, and note when they hold.
class Arrivals {
 public:
  explicit Arrivals(Locks& locks) : locks_(locks) {}
  ~Arrivals() { join(); }
  /// Returns when `rank` waits in the queue.
  void add(int rank, Mode mode) {
    threads_.emplace_back([this, rank, mode] {
      locks_.lock(rank, mode);
      {
        const std::scoped_lock guard(mutex_);
        order_.push_back(rank);
      }
      locks_.unlock(rank, mode);
    });
    while (!locks_.is_last(rank)) pause();
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  [[nodiscard]] std::vector<int> order() {
    const std::scoped_lock guard(mutex_);
    return order_;
  }

 private:
  Locks& locks_;
  std::mutex mutex_;
  std::vector<int> order_;
  std::vector<std::thread> threads_;
};

TEST(QueuedLock, TheQueueIsServedInItsOrder) {
  Locks locks(8);
  locks.lock(0, Mode::exclusive);
  Arrivals arrivals(locks);
  for (const int rank : {5, 2, 7, 1, 6, 3, 4}) arrivals.add(rank, Mode::exclusive);
  locks.unlock(0, Mode::exclusive);
  arrivals.join();
  EXPECT_THAT(arrivals.order(), ElementsAre(5, 2, 7, 1, 6, 3, 4));
  locks.expect_free();
}

TEST(QueuedLock, ANewcomerThatCouldShareQueuesBehindOneThatWaits) {
  Locks locks(4);
  locks.lock(0, Mode::shared);
  Arrivals arrivals(locks);
  arrivals.add(1, Mode::exclusive);
  arrivals.add(2, Mode::shared);
  arrivals.add(3, Mode::crowd);
  EXPECT_EQ(locks.state().a(), 1U);
  locks.unlock(0, Mode::shared);
  arrivals.join();
  EXPECT_THAT(arrivals.order(), ElementsAre(1, 2, 3));
  locks.expect_free();
}

TEST(QueuedLock, ThoseWhoCanHoldTogetherAreLetInTogether) {
  Locks locks(4);
  locks.lock(0, Mode::exclusive);
  std::atomic<int> inside{0};
  std::vector<std::thread> threads;
  for (int rank = 1; rank < 4; ++rank) {
    threads.emplace_back([&, rank] {
      locks.lock(rank, Mode::crowd);
      ++inside;
      while (inside < 3) pause();  // none leaves before all are in
      locks.unlock(rank, Mode::crowd);
    });
    while (!locks.is_last(rank)) pause();
  }
  locks.unlock(0, Mode::exclusive);
  for (std::thread& thread : threads) thread.join();
  locks.expect_free();
}

TEST(QueuedLock, CostsOneAtomicWhenNobodyIsInTheWay) {
  for (const Mode mode : {Mode::shared, Mode::crowd, Mode::exclusive}) {
    Locks locks(2);
    locks.lock(1, mode);
    EXPECT_EQ(locks.of(1).atomics(), 1U);
    locks.unlock(1, mode);
    EXPECT_EQ(locks.of(1).atomics(), 2U);
    EXPECT_EQ(locks.endpoints[1].atomics, 2);
    EXPECT_EQ(locks.endpoints[1].adds, 0);
  }
  Locks locks(3);
  for (int rank = 0; rank < 3; ++rank) locks.lock(rank, Mode::shared);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(locks.of(rank).atomics(), 1U) << "beside others of its kind, too";
  }
}

TEST(QueuedLock, WaitingCostsNoAtomics) {
  Locks locks(3);
  locks.lock(0, Mode::exclusive);
  Arrivals arrivals(locks);
  arrivals.add(1, Mode::exclusive);
  arrivals.add(2, Mode::exclusive);
  // The first of the queue has tried in vain when its next attempt would be the fifth.
  while (locks.of(1).atomics() < 4) pause();
  const auto before = locks.of(1).atomics() + locks.of(2).atomics();
  for (int turn = 0; turn < 200; ++turn) pause();
  EXPECT_EQ(locks.of(1).atomics() + locks.of(2).atomics(), before);
  locks.unlock(0, Mode::exclusive);
  arrivals.join();
  EXPECT_LE(locks.of(1).atomics(), 8U);
  EXPECT_LE(locks.of(2).atomics(), 8U);
}

/// Everybody but rank 0, which holds the lock, waits for it; what `ends` does ends all waits.
template <class Ends>
void expect_all_waits_end(int size, ErrorCode code, Ends ends) {
  Locks locks(size);
  locks.lock(0, Mode::exclusive);
  std::atomic<int> told{0};
  locks.on_all([&](int rank) {
    if (rank == 0) {
      while (locks.state().head() == 0) pause();
      return ends(locks);
    }
    try {
      locks.lock(rank, rank % 2 == 0 ? Mode::shared : Mode::exclusive);
      ADD_FAILURE() << "rank " << rank << " holds the lock";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_EQ(error.details().target, 0);
      EXPECT_EQ(error.details().operation, "lock");
      EXPECT_THAT(error.what(), HasSubstr("nodeX"));
      ++told;
      locks.barrier(rank).give_up(&error);
    }
  });
  EXPECT_EQ(told, size - 1);
}

TEST(QueuedLock, ADeathThatOneRankLearnsOfEndsTheWaitOfAll) {
  for (const int size : {2, 3, 8}) {
    expect_all_waits_end(size, ErrorCode::peer_lost, [](Locks& locks) {
      locks.health.back().report_dead(0, "its process has ended");
    });
  }
}

TEST(QueuedLock, AHolderThatLeavesByAnErrorEndsTheWaitOfAll) {
  for (const int size : {2, 3, 8}) {
    expect_all_waits_end(size, ErrorCode::peer_failed,
                         [](Locks& locks) { locks.barrier(0).give_up(); });
  }
}

TEST(QueuedLock, AFailedWayToTheOneBeforeEndsTheWait) {
  Locks locks(3);
  locks.lock(0, Mode::exclusive);
  locks.words[0].part_lock.tail = 2;  // as if rank 1 were in the queue
  locks.endpoints[2].broken.emplace(ErrorCode::transport_failed, ErrorDetails{.operation = "add"});
  EXPECT_THROW(locks.lock(2, Mode::shared), Error);
}

TEST(QueuedLock, WhoWaitsLongCanSayWhatFor) {
  Locks locks(4);
  locks.lock(1, Mode::exclusive);
  EXPECT_EQ(sync::lock_text(0, locks.state()),
            "the lock at team rank 0, which 1 rank holds exclusively");
  locks.unlock(1, Mode::exclusive);
  locks.lock(1, Mode::shared);
  locks.lock(2, Mode::shared);
  EXPECT_EQ(sync::lock_text(3, locks.state()),
            "the lock at team rank 3, which 2 ranks hold shared");
}

TEST(QueuedLock, AsksTheOthersForASignOfLife) {
  Locks locks(2);
  locks.lock(0, Mode::exclusive);
  std::thread late([&] {
    while (locks.endpoints[1].probes == 0) pause();
    locks.unlock(0, Mode::exclusive);
  });
  locks.lock(1, Mode::exclusive);
  late.join();
  EXPECT_GE(locks.endpoints[1].probes, 1);
}

}  // namespace
}  // namespace oriel::sync
