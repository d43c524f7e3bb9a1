// Requests: an operation's own completion, at either side; and what becomes of those that nobody
// waits for.

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;

constexpr std::size_t kSizes[] = {1, 16, 17, 600, 20'000};

/// So many rputs at a time: a million where one costs little.
std::size_t outstanding_requests() {
  const char* const wanted = std::getenv("ORIEL_TEST_REQUESTS");
  if (wanted != nullptr) return static_cast<std::size_t>(std::atoll(wanted));
  return fabric() == "shm" ? 1'000'000 : 10'000;
}

class Requests : public BothKinds {
 protected:
  [[nodiscard]] static std::vector<Word> numbers(std::size_t count, Word first) {
    std::vector<Word> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
  }
  [[nodiscard]] static Word stamp(int rank) { return static_cast<Word>(rank + 1) * 1'000'000; }
};

TEST_P(Requests, LocalCompletionFreesTheOriginsMemory) {
  for (const std::size_t size : kSizes) {
    Exposed<Word> words(world(), GetParam(), size);
    auto values = numbers(size, stamp(me()));
    Request request = words.window.rput(values, right(), 0);
    EXPECT_TRUE(request.valid());
    request.wait();
    EXPECT_FALSE(request.valid());
    std::ranges::fill(values, Word{7});  // what was sent is on its way
    words.window.fence();
    EXPECT_TRUE(std::ranges::equal(words.window.local(), numbers(size, stamp(left()))));
    words.window.fence();
  }
}

TEST_P(Requests, RemoteCompletionMeansTheTargetSeesIt) {
  for (const std::size_t size : kSizes) {
    Exposed<Word> words(world(), GetParam(), size);
    const auto values = numbers(size, stamp(me()));
    words.window.rput(values, right(), 0).wait_remote();
    mpi_barrier();  // no call of the window's between the wait and the look
    EXPECT_TRUE(std::ranges::equal(words.window.local(), numbers(size, stamp(left()))));
    words.window.fence();
  }
}

TEST_P(Requests, EveryWayOfWaitingBringsWhatWasRead) {
  const std::array<std::function<void(Request&)>, 4> ways{
      [](Request& request) { request.wait(); },
      [](Request& request) { request.wait_remote(); },
      [](Request& request) { wait_until([&] { return request.test(); }); },
      [](Request& request) { wait_until([&] { return request.test_remote(); }); },
  };
  for (const std::size_t size : kSizes) {
    Exposed<Word> words(world(), GetParam(), size);
    std::ranges::copy(numbers(size, stamp(me())), words.window.local().begin());
    words.window.fence();
    for (const auto& way : ways) {
      std::vector<Word> seen(size);
      Request request = words.window.rget(seen, right(), 0);
      way(request);
      EXPECT_FALSE(request.valid());
      EXPECT_EQ(seen, numbers(size, stamp(right())));
    }
    words.window.fence();
  }
}

TEST_P(Requests, EndOnceAndAreEmptyThen) {
  Exposed<Word> words(world(), GetParam(), 1);
  const std::array<std::pair<const char*, std::function<void(Request&)>>, 4> calls{{
      {"Request::wait", [](Request& request) { request.wait(); }},
      {"Request::wait_remote", [](Request& request) { request.wait_remote(); }},
      {"Request::test", [](Request& request) { (void)request.test(); }},
      {"Request::test_remote", [](Request& request) { (void)request.test_remote(); }},
  }};
  const std::vector<Word> three{3};
  Request ended = words.window.rput(three, right(), 0);
  ended.wait();
  Request never;
  for (Request* const request : {&ended, &never}) {
    for (const auto& [name, call] : calls) {
      std::string what;
      EXPECT_EQ(thrown_code([&, &wait = call] { wait(*request); }, &what),
                ErrorCode::request_ended);
      EXPECT_NE(what.find(name), std::string::npos) << what;
      EXPECT_NE(what.find("hint: "), std::string::npos) << what;
    }
  }
  words.window.fence();
}

TEST_P(Requests, RefusedOperationsMakeNone) {
  Exposed<Word> words(world(), GetParam(), 4);
  std::vector<Word> values(5, 9);
  Word result = 0;
  auto& window = words.window;
  EXPECT_EQ(thrown_code([&] { (void)window.rput(values, right(), 0); }), ErrorCode::out_of_range);
  EXPECT_EQ(thrown_code([&] { (void)window.rget(values, right(), 0); }), ErrorCode::out_of_range);
  EXPECT_EQ(thrown_code([&] { (void)window.raccumulate(values, right(), 0, op::sum); }),
            ErrorCode::out_of_range);
  EXPECT_EQ(thrown_code([&] { (void)window.rfetch_add(1, result, Rank{ranks()}, 0); }),
            ErrorCode::invalid_rank);
  window.fence();
  EXPECT_TRUE(all_zero(std::as_bytes(window.local())));
}

TEST_P(Requests, WaitAllEndsAllAndSkipsTheEmpty) {
  const auto size = static_cast<std::size_t>(ranks());
  Exposed<Word> words(world(), GetParam(), 100 * size);
  const auto values = numbers(100, stamp(me()));
  std::vector<Request> requests(1);
  for (int target = 0; target < ranks(); ++target) {
    requests.push_back(
        words.window.rput(values, Rank(target), 100 * static_cast<std::size_t>(me())));
    requests.emplace_back();
  }
  wait_all(requests);
  EXPECT_TRUE(std::ranges::none_of(requests, &Request::valid));
  wait_all(requests);  // of nothing
  wait_all({});
  words.window.fence();
  for (int origin = 0; origin < ranks(); ++origin) {
    EXPECT_EQ(words.window.local()[100 * static_cast<std::size_t>(origin) + 99],
              stamp(origin) + 99);
  }
}

TEST_P(Requests, WaitAnyReturnsEachOnce) {
  constexpr std::size_t kCount = 40;
  Exposed<Word> words(world(), GetParam(), kCount * 100);
  std::ranges::copy(numbers(kCount * 100, stamp(me())), words.window.local().begin());
  words.window.fence();
  std::vector<std::vector<Word>> seen(kCount, std::vector<Word>(100));
  std::vector<Request> requests;
  for (std::size_t i = 0; i < kCount; ++i) {
    requests.push_back(words.window.rget(seen[i], right(), 100 * i));
  }
  std::vector<int> times(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t ended = wait_any(requests);
    ++times.at(ended);
    EXPECT_FALSE(requests[ended].valid());
    EXPECT_EQ(seen[ended], numbers(100, stamp(right()) + 100 * ended));
  }
  EXPECT_EQ(std::ranges::count(times, 1), std::ptrdiff_t{kCount});
  EXPECT_EQ(thrown_code([&] { (void)wait_any(requests); }), ErrorCode::request_ended);
  EXPECT_EQ(thrown_code([&] { (void)wait_any({}); }), ErrorCode::request_ended);
  words.window.fence();
}

TEST_P(Requests, MoveWithTheirOperation) {
  Exposed<Word> words(world(), GetParam(), 20'000);
  std::ranges::copy(numbers(20'000, stamp(me())), words.window.local().begin());
  words.window.fence();
  std::vector<Word> first(20'000);
  std::vector<Word> second(20'000);
  Request a = words.window.rget(first, right(), 0);
  Request b = std::move(a);
  EXPECT_FALSE(a.valid());  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_TRUE(b.valid());
  b = words.window.rget(second, right(), 0);  // what it was is waited for
  EXPECT_EQ(first, numbers(20'000, stamp(right())));
  Request& same = b;
  b = std::move(same);
  EXPECT_TRUE(b.valid());
  b.wait();
  EXPECT_EQ(second, first);
  words.window.fence();
}

TEST_P(Requests, DestructionWaits) {
  Exposed<Word> words(world(), GetParam(), 20'000);
  std::ranges::copy(numbers(20'000, stamp(me())), words.window.local().begin());
  words.window.fence();
  std::vector<Word> seen(20'000);
  { const Request request = words.window.rget(seen, right(), 0); }
  EXPECT_EQ(seen, numbers(20'000, stamp(right())));
  words.window.fence();
}

TEST_P(Requests, OutliveTheirWindow) {
  std::vector<Word> seen(20'000);
  std::vector<Request> requests;
  const std::vector<Word> one{1};
  Word old = 99;
  {
    Exposed<Word> words(world(), GetParam(), 20'001);
    std::ranges::copy(numbers(20'000, stamp(me())), words.window.local().begin());
    words.window.fence();
    requests.push_back(words.window.rget(seen, right(), 0));
    requests.push_back(words.window.rfetch_add(5, old, right(), 20'000));
    requests.push_back(words.window.rput(one, right(), 1));
    requests.push_back(words.window.rput(one, right(), 2));
    words.window.free();
    EXPECT_EQ(seen[19'999], stamp(right()) + 19'999) << "free() completes the operations";
  }
  EXPECT_TRUE(requests[0].test());
  requests[1].wait();
  EXPECT_EQ(old, 0U);
  EXPECT_TRUE(requests[2].test_remote());
  requests[3].wait_remote();
  mpi_barrier();
}

TEST_P(Requests, OfAllOperations) {
  Exposed<Word> words(world(), GetParam(), 64);
  auto& window = words.window;
  const auto gapped = Layout::strided(1, {{4, 2}});  // 0 2 4 6
  const auto mine = numbers(8, stamp(me()));
  std::vector<Word> seen(8);
  Word old = 0;
  window.rput(mine, gapped, right(), 0, Layout::contiguous(4)).wait_remote();
  window.rget(seen, gapped, right(), 0, Layout::contiguous(4)).wait();
  EXPECT_EQ(seen, (std::vector<Word>{mine[0], 0, mine[2], 0, mine[4], 0, mine[6], 0}));
  window.raccumulate(mine, right(), 8, op::sum).wait_remote();
  window.rget_accumulate(mine, seen, right(), 8, op::max).wait();
  EXPECT_EQ(seen, mine);
  window.rfetch_and_op(12, old, right(), 20, op::bor).wait();
  EXPECT_EQ(old, 0U);
  window.rfetch_add(2, old, right(), 20).wait_remote();
  EXPECT_EQ(old, 12U);
  window.rcompare_and_swap(14, 15, old, right(), 20).wait();
  EXPECT_EQ(old, 14U);
  window.fence();
  EXPECT_EQ(window.local()[3], stamp(left()) + 6);
  EXPECT_EQ(window.local()[15], stamp(left()) + 7);
  EXPECT_EQ(window.local()[20], 15U);
}

TEST_P(Requests, CountForTheFlushesOfTheirWindow) {
  constexpr std::size_t kCount = 50;
  Exposed<Word> words(world(), GetParam(), kCount * 100);
  const auto values = numbers(100, stamp(me()));
  std::vector<Request> kept;
  for (std::size_t i = 0; i < kCount; ++i) {
    Request request = words.window.rput(values, right(), 100 * i);
    if (i % 2 == 0) {
      request.wait();  // ended here, but not there
    } else {
      kept.push_back(std::move(request));
    }
  }
  words.window.flush(right());
  mpi_barrier();
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(words.window.local()[100 * i + 99], stamp(left()) + 99) << i;
  }
  for (Request& request : kept) EXPECT_TRUE(request.test_remote());
  words.window.fence();
}

TEST_P(Requests, AMillionMayBeOutstanding) {
  const std::size_t count = outstanding_requests();
  Exposed<Word> words(world(), GetParam(), 1024);
  std::vector<Request> requests(count);
  const auto round = [&](Word value) {
    for (std::size_t i = 0; i < count; ++i) {
      requests[i] = words.window.rput(std::span<const Word>(&value, 1), right(), i % 1024);
    }
    if (value % 2 == 0) {
      wait_all(requests);
    } else {
      words.window.flush(right());
      for (Request& request : requests) request.wait_remote();
    }
    words.window.fence();
    EXPECT_EQ(words.window.local()[(count - 1) % 1024], value);
    words.window.fence();
  };
  round(1);
  const auto pages = resident_pages();
  round(2);
  EXPECT_LE(resident_pages(), pages + 256) << "states of ended requests are not used again";
}

INSTANTIATE_TEST_SUITE_P(Both, Requests, testing::Values(Kind::allocated, Kind::created),
                         kind_name);

}  // namespace
}  // namespace oriel::test
