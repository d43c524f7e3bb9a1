// Requests, flushes and epochs that hung or came too early elsewhere, by the numbers of their
// cases.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

class Ends : public BothKinds {
 protected:
  static void be_late() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
};

// B031: two blocks apart here, two that touch there; whoever asks has no memory of its own.
TEST_P(Ends, ARequestOfAnOriginThatExposesNothing) {
  constexpr std::size_t kBlock = 20;
  const Rank owner(ranks() - 1);
  Exposed<double> doubles(world(), GetParam(), me() == owner ? 2 * kBlock : 0);
  auto& window = doubles.window;
  std::vector<double> wanted(2 * kBlock);
  std::iota(wanted.begin(), wanted.end(), 1.0);
  if (me() == 0) {
    std::vector<double> values = wanted;
    values.insert(values.begin() + kBlock, -1.0);
    window
        .rput(values, Layout::strided(kBlock, {{2, kBlock + 1}}), owner, 0,
              Layout::strided(kBlock, {{2, kBlock}}))
        .wait_remote();
  }
  mpi_barrier();
  if (me() == owner) {
    EXPECT_TRUE(std::ranges::equal(window.local(), wanted));
  }
  window.fence();
}

// B032: the wait alone brings the data, without a flush.
TEST_P(Ends, AWaitForAGetUnderALockOfAll) {
  Exposed<int> ints(world(), GetParam(), 100);
  auto& window = ints.window;
  std::ranges::fill(window.local(), me());
  window.fence();
  {
    const auto guard = window.lock_all(true);
    for (int target = 0; target < ranks(); ++target) {
      std::vector<int> seen(100, -1);
      window.rget(seen, Rank(target), 0).wait();
      EXPECT_EQ(std::ranges::count(seen, target), 100);
    }
  }
  window.fence();
}

// B035: rank 0 looks at its own flag, in every way there is, while all others raise it.
TEST_P(Ends, PollingTheOwnFlagHoldsUpNobody) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  Word seen = 0;
  const std::array<std::function<void()>, 3> looks{
      [&] {
        window.get(std::span(&seen, 1), Rank(0), 0);
        window.flush_local(Rank(0));
      },
      [&] {
        window.fetch_and_op(0, seen, Rank(0), 0, op::no_op);
        window.flush_local(Rank(0));
      },
      [&] { seen = std::atomic_ref(window.local()[0]).load(std::memory_order_acquire); },
  };
  Word wanted = 0;
  for (const auto& look : looks) {
    wanted += static_cast<Word>(ranks());
    if (me() == 0) {
      window.accumulate(Word{1}, Rank(0), 0, op::sum);
      window.flush(Rank(0));
      wait_until([&] { return look(), seen == wanted; });
    } else {
      window.accumulate(Word{1}, Rank(0), 0, op::sum);
      window.flush(Rank(0));
    }
    window.fence();
  }
}

// B036: what is under way when a window goes is completed by its end.
TEST_P(Ends, AWindowThatGoesCompletesWhatIsUnderWay) {
  const auto count = static_cast<std::size_t>(scaled(1000));
  for (const bool by_destructor : {false, true}) {
    std::vector<Word> olds(count, 99);
    std::vector<Word> seen(count, 99);
    const std::vector<Word> values(count, 5);
    std::vector<Word> memory;
    {
      Exposed<Word> words(world(), GetParam(), 3 * count);
      for (std::size_t i = 0; i < count; ++i) {
        words.window.fetch_add(1, olds[i], right(), i);
        words.window.put(std::span(values).subspan(i, 1), right(), count + i);
        words.window.get(std::span(seen).subspan(i, 1), right(), 2 * count + i);
      }
      if (!by_destructor) {
        words.window.free();
        memory = words.own;
      }
    }
    EXPECT_TRUE(all_zero(std::as_bytes(std::span(olds))));
    EXPECT_TRUE(all_zero(std::as_bytes(std::span(seen))));
    if (!memory.empty()) {
      EXPECT_EQ(std::ranges::count(std::span(memory).first(count), Word{1}),
                static_cast<std::ptrdiff_t>(count));
      EXPECT_EQ(std::ranges::count(std::span(memory).subspan(count, count), Word{5}),
                static_cast<std::ptrdiff_t>(count));
    }
  }
}

// B041: nobody's put gets to a rank that has not reached its opening fence.
TEST_P(Ends, AnOpeningFenceWaitsForTheLateOne) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  for (int late = 0; late < ranks(); ++late) {
    if (me() == late) be_late();
    window.local()[0] = 0;
    window.fence();
    window.put(Word{1}, right(), 0);
    window.fence();
    EXPECT_EQ(window.local()[0], 1U) << "rank " << late << " was late";
    window.fence(FenceAssertion::no_precede);
  }
}

// B049: everybody with everybody, oneself too; looking never ends what has not ended.
TEST_P(Ends, LookingAtAnExposureBeforeAndAfterTheOwnAccess) {
  Exposed<Word> words(world(), GetParam(), static_cast<std::size_t>(ranks()));
  auto& window = words.window;
  std::vector<Rank> all;
  for (int rank = 0; rank < ranks(); ++rank) all.emplace_back(rank);
  for (Word round = 1; round <= static_cast<Word>(scaled(40)); ++round) {
    window.post(all);
    EXPECT_FALSE(window.test()) << "this rank has not started";
    window.start(all);
    EXPECT_FALSE(window.test()) << "this rank has not completed";
    for (const Rank target : all) window.put(round, target, static_cast<std::size_t>(me()));
    window.complete();
    window.wait();
    EXPECT_EQ(std::ranges::count(window.local(), round), std::ptrdiff_t{ranks()});
  }
}

// B051: rank 0 does nothing but look, while its own large put is on the way that its partner waits
// for.
TEST_P(Ends, LookingAtAnExposureCarriesOnWhatIsUnderWay) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  constexpr std::size_t kWords = 100'000;
  Exposed<Word> words(world(), GetParam(), kWords);
  auto& window = words.window;
  const std::vector<Word> values(kWords, 6);
  for (int round = 0; round < 3; ++round) {
    if (me() == 0) {
      window.post(std::array{Rank(1)});
      window.put_notify(values, Rank(1), 0, 2);
      wait_until([&] { return window.test(); });
      EXPECT_EQ(window.local()[0], static_cast<Word>(round));
    } else if (me() == 1) {
      window.wait_notify(2);
      EXPECT_EQ(window.local()[kWords - 1], 6U);
      window.start(std::array{Rank(0)});
      window.put(static_cast<Word>(round), Rank(0), 0);
      window.complete();
    }
    window.fence();
  }
}

/// Everything that a rank can do to itself.
void use_oneself(Window<Word>& window) {
  const Rank self = window.team().rank();
  const std::array<Word, 2> values{3, 4};
  std::array<Word, 2> seen{};
  window.put(values, self, 0);
  window.flush(self);
  window.get(seen, self, 0);
  window.flush_local(self);
  EXPECT_EQ(seen, values);
  window.accumulate(values, self, 0, op::sum);
  window.get_accumulate(values, seen, self, 0, op::max);
  window.flush_all();
  EXPECT_EQ(seen, (std::array<Word, 2>{6, 8}));
  EXPECT_EQ(window.compare_and_swap(6, 1, self, 0), 6U);
  EXPECT_EQ(window.fetch_add(0, self, 0), 1U);
  window.put_notify(values, self, 0, 0);
  window.wait_notify(0);
}

// B054, B057: with and without a check, alone in a team and while all others of it sleep.
TEST_P(Ends, WhatARankDoesToItselfNeedsNobody) {
  for (const Team& team : {world().split(-1), world()}) {
    Exposed<Word> words(team, GetParam(), 2);
    auto& window = words.window;
    const Rank self = team.rank();
    for (int turn = 0; turn < team.size(); ++turn) {
      for (const bool no_check : {false, true}) {
        if (turn != self) continue;
        window.lock(self, LockMode::shared, no_check).unlock();
        {
          const auto guard = window.lock(self, LockMode::exclusive, no_check);
          use_oneself(window);
        }
        const auto guard = window.lock_all(no_check);
        use_oneself(window);
      }
      mpi_barrier();  // the others are in it, not in the library
      if (team.size() == 1) continue;
    }
    window.fence();
  }
}

// B056: giving one lock back leaves the other one's epoch as it is.
TEST_P(Ends, TwoLocksAtOnceEndOneByOne) {
  if (ranks() < 2) GTEST_SKIP() << "needs two parts";
  Exposed<Word> words(world(), GetParam(), 2);
  auto& window = words.window;
  if (me() == 0) {
    const Rank first(1);
    const Rank second(ranks() > 2 ? 2 : 0);
    auto one = window.lock(first, LockMode::exclusive);
    auto two = window.lock(second, LockMode::shared);
    window.put(Word{1}, first, 0);
    window.put(Word{2}, second, 0);
    one.unlock();
    EXPECT_EQ(thrown_code([&] { (void)window.lock(second, LockMode::shared); }),
              ErrorCode::wrong_epoch);
    window.put(Word{3}, second, 1);
    two.unlock();
    EXPECT_EQ(thrown_code([&] { window.unlock(second); }), ErrorCode::wrong_epoch);
  }
  mpi_barrier();
  if (me() == 1) {
    EXPECT_EQ(window.local()[0], 1U);
  }
  if (me() == (ranks() > 2 ? 2 : 0)) {
    EXPECT_EQ(window.local()[0], 2U);
    EXPECT_EQ(window.local()[1], 3U);
  }
  window.fence();
}

INSTANTIATE_TEST_SUITE_P(Both, Ends, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
