// Threads that put and get by connections of their own: who has which, and that what they have
// under way counts as their rank's.

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
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

std::vector<std::string> environment(int lanes) {
  return {"ORIEL_FABRIC=verbs", "ORIEL_VISIBILITY=ordered", "ORIEL_LOG=error",
          "ORIEL_LANES=" + std::to_string(lanes)};
}

void on_threads(std::size_t count, const std::function<void(std::size_t thread)>& body) {
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < count; ++thread) threads.emplace_back(body, thread);
  for (std::thread& thread : threads) thread.join();
}

class Lanes : public ::testing::TestWithParam<int> {
 protected:
  Lanes() { fake_verbs::reset(); }
};
INSTANTIATE_TEST_SUITE_P(LanesPerRank, Lanes, ::testing::Values(1, 2, 4));

// A connection is a queue pair at either end.
TEST_P(Lanes, EachThreadHasAConnectionOfItsOwnWhileThereAreEnough) {
  constexpr std::size_t kThreads = 3;
  test::run_ranks(2, environment(GetParam()), [&](Runtime& job) {
    auto window = Window<Word>::allocate(job.world(), kThreads);
    window.fence();
    if (job.world().rank() == 0) {
      const Word zero = 0;
      window.put(zero, Rank(1), 0);
      window.flush(Rank(1));
      fake_verbs::reset_statistics();
      on_threads(kThreads, [&](std::size_t thread) {
        const Word value = 100 + thread;
        window.put(value, Rank(1), thread);
        window.flush(Rank(1));
        EXPECT_EQ(window.get(Rank(1), thread), value);
      });
      EXPECT_EQ(fake_verbs::statistics().queue_pairs, 2 * (GetParam() - 1));
    }
    window.fence();
  });
  EXPECT_TRUE(fake_verbs::live_objects().empty());
}

// Shared windows go by shared memory whatever the fabric, dynamic ones by the common way.
TEST_P(Lanes, AreForWindowsThatGoByTheDevice) {
  test::run_ranks(2, environment(GetParam()), [&](Runtime& job) {
    std::vector<Word> memory(4);
    auto shared = Window<Word>::allocate_shared(job.node(), 4);
    auto dynamic = Window<Word>::dynamic(job.world());
    const std::size_t mine = dynamic.attach(memory);
    const std::vector<std::uint64_t> places = job.world().allgather(std::uint64_t{mine});
    const Rank other(1 - job.world().rank());
    on_threads(2, [&](std::size_t thread) {
      const std::vector<Word> values{10 + thread};
      const Layout one = Layout::contiguous(1);
      const std::size_t there = places[static_cast<std::size_t>(static_cast<int>(other))];
      shared.put(values, one, other, thread, one);
      dynamic.put(values, other, there + thread);
      shared.flush(other);
      dynamic.flush(other);
      EXPECT_EQ(shared.get(other, thread), values[0]);
      EXPECT_EQ(dynamic.get(other, there + thread), values[0]);
    });
    dynamic.fence();
    dynamic.detach(memory);
    shared.free();
  });
}

/// How a rank makes sure that what it has put is there.
struct Ending {
  std::string name;
  std::function<void(Window<Word>&window)> open, close;
  std::function<void(Window<Word>&window)> at_target_first, at_target;
  friend void PrintTo(const Ending& ending, std::ostream* out) { *out << ending.name; }
};

const Rank kOrigin{0};
const Rank kTarget{1};
void nothing(Window<Word>&) {}

class EndsOfLanes : public ::testing::TestWithParam<Ending> {
 protected:
  EndsOfLanes() { fake_verbs::reset(); }
};

// A small put behind another waits for company: its doorbell is rung by whoever wants it done.
TEST_P(EndsOfLanes, WhatOtherThreadsHavePutIsThere) {
  std::barrier meet(2);
  Word* seen = nullptr;
  test::run_ranks(2, environment(4), [&](Runtime& job) {
    auto window = Window<Word>::allocate(job.world(), 2);
    const bool is_origin = job.world().rank() == 0;
    window.fence();
    if (!is_origin) {
      seen = &window.local()[1];
      GetParam().at_target_first(window);
    }
    meet.arrive_and_wait();
    if (is_origin) {
      GetParam().open(window);
      const Word value = 7;
      on_threads(1, [&](std::size_t) {
        window.put(value, kTarget, 0);
        window.put(value, kTarget, 1);
      });
      EXPECT_EQ(std::atomic_ref(*seen).load(), 0);
      GetParam().close(window);
    } else {
      GetParam().at_target(window);
    }
    meet.arrive_and_wait();
    EXPECT_EQ(std::atomic_ref(*seen).load(), 7);
    meet.arrive_and_wait();
    window.fence();
  });
}

INSTANTIATE_TEST_SUITE_P(
    By, EndsOfLanes,
    ::testing::Values(
        Ending{"flush", nothing, [](auto& window) { window.flush(kTarget); }, nothing, nothing},
        Ending{"flush_all", nothing, [](auto& window) { window.flush_all(); }, nothing, nothing},
        Ending{"fence", nothing, [](auto& window) { window.fence(); }, nothing,
               [](auto& window) { window.fence(); }},
        Ending{"unlock", [](auto& window) { window.lock(kTarget, LockMode::exclusive).release(); },
               [](auto& window) { window.unlock(kTarget); }, nothing, nothing},
        Ending{"complete", [](auto& window) { window.start(std::vector{kTarget}); },
               [](auto& window) { window.complete(); },
               [](auto& window) { window.post(std::vector{kOrigin}); },
               [](auto& window) { window.wait(); }}),
    [](const auto& ending) { return ending.param.name; });

// Each thread of each rank has a slot of its own in every part.
TEST(LanesStress, ThreadsOfAllRanksReadWhatTheyWrote) {
  constexpr std::size_t kThreads = 3;
  constexpr int kRanks = 3;
  fake_verbs::reset({.delivery = fake_verbs::Delivery::on_poll});
  test::run_ranks(kRanks, environment(3), [&](Runtime& job) {
    const auto me = static_cast<std::size_t>(job.world().rank());
    auto window = Window<Word>::allocate(job.world(), kThreads * kRanks);
    window.fence();
    on_threads(kThreads, [&](std::size_t thread) {
      const std::size_t slot = me * kThreads + thread;
      for (Word round = 1; round <= 200; ++round) {
        const Rank target(static_cast<int>(round) % kRanks);
        const Word value = round << 8U | slot;
        window.put(value, target, slot);
        if (round % 3 == 0) {
          window.flush_all();
        } else {
          window.flush(target);
        }
        ASSERT_EQ(window.get(target, slot), value);
      }
    });
    window.fence();
  });
}

}  // namespace
}  // namespace oriel
