#include "sync/notification.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <deque>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "unit/sync/ranks.hpp"

namespace oriel::sync {
namespace {

using test::Ranks;
using testing::HasSubstr;

/// ControlWords, and the slots behind them.
struct Words {
  ControlWords control{};
  std::array<std::uint64_t, 8> slots{};
};
static_assert(offsetof(Words, slots) == Notifications::offset(0));

/// One rank's slots, and a way for others to add to them.
class Notified : public testing::Test {
 protected:
  void arrive(std::size_t slot, int times = 1) {
    test::MemoryEndpoint endpoint;
    transport::Completion done;
    const Partner target{&endpoint, {reinterpret_cast<std::uint64_t>(&words), 0}};
    for (int time = 0; time < times; ++time) mine.notify("put_notify", target, slot, done);
    EXPECT_EQ(endpoint.adds, times);
  }

  Ranks ranks{2};
  Words words;
  Notifications mine{words.slots, ranks.progress[0], ranks.vigils[0]};
};

TEST_F(Notified, NotificationsAreConsumedOnce) {
  EXPECT_FALSE(mine.test(3));
  arrive(3, 5);
  EXPECT_EQ(mine.pending(3), 5U);
  EXPECT_FALSE(mine.test(3, 6));
  EXPECT_TRUE(mine.test(3, 4));
  EXPECT_EQ(mine.pending(3), 1U);
  mine.wait(3);
  EXPECT_FALSE(mine.test(3));
  EXPECT_EQ(words.slots[3], 5U) << "the word is the origins'";
  EXPECT_EQ(mine.pending(2), 0U);
}

TEST_F(Notified, ResetForgetsWhatHasArrived) {
  arrive(1, 3);
  EXPECT_TRUE(mine.test(1));
  EXPECT_EQ(mine.reset(1), 2U);
  EXPECT_EQ(mine.reset(1), 0U);
  arrive(1);
  EXPECT_EQ(mine.pending(1), 1U);
}

TEST_F(Notified, AnyOfARangeTakesTurns) {
  EXPECT_EQ(mine.test_any(0, 8), std::nullopt);
  arrive(2, 4);
  arrive(5, 4);
  arrive(7, 1);
  EXPECT_EQ(mine.wait_any(0, 8), 2U);
  EXPECT_EQ(mine.wait_any(0, 8), 5U);
  EXPECT_EQ(mine.wait_any(0, 8), 7U);
  EXPECT_EQ(mine.wait_any(0, 8), 2U) << "one that is always full does not hide the others";
  EXPECT_EQ(mine.test_any(3, 3), 5U);
  EXPECT_EQ(mine.test_any(3, 2), std::nullopt) << "5 is not in the range";
  EXPECT_EQ(mine.test_any(6, 2), std::nullopt);
  EXPECT_EQ(mine.pending(2), 2U);
  EXPECT_EQ(mine.pending(5), 2U);
}

TEST_F(Notified, AllOfARangeAreConsumedTogether) {
  arrive(0, 2);
  arrive(1, 1);
  EXPECT_FALSE(mine.test_all(0, 3));
  EXPECT_EQ(mine.pending(0), 2U) << "none is consumed unless all are there";
  arrive(2, 2);
  EXPECT_TRUE(mine.test_all(0, 3));
  EXPECT_EQ(mine.pending(0), 1U);
  EXPECT_EQ(mine.pending(1), 0U);
  EXPECT_FALSE(mine.test_all(0, 3, 2));
  mine.wait_all(0, 0);
  EXPECT_TRUE(mine.test_all(8, 0));
}

TEST_F(Notified, SlotsThatDoNotExistAreNamed) {
  const auto expect_named = [](const char* text, auto call) {
    try {
      call();
      ADD_FAILURE() << "expected: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_range);
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  };
  constexpr std::size_t kHuge = ~std::size_t{0};
  expect_named("slot 8 of 8", [&] { mine.wait(8); });
  expect_named("slot 9 of 8", [&] { static_cast<void>(mine.test(9)); });
  expect_named("slot 8 of 8", [&] { static_cast<void>(mine.pending(8)); });
  expect_named("slot 8 of 8", [&] { mine.reset(8); });
  expect_named("slot 8 of 8", [&] { arrive(8); });
  expect_named("5 slots from 4 on, of 8", [&] { mine.wait_all(4, 5); });
  expect_named("3 slots from 6 on, of 8", [&] { static_cast<void>(mine.wait_any(6, 3)); });
  expect_named("of 8", [&] { static_cast<void>(mine.test_any(2, kHuge)); });
  expect_named("of 8", [&] { static_cast<void>(mine.test_all(kHuge, 2)); });
  EXPECT_THROW(static_cast<void>(mine.wait_any(0, 0)), Error);
}

TEST_F(Notified, DataIsThereWithTheNotification) {
  constexpr int kEach = 100;
  constexpr std::size_t kOrigins = 4;
  std::array<int, kOrigins> data{};  // plain memory
  std::array<std::atomic<int>, kOrigins> read{};
  std::vector<std::thread> origins;
  for (std::size_t origin = 0; origin < kOrigins; ++origin) {
    origins.emplace_back([&, origin] {
      for (int number = 1; number <= kEach; ++number) {
        data[origin] = number;
        arrive(origin);
        while (read[origin] < number) std::this_thread::yield();
      }
    });
  }
  for (std::size_t taken = 0; taken < kOrigins * kEach; ++taken) {
    const std::size_t origin = mine.wait_any(0, kOrigins);
    const int seen = data[origin];
    EXPECT_EQ(seen, ++read[origin]);
  }
  for (std::thread& thread : origins) thread.join();
  EXPECT_EQ(mine.test_any(0, 8), std::nullopt);
}

TEST_F(Notified, ManyOriginsShareASlot) {
  std::vector<std::thread> origins;
  for (int origin = 0; origin < 4; ++origin) origins.emplace_back([&] { arrive(6, 250); });
  mine.wait(6, 1000);
  for (std::thread& thread : origins) thread.join();
  EXPECT_EQ(mine.pending(6), 0U);
}

TEST_F(Notified, ADeathEndsEveryWaitAndTest) {
  ranks.health[0].report_dead(1, "its process has ended");
  const auto expect_lost = [](auto call) {
    try {
      call();
      ADD_FAILURE() << "it returned";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::peer_lost);
      EXPECT_EQ(error.details().target, 1);
    }
  };
  expect_lost([&] { mine.wait(0); });
  expect_lost([&] { static_cast<void>(mine.test(0)); });
  expect_lost([&] { static_cast<void>(mine.wait_any(0, 8)); });
  expect_lost([&] { static_cast<void>(mine.test_any(0, 8)); });
  expect_lost([&] { mine.wait_all(0, 8); });
  arrive(0);
  EXPECT_TRUE(mine.test(0)) << "what has arrived still counts";
}

TEST_F(Notified, ARankThatLeavesByAnErrorEndsAWait) {
  std::thread leaving([&] { ranks.barrier(1).give_up(); });
  try {
    mine.wait(0);
    ADD_FAILURE() << "it returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::peer_failed);
    EXPECT_EQ(error.details().target, 1);
  }
  leaving.join();
}

}  // namespace
}  // namespace oriel::sync
