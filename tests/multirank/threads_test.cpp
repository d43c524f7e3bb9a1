// Any thread, any window: four threads of each rank at once, on windows they share and on their
// own; and that one that waits never holds up another that is to send what it waits for.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

constexpr std::size_t kThreads = 4;

/// Runs `body(thread)` on all threads; their exceptions fail the test.
void on_threads(const std::function<void(std::size_t thread)>& body, std::size_t count = kThreads) {
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < count; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        body(thread);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d, thread %zu: %s\n", me(), thread, error.what());
        ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

/// A window, and where the memory of each rank begins in it.
struct Place {
  Window<Word> window;
  std::vector<std::size_t> begin;
  std::span<Word> mine;
};

enum class Made { allocated, created, dynamic, shared };

Place make(Made made, std::span<Word> memory) {
  const std::vector<std::size_t> zeros(static_cast<std::size_t>(ranks()));
  switch (made) {
    case Made::allocated: {
      auto window = Window<Word>::allocate(world(), memory.size());
      const auto mine = window.local();
      return {std::move(window), zeros, mine};
    }
    case Made::shared: {
      auto window = Window<Word>::allocate_shared(world(), memory.size());
      const auto mine = window.local();
      return {std::move(window), zeros, mine};
    }
    case Made::created:
      return {Window<Word>::create(world(), memory), zeros, memory};
    case Made::dynamic:
      break;
  }
  auto window = Window<Word>::dynamic(world());
  const auto begin = gather(window.attach(memory));
  return {std::move(window), begin, memory};
}

/// Memory of a rank: [sum by fetch_add][sum by accumulate][counter under locks][-] and behind it
/// data for each thread of each origin.
constexpr std::size_t kCounters = 4;
constexpr std::size_t kData = 200;

std::size_t data_of(std::size_t thread) {
  return kCounters + (static_cast<std::size_t>(me()) * kThreads + thread) * kData;
}

/// Every kind of operation, by one thread, on data of its own and on counters of all.
void use(Place& place, std::size_t thread, int rounds) {
  Window<Word>& window = place.window;
  std::vector<Word> sent(kData);
  std::vector<Word> seen(kData);
  for (int round = 1; round <= rounds; ++round) {
    const int target = (me() + round) % ranks();
    const Rank rank(target);
    const std::size_t begin = place.begin[static_cast<std::size_t>(target)];
    const std::size_t data = begin + data_of(thread);
    std::ranges::fill(sent, static_cast<Word>(round) * 10 + thread);
    window.fetch_add(1, rank, begin);
    window.accumulate(Word{1}, rank, begin + 1, op::sum);
    if (round % 3 == 0) {
      window.put(sent, rank, data);
    } else if (round % 3 == 1) {
      window.rput(sent, rank, data).wait_remote();
    } else {
      window.put(sent, Layout::strided(10, {{20, 10}}), rank, data, Layout::contiguous(kData));
    }
    window.flush(rank);
    if (round % 2 == 0) {
      window.get(seen, rank, data);
      window.flush_local(rank);
    } else {
      window.rget(seen, rank, data).wait();
    }
    EXPECT_EQ(seen, sent) << "round " << round;
    if (round % 5 == 0) window.flush_all();
  }
}

class AnyThread : public testing::TestWithParam<Made> {
 protected:
  AnyThread() : memory_(kCounters + static_cast<std::size_t>(ranks()) * kThreads * kData) {}
  [[nodiscard]] bool impossible() const { return GetParam() == Made::shared && !one_machine(); }
  [[nodiscard]] static int rounds() { return scaled(30); }
  static void expect_counts(const Place& place, std::size_t threads) {
    const auto expected = threads * static_cast<Word>(rounds());
    const auto count = [&](std::size_t index) {
      return mpi_sum(static_cast<long>(place.mine[index]));
    };
    EXPECT_EQ(count(0), static_cast<long>(expected) * ranks());
    EXPECT_EQ(count(1), static_cast<long>(expected) * ranks());
  }
  std::vector<Word> memory_;
};

TEST_P(AnyThread, UsesASharedWindow) {
  if (impossible()) GTEST_SKIP() << "needs one machine";
  Place place = make(GetParam(), memory_);
  on_threads([&](std::size_t thread) { use(place, thread, rounds()); });
  place.window.fence();
  expect_counts(place, kThreads);
  place.window.fence();
}

TEST_P(AnyThread, UsesAWindowOfItsOwn) {
  if (impossible()) GTEST_SKIP() << "needs one machine";
  std::vector<std::vector<Word>> memory(kThreads, memory_);
  std::vector<Place> places;
  for (auto& one : memory) places.push_back(make(GetParam(), one));
  on_threads([&](std::size_t thread) {
    use(places[thread], thread, rounds());
    places[thread].window.fence();  // collectives of different windows, in any order
  });
  for (Place& place : places) expect_counts(place, 1);
  for (Place& place : places) place.window.fence();
}

std::string made_name(const testing::TestParamInfo<Made>& param) {
  constexpr const char* kNames[] = {"allocated", "created", "dynamic", "shared"};
  return kNames[static_cast<std::size_t>(param.param)];
}
INSTANTIATE_TEST_SUITE_P(Kinds, AnyThread,
                         testing::Values(Made::allocated, Made::created, Made::dynamic,
                                         Made::shared),
                         made_name);

// B170: each thread has its window; epochs of all kinds, and the end, at any time of the others.
TEST_P(AnyThread, HasEpochsOfItsOwn) {
  if (impossible()) GTEST_SKIP() << "needs one machine";
  std::vector<std::vector<Word>> memory(kThreads, memory_);
  std::vector<Place> places;
  for (auto& one : memory) places.push_back(make(GetParam(), one));
  const auto next = static_cast<std::size_t>(int{right()});
  const auto apart = Layout::strided(1, {{10, 3}});
  on_threads([&](std::size_t thread) {
    auto& [window, begin, mine] = places[thread];
    for (int round = 1; round <= rounds(); ++round) {
      const std::vector<Word> values(30, static_cast<Word>(round));
      window.post(std::array{left()});
      window.start(std::array{right()});
      window.put(values, right(), begin[next]);
      window.complete();
      window.wait();
      EXPECT_EQ(std::ranges::count(mine.first(30), values[0]), 30);
      {
        const auto guard = window.lock(right(), LockMode::exclusive);
        window.put(values, apart, right(), begin[next] + 30, apart);
      }
      window.fence();
      EXPECT_EQ(mine[30 + 27], values[0]);
      EXPECT_EQ(mine[30 + 28], 0U);
      window.fence();
    }
    window.free();
  });
}

// B171: sums of overlapping ranges, each thread's one element further than the one's before it.
TEST_P(AnyThread, AccumulatesOnOverlappingRanges) {
  if (impossible()) GTEST_SKIP() << "needs one machine";
  constexpr std::size_t kMany = 8;
  constexpr std::size_t kLength = 400;
  Place place = make(GetParam(), memory_);
  const std::vector<Word> ones(kLength, 1);
  const std::size_t begin = place.begin[0];
  on_threads(
      [&](std::size_t thread) {
        for (int round = 0; round < rounds(); ++round) {
          place.window.accumulate(ones, Rank(0), begin + thread, op::sum);
        }
      },
      kMany);
  place.window.fence();
  if (me() == 0) {
    const auto each = static_cast<Word>(rounds() * ranks());
    for (std::size_t i = 0; i < kMany; ++i) EXPECT_EQ(place.mine[i], each * (i + 1)) << i;
    EXPECT_EQ(std::ranges::count(place.mine, each * kMany),
              static_cast<std::ptrdiff_t>(kLength - kMany + 1));
  }
  place.window.fence();
}

class Threads : public BothKinds {};

// A thread waits for what another thread of its own rank sends.
TEST_P(Threads, OneWaitsForANotificationAnotherSends) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  const int rounds = scaled(40);
  on_threads(
      [&](std::size_t thread) {
        for (int round = 0; round < rounds; ++round) {
          if (thread == 1) window.put_notify({}, Rank(me()), 0, 1);
          window.wait_notify(thread == 0 ? 1 : 2);
          if (thread == 0) window.put_notify({}, Rank(me()), 0, 2);
        }
      },
      2);
  window.fence();
}

TEST_P(Threads, OneWaitsForALockAnotherCommunicates) {
  Exposed<Word> words(world(), GetParam(), 2);
  auto& window = words.window;
  const int rounds = scaled(30);
  on_threads([&](std::size_t thread) {
    for (int round = 0; round < rounds; ++round) {
      if (thread == 0) {
        const auto guard = window.lock(Rank(round % ranks()), LockMode::exclusive);
        const Rank target(round % ranks());
        window.put(window.get(target, 0) + 1, target, 0);
      } else if (thread == 1) {
        window.put_notify({}, right(), 0, 3);
        window.wait_notify(3);
      } else {
        window.fetch_add(1, right(), 1);
      }
    }
  });
  window.fence();
  EXPECT_EQ(mpi_sum(static_cast<long>(window.local()[0])), rounds * ranks());
  EXPECT_EQ(window.local()[1], static_cast<Word>(2 * rounds));
  window.fence();
}

// Of two threads of a rank, one has the lock at a time; the other is told so.
TEST_P(Threads, LocksOfOneRankAreHeldByOneThread) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  const int rounds = scaled(30);
  on_threads([&](std::size_t) {
    for (int round = 0; round < rounds;) {
      try {
        const auto guard =
            window.lock(Rank(0), round % 2 == 0 ? LockMode::exclusive : LockMode::shared);
        if (round % 2 == 0) window.put(window.get(Rank(0), 0) + 1, Rank(0), 0);
        ++round;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::wrong_epoch) throw;
        ::sched_yield();
      }
    }
  });
  window.fence();
  EXPECT_EQ(window.get(Rank(0), 0), static_cast<Word>((rounds + 1) / 2 * ranks()) * kThreads);
  window.lock(Rank(0), LockMode::exclusive).unlock();  // nothing was left locked
  window.fence();
}

TEST_P(Threads, DifferentPartsAreLockedByDifferentThreads) {
  Exposed<Word> words(world(), GetParam(), kThreads);
  auto& window = words.window;
  const int rounds = scaled(30);
  const std::size_t count = std::min(kThreads, static_cast<std::size_t>(ranks()));
  on_threads(
      [&](std::size_t thread) {
        const Rank target(static_cast<int>(thread));
        for (int round = 0; round < rounds; ++round) {
          const auto guard = window.lock(target, LockMode::exclusive);
          window.put(window.get(target, 0) + 1, target, 0);
        }
      },
      count);
  window.fence();
  const bool locked = static_cast<std::size_t>(me()) < count;
  EXPECT_EQ(window.local()[0], locked ? static_cast<Word>(rounds * ranks()) : 0U);
  window.fence();
}

// Creation is one at a time per team; teams of different threads do not hold each other up.
TEST_P(Threads, CreateWindowsOnTeamsOfTheirOwn) {
  std::vector<Team> teams;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    teams.push_back(world().split(0, thread % 2 == 0 ? me() : -me()));
  }
  std::mutex turn;  // MPI's collectives of one communicator after the other
  int next = 0;
  const int rounds = 3;
  on_threads([&](std::size_t thread) {
    const Team& team = teams[thread];
    for (int round = 0; round < rounds; ++round) {
      wait_until([&] {
        const std::scoped_lock lock(turn);
        return next % static_cast<int>(kThreads) == static_cast<int>(thread);
      });
      Exposed<Word> words(team, GetParam(), 1);
      {
        const std::scoped_lock lock(turn);
        ++next;
      }
      words.window.put(Word{4}, Rank((team.rank() + 1) % team.size()), 0);
      words.window.fence();
      EXPECT_EQ(words.window.local()[0], 4U);
    }
  });
}

// The first rank waits in a creation for the others, which come when another thread of it says so.
TEST_P(Threads, ACreationHoldsUpNobody) {
  if (ranks() < 2) GTEST_SKIP() << "needs two ranks";
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  const Team team = world().split(0);
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> creating{false};
    on_threads(
        [&](std::size_t thread) {
          if (thread == 0) {
            if (me() != 0) window.wait_notify(4);
            creating = true;
            Exposed<Word> made(team, GetParam(), 1);
            made.window.fence();
          } else if (me() == 0) {
            wait_until([&] { return creating.load(); });
            for (int i = 0; i < 10; ++i) ::sched_yield();  // it is in the middle of it by now
            for (int rank = 1; rank < ranks(); ++rank) window.put_notify({}, Rank(rank), 0, 4);
            window.flush_all();
          }
        },
        2);
  }
  window.fence();
}

INSTANTIATE_TEST_SUITE_P(Both, Threads, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
