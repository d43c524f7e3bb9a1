// What synchronisation costs when nobody is in the way, counted in requests to the device: ranks as
// threads on the fake one.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <bit>
#include <functional>
#include <string>
#include <vector>

#include <oriel/oriel.hpp>

#include "support/fake_verbs/fake_verbs.hpp"
#include "support/thread_job.hpp"

namespace oriel {
namespace {

using fake_verbs::Statistics;
using Word = std::uint64_t;
using Group = std::vector<Rank>;

// Writes are visible when they are complete: no reads are added.
const std::vector<std::string> kEnvironment = {"ORIEL_FABRIC=verbs", "ORIEL_VISIBILITY=ordered",
                                               "ORIEL_LOG=error"};

std::uint64_t atomics(const Statistics& count) {
  return count.posted(IBV_WR_ATOMIC_FETCH_AND_ADD) + count.posted(IBV_WR_ATOMIC_CMP_AND_SWP);
}
std::uint64_t writes(const Statistics& count) {
  return count.posted(IBV_WR_RDMA_WRITE);
}

/// One rank of a job whose ranks all measure the same things.
class Meter {
 public:
  /// @param meet  brings the ranks together without a message
  Meter(Runtime& job, std::barrier<>& meet)
      : job_(job),
        meet_(meet),
        window_(Window<Word>::allocate(job.world(), 4096)),
        values_(job, 4096) {
    for (int rank = 0; rank < size(); ++rank) window_.put(Word{0}, Rank(rank), 0);  // connects
    window_.fence();
  }

  /// What `step` costs on all ranks together: the least of some tries, as ranks that wait for long
  /// ask for signs of life in between.
  template <class Step>
  Statistics of_all(Step&& step) {
    Statistics least = of_one_try(step);
    for (int further = 0; further < 2; ++further) {
      const Statistics count = of_one_try(step);
      if (count.posted() < least.posted()) least = count;
    }
    return least;
  }
  /// What `step` costs rank 0; the others do nothing.
  template <class Step>
  Statistics of_one(Step&& step) {
    return of_one_try([&] {
      if (me() == 0) step();
    });
  }

  [[nodiscard]] const Team& team() const { return job_.world(); }
  [[nodiscard]] int me() const { return team().rank(); }
  [[nodiscard]] int size() const { return team().size(); }
  [[nodiscard]] Rank next() const { return Rank((me() + 1) % size()); }
  [[nodiscard]] Group others() const {
    Group group;
    for (int rank = 0; rank < size(); ++rank) {
      if (rank != me()) group.emplace_back(rank);
    }
    return group;
  }
  [[nodiscard]] Window<Word>& window() { return window_; }
  [[nodiscard]] std::span<Word> values() { return values_.span(); }  // known to the device

 private:
  template <class Step>
  Statistics of_one_try(Step&& step) {
    window_.flush_all();
    meet_.arrive_and_wait();
    if (me() == 0) fake_verbs::reset_statistics();
    meet_.arrive_and_wait();
    step();
    meet_.arrive_and_wait();
    const Statistics count = fake_verbs::statistics();
    meet_.arrive_and_wait();
    return count;
  }

  Runtime& job_;
  std::barrier<>& meet_;
  Window<Word> window_;
  Buffer<Word> values_;
};

void measure(int ranks, const std::function<void(Meter&)>& body) {
  fake_verbs::reset();
  std::barrier meet(ranks);
  test::run_ranks(ranks, kEnvironment, [&](Runtime& job) {
    Meter meter(job, meet);
    body(meter);
    meter.team().barrier();
  });
}

TEST(Costs, OfLocks) {
  measure(4, [](Meter& meter) {
    auto& window = meter.window();
    const Rank target(2);
    struct Lock {
      std::uint64_t atomics;
      std::function<void()> take;
      std::function<void()> give;
    };
    const std::array locks{
        Lock{1, [&] { window.lock(target, LockMode::shared).release(); },
             [&] { window.unlock(target); }},
        Lock{2, [&] { window.lock(target, LockMode::exclusive).release(); },
             [&] { window.unlock(target); }},
        Lock{1, [&] { window.lock_all().release(); }, [&] { window.unlock_all(); }},
        Lock{0, [&] { window.lock(target, LockMode::exclusive, true).release(); },
             [&] { window.unlock(target); }},
        Lock{0, [&] { window.lock_all(true).release(); }, [&] { window.unlock_all(); }},
    };
    for (std::size_t i = 0; i < locks.size(); ++i) {
      const Statistics take = meter.of_one(locks[i].take);
      EXPECT_EQ(atomics(take), locks[i].atomics) << i;
      EXPECT_EQ(take.posted(), locks[i].atomics) << i;
      const Statistics give = meter.of_one(locks[i].give);
      EXPECT_EQ(atomics(give), locks[i].atomics) << i;
      EXPECT_EQ(give.posted(), locks[i].atomics) << i;
    }
  });
}

TEST(Costs, OfFurtherExclusiveParts) {
  measure(4, [](Meter& meter) {
    const Statistics count = meter.of_one([&] {
      std::vector<LockGuard> guards;
      for (int part = 0; part < 4; ++part) {
        guards.push_back(meter.window().lock(Rank(part), LockMode::exclusive));
      }
    });
    EXPECT_EQ(atomics(count), 2U * (4 + 4));
    EXPECT_EQ(count.posted(), atomics(count));
  });
}

TEST(Costs, OfPostStartCompleteWait) {
  for (const int ranks : {2, 4}) {
    measure(ranks, [ranks](Meter& meter) {
      auto& window = meter.window();
      const Group others = meter.others();
      const Statistics count = meter.of_all([&] {
        window.post(others);
        window.start(others);
        window.complete();
        window.wait();
      });
      // One of the target's and one of the origin's for every pair.
      const auto pairs = static_cast<std::uint64_t>(ranks * (ranks - 1));
      EXPECT_EQ(writes(count), 2 * pairs);
      EXPECT_EQ(count.posted(), 2 * pairs);
    });
  }
}

TEST(Costs, OfAFence) {
  for (const int ranks : {2, 3, 4}) {
    measure(ranks, [ranks](Meter& meter) {
      const auto rounds = static_cast<std::uint64_t>(std::bit_width(unsigned(ranks - 1)));
      const auto all = static_cast<std::uint64_t>(ranks) * rounds;
      const Statistics empty = meter.of_all([&] { meter.window().fence(); });
      EXPECT_EQ(writes(empty), all);
      EXPECT_EQ(empty.posted(), all);
      const Statistics full = meter.of_all([&] {
        meter.window().put(Word{1}, meter.next(), 0);
        meter.window().fence();
      });
      EXPECT_EQ(full.posted(), all + static_cast<std::uint64_t>(ranks));
    });
  }
}

TEST(Costs, OfPutAndFlush) {
  measure(2, [](Meter& meter) {
    auto& window = meter.window();
    for (const std::size_t size : {1U, 16U, 4096U}) {
      const auto values = meter.values().first(size);
      const Statistics put = meter.of_one([&] {
        window.put(values, meter.next(), 0);
        window.flush(meter.next());
      });
      EXPECT_EQ(put.posted(), 1U) << size;
      EXPECT_EQ(put.doorbells, 1U) << size;
      const Statistics request =
          meter.of_one([&] { window.rput(values, meter.next(), 0).wait_remote(); });
      EXPECT_EQ(request.posted(), 1U) << size;
      const Statistics get = meter.of_one([&] {
        window.get(values, meter.next(), 0);
        window.flush(meter.next());
      });
      EXPECT_EQ(get.posted(), 1U) << size;
    }
    const Statistics nothing = meter.of_one([&] {
      window.flush(meter.next());
      window.flush_all();
      window.flush_local_all();
      window.sync();
    });
    EXPECT_EQ(nothing.posted(), 0U);
  });
}

TEST(Costs, OfAtomics) {
  measure(2, [](Meter& meter) {
    auto& window = meter.window();
    Word old = 0;
    EXPECT_EQ(meter.of_one([&] { old = window.fetch_add(1, meter.next(), 0); }).posted(), 1U);
    EXPECT_EQ(meter.of_one([&] { old = window.compare_and_swap(1, 2, meter.next(), 0); }).posted(),
              1U);
    const Statistics many = meter.of_one([&] {
      window.accumulate(meter.values().first(32), meter.next(), 0, op::sum);
      window.flush(meter.next());
    });
    EXPECT_EQ(atomics(many), 32U);
    EXPECT_LE(many.posted(), 33U);
  });
}

TEST(Costs, OfNotifications) {
  measure(2, [](Meter& meter) {
    auto& window = meter.window();
    for (const std::size_t size : {0U, 1U, 16U, 4096U}) {
      const Statistics count = meter.of_one([&] {
        window.put_notify(meter.values().first(size), meter.next(), 0, 3);
        window.flush(meter.next());
      });
      EXPECT_EQ(writes(count), size == 0 ? 0U : 1U) << size;
      EXPECT_EQ(atomics(count), 1U) << size;
      EXPECT_EQ(count.posted(), writes(count) + 1) << size;
      EXPECT_EQ(count.doorbells, 1U) << size;
    }
    const Statistics looking = meter.of_one([&] {
      (void)window.test_notify(3, 1000);
      (void)window.test_notify_any(8, 4);
      (void)window.pending_notifications(3);
    });
    EXPECT_EQ(looking.posted(), 0U);
  });
}

TEST(Costs, OfAStridedPut) {
  measure(2, [](Meter& meter) {
    auto& window = meter.window();
    const auto gapped = Layout::strided(4, {{16, 8}});
    const Statistics put = meter.of_one([&] {
      window.put(meter.values(), gapped, meter.next(), 0, gapped);
      window.flush(meter.next());
    });
    EXPECT_LE(put.doorbells, 2U);
    EXPECT_LE(put.posted(), 17U);
    const Statistics get = meter.of_one([&] {
      window.get(meter.values(), gapped, meter.next(), 0, gapped);
      window.flush(meter.next());
    });
    EXPECT_LE(get.doorbells, 2U);
    EXPECT_LE(get.posted(), 17U);
  });
}

/// B186: who makes a window connects to its partners of the fence, not to everybody.
TEST(Costs, OfAWindowAreNoConnectionsToStrangers) {
  constexpr int kRanks = 16;
  fake_verbs::reset();
  std::barrier meet(kRanks);
  test::run_ranks(kRanks, kEnvironment, [&](Runtime& job) {
    auto window = Window<Word>::allocate(job.world(), 64);
    window.fence();
    meet.arrive_and_wait();
    if (job.world().rank() == 0) {
      constexpr std::uint64_t kPartners = 7;  // four ahead, four behind, of which one is both
      EXPECT_LE(fake_verbs::statistics().queue_pairs, 2 * kPartners * kRanks);  // two ends each
    }
    meet.arrive_and_wait();
    window.fence();
  });
}

}  // namespace
}  // namespace oriel
