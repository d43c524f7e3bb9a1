// Shared windows: where the parts lie, that loads and stores of all meet there with every
// operation, and where there can be none.

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

/// The parameter is WindowOptions::contiguous. Over the ranks of this machine.
class Shared : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static Window<Word> make(std::size_t count) {
    return Window<Word>::allocate_shared(team(), count, {.contiguous = GetParam()});
  }
  [[nodiscard]] static const Team& team() { return job().node(); }
  [[nodiscard]] static int mine() { return team().rank(); }
  [[nodiscard]] static Rank next() { return Rank((mine() + 1) % team().size()); }
  [[nodiscard]] static Rank previous() {
    return Rank((mine() + team().size() - 1) % team().size());
  }
};

TEST_P(Shared, PartsLieAsPromised) {
  const auto size_of = [](int rank) { return static_cast<std::size_t>(rank * 7 % 5 * 100); };
  auto window = make(size_of(mine()));  // rank 0: none
  EXPECT_EQ(window.kind(), WindowKind::shared);
  EXPECT_EQ(window.coherence(), CoherenceDomain::cpu);
  EXPECT_EQ(window.options().contiguous, GetParam());
  const Word* const begin = window.shared_span(Rank(0)).data();
  std::size_t before = 0;
  for (int rank = 0; rank < team().size(); ++rank) {
    const auto part = window.shared_span(Rank(rank));
    ASSERT_EQ(part.size(), size_of(rank));
    EXPECT_EQ(window.size(Rank(rank)), size_of(rank));
    if (GetParam()) {
      EXPECT_EQ(part.data(), begin + before) << "a gap before rank " << rank;
    } else {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.data()) % 4096, 0U);
    }
    EXPECT_TRUE(all_zero(std::as_bytes(part)));
    before += part.size();
  }
  EXPECT_EQ(window.local().data(), window.shared_span(team().rank()).data());
  EXPECT_EQ(thrown_code([&] { (void)window.shared_span(Rank(team().size())); }),
            ErrorCode::invalid_rank);
  window.fence();
}

TEST_P(Shared, NothingAtAllAndNothingButOne) {
  auto none = make(0);
  EXPECT_TRUE(none.local().empty());
  EXPECT_TRUE(none.shared_span(next()).empty());
  EXPECT_EQ(thrown_code([&] { none.put(Word{1}, next(), 0); }), ErrorCode::out_of_range);
  none.fence();
  const int owner = team().size() - 1;
  auto one = make(mine() == owner ? 1 : 0);
  std::atomic_ref(one.shared_span(Rank(owner))[0]).fetch_add(1);
  one.fence();
  EXPECT_EQ(one.get(Rank(owner), 0), static_cast<Word>(team().size()));
  one.fence();
}

// B099, B104: whoever has nothing, its part lies between those of its neighbours.
TEST_P(Shared, EveryPatternOfEmptyParts) {
  for (unsigned pattern = 0; pattern < 1U << static_cast<unsigned>(team().size()); ++pattern) {
    const auto size_of = [&](int rank) { return std::size_t{pattern >> rank & 1U}; };
    auto window = make(size_of(mine()));
    const Word* next_part = window.shared_span(Rank(0)).data();
    for (int rank = 0; rank < team().size(); ++rank) {
      const auto part = window.shared_span(Rank(rank));
      EXPECT_EQ(part.size(), size_of(rank)) << "pattern " << pattern;
      if (!part.empty()) part[0] = pattern;  // by all of them, alike
      if (!GetParam() || pattern == 0) continue;
      EXPECT_NE(part.data(), nullptr);
      EXPECT_EQ(part.data(), next_part) << "pattern " << pattern << ", rank " << rank;
      next_part = part.data() + part.size();
    }
    EXPECT_EQ(window.local().data(), window.shared_span(team().rank()).data());
    window.fence();
  }
}

// B105: the first byte of all, or of each part that lies apart, is as aligned as vectors want it.
TEST_P(Shared, OddSizesAreAligned) {
  const auto odd = static_cast<std::size_t>(2 * mine() + 1);
  auto window = Window<std::byte>::allocate_shared(team(), odd, {.contiguous = GetParam()});
  for (int rank = 0; rank < (GetParam() ? 1 : team().size()); ++rank) {
    const auto part = window.shared_span(Rank(rank));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.data()) % 64, 0U) << rank;
  }
  window.put(std::byte{9}, next(), window.size(next()) - 1);
  window.fence();
  EXPECT_EQ(window.local()[odd - 1], std::byte{9});
}

TEST_P(Shared, StoresAreSeenAfterSyncAndABarrier) {
  auto window = make(1000);
  for (Word round = 1; round <= 20; ++round) {
    std::ranges::fill(window.shared_span(next()), round + static_cast<Word>(mine()));
    window.sync();
    team().barrier();
    window.sync();
    const Word expected = round + static_cast<Word>(int{previous()});
    EXPECT_EQ(std::ranges::count(window.local(), expected), 1000);
    const Word theirs = round + static_cast<Word>(int{next()});
    const auto part = window.shared_span(Rank((int{next()} + 1) % team().size()));
    EXPECT_EQ(std::ranges::count(part, theirs), 1000);
    team().barrier();
  }
}

TEST_P(Shared, CpuAtomicsMeetThoseOfOperations) {
  auto window = make(2);
  const int rounds = 500;
  for (int round = 0; round < rounds; ++round) {
    const Rank target((mine() + round) % team().size());
    const auto part = window.shared_span(target);
    std::atomic_ref(part[0]).fetch_add(1);
    window.fetch_add(1, target, 0);
    window.accumulate(Word{1}, target, 0, op::sum);
    const auto guard = window.lock(target, LockMode::exclusive);
    ++part[1];
  }
  window.fence();
  EXPECT_EQ(window.local()[0], static_cast<Word>(3 * rounds));
  EXPECT_EQ(window.local()[1], static_cast<Word>(rounds));
}

TEST_P(Shared, EveryOperationWorks) {
  auto window = make(700);
  const std::vector<Word> values(600, static_cast<Word>(mine() + 1));
  std::vector<Word> seen(600);
  Word old = 0;
  window.put(values, next(), 0);
  window.put(values, Layout::strided(2, {{3, 4}}), next(), 600, Layout::contiguous(6));
  window.rput(std::span(values).first(1), next(), 610).wait_remote();
  window.get_accumulate(std::span(values).first(1), std::span(&old, 1), next(), 620, op::sum);
  EXPECT_EQ(window.compare_and_swap(0, 5, next(), 630), 0U);
  window.put_notify(std::span(values).first(2), next(), 640, 7);
  window.wait_notify(7);
  const auto theirs = static_cast<Word>(int{previous()} + 1);
  EXPECT_EQ(window.local()[641], theirs);
  window.fence();
  for (const std::size_t index : {0U, 599U, 605U, 610U, 620U}) {
    EXPECT_EQ(window.local()[index], theirs) << index;
  }
  EXPECT_EQ(window.local()[630], 5U);
  window.get(seen, next(), 0);
  window.flush_local(next());
  EXPECT_EQ(seen, values);
  window.fence();
}

INSTANTIATE_TEST_SUITE_P(Parts, Shared, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& param) {
                           return param.param ? "contiguous" : "apart";
                         });

TEST(SharedWindow, NeedsOneMachine) {
  if (one_machine()) {
    auto window = Window<Word>::allocate_shared(world(), 1);
    window.shared_span(right())[0] = 3;
    window.fence();
    EXPECT_EQ(window.local()[0], 3U);
    return;
  }
  std::string what;
  EXPECT_EQ(thrown_code([&] { (void)Window<Word>::allocate_shared(world(), 1); }, &what),
            ErrorCode::unsupported);
  EXPECT_NE(what.find("do not share a machine"), std::string::npos) << what;
  EXPECT_NE(what.find("Runtime::node()"), std::string::npos) << what;
  auto next = Window<Word>::allocate(world(), 1);  // the team still works
  next.fence();
}

TEST(SharedSpan, OfOtherKindsWhereTheyAreMapped) {
  auto allocated = Window<Word>::allocate(world(), 2);
  std::vector<Word> memory(2);
  auto created = Window<Word>::create(world(), memory);
  auto dynamic = Window<Word>::dynamic(world());
  for (int rank = 0; rank < ranks(); ++rank) {
    std::string what;
    if (fabric() != "verbs" && shares_machine(rank)) {
      EXPECT_EQ(allocated.shared_span(Rank(rank)).size(), 2U);
    } else {
      EXPECT_EQ(thrown_code([&] { (void)allocated.shared_span(Rank(rank)); }, &what),
                ErrorCode::unsupported);
      EXPECT_NE(what.find("allocate_shared()"), std::string::npos) << what;
    }
    if (rank != me()) {
      EXPECT_EQ(thrown_code([&] { (void)created.shared_span(Rank(rank)); }, &what),
                ErrorCode::unsupported);
      EXPECT_NE(what.find("the window is created"), std::string::npos) << what;
    }
    EXPECT_EQ(thrown_code([&] { (void)dynamic.shared_span(Rank(rank)); }), ErrorCode::unsupported);
  }
  if (fabric() != "verbs" && shares_machine(int{right()})) {
    allocated.shared_span(right())[1] = static_cast<Word>(me() + 1);
  } else {
    allocated.put(static_cast<Word>(me() + 1), right(), 1);
  }
  allocated.fence();
  EXPECT_EQ(allocated.local()[1], static_cast<Word>(int{left()} + 1));
}

}  // namespace
}  // namespace oriel::test
