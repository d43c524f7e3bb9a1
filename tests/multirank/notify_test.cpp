// Notified access: what has been announced is there, nothing is announced twice or lost.

#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

constexpr std::size_t kData = 5;   // slots of the tests
constexpr std::size_t kReply = 6;  // the next round may begin

class Notify : public BothKinds {
 protected:
  static void reply(Window<Word>& window, Rank to) {
    window.put_notify({}, to, 0, kReply);
    window.wait_notify(kReply);
  }
};

TEST_P(Notify, DataIsThereWithTheNotification) {
  for (const std::size_t size : {1U, 15U, 16U, 17U, 600U, 20'000U}) {
    Exposed<Word> words(world(), GetParam(), size);
    auto& window = words.window;
    std::vector<Word> values(size);
    for (int round = 1; round <= scaled(16); ++round) {
      const auto stamp = static_cast<Word>(1000 * round);
      std::ranges::fill(values, stamp + static_cast<Word>(me()));
      window.put_notify(values, right(), 0, kData);
      window.wait_notify(kData);
      const Word expected = stamp + static_cast<Word>(int{left()});
      EXPECT_EQ(std::ranges::count(window.local(), expected), static_cast<std::ptrdiff_t>(size))
          << "round " << round;
      reply(window, left());
    }
    window.fence();
  }
}

// What a rank has put without a notification before is there, too.
TEST_P(Notify, EarlierPutsAreThereToo) {
  Exposed<Word> words(world(), GetParam(), 20'001);
  auto& window = words.window;
  std::vector<Word> values(20'000);
  for (Word round = 1; round <= static_cast<Word>(scaled(16)); ++round) {
    std::ranges::fill(values, round);
    window.put(values, right(), 0);
    window.accumulate(round, right(), 20'000, op::replace);
    window.put_notify({}, right(), 0, kData);
    window.wait_notify(kData);
    EXPECT_EQ(std::ranges::count(window.local(), round), 20'001) << "round " << round;
    window.flush_local(right());
    reply(window, left());
  }
  window.fence();
}

// The target may change what has been read, as soon as it is told.
TEST_P(Notify, OfAGetFreesTheTargetsMemory) {
  for (const std::size_t size : {1U, 16U, 17U, 20'000U}) {
    Exposed<Word> words(world(), GetParam(), size);
    auto& window = words.window;
    std::vector<Word> seen(size);
    for (Word round = 1; round <= static_cast<Word>(scaled(16)); ++round) {
      std::ranges::fill(window.local(), round);
      reply(window, left());
      window.get_notify(seen, right(), 0, kData);
      window.wait_notify(kData);
      std::ranges::fill(window.local(), Word{0});
      window.flush_local(right());
      EXPECT_EQ(std::ranges::count(seen, round), static_cast<std::ptrdiff_t>(size));
    }
    window.fence();
  }
}

TEST_P(Notify, OfAnAccumulate) {
  Exposed<Word> words(world(), GetParam(), 300);
  auto& window = words.window;
  const std::vector<Word> ones(300, 1);
  for (Word round = 1; round <= static_cast<Word>(scaled(16)); ++round) {
    window.accumulate_notify(ones, right(), 0, op::sum, kData);
    window.wait_notify(kData);
    EXPECT_EQ(std::ranges::count(window.local(), round), 300);
    reply(window, left());
  }
  window.fence();
}

TEST_P(Notify, ManyOriginsOfOneSlotCountExactly) {
  const auto each = static_cast<std::size_t>(scaled(100));
  const auto size = static_cast<std::size_t>(ranks());
  Exposed<Word> words(world(), GetParam(), size);
  auto& window = words.window;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < each; ++i) {
      for (int target = 0; target < ranks(); ++target) {
        const Word value = i + 1;
        window.put_notify(std::span(&value, 1), Rank(target), static_cast<std::size_t>(me()),
                          kData);
        window.flush_local(Rank(target));
      }
    }
    window.wait_notify(kData, each);
    window.wait_notify(kData, each * (size - 1));
    for (const Word last : window.local()) EXPECT_EQ(last, each);
    EXPECT_EQ(window.pending_notifications(kData), 0U);
    EXPECT_FALSE(window.test_notify(kData));
    window.fence();
  }
}

TEST_P(Notify, TestConsumesOrLeavesAlone) {
  Exposed<Word> words(world(), GetParam(), 1);
  auto& window = words.window;
  EXPECT_FALSE(window.test_notify(kData));
  EXPECT_TRUE(window.test_notify(kData, 0));
  window.wait_notify(kData, 0);
  mpi_barrier();
  for (int i = 0; i < 5; ++i) window.put_notify({}, right(), 0, kData);
  window.flush(right());
  mpi_barrier();
  EXPECT_EQ(window.pending_notifications(kData), 5U);
  EXPECT_FALSE(window.test_notify(kData, 6));
  EXPECT_TRUE(window.test_notify(kData, 2));
  EXPECT_EQ(window.pending_notifications(kData), 3U);
  EXPECT_EQ(window.reset_notify(kData), 3U);
  EXPECT_EQ(window.reset_notify(kData), 0U);
  EXPECT_FALSE(window.test_notify(kData));
  EXPECT_EQ(window.pending_notifications(kReply), 0U) << "a neighbouring slot";
  window.fence();
}

TEST_P(Notify, AnyOfARangeReturnsEachOnce) {
  const auto size = static_cast<std::size_t>(ranks());
  Exposed<Word> words(world(), GetParam(), size);
  auto& window = words.window;
  const std::size_t first = 10;
  for (Word round = 1; round <= static_cast<Word>(scaled(16)); ++round) {
    for (int target = 0; target < ranks(); ++target) {
      window.put(round, Rank(target), static_cast<std::size_t>(me()));
      window.put_notify({}, Rank(target), 0, first + static_cast<std::size_t>(me()));
    }
    window.put_notify({}, right(), 0, first + size);  // not in the range
    std::vector<int> times(size);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t slot = window.wait_notify_any(first, size);
      ++times.at(slot - first);
      EXPECT_EQ(window.local()[slot - first], round);
    }
    EXPECT_EQ(std::ranges::count(times, 1), std::ptrdiff_t{ranks()});
    window.fence();
    EXPECT_FALSE(window.test_notify_any(first, size));
    EXPECT_EQ(window.test_notify_any(first, size + 1), first + size);
    window.fence();
  }
}

TEST_P(Notify, AllOfARange) {
  const auto size = static_cast<std::size_t>(ranks());
  Exposed<Word> words(world(), GetParam(), size);
  auto& window = words.window;
  for (Word round = 1; round <= static_cast<Word>(scaled(16)); ++round) {
    for (int target = 0; target < ranks(); ++target) {
      window.put_notify({}, Rank(target), 0, static_cast<std::size_t>(me()));
      window.put_notify(std::span(&round, 1), Rank(target), static_cast<std::size_t>(me()),
                        static_cast<std::size_t>(me()));
      window.flush_local(Rank(target));
    }
    window.wait_notify_all(0, size, 2);
    EXPECT_EQ(std::ranges::count(window.local(), round), std::ptrdiff_t{ranks()});
    window.wait_notify_all(3, 0, 1);  // of none
    window.fence();
  }
}

TEST_P(Notify, SlotsOutOfRangeAreRefused) {
  Exposed<Word> words(world(), GetParam(), 2);
  auto& window = words.window;
  const std::size_t count = window.options().notification_slots;
  std::vector<Word> values(1, 7);
  for (const std::size_t slot : {count, count + 1, ~std::size_t{0}}) {
    const std::vector<std::function<void()>> calls{
        [&] { window.put_notify(values, right(), 0, slot); },
        [&] { window.get_notify(values, right(), 0, slot); },
        [&] { window.accumulate_notify(values, right(), 0, op::sum, slot); },
        [&] { window.wait_notify(slot); },
        [&] { (void)window.test_notify(slot); },
        [&] { (void)window.wait_notify_any(slot, 1); },
        [&] { (void)window.wait_notify_any(1, slot); },
        [&] { (void)window.test_notify_any(slot, 1); },
        [&] { window.wait_notify_all(slot, 1); },
        [&] { window.wait_notify_all(1, slot); },
        [&] { (void)window.pending_notifications(slot); },
        [&] { (void)window.reset_notify(slot); },
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
      std::string what;
      EXPECT_EQ(thrown_code(calls[i], &what), ErrorCode::out_of_range) << "call " << i;
      EXPECT_NE(what.find(std::to_string(slot)), std::string::npos) << what;
      EXPECT_NE(what.find("notif"), std::string::npos) << what;
    }
  }
  EXPECT_EQ(thrown_code([&] { window.put_notify(values, right(), 2, kData); }),
            ErrorCode::out_of_range);
  EXPECT_EQ(thrown_code([&] { (void)window.wait_notify_any(3, 0); }), ErrorCode::invalid_argument);
  window.fence();
  EXPECT_EQ(window.pending_notifications(kData), 0U) << "a refused put has notified";
  EXPECT_TRUE(all_zero(std::as_bytes(window.local())));
}

TEST(NotificationSlots, AsManyAsOneLikes) {
  auto none = Window<Word>::allocate(world(), 1, {.notification_slots = 0});
  EXPECT_EQ(thrown_code([&] { none.put_notify({}, right(), 0, 0); }), ErrorCode::out_of_range);
  none.put(Word{3}, right(), 0);
  none.fence();
  EXPECT_EQ(none.local()[0], 3U);
  constexpr std::size_t kMany = 10'000;
  auto many = Window<Word>::allocate(world(), 1, {.notification_slots = kMany});
  for (std::size_t slot = 0; slot < kMany; slot += 101) many.put_notify({}, right(), 0, slot);
  many.put_notify({}, right(), 0, kMany - 1);
  for (std::size_t slot = 0; slot < kMany; slot += 101) many.wait_notify(slot);
  EXPECT_EQ(many.wait_notify_any(0, kMany), kMany - 1);
  many.fence();
  EXPECT_EQ(thrown_code([] {
              (void)Window<Word>::allocate(world(), 1, {.notification_slots = ~std::size_t{0}});
            }),
            ErrorCode::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Both, Notify, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
