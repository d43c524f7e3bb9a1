// Windows with ranks as threads, on shared memory and on the fake device: everything above the
// transports, without MPI and mpirun.

#include <gmock/gmock.h>

#include <array>
#include <numeric>
#include <random>
#include <vector>

#include <oriel/oriel.hpp>

#include "support/fake_verbs/fake_verbs.hpp"
#include "support/thread_job.hpp"
#include "window/window_state.hpp"

namespace oriel {
namespace {

using testing::HasSubstr;
using Lines = std::vector<std::string>;

class WindowOn : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { fake_verbs::reset(); }
  [[nodiscard]] static Lines environment() { return {GetParam(), "ORIEL_LOG=error"}; }
  [[nodiscard]] static bool on_verbs() {
    return std::string_view(GetParam()) == "ORIEL_FABRIC=verbs";
  }
};
std::string fabric_name(const testing::TestParamInfo<const char*>& param) {
  constexpr const char* kNames[] = {"shm", "verbs", "mixed"};
  return kNames[param.index];
}
INSTANTIATE_TEST_SUITE_P(Fabrics, WindowOn,
                         testing::Values("ORIEL_FABRIC=shm", "ORIEL_FABRIC=verbs",
                                         "ORIEL_FAKE_NODES=2"),
                         fabric_name);

TEST_P(WindowOn, PutsAndGetsReachEveryTarget) {
  test::run_ranks(4, environment(), [](Runtime& job) {
    const Team& world = job.world();
    const auto size = static_cast<std::size_t>(world.size());
    auto window = Window<std::uint64_t>::allocate(world, size * 100);
    std::vector<std::uint64_t> row(100);
    for (int target = 0; target < world.size(); ++target) {
      std::iota(row.begin(), row.end(),
                1000U * static_cast<unsigned>(world.rank()) + static_cast<unsigned>(target));
      window.put(row, Rank{target}, static_cast<std::size_t>(world.rank()) * 100);
      window.flush_local(Rank{target});
    }
    window.fence();
    for (int origin = 0; origin < world.size(); ++origin) {
      EXPECT_EQ(window.local()[static_cast<std::size_t>(origin) * 100 + 99],
                1000U * static_cast<unsigned>(origin) + static_cast<unsigned>(world.rank()) + 99);
    }
    for (int target = 0; target < world.size(); ++target) {
      std::vector<std::uint64_t> back(100);
      window.get(back, Rank{target}, 200);
      window.flush(Rank{target});
      EXPECT_EQ(back[5], 2005U + static_cast<unsigned>(target));
      EXPECT_EQ(window.get(Rank{target}, 205), back[5]);
    }
  });
}

TEST_P(WindowOn, FetchAddLosesNoUpdateWhoeverAdds) {
  constexpr int kAdds = 500;
  test::run_ranks(4, environment(), [](Runtime& job) {
    auto window = Window<std::int64_t>::allocate(job.world(), 2);
    std::int64_t last = -1;
    for (int i = 0; i < kAdds; ++i) {
      const std::int64_t old = window.fetch_add(1, Rank{1}, 0);
      EXPECT_GT(old, last);
      last = old;
      for (std::int64_t seen = window.get(Rank{0}, 1);;) {
        const std::int64_t was = window.compare_and_swap(seen, seen + 2, Rank{0}, 1);
        if (was == seen) break;
        seen = was;
      }
    }
    window.fence();
    EXPECT_EQ(window.get(Rank{1}, 0), 4 * kAdds);
    EXPECT_EQ(window.get(Rank{0}, 1), 8 * kAdds);
  });
}

TEST_P(WindowOn, CreatedWindowsHaveTheMemoryTheyAreGiven) {
  test::run_ranks(3, environment(), [](Runtime& job) {
    std::vector<double> mine(50, job.world().rank());
    auto window = Window<double>::create(job.world(), mine);
    EXPECT_EQ(window.local().data(), mine.data());
    const Rank right{(job.world().rank() + 1) % 3};
    EXPECT_EQ(window.get(right, 49), int{right});
    window.fence();
    const std::array<double, 2> pair = {1.5, 2.5};
    window.put(pair, right, 10);
    window.fence();
    EXPECT_EQ(mine[11], 2.5);
    EXPECT_EQ(mine[12], job.world().rank());
  });
}

// B072, B078: zero bytes on all but one rank, and a window of one rank beside it.
TEST_P(WindowOn, PartsDifferInSizeAndMayBeEmpty) {
  test::run_ranks(4, environment(), [](Runtime& job) {
    const int me = job.world().rank();
    auto alone = Window<char>::allocate(job.world().split(me), 1);
    auto window = Window<std::uint64_t>::allocate(job.world(), me == 3 ? 1 : 0);
    EXPECT_EQ(window.size(Rank{2}), 0U);
    EXPECT_EQ(window.size(Rank{3}), 1U);
    EXPECT_EQ(window.get(Rank{3}, 0), 0U);
    window.get(std::span<std::uint64_t>{}, Rank{2}, 0);
    window.put(std::span<const std::uint64_t>{}, Rank{3}, 1);
    window.flush_all();
    std::uint64_t value = 0;
    try {
      window.get({&value, 1}, Rank{2}, 0);
      ADD_FAILURE() << "was in range";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_range);
      EXPECT_THAT(error.what(),
                  HasSubstr("get: out of range: the part of team rank 2 has 0 bytes"));
      EXPECT_EQ(error.details().length_bytes, 8U);
    }
  });
}

TEST_P(WindowOn, RangesRanksAndAlignmentAreCheckedAndNothingIsDone) {
  test::run_ranks(2, environment(), [](Runtime& job) {
    auto window = Window<char>::allocate(job.world(), 16);
    const auto code_of = [](auto call) {
      try {
        call();
      } catch (const Error& error) {
        return error.code();
      }
      return std::error_code();
    };
    const std::array<char, 9> nine{};
    EXPECT_EQ(code_of([&] { window.put(nine, Rank{1}, 8); }), ErrorCode::out_of_range);
    EXPECT_EQ(code_of([&] { window.put('x', Rank{1}, 16); }), ErrorCode::out_of_range);
    EXPECT_EQ(code_of([&] { window.put('x', Rank{1}, ~std::size_t{0}); }), ErrorCode::out_of_range);
    EXPECT_EQ(code_of([&] { window.put('x', Rank{2}, 0); }), ErrorCode::invalid_rank);
    EXPECT_EQ(code_of([&] { window.put('x', Rank{-1}, 0); }), ErrorCode::invalid_rank);
    EXPECT_EQ(code_of([&] { window.flush(Rank{2}); }), ErrorCode::invalid_rank);
    window.fence();
    EXPECT_THAT(window.local(), testing::Each('\0'));
  });
}

TEST_P(WindowOn, OneRankThatCannotCreateFailsTheCallOnAll) {
  std::atomic<int> refused{0};
  test::run_ranks(3, environment(), [&](Runtime& job) {
    const bool bad = job.world().rank() == 1;
    try {
      auto window = Window<char>::allocate(job.world(), bad ? ~std::size_t{0} / 2 : 10);
      ADD_FAILURE() << "was created";
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(error.code(), bad ? ErrorCode::out_of_memory : ErrorCode::peer_failed)
          << error.what();
      EXPECT_THAT(error.what(),
                  HasSubstr(bad ? "no machine has so much memory"
                                : "team rank 1 says: Window::allocate: out of memory"));
    }
    auto next = Window<char>::allocate(job.world(), 10);  // nothing is left behind
    next.fence();
  });
  EXPECT_EQ(refused.load(), 3);
}

TEST_P(WindowOn, ARankThatLeavesByAnExceptionStrandsNobody) {
  std::atomic<int> told{0};
  test::run_ranks(4, environment(), [&](Runtime& job) {
    try {
      auto window = Window<int>::allocate(job.world(), 1);
      window.fence();
      if (job.world().rank() == 2) throw std::runtime_error("of the program's own");
      for (;;) window.fence();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::peer_failed) << error.what();
      ++told;
    } catch (const std::runtime_error&) {
    }
  });
  EXPECT_EQ(told.load(), 3);
}

TEST_P(WindowOn, FreedAndMovedFromWindowsSaySo) {
  test::run_ranks(2, environment(), [](Runtime& job) {
    auto window = Window<int>::allocate(job.world(), 1);
    auto moved = std::move(window);
    EXPECT_THROW(window.fence(), Error);  // NOLINT(bugprone-use-after-move): that is what is tested
    moved.free();
    try {
      moved.put(1, Rank{0}, 0);
      ADD_FAILURE() << "was open";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::window_freed);
    }
  });
}

TEST_P(WindowOn, RandomPutsAgreeWithASerialOracle) {
  constexpr std::size_t kBytes = 300'000;
  test::run_ranks(3, environment(), [](Runtime& job) {
    const Team& world = job.world();
    auto window = Window<unsigned char>::allocate(world, kBytes);
    Buffer<unsigned char> registered(job, kBytes);
    std::vector<unsigned char> expected(kBytes);
    // All ranks draw the same numbers; of each round, one rank writes to one other.
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
      const int origin = static_cast<int>(random() % 3);
      const int target = static_cast<int>(random() % 3);
      const std::size_t length = std::size_t{1} << (random() % 19);
      const std::size_t offset = random() % (kBytes - length);
      const auto value = static_cast<unsigned char>(random());
      const bool zero_copy = random() % 2 == 0;
      if (world.rank() == origin) {
        std::vector<unsigned char> ordinary(length, value);
        const auto source = zero_copy ? registered.span().first(length) : std::span(ordinary);
        std::ranges::fill(source, value);
        window.put(source, Rank{target}, offset);
        window.flush(Rank{target});
      }
      if (world.rank() == target)
        std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(offset), length, value);
      window.fence();
    }
    EXPECT_TRUE(std::ranges::equal(window.local(), expected));
  });
}

TEST_P(WindowOn, CoherenceAndPathsCanBeRead) {
  test::run_ranks(2, environment(), [](Runtime& job) {
    auto window = Window<int>::allocate(job.world(), 10);
    const bool near = !on_verbs() && GetParam() != std::string_view("ORIEL_FAKE_NODES=2");
    EXPECT_EQ(window.coherence(), near ? CoherenceDomain::cpu : CoherenceDomain::nic);
    EXPECT_THAT(window.describe(), HasSubstr(near ? "CPU atomics" : "IBV_ATOMIC_HCA"));
    EXPECT_EQ(job.world().fabric(Rank{1 - job.world().rank()}), near ? "shm" : "verbs");
  });
}

TEST_P(WindowOn, NothingOfTheDeviceIsLeftBehind) {
  test::run_ranks(2, environment(), [](Runtime& job) {
    auto window = Window<int>::allocate(job.world(), 1000);
    window.put(1, Rank{0}, static_cast<std::size_t>(int{job.world().rank()}));
    window.fence();
  });
  EXPECT_TRUE(fake_verbs::live_objects().empty());
}

TEST(Coherence, IsChosenByPathsAndDevices) {
  using transport::AtomicScope;
  EXPECT_EQ(window::choose_coherence(true, AtomicScope::none).domain, CoherenceDomain::cpu);
  EXPECT_EQ(window::choose_coherence(false, AtomicScope::system).domain,
            CoherenceDomain::cpu_and_nic);
  EXPECT_EQ(window::choose_coherence(false, AtomicScope::device).domain, CoherenceDomain::nic);
  EXPECT_THAT(std::string(window::choose_coherence(false, AtomicScope::none).reason),
              HasSubstr("refused"));
}

}  // namespace
}  // namespace oriel
