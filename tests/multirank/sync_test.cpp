// Flush, flush_local, fence and barrier: what is visible to whom when they return.

#include <cstdint>
#include <memory>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

class Sync : public BothKinds {
 protected:
  [[nodiscard]] static Rank right() { return Rank((me() + 1) % ranks()); }
  [[nodiscard]] static int left() { return (me() + ranks() - 1) % ranks(); }
};

// Data by put and flush, then a flag: who sees the flag sees the data. The reader polls by get.
TEST_P(Sync, FlagAfterFlushMeansDataIsThere) {
  constexpr std::size_t kData = 600;
  Exposed<Word> box(world(), GetParam(), kData + 1);
  Exposed<Word> acknowledged(world(), GetParam(), 1);
  std::vector<Word> data(kData);
  for (int round = 1; round <= scaled(60); ++round) {
    const auto stamp = static_cast<Word>(round);
    std::ranges::fill(data, stamp * 1000 + static_cast<unsigned>(me()));
    box.window.put(data, right(), 0);
    box.window.flush(right());
    if (round % 2 == 0) {
      box.window.put(stamp, right(), kData);
    } else {
      box.window.fetch_add(1, right(), kData);
    }
    box.window.flush(right());
    wait_until([&] { return box.window.get(world().rank(), kData) == stamp; });
    const Word expected = stamp * 1000 + static_cast<unsigned>(left());
    EXPECT_EQ(std::ranges::count(box.window.local().first(kData), expected),
              static_cast<std::ptrdiff_t>(kData))
        << "round " << round;
    acknowledged.window.put(stamp, Rank(left()), 0);  // my box may be filled anew
    wait_until([&] { return acknowledged.window.get(world().rank(), 0) == stamp; });
  }
  box.window.fence();
  acknowledged.window.fence();
}

TEST_P(Sync, FenceShowsAllPutsOfAllRanks) {
  const int rounds = scaled(300);
  const auto size = static_cast<std::size_t>(ranks());
  Exposed<Word> words(world(), GetParam(), 2 * size);  // two halves by turns
  for (int round = 0; round < rounds; ++round) {
    const std::size_t half = static_cast<std::size_t>(round % 2) * size;
    const auto stamp = static_cast<Word>(round) * 100;
    for (int step = 0; step < ranks(); ++step) {
      const int target = (me() + round + step) % ranks();
      words.window.put(stamp + static_cast<unsigned>(me()), Rank(target),
                       half + static_cast<std::size_t>(me()));
    }
    words.window.fence();
    for (std::size_t rank = 0; rank < size; ++rank) {
      EXPECT_EQ(words.window.local()[half + rank], stamp + rank) << "round " << round;
    }
  }
  words.window.fence();
}

// B067: more ranks than cores must not make fences collapse; the entry with 8 ranks shows it.
TEST_P(Sync, ThousandsOfFencesInARow) {
  Exposed<Word> words(world(), GetParam(), 1);
  for (int round = 0; round < scaled(2000); ++round) words.window.fence();
}

TEST_P(Sync, NothingOutstandingIsNoTrouble) {
  Exposed<Word> words(world(), GetParam(), 1);
  for (int round = 0; round < 3; ++round) {
    words.window.flush_all();
    words.window.flush_local_all();
    for (int target = 0; target < ranks(); ++target) {
      words.window.flush(Rank(target));
      words.window.flush_local(Rank(target));
    }
  }
  words.window.put(Word{3}, right(), 0);
  for (int round = 0; round < 3; ++round) {  // complete once, still complete
    words.window.flush(right());
    words.window.flush_local(right());
    words.window.flush_all();
  }
  EXPECT_EQ(words.window.get(right(), 0), 3U);
  words.window.fence();
}

TEST_P(Sync, FlushOfOneTargetLeavesTheOthersForLater) {
  Exposed<Word> words(world(), GetParam(), static_cast<std::size_t>(ranks()));
  const auto mine = static_cast<std::size_t>(me());
  for (int target = 0; target < ranks(); ++target) {
    words.window.put(static_cast<Word>(target + 10), Rank(target), mine);
  }
  words.window.flush(right());
  EXPECT_EQ(words.window.get(right(), mine), static_cast<Word>(int{right()} + 10));
  words.window.flush_all();
  for (int target = 0; target < ranks(); ++target) {
    EXPECT_EQ(words.window.get(Rank(target), mine), static_cast<Word>(target + 10));
  }
  words.window.fence();
}

TEST_P(Sync, FencesOfTwoWindowsDoNotMixUp) {
  Exposed<Word> one(world(), GetParam(), 2);
  Exposed<Word> two(world(), GetParam(), 2);
  for (int round = 1; round <= scaled(200); ++round) {
    const auto stamp = static_cast<Word>(round);
    const auto slot = static_cast<std::size_t>(round % 2);  // the next round's puts go elsewhere
    one.window.put(stamp, right(), slot);
    two.window.put(stamp + 7, right(), slot);
    one.window.fence();
    EXPECT_EQ(one.window.local()[slot], stamp);
    two.window.fence();
    EXPECT_EQ(two.window.local()[slot], stamp + 7);
    if (round % 3 == 0) two.window.fence();
  }
}

TEST_P(Sync, FencesOfPartsOfTheTeamAreTheirOwnBusiness) {
  const Team half = world().split(me() % 2, -me());
  Exposed<Word> words(half, GetParam(), 1);
  Exposed<Word> everyone(world(), GetParam(), 1);
  const Rank next((half.rank() + 1) % half.size());
  const int fences = me() % 2 == 0 ? 10 : scaled(300);  // the halves differ
  for (int round = 1; round <= fences; ++round) {
    words.window.put(static_cast<Word>(round), next, 0);
    words.window.fence();
    EXPECT_EQ(words.window.local()[0], static_cast<Word>(round));
    words.window.fence();
  }
  everyone.window.put(static_cast<Word>(fences), right(), 0);
  everyone.window.fence();
  EXPECT_EQ(everyone.window.local()[0], static_cast<Word>(left() % 2 == 0 ? 10 : scaled(300)));
}

// B063: waiting on one window carries on what was started on another.
TEST_P(Sync, PollingOneWindowDoesNotHoldUpAnother) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  Exposed<Word> flag(world(), GetParam(), 1);
  Exposed<Word> data(world(), GetParam(), 4000);
  std::vector<Word> seen(4000);
  if (me() == 0) {
    wait_until([&] { return flag.window.get(Rank(0), 0) == 1; });
  } else if (me() == 1) {
    data.window.get(seen, Rank(0), 0);
    data.window.flush_local(Rank(0));
    flag.window.put(Word{1}, Rank(0), 0);
    flag.window.flush(Rank(0));
  }
  flag.window.fence();
  data.window.fence();
}

// B041, B112: what a rank stored itself is seen by gets after the fence.
TEST_P(Sync, FenceShowsPlainStoresToGets) {
  Exposed<Word> words(world(), GetParam(), 2);
  for (int round = 1; round <= scaled(200); ++round) {
    const auto half = static_cast<std::size_t>(round % 2);
    words.window.local()[half] = static_cast<Word>(round * 10 + me());
    words.window.fence();
    EXPECT_EQ(words.window.get(right(), half), static_cast<Word>(round * 10 + int{right()}));
  }
  words.window.fence();
}

TEST_P(Sync, LockOfCompareAndSwapGuardsPutsAndGets) {
  Exposed<Word> words(world(), GetParam(), 2);  // lock, counter
  const int each = scaled(100);
  for (int i = 0; i < each; ++i) {
    wait_until([&] { return words.window.compare_and_swap(0, 1, Rank(0), 0) == 0; });
    const Word seen = words.window.get(Rank(0), 1);
    words.window.put(seen + 1, Rank(0), 1);
    words.window.flush(Rank(0));
    EXPECT_EQ(words.window.compare_and_swap(1, 0, Rank(0), 0), 1U);
  }
  words.window.fence();
  EXPECT_EQ(words.window.get(Rank(0), 1), static_cast<Word>(each * ranks()));
  words.window.fence();
}

// B068: creation used as a barrier, then a put.
TEST_P(Sync, CreationIsEnoughBeforeAPut) {
  for (int round = 0; round < scaled(20); ++round) {
    Exposed<Word> words(world(), GetParam(), 1);
    words.window.put(Word{9}, right(), 0);
    words.window.flush(right());
    words.window.fence();
    EXPECT_EQ(words.window.local()[0], 9U);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Sync, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
