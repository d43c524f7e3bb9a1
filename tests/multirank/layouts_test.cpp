// Layouts: what they refuse, and what may be said by them. That every operation moves the right
// elements for every type is elsewhere.

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "helpers.hpp"

namespace oriel::test {
namespace {

using Word = std::uint64_t;
using Indices = std::vector<std::size_t>;

constexpr std::size_t kMost = ~std::size_t{0};
constexpr std::size_t kMinusOne = static_cast<std::size_t>(-1);

class Layouts : public BothKinds {
 protected:
  Layouts() : exposed_(world(), GetParam(), 40), values_(40), results_(40, 77) {
    std::iota(values_.begin(), values_.end(), Word{1});
  }

  /// Every operation with layouts, from one of the origin to one of the target.
  void expect_refused(const Layout& here, const Layout& there, std::size_t offset, ErrorCode code,
                      std::string_view problem) {
    auto& window = exposed_.window;
    std::vector<Word>& results = results_;
    const std::vector<std::pair<const char*, std::function<void()>>> calls{
        {"put", [&] { window.put(values_, here, right(), offset, there); }},
        {"get", [&] { window.get(results, here, right(), offset, there); }},
        {"rput", [&] { (void)window.rput(values_, here, right(), offset, there); }},
        {"rget", [&] { (void)window.rget(results, here, right(), offset, there); }},
        {"accumulate", [&] { window.accumulate(values_, here, right(), offset, there, op::sum); }},
        {"get_accumulate",
         [&] {
           window.get_accumulate(values_, here, results, here, right(), offset, there, op::sum);
         }},
    };
    for (const auto& [name, call] : calls) {
      std::string what;
      EXPECT_EQ(thrown_code(call, &what), code) << name;
      EXPECT_EQ(what.find(std::string(name) + ": "), 0U) << what;
      EXPECT_NE(what.find(problem), std::string::npos) << what;
    }
  }

  void expect_untouched() {
    exposed_.window.fence();
    EXPECT_TRUE(all_zero(std::as_bytes(exposed_.window.local())));
    EXPECT_EQ(std::ranges::count(results_, Word{77}), 40);
  }

  Exposed<Word> exposed_;
  std::vector<Word> values_;
  std::vector<Word> results_;
};

TEST_P(Layouts, NumbersOfElementsMustBeEqual) {
  expect_refused(Layout::strided(1, {{4, 2}}), Layout::contiguous(3), 0,
                 ErrorCode::invalid_argument, "4 elements here, 3 at the target");
  expect_refused(Layout::contiguous(3), Layout::strided(2, {{2, 2}}), 0,
                 ErrorCode::invalid_argument, "3 elements here, 4 at the target");
  expect_refused(Layout::contiguous(0), Layout::contiguous(1), 0, ErrorCode::invalid_argument,
                 "0 elements here, 1 at the target");
  expect_untouched();
}

TEST_P(Layouts, BeyondTheOriginsMemory) {
  expect_refused(Layout::contiguous(41), Layout::contiguous(41), 0, ErrorCode::out_of_range,
                 "reaches 41 elements far, the memory here has 40");
  expect_refused(Layout::strided(2, {{4, 13}}), Layout::contiguous(8), 0, ErrorCode::out_of_range,
                 "reaches 41 elements far");
  const Indices indices{0, 40};
  expect_refused(Layout::indexed(1, indices), Layout::contiguous(2), 0, ErrorCode::out_of_range,
                 "reaches 41 elements far");
  expect_refused(Layout::contiguous(kMost), Layout::contiguous(kMost), 0, ErrorCode::out_of_range,
                 "memory here has 40");
  expect_untouched();
}

TEST_P(Layouts, BeyondTheTargetsPart) {
  const Indices indices{39, 0, 40};
  for (const Layout& there : {Layout::contiguous(3), Layout::strided(1, {{3, 2}})}) {
    expect_refused(Layout::contiguous(3), there, 41 - there.extent(), ErrorCode::out_of_range,
                   "has 320 bytes");
  }
  expect_refused(Layout::contiguous(3), Layout::indexed(1, indices), 0, ErrorCode::out_of_range,
                 "has 320 bytes");
  expect_refused(Layout::contiguous(2), Layout::contiguous(2), kMost / 8, ErrorCode::out_of_range,
                 "has 320 bytes");
  const Indices far{0, std::size_t{1} << 61U};
  expect_refused(Layout::contiguous(2), Layout::indexed(1, far), 0, ErrorCode::out_of_range,
                 "do not fit in 64 bits");
  expect_untouched();
}

TEST_P(Layouts, OfNoElementsDoNothing) {
  auto& window = exposed_.window;
  const std::array nothing{Layout::contiguous(0), Layout::strided(0, {{3, 5}}),
                           Layout::strided(4, {{2, 9}, {0, kMost}}), Layout::indexed(3, {}),
                           Layout::indexed(0, Indices{1, 2})};
  for (const Layout& one : nothing) {
    EXPECT_EQ(one.count(), 0U);
    EXPECT_EQ(one.extent(), 0U);
    for (const Layout& other : nothing) {
      window.put(values_, one, right(), 40, other);
      window.get(results_, one, right(), 40, other);
      window.rget({}, one, right(), 0, other).wait_remote();
      window.accumulate({}, one, right(), 3, other, op::sum);
      window.get_accumulate({}, one, {}, one, right(), 3, other, op::sum);
    }
    EXPECT_EQ(thrown_code([&] { window.put(values_, one, right(), 41, one); }),
              ErrorCode::out_of_range);
  }
  expect_untouched();
}

TEST_P(Layouts, ElementsGoInTheOrderInWhichTheyAreNamed) {
  auto& window = exposed_.window;
  const Indices from{7, 0, 3, 3};  // an origin may be named twice
  const Indices to{30, 5, 20, 0};
  window.put(values_, Layout::indexed(1, from), right(), 2, Layout::indexed(1, to));
  window.put(values_, Layout::strided(1, {{3, 0}}), right(), 10, Layout::contiguous(3));
  window.fence();
  const auto local = window.local();
  EXPECT_EQ(local[32], 8U);
  EXPECT_EQ(local[7], 1U);
  EXPECT_EQ(local[22], 4U);
  EXPECT_EQ(local[2], 4U);
  for (std::size_t i = 10; i < 13; ++i) EXPECT_EQ(local[i], 1U);
  window.get(results_, Layout::indexed(1, to), right(), 0,
             Layout::indexed(1, Indices{2, 7, 22, 32}));
  window.flush_local(right());
  EXPECT_EQ(results_[30], 4U);
  EXPECT_EQ(results_[5], 1U);
  EXPECT_EQ(results_[20], 4U);
  EXPECT_EQ(results_[0], 8U);
  EXPECT_EQ(std::ranges::count(results_, Word{77}), 36);
  window.fence();
}

TEST_P(Layouts, OfDifferentShapesMeetElementByElement) {
  auto& window = exposed_.window;
  // A 3 x 4 matrix, transposed on its way: columns here, rows there.
  const auto columns = Layout::strided(1, {{4, 1}, {3, 4}});
  const auto rows = Layout::strided(3, {{4, 5}});
  EXPECT_EQ(columns.count(), rows.count());
  window.put(values_, columns, right(), 0, rows);
  window.fence();
  for (std::size_t column = 0; column < 4; ++column) {
    for (std::size_t row = 0; row < 3; ++row) {
      EXPECT_EQ(window.local()[5 * column + row], values_[4 * row + column]);
    }
    EXPECT_EQ(window.local()[5 * column + 3], 0U) << "between the rows";
  }
  window.fence();
}

TEST_P(Layouts, IndicesAreFreeAfterTheCall) {
  auto& window = exposed_.window;
  Request request;
  {
    Indices to{9, 1, 5};
    request =
        window.rput(values_, Layout::strided(1, {{3, 3}}), right(), 0, Layout::indexed(1, to));
    std::ranges::fill(to, kMost);
  }
  request.wait_remote();
  window.fence();
  EXPECT_EQ(window.local()[9], 1U);
  EXPECT_EQ(window.local()[1], 4U);
  EXPECT_EQ(window.local()[5], 7U);
}

TEST_P(Layouts, ManyPiecesShortAndLong) {
  for (const std::size_t block : {std::size_t{1}, std::size_t{3}, std::size_t{700}}) {
    const std::size_t count = block == 700 ? 30 : static_cast<std::size_t>(scaled(10'000));
    const std::size_t words = count * (block + 1);
    Exposed<Word> words_of(world(), GetParam(), words);
    std::vector<Word> sent(count * block);
    std::iota(sent.begin(), sent.end(), static_cast<Word>(me()));
    const auto gapped = Layout::strided(block, {{count, block + 1}});
    words_of.window.put(sent, Layout::contiguous(sent.size()), right(), 0, gapped);
    words_of.window.fence();
    std::vector<Word> seen(sent.size());
    words_of.window.get(seen, Layout::contiguous(seen.size()), right(), 0, gapped);
    words_of.window.flush(right());
    EXPECT_EQ(seen, sent);
    for (std::size_t gap = block; gap < words; gap += block + 1) {
      ASSERT_EQ(words_of.window.local()[gap], 0U) << gap;
    }
    EXPECT_EQ(words_of.window.local()[words - 2], static_cast<Word>(int{left()}) + sent.size() - 1);
    words_of.window.fence();
  }
}

TEST(Layout, RefusesWhatCannotBe) {
  const std::vector<Dimension> six(6, Dimension{2, 2});
  std::string what;
  EXPECT_EQ(thrown_code([&] { (void)Layout::strided(1, six); }, &what),
            ErrorCode::invalid_argument);
  EXPECT_NE(what.find("6 dimensions, at most 5"), std::string::npos) << what;
  EXPECT_EQ(Layout::strided(1, std::span(six).first(5)).count(), 32U);
  const Indices last{kMost};
  const Indices negative{0, kMinusOne};
  const Indices two{0, 1};
  const std::vector<std::function<void()>> too_large{
      [] {
        (void)Layout::strided(kMinusOne, {{2, 1}});
      },
      [] {
        (void)Layout::strided(2, {{kMinusOne, 1}});
      },
      [] {
        (void)Layout::strided(1, {{kMost / 2, 1}, {3, 1}});
      },
      [] {
        (void)Layout::strided(1, {{2, kMinusOne}});
      },
      [] {
        (void)Layout::strided(1, {{3, kMost / 2}, {2, 2}});
      },
      [&] { (void)Layout::indexed(1, last); },
      [&] { (void)Layout::indexed(2, negative); },
      [&] { (void)Layout::indexed(kMost / 2 + 1, two); },
  };
  for (std::size_t i = 0; i < too_large.size(); ++i) {
    EXPECT_EQ(thrown_code(too_large[i], &what), ErrorCode::out_of_range) << "call " << i;
    EXPECT_NE(what.find("64 bits"), std::string::npos) << what;
    EXPECT_NE(what.find("negative"), std::string::npos) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Layouts, testing::Values(Kind::allocated, Kind::created), kind_name);

}  // namespace
}  // namespace oriel::test
