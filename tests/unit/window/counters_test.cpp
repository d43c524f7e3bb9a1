// What a window says that its operations have cost: ranks as threads on the fake device.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <oriel/oriel.hpp>

#include "support/fake_verbs/fake_verbs.hpp"
#include "support/thread_job.hpp"

namespace oriel {
namespace {

using Word = std::uint64_t;

constexpr std::size_t kWords = 4096;
const std::vector<std::string> kEnvironment = {"ORIEL_FABRIC=verbs", "ORIEL_VISIBILITY=ordered",
                                               "ORIEL_LOG=error"};

class CountersOf : public testing::Test {
 protected:
  void SetUp() override { fake_verbs::reset(); }

  /// What `step` adds to the counters of the first rank's window, on the way to the second.
  static WindowCounters cost(const std::function<void(Runtime&, Window<Word>&)>& step,
                             const std::string& fabric = "ORIEL_FABRIC=verbs") {
    WindowCounters cost;
    std::vector<std::string> environment = kEnvironment;
    environment.front() = fabric;
    test::run_ranks(2, environment, [&](Runtime& job) {
      auto window = Window<Word>::allocate(job.world(), kWords);
      window.put(Word{0}, Rank(1 - job.world().rank()), 0);  // connects
      window.fence();
      if (job.world().rank() == 0) {
        const WindowCounters before = window.counters();
        step(job, window);
        const WindowCounters after = window.counters();
        cost = {.work_requests = after.work_requests - before.work_requests,
                .doorbells = after.doorbells - before.doorbells,
                .completions = after.completions - before.completions,
                .inline_bytes = after.inline_bytes - before.inline_bytes,
                .bounce_bytes = after.bounce_bytes - before.bounce_bytes,
                .retries = after.retries - before.retries};
      }
      window.fence();
    });
    return cost;
  }
};

TEST_F(CountersOf, APutAndItsFlushAreOneOfEach) {
  const auto count = cost([](Runtime&, Window<Word>& window) {
    const std::vector<Word> value{1};
    window.put(value, Rank(1), 0);
    window.flush(Rank(1));
  });
  EXPECT_EQ(count.work_requests, 1U);
  EXPECT_EQ(count.doorbells, 1U);
  EXPECT_EQ(count.completions, 1U);
  EXPECT_EQ(count.inline_bytes, sizeof(Word));
  EXPECT_EQ(count.bounce_bytes, 0U);
  EXPECT_EQ(count.retries, 0U);
}

TEST_F(CountersOf, ManyPutsShareDoorbellsAndCompletions) {
  const auto count = cost([](Runtime&, Window<Word>& window) {
    const std::vector<Word> value{1};
    for (std::size_t i = 0; i < 128; ++i) window.put(value, Rank(1), i);
    window.flush(Rank(1));
  });
  EXPECT_GE(count.work_requests, 128U);
  EXPECT_LE(count.work_requests, 129U);  // one more may be needed to learn of the last
  EXPECT_LT(count.doorbells, 20U);
  EXPECT_LT(count.completions, 20U);
  EXPECT_GT(count.completions, 0U);
  EXPECT_EQ(count.inline_bytes, 128 * sizeof(Word));
}

TEST_F(CountersOf, MemoryThatIsNotRegisteredIsCopied) {
  const auto count = cost([](Runtime& job, Window<Word>& window) {
    const std::vector<Word> ordinary(512);
    window.put(ordinary, Rank(1), 0);
    window.flush(Rank(1));
    Buffer<Word> registered(job, 512);
    window.put(registered.span(), Rank(1), 0);
    window.flush(Rank(1));
  });
  EXPECT_EQ(count.bounce_bytes, 512 * sizeof(Word));
  EXPECT_EQ(count.inline_bytes, 0U);
  EXPECT_EQ(count.work_requests, 2U);
}

TEST_F(CountersOf, AFullQueueIsTriedAgain) {
  const auto count = cost([](Runtime&, Window<Word>& window) {
    const std::vector<Word> value{1};
    for (std::size_t i = 0; i < 2000; ++i) window.put(value, Rank(1), i);
    window.flush(Rank(1));
  });
  EXPECT_GT(count.retries, 0U);
}

TEST_F(CountersOf, RequestsAtomicsAndOtherThreadsCountToo) {
  const auto count = cost([](Runtime&, Window<Word>& window) {
    const std::vector<Word> value{1};
    window.rput(value, Rank(1), 0).wait_remote();
    static_cast<void>(window.fetch_add(Word{1}, Rank(1), 1));
    std::thread([&] {
      window.put(value, Rank(1), 2);
      window.flush(Rank(1));
    }).join();
  });
  EXPECT_EQ(count.work_requests, 3U);
  EXPECT_EQ(count.completions, 3U);
}

/// B185: a request form costs no atomic, nor anything else, on top.
TEST_F(CountersOf, AGetWithARequestIsOneWorkRequest) {
  const auto count = cost([](Runtime&, Window<Word>& window) {
    std::vector<Word> value{1};
    window.rget(value, Rank(1), 0).wait();
  });
  EXPECT_EQ(count.work_requests, 1U);
  EXPECT_EQ(count.doorbells, 1U);
  EXPECT_EQ(count.completions, 1U);
}

TEST_F(CountersOf, OneWindowAreNotThoseOfAnother) {
  const auto count = cost([](Runtime&, Window<Word>& window) {
    const WindowCounters none = window.counters();
    const std::vector<Word> value{1};
    window.put(value, Rank(1), 0);
    window.flush(Rank(1));
    EXPECT_EQ(window.counters().work_requests, none.work_requests + 1);
  });
  EXPECT_EQ(count.work_requests, 1U);
  test::run_ranks(2, kEnvironment, [](Runtime& job) {
    auto one = Window<Word>::allocate(job.world(), kWords);
    auto other = Window<Word>::allocate(job.world(), kWords);
    const std::vector<Word> value{1};
    one.put(value, Rank(1 - job.world().rank()), 0);
    one.flush_all();
    EXPECT_EQ(one.counters().work_requests, 1U);
    EXPECT_EQ(other.counters().work_requests, 0U);
    one.fence();
  });
}

TEST_F(CountersOf, WhatTheCpuDoesCostsNothing) {
  const auto count = cost(
      [](Runtime&, Window<Word>& window) {
        const std::vector<Word> value{1};
        window.put(value, Rank(1), 0);
        static_cast<void>(window.fetch_add(Word{1}, Rank(1), 1));
        window.flush(Rank(1));
      },
      "ORIEL_FABRIC=shm");
  EXPECT_EQ(count.work_requests, 0U);
  EXPECT_EQ(count.doorbells, 0U);
}

}  // namespace
}  // namespace oriel
