// Locks and their guards: who excludes whom, in which order operations are seen, what a guard does
// when it is moved, released or comes too late.

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

class Locks : public BothKinds {
 protected:
  [[nodiscard]] static Rank last() { return Rank(ranks() - 1); }

  /// Reads, then writes: two at a time would lose an increment.
  static void increment(Window<Word>& window, Rank target, std::size_t index = 0) {
    const Word seen = window.get(target, index);
    window.put(seen + 1, target, index);
  }

  /// Gives others the time to arrive where they are expected to wait.
  static void linger() {
    for (int i = 0; i < 10; ++i) ::sched_yield();
  }

  using Take = LockGuard (*)(Window<Word>&, Rank part);
  static LockGuard exclusive(Window<Word>& window, Rank part) {
    return window.lock(part, LockMode::exclusive);
  }
  static LockGuard shared(Window<Word>& window, Rank part) {
    return window.lock(part, LockMode::shared);
  }
  static LockGuard all(Window<Word>& window, Rank /*part*/) { return window.lock_all(); }

  /// Rank 0 has its lock when the last rank asks for one that has to wait.
  static void expect_exclusion(Window<Word>& window, Rank part, Take first, Take second) {
    if (me() == 0) {
      const auto guard = first(window, part);
      mpi_barrier();
      linger();
      EXPECT_EQ(window.get(part, 0), 0U) << "both have got their locks";
      window.put(Word{1}, part, 0);
    } else {
      mpi_barrier();
    }
    if (me() == ranks() - 1) {
      const auto guard = second(window, part);
      EXPECT_EQ(window.get(part, 0), 1U) << "got its lock before the other gave it back";
      window.put(Word{0}, part, 0);
    }
    window.fence();
  }
};

TEST_P(Locks, ExclusiveLosesNoIncrement) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  const int rounds = scaled(200);
  for (int round = 0; round < rounds; ++round) {
    for (int step = 0; step < ranks(); ++step) {
      const Rank target((me() + step) % ranks());
      auto guard = window.lock(target, LockMode::exclusive);
      increment(window, target);
      if (round % 3 == 1) guard.unlock();
      if (round % 3 == 2) window.unlock(target);  // the guard then does nothing
    }
  }
  window.fence();
  EXPECT_EQ(window.local()[0], static_cast<Word>(rounds * ranks()));
}

TEST_P(Locks, SharedHoldersHoldTogether) {
  Exposed<Word> words(world(), GetParam(), 1);
  for (int round = 0; round < scaled(20); ++round) {
    const auto part = words.window.lock(Rank(0), LockMode::shared);
    mpi_barrier();  // nobody could come here if one excluded another
  }
  for (int round = 0; round < scaled(20); ++round) {
    const auto all =
        me() % 2 == 0 ? words.window.lock_all() : words.window.lock(right(), LockMode::shared);
    mpi_barrier();
  }
  words.window.fence();
}

TEST_P(Locks, ExcludeOthersOnTheirPart) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  Exposed<Word> words(world(), GetParam(), 1);
  for (int round = 0; round < scaled(6); ++round) {
    const Rank part(round % ranks());
    expect_exclusion(words.window, part, exclusive, exclusive);
    expect_exclusion(words.window, part, exclusive, shared);
    expect_exclusion(words.window, part, shared, exclusive);
    expect_exclusion(words.window, part, exclusive, all);
    expect_exclusion(words.window, part, all, exclusive);
  }
}

// Nobody's increments of anything are lost, whoever holds what.
TEST_P(Locks, AllModesAtOnce) {
  Exposed<Word> words(world(), GetParam(), 2);
  auto& window = words.window;
  const int rounds = scaled(300);
  Word by_atomics = 0;
  for (int round = 0; round < rounds; ++round) {
    const Rank target((me() + round) % ranks());
    switch ((round + me()) % 3) {
      case 0: {
        const auto guard = window.lock(target, LockMode::exclusive);
        increment(window, target);
        continue;
      }
      case 1: {
        const auto guard = window.lock(target, LockMode::shared);
        const Word seen = window.get(target, 0);
        window.fetch_add(1, target, 1);
        EXPECT_EQ(window.get(target, 0), seen) << "an exclusive holder was there";
        break;
      }
      default: {
        const auto guard = window.lock_all();
        const Word seen = window.get(target, 0);
        window.fetch_add(1, target, 1);
        EXPECT_EQ(window.get(target, 0), seen) << "an exclusive holder was there";
        break;
      }
    }
    ++by_atomics;
  }
  window.fence();
  const auto sum = [&](std::size_t index) {
    return mpi_sum(static_cast<long>(window.local()[index]));
  };
  EXPECT_EQ(sum(1), mpi_sum(static_cast<long>(by_atomics)));
  EXPECT_EQ(sum(0) + sum(1), static_cast<long>(rounds) * ranks());
}

TEST_P(Locks, ManyPartsAtOnce) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  const int rounds = scaled(60);
  for (int round = 0; round < rounds; ++round) {
    std::vector<LockGuard> guards;
    for (int part = 0; part < ranks(); ++part) {  // everybody in the same order
      const bool shared = (part + round) % 4 == 3 && part != me();
      guards.push_back(window.lock(Rank(part), shared ? LockMode::shared : LockMode::exclusive));
      if (!shared) increment(window, Rank(part));
      if (shared) window.fetch_add(0, Rank(part), 0);
    }
    if (round % 2 == 0) std::ranges::reverse(guards);
    if (round % 5 == 0) {
      for (int part = 0; part < ranks(); ++part) window.unlock(Rank(part));
    }
  }
  window.fence();
  Word expected = 0;
  for (int round = 0; round < rounds; ++round) {
    expected += (me() + round) % 4 == 3 ? 1U : static_cast<Word>(ranks());
  }
  EXPECT_EQ(window.local()[0], expected);
}

// A holder of one part that asks for another must not queue behind a lock_all() that waits for it.
TEST_P(Locks, AFurtherPartWhileOthersAskForAll) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  Exposed<Word> words(world(), GetParam(), 1);
  for (int round = 0; round < scaled(20); ++round) {
    if (me() == 0) {
      const auto first = words.window.lock(Rank(0), LockMode::exclusive);
      mpi_barrier();
      linger();
      const auto second = words.window.lock(Rank(1), LockMode::exclusive);
      increment(words.window, Rank(1));
    } else {
      mpi_barrier();
      const auto all = words.window.lock_all();
      (void)words.window.get(Rank(1), 0);
    }
    words.window.fence();
  }
  EXPECT_EQ(words.window.get(Rank(1), 0), static_cast<Word>(scaled(20)));
  words.window.fence();
}

TEST_P(Locks, UnlockCompletesAtTheTarget) {
  constexpr std::size_t kWords = 20'000;
  Exposed<Word> words(world(), GetParam(), kWords);
  const std::vector<Word> values(kWords, static_cast<Word>(me() + 1));
  for (const bool all : {false, true}) {
    {
      const auto guard =
          all ? words.window.lock_all() : words.window.lock(right(), LockMode::exclusive);
      words.window.put(values, right(), 0);
    }
    mpi_barrier();
    const auto expected = static_cast<Word>(int{left()} + 1);
    EXPECT_EQ(std::ranges::count(words.window.local(), expected), std::ptrdiff_t{kWords});
    words.window.fence();
    std::ranges::fill(words.window.local(), Word{0});
    words.window.fence();
  }
}

TEST_P(Locks, WithoutCheckNothingIsExcluded) {
  Exposed<Word> words(world(), GetParam(), 1);
  {
    const auto guard = words.window.lock(Rank(0), LockMode::exclusive, true);
    mpi_barrier();  // all hold it
    words.window.fetch_add(1, Rank(0), 0);
  }
  {
    const auto guard = words.window.lock_all(true);
    mpi_barrier();
    words.window.fetch_add(1, Rank(0), 0);
  }
  words.window.fence();
  EXPECT_EQ(words.window.get(Rank(0), 0), static_cast<Word>(2 * ranks()));
  words.window.fence();
}

TEST_P(Locks, GuardsHoldOneLockEach) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  auto guard = window.lock(right(), LockMode::shared);
  auto moved = std::move(guard);
  guard.unlock();  // NOLINT(bugprone-use-after-move): does nothing
  EXPECT_EQ(thrown_code([&] { (void)window.lock(right(), LockMode::shared); }),
            ErrorCode::wrong_epoch);
  moved.unlock();
  moved.unlock();  // once is enough
  auto other = window.lock(right(), LockMode::shared);
  moved = std::move(other);  // took over
  EXPECT_EQ(thrown_code([&] { (void)window.lock(right(), LockMode::shared); }),
            ErrorCode::wrong_epoch);
  if (int{left()} != int{right()}) {
    moved = window.lock(left(), LockMode::shared);  // gives back the one it had
    window.lock(right(), LockMode::shared).unlock();
  }
  window.fence();
}

TEST_P(Locks, AGuardThatComesTooLateDoesNothing) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  {
    const auto late = window.lock(right(), LockMode::exclusive);
    window.unlock(right());
    window.lock(right(), LockMode::exclusive).release();
  }
  window.unlock(right());  // the second lock: the first one's guard has left it alone
  {
    const auto late = window.lock_all();
    window.unlock_all();
    window.lock_all().release();
  }
  window.unlock_all();
  EXPECT_EQ(thrown_code([&] { window.unlock_all(); }), ErrorCode::wrong_epoch);
  window.fence();
}

TEST_P(Locks, GuardsFollowAMovedWindow) {
  Exposed<Word> words(world(), GetParam(), 1);
  std::optional<Window<Word>> moved;
  {
    const auto guard = words.window.lock(Rank(0), LockMode::exclusive);
    moved.emplace(std::move(words.window));
    increment(*moved, Rank(0));
  }
  moved->fence();
  EXPECT_EQ(moved->get(Rank(0), 0), static_cast<Word>(ranks()));
  moved->fence();
}

TEST_P(Locks, FreeGivesThemBack) {
  for (const bool all : {false, true}) {
    Exposed<Word> words(world(), GetParam(), 1);
    if (all) {
      words.window.lock_all().release();
    } else {
      words.window.lock(Rank(0), LockMode::exclusive).release();  // one by one, on the way out
      increment(words.window, Rank(0));
    }
    words.window.free();
  }
}

TEST_P(Locks, OfSeveralWindowsAndTeams) {
  Exposed<Word> one(world(), GetParam(), 1);
  Exposed<Word> two(world(), GetParam(), 1);
  const Team half = world().split(me() % 2, -me());
  Exposed<Word> part(half, GetParam(), 1);
  const Team alone = world().split(-1);
  Exposed<Word> own(alone, GetParam(), 1);
  const int rounds = scaled(50);
  for (int round = 0; round < rounds; ++round) {
    const auto a = one.window.lock(Rank(0), LockMode::exclusive);
    const auto b = two.window.lock(last(), LockMode::exclusive);
    const auto c = part.window.lock(Rank(half.size() - 1), LockMode::exclusive);
    const auto d = own.window.lock_all();
    increment(one.window, Rank(0));
    increment(two.window, last());
    increment(part.window, Rank(half.size() - 1));
    increment(own.window, Rank(0));
  }
  one.window.fence();
  two.window.fence();
  part.window.fence();
  EXPECT_EQ(one.window.get(Rank(0), 0), static_cast<Word>(rounds * ranks()));
  EXPECT_EQ(two.window.get(last(), 0), static_cast<Word>(rounds * ranks()));
  EXPECT_EQ(part.window.get(Rank(half.size() - 1), 0), static_cast<Word>(rounds * half.size()));
  EXPECT_EQ(own.window.local()[0], static_cast<Word>(rounds));
  one.window.fence();
  two.window.fence();
  part.window.fence();
}

INSTANTIATE_TEST_SUITE_P(Both, Locks, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
