// Misuse of epochs, locks and atomics: what is refused, with which words; the window goes on
// working.

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

class SyncMisuse : public BothKinds {
 protected:
  SyncMisuse() : exposed_(world(), GetParam(), 16), window_(exposed_.window) {}

  void expect_wrong_epoch(std::string_view operation, std::string_view problem,
                          const std::function<void()>& call) {
    std::string what;
    EXPECT_EQ(thrown_code(call, &what), ErrorCode::wrong_epoch) << operation;
    EXPECT_EQ(what.find(std::string(operation) + ": wrong epoch: "), 0U) << what;
    EXPECT_NE(what.find(problem), std::string::npos) << what;
    EXPECT_NE(what.find("rank " + std::to_string(me())), std::string::npos) << what;
    EXPECT_NE(what.find("hint: "), std::string::npos) << what;
  }

  Exposed<Word> exposed_;
  Window<Word>& window_;
};

TEST_P(SyncMisuse, UnlockWithoutLock) {
  const auto part = std::to_string(int{right()});
  expect_wrong_epoch("unlock", "does not hold the lock of part " + part,
                     [&] { window_.unlock(right()); });
  expect_wrong_epoch("unlock_all", "does not hold the lock of all parts",
                     [&] { window_.unlock_all(); });
  const auto guard = window_.lock(right(), LockMode::shared);
  expect_wrong_epoch("unlock_all", "does not hold the lock of all parts",
                     [&] { window_.unlock_all(); });
  if (ranks() > 1) {
    expect_wrong_epoch("unlock", "does not hold the lock of part " + std::to_string(me()),
                       [&] { window_.unlock(Rank(me())); });
  }
  window_.unlock(right());
  expect_wrong_epoch("unlock", "part " + part, [&] { window_.unlock(right()); });
  window_.fence();
}

TEST_P(SyncMisuse, LockWhatIsHeld) {
  const std::string held = "holds the lock of part " + std::to_string(int{right()}) + " already";
  for (const LockMode mode : {LockMode::shared, LockMode::exclusive}) {
    for (const bool no_check : {false, true}) {
      const auto guard = window_.lock(right(), mode, no_check);
      expect_wrong_epoch("lock", held, [&] { (void)window_.lock(right(), LockMode::shared); });
      expect_wrong_epoch("lock", held, [&] { (void)window_.lock(right(), LockMode::exclusive); });
      expect_wrong_epoch("lock_all", held, [&] { (void)window_.lock_all(); });
      expect_wrong_epoch("lock_all", held, [&] { (void)window_.lock_all(true); });
    }
    window_.fence();  // no_check promised that nobody else holds it
  }
  const auto guard = window_.lock_all();
  expect_wrong_epoch("lock_all", "holds the lock of all parts", [&] { (void)window_.lock_all(); });
  expect_wrong_epoch("lock", "holds the lock of all parts",
                     [&] { (void)window_.lock(right(), LockMode::shared); });
  window_.unlock_all();
  window_.lock(right(), LockMode::exclusive).unlock();
  window_.fence();
}

TEST_P(SyncMisuse, EndsOfWhatHasNotBegun) {
  const std::array<Rank, 1> origins{left()};
  const std::array<Rank, 1> targets{right()};
  expect_wrong_epoch("complete", "there is none to end", [&] { window_.complete(); });
  expect_wrong_epoch("wait", "there is none to end", [&] { window_.wait(); });
  expect_wrong_epoch("test", "there is none to end", [&] { (void)window_.test(); });
  window_.post(origins);
  expect_wrong_epoch("post", "one with 1 ranks is open", [&] { window_.post(origins); });
  expect_wrong_epoch("complete", "there is none to end", [&] { window_.complete(); });
  window_.start(targets);
  expect_wrong_epoch("start", "one with 1 ranks is open", [&] { window_.start({}); });
  window_.put(Word{1}, right(), 0);
  window_.complete();
  expect_wrong_epoch("complete", "there is none to end", [&] { window_.complete(); });
  window_.wait();
  EXPECT_EQ(window_.local()[0], 1U);
  expect_wrong_epoch("wait", "there is none to end", [&] { window_.wait(); });
}

TEST_P(SyncMisuse, GroupsWithARankTwiceAreRefused) {
  const std::vector<Rank> twice{right(), Rank(me()), right()};
  for (const auto& call : std::vector<std::function<void()>>{[&] { window_.post(twice); },
                                                             [&] { window_.start(twice); }}) {
    std::string what;
    EXPECT_EQ(thrown_code(call, &what), ErrorCode::invalid_argument);
    EXPECT_NE(what.find("is in the group twice"), std::string::npos) << what;
  }
  expect_wrong_epoch("wait", "there is none to end", [&] { window_.wait(); });
  window_.fence();
}

/// A window of T over memory that begins `shift` bytes behind a multiple of 16: every rank adds to
/// the next one's, by calls of all forms, at the same time as the next one itself.
template <class T>
void expect_atomic_at(std::size_t shift) {
  const int rounds = scaled(200);
  alignas(16) std::array<std::byte, 64> memory{};
  auto* const begin = reinterpret_cast<T*>(memory.data() + shift);
  auto window = Window<T>::create(world(), std::span(begin, 2));
  const std::vector<T> ones(2, T{1});
  std::vector<T> results(2);
  T result{};
  for (int round = 0; round < rounds; ++round) {
    for (const Rank target : {right(), world().rank()}) {
      window.fetch_add(1, target, 0);
      window.fetch_add(1, result, target, 1);
      window.accumulate(ones, target, 0, op::sum);
      window.get_accumulate(ones, results, target, 0, op::sum);
      window.raccumulate(ones, target, 0, op::sum).wait();
      window.compare_and_swap(T{}, T{1}, target, 0);  // is never zero again
    }
  }
  window.fence();
  std::array<T, 2> sums{};
  std::memcpy(sums.data(), begin, sizeof sums);
  EXPECT_EQ(sums, (std::array<T, 2>{static_cast<T>(8 * rounds), static_cast<T>(8 * rounds)}));
  window.fence();
}

TEST(Alignment, IsNotNeededForAtomics) {
  expect_atomic_at<std::uint64_t>(4);
  expect_atomic_at<std::uint64_t>(1);
  expect_atomic_at<double>(4);
  expect_atomic_at<std::int32_t>(2);
  expect_atomic_at<float>(3);
  expect_atomic_at<std::int16_t>(1);
  std::array<std::uint8_t, 3> bytes{};
  auto window = Window<std::uint8_t>::create(world(), std::span(bytes).subspan(1));
  window.fetch_add(1, right(), 0);
  window.accumulate(std::uint8_t{2}, right(), 1, op::bor);
  window.fence();
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 3>{0, 1, 2}));
}

TEST(Operations, WithoutMeaningForATypeAreRefusedAtRunTime) {
  auto window = WindowBytes::allocate(world(), 64);
  const double value = 1;
  const Layout one = Layout::contiguous(1);
  const auto accumulate = [&](ElementType type, OpCode op) {
    window.accumulate({type, op, &value, one, nullptr, one, one}, {"my_call", right(), 8});
  };
  const ElementType real{ElementKind::float64, 8};
  std::string what;
  for (const OpCode op : {OpCode::band, OpCode::lxor, OpCode::minloc}) {
    EXPECT_EQ(thrown_code([&] { accumulate(real, op); }, &what), ErrorCode::unsupported);
    EXPECT_EQ(what.find("my_call: "), 0U) << what;
    EXPECT_NE(what.find(to_string(op)), std::string::npos) << what;
    EXPECT_NE(what.find(to_string(ElementKind::float64)), std::string::npos) << what;
  }
  EXPECT_EQ(thrown_code([&] {
              accumulate({ElementKind::opaque, 8}, OpCode::sum);
            }),
            ErrorCode::unsupported);
  EXPECT_EQ(thrown_code(
                [&] {
                  accumulate({ElementKind::float64, 4}, OpCode::sum);
                },
                &what),
            ErrorCode::invalid_argument);
  window.fence();
  EXPECT_TRUE(all_zero(window.local()));
  window.fence();
  accumulate(real, OpCode::sum);
  window.fence();
  EXPECT_EQ(*reinterpret_cast<const double*>(window.local().data() + 8), 1);
}

INSTANTIATE_TEST_SUITE_P(Both, SyncMisuse, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

}  // namespace
}  // namespace oriel::test
