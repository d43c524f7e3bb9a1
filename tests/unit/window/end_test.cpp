// The end of windows and of their runtime, in whatever order the program lets go of them.

#include <gmock/gmock.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <oriel/oriel.hpp>

#include "support/fake_verbs/fake_verbs.hpp"
#include "support/thread_job.hpp"

namespace oriel {
namespace {

using Word = std::uint64_t;
using namespace std::chrono_literals;

class EndOn : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { fake_verbs::reset(); }
  void TearDown() override { EXPECT_TRUE(fake_verbs::live_objects().empty()); }
  static constexpr int kRanks = 3;
  static void run(const std::function<void(Runtime&)>& body) {
    test::run_ranks(kRanks, {GetParam(), "ORIEL_LOG=off"}, body);
  }
};
INSTANTIATE_TEST_SUITE_P(Fabrics, EndOn, testing::Values("ORIEL_FABRIC=shm", "ORIEL_FABRIC=verbs"),
                         [](const testing::TestParamInfo<const char*>& param) {
                           return std::string(param.index == 0 ? "shm" : "verbs");
                         });

std::error_code code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return {};
}

void expect_freed(Window<Word>& window) {
  EXPECT_EQ(code_of([&] { window.put(Word{1}, Rank(0), 0); }), ErrorCode::window_freed);
  EXPECT_EQ(code_of([&] { window.fence(); }), ErrorCode::window_freed);
  EXPECT_EQ(code_of([&] { (void)window.local(); }), ErrorCode::window_freed);
  EXPECT_EQ(code_of([&] { window.free(); }), ErrorCode::window_freed);
}

TEST_P(EndOn, TheRuntimeFreesWindowsThatLiveOn) {
  struct Survivors {
    std::vector<Word> memory = std::vector<Word>(4);
    std::vector<Window<Word>> windows{};
    std::optional<Window<Word>> moved{};
  };
  std::vector<Survivors> survivors(kRanks);
  run([&](Runtime& job) {
    auto& mine = survivors[static_cast<std::size_t>(int{job.world().rank()})];
    const Rank next((job.world().rank() + 1) % kRanks);
    mine.windows.push_back(Window<Word>::allocate(job.world(), 4));
    mine.windows.push_back(Window<Word>::create(job.world(), mine.memory));
    mine.windows.push_back(Window<Word>::dynamic(job.world().split(job.world().rank() % 2)));
    auto passing = Window<Word>::allocate(job.world(), 1);
    mine.moved.emplace(std::move(passing));
    mine.windows[1].put(Word{7}, next, 2);  // completed by the end of the window
    mine.windows[0].lock(next, LockMode::shared).release();
    passing = Window<Word>::allocate(job.world(), 1);
    passing.fence();
  });
  for (Survivors& mine : survivors) {
    EXPECT_EQ(mine.memory[2], 7U);
    for (Window<Word>& window : mine.windows) expect_freed(window);
    expect_freed(*mine.moved);
    const Window<Word> still = std::move(*mine.moved);
  }
}

// Nobody waits for a rank that leaves by an exception, with windows that outlive its runtime too.
TEST_P(EndOn, OfARankByAnExceptionWithWindowsThatLiveOn) {
  std::vector<std::vector<Window<Word>>> survivors(kRanks);
  std::atomic<int> told{0};
  const auto body = [&](Runtime& job) {
    auto& mine = survivors[static_cast<std::size_t>(int{job.world().rank()})];
    try {  // the one that leaves may be gone while another still waits for the last window
      for (int i = 0; i < 3; ++i) mine.push_back(Window<Word>::allocate(job.world(), 1));
      if (job.world().rank() == 1) throw std::runtime_error("of the program's own");
      for (;;) mine[1].fence();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::peer_failed) << error.what();
      ++told;
    }
  };
  EXPECT_THROW(run(body), std::runtime_error);
  EXPECT_EQ(told, kRanks - 1);
  for (auto& mine : survivors) {
    for (Window<Word>& window : mine) expect_freed(window);
  }
}

TEST_P(EndOn, FreeCompletesWhatIsOpen) {
  run([](Runtime& job) {
    const Rank next((job.world().rank() + 1) % kRanks);
    const Rank previous((job.world().rank() + kRanks - 1) % kRanks);
    std::vector<Word> memory(2000);
    const std::vector<Word> values(1000, 5);
    auto window = Window<Word>::create(job.world(), memory);
    std::vector<Request> requests;
    requests.push_back(window.rput(values, next, 0));
    window.put(values, next, 1000);
    const std::array<Rank, 1> origins{previous};
    const std::array<Rank, 1> targets{next};
    window.post(origins);
    window.start(targets);
    window.lock(next, LockMode::exclusive).release();
    window.free();
    EXPECT_THAT(memory, testing::Each(5U));
    requests[0].wait_remote();
    expect_freed(window);
  });
}

// A put from memory that another window exposes goes by that one's registration. Here it is posted
// behind the messages of the barrier in free(): those are delivered first, and nothing else keeps
// the window from going while the put is under way.
TEST(EndOnVerbs, MemoryThatLeavesAWindowIsStillReadForAnother) {
  fake_verbs::reset();
  std::atomic<bool> put_posted{false};
  std::atomic<bool> freed{false};
  std::atomic<bool> over{false};
  std::thread network([&] {
    while (!put_posted && !over) std::this_thread::yield();
    fake_verbs::deliver(2);
    for (int ms = 0; ms < 100 && !freed; ++ms) std::this_thread::sleep_for(1ms);
    for (; !over; std::this_thread::yield()) fake_verbs::deliver();
  });
  std::barrier meet(2);
  const std::vector<std::string> environment = {"ORIEL_FABRIC=verbs", "ORIEL_VISIBILITY=ordered",
                                                "ORIEL_LOG=off"};
  test::run_ranks(2, environment, [&](Runtime& job) {
    std::vector<Word> memory(4096, 5);
    auto first = Window<Word>::allocate(job.world(), memory.size());
    auto second = Window<Word>::create(job.world(), memory);
    first.fence();
    second.fence();
    meet.arrive_and_wait();
    if (job.world().rank() == 0) {
      fake_verbs::set_delivery(fake_verbs::Delivery::manual);
      fake_verbs::reset_statistics();
      meet.arrive_and_wait();
      std::thread other([&] {
        while (fake_verbs::statistics().posted() < 2) std::this_thread::yield();
        first.put(memory, Rank(1), 0);
        put_posted = true;
      });
      second.free();
      freed = true;
      other.join();
      EXPECT_NO_THROW(first.flush_all());
    } else {
      meet.arrive_and_wait();
      second.free();
    }
    meet.arrive_and_wait();
    if (job.world().rank() == 1) {
      EXPECT_THAT(first.local(), testing::Each(5U));
    }
    first.fence();
    fake_verbs::set_delivery(fake_verbs::Delivery::immediate);
  });
  over = true;
  network.join();
}

}  // namespace
}  // namespace oriel
