// Misuse: what is refused, with which words, and that nothing is changed by it. A creation that
// fails on one rank fails on all.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

/// The error that `call` throws; an empty one, and a failed test, if there is none.
ErrorDetails details_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.details();
  }
  ADD_FAILURE() << "threw nothing";
  return {};
}

/// Pages of this process that are gone again where a test wants a hole.
class Pages {
 public:
  explicit Pages(std::size_t count)
      : bytes_(count * kPage),
        memory_(
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Pages() { ::munmap(memory_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  /// Inaccessible, and nobody else's mapping can get there.
  void punch(std::size_t page) { ::mprotect(bytes().data() + page * kPage, kPage, PROT_NONE); }
  void make_read_only() { ::mprotect(memory_, bytes_, PROT_READ); }
  [[nodiscard]] std::span<std::byte> bytes() { return {static_cast<std::byte*>(memory_), bytes_}; }

  static constexpr std::size_t kPage = 4096;

 private:
  std::size_t bytes_;
  void* memory_;
};

void expect_team_still_works() {
  auto window = Window<Word>::allocate(world(), 1);
  window.put(Word{1}, Rank((me() + 1) % ranks()), 0);
  window.fence();
  EXPECT_EQ(window.local()[0], 1U);
}

class Misuse : public BothKinds {};

TEST_P(Misuse, OutOfRangeNamesTheNumbers) {
  Exposed<Word> words(world(), GetParam(), static_cast<std::size_t>(10 + me()));
  const std::size_t theirs = words.window.size(right());
  std::vector<Word> values(4, 77);
  std::string what;
  EXPECT_EQ(thrown_code([&] { words.window.put(values, right(), theirs - 3); }, &what),
            ErrorCode::out_of_range);
  EXPECT_NE(what.find(std::to_string(8 * theirs) + " bytes"), std::string::npos) << what;
  const ErrorDetails details = details_of([&] { words.window.put(values, right(), theirs - 3); });
  EXPECT_EQ(details.operation, "put");
  EXPECT_EQ(details.origin, me());
  EXPECT_EQ(details.target, int{right()});
  EXPECT_EQ(details.target_host, world().host(right()));
  EXPECT_EQ(details.offset_bytes, 8 * (theirs - 3));
  EXPECT_EQ(details.length_bytes, 32U);
  EXPECT_FALSE(details.hint.empty());
  const auto numbers = gather(details.window.value_or(999'999));
  EXPECT_EQ(std::ranges::count(numbers, numbers.front()), ranks()) << "one number on all ranks";
  EXPECT_NE(numbers.front(), 999'999U);
  words.window.fence();
  EXPECT_TRUE(all_zero(std::as_bytes(words.window.local()))) << "a refused put wrote something";
}

TEST_P(Misuse, OffsetsThatOverflowAreOutOfRange) {
  Exposed<Word> words(world(), GetParam(), 10);
  std::vector<Word> values(4, 77);
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t offset : {std::size_t{7}, std::size_t{10}, std::size_t{11}, kMost / 8,
                                   kMost / 8 + 1, kMost - 1, kMost}) {
    EXPECT_EQ(thrown_code([&] { words.window.put(values, right(), offset); }),
              ErrorCode::out_of_range)
        << offset;
    EXPECT_EQ(thrown_code([&] { words.window.get(values, right(), offset); }),
              ErrorCode::out_of_range)
        << offset;
  }
  EXPECT_EQ(std::ranges::count(values, Word{77}), 4) << "a refused get wrote something";
  words.window.fence();
  EXPECT_TRUE(all_zero(std::as_bytes(words.window.local())));
}

// B061
TEST_P(Misuse, RanksOutsideTheTeamAreNamed) {
  Exposed<Word> words(world(), GetParam(), 4);
  std::vector<Word> values(1);
  Word result = 0;
  auto& window = words.window;
  const Layout one = Layout::contiguous(1);
  for (const int wrong :
       {-1, ranks(), std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    const Rank rank(wrong);
    const std::vector<std::function<void()>> calls{
        [&] { window.put(values, rank, 0); },
        [&] { window.put(Word{1}, rank, 0); },
        [&] { window.put(std::span<const Word>{}, rank, 0); },
        [&] { window.get(values, rank, 0); },
        [&] { (void)window.get(rank, 0); },
        [&] { window.fetch_add(1, rank, 0); },
        [&] { window.fetch_add(1, result, rank, 0); },
        [&] { window.compare_and_swap(0, 1, rank, 0); },
        [&] { window.compare_and_swap(0, 1, result, rank, 0); },
        [&] { window.put(values, one, rank, 0, one); },
        [&] { window.get(values, one, rank, 0, one); },
        [&] { (void)window.rput(values, rank, 0); },
        [&] { (void)window.rget(values, rank, 0); },
        [&] { window.accumulate(values, rank, 0, op::max); },
        [&] { window.get_accumulate(values, values, rank, 0, op::no_op); },
        [&] { (void)window.raccumulate(values, rank, 0, op::max); },
        [&] { (void)window.rcompare_and_swap(0, 1, result, rank, 0); },
        [&] { window.put_notify(values, rank, 0, 0); },
        [&] { window.get_notify(values, rank, 0, 0); },
        [&] { window.accumulate_notify(values, rank, 0, op::max, 0); },
        [&] { (void)window.lock(rank, LockMode::shared); },
        [&] { window.unlock(rank); },
        [&] { window.post(std::span(&rank, 1)); },
        [&] { window.start(std::span(&rank, 1)); },
        [&] { (void)window.shared_span(rank); },
        [&] { window.flush(rank); },
        [&] { window.flush_local(rank); },
        [&] { (void)window.size(rank); },
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
      std::string what;
      EXPECT_EQ(thrown_code(calls[i], &what), ErrorCode::invalid_rank) << "call " << i;
      EXPECT_NE(what.find(std::to_string(wrong)), std::string::npos) << what;
    }
  }
  window.fence();
}

void expect_all_calls_refused(Window<Word>& window) {
  std::vector<Word> values(1);
  Word result = 0;
  const Rank rank(0);
  const std::vector<std::function<void()>> calls{
      [&] { window.put(values, rank, 0); },
      [&] { window.put(Word{1}, rank, 0); },
      [&] { window.get(values, rank, 0); },
      [&] { (void)window.get(rank, 0); },
      [&] { window.fetch_add(1, rank, 0); },
      [&] { window.fetch_add(1, result, rank, 0); },
      [&] { window.compare_and_swap(0, 1, rank, 0); },
      [&] { window.compare_and_swap(0, 1, result, rank, 0); },
      [&] { (void)window.rput(values, rank, 0); },
      [&] { window.accumulate(values, rank, 0, op::max); },
      [&] { window.put_notify(values, rank, 0, 0); },
      [&] { window.wait_notify(0); },
      [&] { (void)window.test_notify(0); },
      [&] { (void)window.pending_notifications(0); },
      [&] { (void)window.lock(rank, LockMode::shared); },
      [&] { (void)window.lock_all(); },
      [&] { window.unlock(rank); },
      [&] { window.unlock_all(); },
      [&] { window.post({}); },
      [&] { window.start({}); },
      [&] { window.complete(); },
      [&] { window.wait(); },
      [&] { (void)window.test(); },
      [&] { window.sync(); },
      [&] { (void)window.attach(values); },
      [&] { window.detach(values); },
      [&] { (void)window.shared_span(rank); },
      [&] { (void)window.kind(); },
      [&] { (void)window.options(); },
      [&] { window.flush(rank); },
      [&] { window.flush_all(); },
      [&] { window.flush_local(rank); },
      [&] { window.flush_local_all(); },
      [&] { window.fence(); },
      [&] { (void)window.local(); },
      [&] { (void)window.size(rank); },
      [&] { (void)window.team(); },
      [&] { (void)window.coherence(); },
      [&] { (void)window.describe(); },
      [&] { window.free(); },
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(thrown_code(calls[i]), ErrorCode::window_freed) << "call " << i;
  }
}

TEST_P(Misuse, FreedAndMovedFromWindowsRefuseEveryCall) {
  Exposed<Word> words(world(), GetParam(), 1);
  Window<Word> moved = std::move(words.window);
  expect_all_calls_refused(words.window);
  moved.put(Word{4}, right(), 0);
  moved.fence();
  EXPECT_EQ(moved.local()[0], 4U);
  moved.free();
  expect_all_calls_refused(moved);
}

TEST_P(Misuse, MovingIntoAWindowFreesWhatItWas) {
  Exposed<Word> old(world(), GetParam(), 1);
  Exposed<Word> fresh(world(), GetParam(), 2);
  old.window.put(Word{6}, right(), 0);
  old.window = std::move(fresh.window);
  EXPECT_EQ(old.window.size(right()), 2U);
  if (GetParam() == Kind::created) {
    EXPECT_EQ(old.own[0], 6U) << "the old window was not completed";
  }
  old.window.free();
}

/// All ranks create over `memory`: `guilty` ones are refused with invalid_argument, the others with
/// peer_failed; afterwards the team works.
void expect_creation_refused(std::span<std::byte> memory, bool guilty) {
  std::string what;
  const std::error_code code =
      thrown_code([&] { (void)WindowBytes::create(world(), memory); }, &what);
  EXPECT_EQ(code, guilty ? ErrorCode::invalid_argument : ErrorCode::peer_failed) << what;
  EXPECT_NE(what.find("mapped"), std::string::npos) << what;
  expect_team_still_works();
}

// B087
TEST(Creation, OverMemoryWithAHoleIsRefusedOnAllRanks) {
  Pages pages(4);
  pages.punch(3);
  expect_creation_refused(pages.bytes(), true);                    // ends in it
  expect_creation_refused(pages.bytes().subspan(3 * 4096), true);  // all of it
  pages.punch(1);
  expect_creation_refused(pages.bytes().first(3 * 4096), true);     // in the middle
  expect_creation_refused(pages.bytes().subspan(100, 4000), true);  // runs into it
}

TEST(Creation, OverReadOnlyMemoryIsRefused) {
  Pages pages(2);
  pages.make_read_only();
  expect_creation_refused(pages.bytes(), true);
}

TEST(Creation, OverUnmappedMemoryOnOneRankIsRefusedOnAll) {
  for (int guilty = 0; guilty < ranks(); ++guilty) {
    Pages pages(2);
    if (me() == guilty) pages.punch(1);
    expect_creation_refused(pages.bytes(), me() == guilty);
  }
}

TEST(Creation, TooLargeForAnyMachineIsRefusedOnAllRanks) {
  const std::size_t huge = std::size_t{1} << 50U;
  for (int guilty = 0; guilty < ranks(); ++guilty) {
    const std::error_code code =
        thrown_code([&] { (void)Window<std::byte>::allocate(world(), me() == guilty ? huge : 8); });
    EXPECT_EQ(code, me() == guilty ? ErrorCode::out_of_memory : ErrorCode::peer_failed);
    expect_team_still_works();
  }
}

/// `create` differs on one rank from what the others do.
void expect_mismatch(const std::function<void(bool different)>& create) {
  if (ranks() < 2) return;
  for (int different = 0; different < ranks(); ++different) {
    std::string what;
    EXPECT_EQ(thrown_code([&] { create(me() == different); }, &what), ErrorCode::option_mismatch);
    EXPECT_NE(what.find("another kind of window, or with other options"), std::string::npos)
        << what;
    expect_team_still_works();
  }
}

TEST(Creation, MustBeAlikeOnAllRanks) {
  std::vector<Word> memory(4);
  expect_mismatch([](bool different) {
    (void)Window<Word>::allocate(world(), 4, {.notification_slots = different ? 65U : 64U});
  });
  expect_mismatch(
      [](bool different) { (void)Window<Word>::allocate(world(), 4, {.single_op = different}); });
  expect_mismatch([](bool different) {
    (void)Window<Word>::allocate(world(), 4, {.single_element = !different});
  });
  expect_mismatch([&](bool different) {
    (void)Window<Word>::create(world(), memory, {.no_concurrent_accumulate = different});
  });
  expect_mismatch([](bool different) {
    (void)Window<Word>::dynamic(world(), {.most_regions = different ? 5U : 4U});
  });
  expect_mismatch([&](bool different) {
    different ? (void)Window<Word>::create(world(), memory)
              : (void)Window<Word>::allocate(world(), 4);
  });
  expect_mismatch([](bool different) {
    different ? (void)Window<Word>::dynamic(world()) : (void)Window<Word>::allocate(world(), 4);
  });
  if (!one_machine()) return;
  expect_mismatch([](bool different) {
    (void)Window<Word>::allocate_shared(world(), 4, {.contiguous = different});
  });
  if (fabric() == "verbs") return;
  expect_mismatch([](bool different) {
    different ? (void)Window<Word>::allocate_shared(world(), 4)
              : (void)Window<Word>::allocate(world(), 4);
  });
}

TEST(Creation, CountsThatOverflowAreRefusedOnAllRanks) {
  for (int guilty = 0; guilty < ranks(); ++guilty) {
    const std::size_t count =
        me() == guilty ? std::numeric_limits<std::size_t>::max() / 4 : std::size_t{1};
    const std::error_code code = thrown_code([&] { (void)Window<Word>::allocate(world(), count); });
    if (me() == guilty) {
      EXPECT_TRUE(code == ErrorCode::out_of_range || code == ErrorCode::out_of_memory) << code;
    } else {
      EXPECT_EQ(code, ErrorCode::peer_failed);
    }
    expect_team_still_works();
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Misuse, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
