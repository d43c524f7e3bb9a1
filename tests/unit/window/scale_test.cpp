// Messages of the protocols for up to some thousand ranks, threads that all do the same at once.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <vector>

#include "unit/sync/ranks.hpp"
#include "window/lock_epochs.hpp"

namespace oriel::window {
namespace {

class ScaleOf : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static int messages(const test::MemoryEndpoint& endpoint) {
    return endpoint.signals + endpoint.adds + endpoint.atomics;
  }
  /// What `step(rank)`, on all ranks at once, costs the one that it costs most.
  template <class Step>
  [[nodiscard]] int most_messages(Step&& step) {
    ranks_.on_all([&](int rank) { ranks_.barrier(rank).wait("start"); });
    std::vector<int> before;
    for (const auto& endpoint : ranks_.endpoints) before.push_back(messages(endpoint));
    ranks_.on_all(step);
    int most = 0;
    for (std::size_t rank = 0; rank < before.size(); ++rank) {
      most = std::max(most, messages(ranks_.endpoints[rank]) - before[rank]);
    }
    return most;
  }
  [[nodiscard]] int log2_ranks() const {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(GetParam() - 1)));
  }

  test::Ranks ranks_{GetParam()};
};

TEST_P(ScaleOf, ABarrierCostsALogarithm) {
  EXPECT_EQ(most_messages([&](int rank) { ranks_.barrier(rank).wait("test"); }), log2_ranks());
}

TEST_P(ScaleOf, ALockOfAllPartsCostsOneAtomic) {
  std::deque<LockEpochs> locks;
  for (int rank = 0; rank < GetParam(); ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    locks.emplace_back(ranks_.words[index], ranks_.partners(rank), ranks_.progress[index],
                       ranks_.vigils[index], 1);
  }
  const auto of = [&](int rank) -> LockEpochs& { return locks[static_cast<std::size_t>(rank)]; };
  EXPECT_EQ(most_messages([&](int rank) { of(rank).lock_all(false); }), 1);
  EXPECT_EQ(sync::LockState{ranks_.words[0].window_lock.state}.a(),
            static_cast<std::uint64_t>(GetParam()));
  EXPECT_EQ(most_messages([&](int rank) { of(rank).unlock_all(); }), 1);
  EXPECT_EQ(ranks_.words[0].window_lock.state, 0U);
  // And each the part of its neighbour, as the only holder.
  EXPECT_EQ(most_messages([&](int rank) {
              of(rank).lock((rank + 1) % GetParam(), LockMode::exclusive, false);
            }),
            2);
  EXPECT_EQ(most_messages([&](int rank) { of(rank).unlock((rank + 1) % GetParam()); }), 2);
}

#if defined(__SANITIZE_THREAD__)
INSTANTIATE_TEST_SUITE_P(Ranks, ScaleOf, testing::Values(2, 3, 16, 100));
#elif defined(__SANITIZE_ADDRESS__)
INSTANTIATE_TEST_SUITE_P(Ranks, ScaleOf, testing::Values(2, 3, 16, 512));
#else
INSTANTIATE_TEST_SUITE_P(Ranks, ScaleOf, testing::Values(2, 3, 16, 100, 512, 4096));
#endif

}  // namespace
}  // namespace oriel::window
