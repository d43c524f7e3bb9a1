// Epochs of post, start, complete and wait among changing groups; fences with assertions; flushes
// of nothing, on all kinds of windows.

#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;
using Group = std::vector<Rank>;

class Epochs : public BothKinds {
 protected:
  [[nodiscard]] static Rank shifted(int by) { return Rank((me() + by + ranks()) % ranks()); }
  [[nodiscard]] static Group everybody() {
    Group group;
    for (int rank = 0; rank < ranks(); ++rank) group.emplace_back(rank);
    return group;
  }
  static void linger() {
    for (int i = 0; i < 10; ++i) ::sched_yield();
  }
};

TEST_P(Epochs, NeighboursThatChange) {
  Exposed<Word> words(world(), GetParam(), 3);
  auto& window = words.window;
  for (int round = 1; round <= scaled(100); ++round) {
    const int distance = round % ranks();  // 0: this rank itself
    const auto stamp = static_cast<Word>(1000 * round);
    window.local()[1] = stamp + static_cast<Word>(me());
    window.local()[2] = 5;
    window.post(Group{shifted(-distance)});
    window.start(Group{shifted(distance)});
    Word seen = 0;
    window.put(stamp + static_cast<Word>(me()), shifted(distance), 0);
    window.get(std::span(&seen, 1), shifted(distance), 1);
    window.accumulate(Word{2}, shifted(distance), 2, op::sum);
    window.complete();
    EXPECT_EQ(seen, stamp + static_cast<Word>(int{shifted(distance)}));
    window.wait();
    EXPECT_EQ(window.local()[0], stamp + static_cast<Word>(int{shifted(-distance)}));
    EXPECT_EQ(window.local()[2], 7U);
  }
}

TEST_P(Epochs, EverybodyWithEverybody) {
  const auto size = static_cast<std::size_t>(ranks());
  Exposed<Word> words(world(), GetParam(), size);
  const Group all = everybody();
  for (Word round = 1; round <= static_cast<Word>(scaled(100)); ++round) {
    words.window.post(all);
    words.window.start(all);
    for (const Rank target : all) words.window.put(round, target, static_cast<std::size_t>(me()));
    words.window.complete();
    words.window.wait();
    EXPECT_EQ(std::ranges::count(words.window.local(), round), std::ptrdiff_t{ranks()});
  }
}

// All ranks draw the same numbers: who has access to whom, in each round anew.
TEST_P(Epochs, RandomGroups) {
  const auto size = static_cast<std::size_t>(ranks());
  Exposed<Word> words(world(), GetParam(), size);
  auto& window = words.window;
  std::mt19937 random(11);
  std::vector<Word> expected(size);
  for (Word round = 1; round <= static_cast<Word>(scaled(60)); ++round) {
    Group origins;
    Group targets;
    for (int origin = 0; origin < ranks(); ++origin) {
      for (int target = 0; target < ranks(); ++target) {
        if (random() % 3 != 0) continue;
        if (origin == me()) targets.emplace_back(target);
        if (target != me()) continue;
        origins.emplace_back(origin);
        expected[static_cast<std::size_t>(origin)] = round;
      }
    }
    std::ranges::reverse(targets);
    window.post(origins);
    window.start(targets);
    for (const Rank target : targets) window.put(round, target, static_cast<std::size_t>(me()));
    window.complete();
    window.wait();
    EXPECT_TRUE(std::ranges::equal(window.local(), expected)) << "round " << round;
  }
}

TEST_P(Epochs, NobodyIsAGroupToo) {
  Exposed<Word> words(world(), GetParam(), 1);
  for (int round = 0; round < 3; ++round) {
    words.window.start({});
    words.window.complete();
    words.window.post({});
    words.window.wait();
    words.window.post({});
    EXPECT_TRUE(words.window.test());
  }
  words.window.fence();
}

// A target that posts again at once is counted for the next epoch, not for this one.
TEST_P(Epochs, EarlyPostsCountOnce) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  const int rounds = scaled(60);
  if (me() == 0) {
    for (int round = 1; round <= rounds; ++round) {
      window.start(Group{Rank(1)});
      if (round % 8 == 0) linger();
      window.put(static_cast<Word>(round), Rank(1), 0);
      window.complete();
    }
  } else if (me() == 1) {
    for (int round = 1; round <= rounds; ++round) {
      window.post(Group{Rank(0)});
      window.wait();
      EXPECT_EQ(window.local()[0], static_cast<Word>(round));
    }
  }
  window.fence();
}

// One target is in the middle of its epoch when another opens the next one to the same origin.
TEST_P(Epochs, PostsOfOthersMayComeAnyTime) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  for (Word round = 1; round <= static_cast<Word>(scaled(60)); ++round) {
    if (me() != 0) window.post(Group{Rank(0)});
    if (me() == 0) {
      for (int target = ranks() - 1; target > 0; --target) {
        window.start(Group{Rank(target)});
        window.put(round, Rank(target), 0);
        window.complete();
      }
    } else {
      window.wait();
      EXPECT_EQ(window.local()[0], round);
    }
  }
  window.fence();
}

TEST_P(Epochs, TestTellsWithoutWaiting) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  for (Word round = 1; round <= static_cast<Word>(scaled(40)); ++round) {
    window.post(Group{left()});
    mpi_barrier();
    EXPECT_FALSE(window.test()) << "nobody has started";
    EXPECT_FALSE(window.test());
    mpi_barrier();
    window.start(Group{right()});
    window.put(round, right(), 0);
    window.complete();
    wait_until([&] { return window.test(); });
    EXPECT_EQ(window.local()[0], round);
  }
  EXPECT_EQ(thrown_code([&] { (void)window.test(); }), ErrorCode::wrong_epoch);
  window.fence();
}

TEST_P(Epochs, MuchData) {
  constexpr std::size_t kWords = 20'000;
  Exposed<Word> words(world(), GetParam(), 2 * kWords);
  auto& window = words.window;
  std::vector<Word> sent(kWords);
  std::vector<Word> seen(kWords);
  for (Word round = 1; round <= static_cast<Word>(scaled(20)); ++round) {
    std::ranges::fill(sent, round);
    std::ranges::fill(window.local().last(kWords), round + static_cast<Word>(me()));
    window.post(Group{left()});
    window.start(Group{right()});
    window.put(sent, right(), 0);
    window.get(seen, right(), kWords);
    window.complete();
    std::ranges::fill(sent, Word{0});  // free again
    const Word theirs = round + static_cast<Word>(int{right()});
    EXPECT_EQ(std::ranges::count(seen, theirs), std::ptrdiff_t{kWords});
    window.wait();
    EXPECT_EQ(std::ranges::count(window.local().first(kWords), round), std::ptrdiff_t{kWords});
  }
}

TEST_P(Epochs, OfSeveralWindowsInterleave) {
  Exposed<Word> one(world(), GetParam(), 1);
  const Team reversed = world().split(0, -me());
  Exposed<Word> two(reversed, GetParam(), 1);
  const Team alone = world().split(-1);
  Exposed<Word> own(alone, GetParam(), 1);
  const Rank next((reversed.rank() + 1) % ranks());
  const Rank previous((reversed.rank() + ranks() - 1) % ranks());
  for (Word round = 1; round <= static_cast<Word>(scaled(100)); ++round) {
    one.window.post(Group{left()});
    two.window.post(Group{previous});
    own.window.post(Group{Rank(0)});
    own.window.start(Group{Rank(0)});
    two.window.start(Group{next});
    one.window.start(Group{right()});
    one.window.put(round, right(), 0);
    two.window.put(round + 1, next, 0);
    own.window.put(round + 2, Rank(0), 0);
    one.window.complete();
    own.window.complete();
    two.window.complete();
    own.window.wait();
    one.window.wait();
    two.window.wait();
    EXPECT_EQ(one.window.local()[0], round);
    EXPECT_EQ(two.window.local()[0], round + 1);
    EXPECT_EQ(own.window.local()[0], round + 2);
  }
}

TEST_P(Epochs, FreeCompletesAnAccessThatIsOpen) {
  Exposed<Word> words(world(), GetParam(), 1);
  words.window.post(Group{left()});
  words.window.start(Group{right()});
  words.window.put(Word{5}, right(), 0);
  if (me() % 2 == 0) {
    words.window.complete();
    words.window.wait();
    EXPECT_EQ(words.window.local()[0], 5U);
  }
  words.window.free();
}

TEST_P(Epochs, FencesWithAssertions) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  using enum FenceAssertion;
  for (Word round = 1; round <= static_cast<Word>(scaled(40)); ++round) {
    window.fence(no_precede | no_store);  // nothing since the last one
    window.put(round, right(), 0);
    window.fence(no_put | no_succeed);
    EXPECT_EQ(window.local()[0], round);
    window.fence(no_precede | no_put | no_store | no_succeed);
  }
}

/// Windows of all kinds over the team; some of which only exist on one machine.
std::vector<Window<Word>> all_kinds(const Team& team, std::span<Word> memory) {
  std::vector<Window<Word>> windows;
  windows.push_back(Window<Word>::allocate(team, memory.size()));
  windows.push_back(Window<Word>::create(team, memory));
  windows.push_back(Window<Word>::dynamic(team));
  if (one_machine()) windows.push_back(Window<Word>::allocate_shared(team, memory.size()));
  return windows;
}

TEST(Synchronisation, OfNothingIsNoTrouble) {
  std::vector<Word> memory(2);
  for (const Team& team : {world(), world().split(-1), world().split(me() % 2)}) {
    for (Window<Word>& window : all_kinds(team, memory)) {
      for (int round = 0; round < 3; ++round) {
        for (int target = 0; target < team.size(); ++target) {
          window.flush(Rank(target));
          window.flush_local(Rank(target));
        }
        window.flush_all();
        window.flush_local_all();
        window.sync();
        window.fence();
        { const auto guard = window.lock_all(); }
        window.lock(Rank(0), LockMode::exclusive).unlock();
      }
      EXPECT_EQ(window.team().size(), team.size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Epochs, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
