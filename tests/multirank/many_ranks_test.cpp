// As many ranks as a large machine has cores, and more: everything that all do with all, once or a
// few times, checked to the last word; and what it takes of a rank's memory.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

class ManyRanks : public BothKinds {
 protected:
  [[nodiscard]] static std::size_t size() { return static_cast<std::size_t>(ranks()); }
  [[nodiscard]] static std::size_t mine() { return static_cast<std::size_t>(me()); }
  static constexpr int kRounds = 5;
};

/// What a rank tells all others in a round.
[[nodiscard]] Word word_of(std::size_t rank, int round) {
  return static_cast<Word>(rank) * 1000 + static_cast<Word>(round);
}

TEST_P(ManyRanks, EachPutsToAllBetweenFences) {
  Exposed<Word> words(world(), GetParam(), size());
  for (int round = 0; round < kRounds; ++round) {
    words.window.fence();
    for (int step = 0; step < ranks(); ++step) {
      words.window.put(word_of(mine(), round), Rank((me() + step) % ranks()), mine());
    }
    words.window.fence();
    for (std::size_t rank = 0; rank < size(); ++rank) {
      EXPECT_EQ(words.window.local()[rank], word_of(rank, round));
    }
  }
  words.window.fence();
}

TEST_P(ManyRanks, AllAddUpInAllParts) {
  Exposed<double> sums(world(), GetParam(), 2);
  Exposed<Word> counts(world(), GetParam(), 1);
  const std::vector<double> values{1.0, static_cast<double>(me())};
  for (int step = 0; step < ranks(); ++step) {
    const Rank target((me() + step) % ranks());
    sums.window.accumulate(values, target, 0, op::sum);
    EXPECT_LT(counts.window.fetch_add(1, target, 0), size());
  }
  sums.window.fence();
  counts.window.fence();
  EXPECT_EQ(sums.window.local()[0], static_cast<double>(ranks()));
  EXPECT_EQ(sums.window.local()[1], static_cast<double>(ranks() * (ranks() - 1) / 2));
  EXPECT_EQ(counts.window.local()[0], size());
}

TEST_P(ManyRanks, TakeOneLockInTurn) {
  Exposed<Word> word(world(), GetParam(), 1);
  const Rank owner(ranks() - 1);
  for (int round = 0; round < kRounds; ++round) {
    LockGuard guard = word.window.lock(owner, LockMode::exclusive);
    const Word before = word.window.get(owner, 0);
    word.window.put(before + 1, owner, 0);
    word.window.flush(owner);
    guard.unlock();
    if (round == 0) word.window.lock_all().unlock();
  }
  word.window.fence();
  EXPECT_EQ(word.window.get(owner, 0), size() * kRounds);
  word.window.fence();
}

TEST_P(ManyRanks, PostToBothNeighbours) {
  Exposed<Word> words(world(), GetParam(), 2);
  std::vector<Rank> neighbours{left(), right()};
  if (ranks() <= 2) neighbours.resize(1);
  for (int round = 0; round < kRounds; ++round) {
    words.window.post(neighbours);
    words.window.start(neighbours);
    words.window.put(word_of(mine(), round), right(), 0);
    words.window.put(word_of(mine(), round), left(), 1);
    words.window.complete();
    words.window.wait();
    EXPECT_EQ(words.window.local()[0], word_of(static_cast<std::size_t>(int{left()}), round));
    EXPECT_EQ(words.window.local()[1], word_of(static_cast<std::size_t>(int{right()}), round));
  }
}

TEST_P(ManyRanks, NotifyTheOneBehind) {
  Exposed<Word> word(world(), GetParam(), 1);
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Word> value{word_of(mine(), round)};
    word.window.put_notify(value, right(), 0, 0);
    word.window.wait_notify(0);
    EXPECT_EQ(word.window.local()[0], word_of(static_cast<std::size_t>(int{left()}), round));
    world().barrier();
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ManyRanks, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

TEST(ManyRanks, GatherWhatAllHave) {
  const auto all = world().allgather(word_of(static_cast<std::size_t>(me()), 7));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks()));
  for (std::size_t rank = 0; rank < all.size(); ++rank) EXPECT_EQ(all[rank], word_of(rank, 7));
}

}  // namespace
}  // namespace oriel::test
