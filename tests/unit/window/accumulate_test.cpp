// Accumulates of one origin at a time, by every mechanism: what they do, and what they leave alone.

#include "window/accumulate.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "accumulate_scene.hpp"
#include "base/reduction.hpp"
#include "support/element_values.hpp"
#include "window/pieces.hpp"

namespace oriel::window {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

/// A layout, or none, with what it points to.
struct AnyLayout {
  AnyLayout(std::size_t count, std::mt19937_64& random) {
    const std::size_t block = count % 7 == 0 ? 7 : 1;
    switch (random() % 4) {
      case 0:
        return;
      case 1:
        layout = Layout::strided(block, {{count / block, block + random() % 3}});
        return;
      case 2:
        layout = count % 2 == 0 ? Layout::strided(1, {{2, count / 2 + 3}, {count / 2, 1}})
                                : Layout::contiguous(count);
        return;
      default:
        offsets.resize(count);
        std::iota(offsets.begin(), offsets.end(), 0U);
        std::ranges::shuffle(offsets, random);
        layout = Layout::indexed(1, offsets);
    }
  }
  [[nodiscard]] const Layout* get() const { return layout ? &*layout : nullptr; }
  /// Where the elements lie, in their order.
  [[nodiscard]] std::vector<std::size_t> places(std::size_t count) const {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), 0U);
    if (!layout) return all;
    std::size_t at = 0;
    for (LayoutCursor cursor(*layout); !cursor.at_end(); cursor.advance(1)) {
      all[at++] = cursor.offset();
    }
    return all;
  }
  std::optional<Layout> layout;
  std::vector<std::size_t> offsets;
};

class AccumulateBy : public testing::TestWithParam<Way> {
 protected:
  /// One request with random layouts, and the same done here element by element.
  void check(Scene& scene, std::size_t origin, ElementType type, OpCode op, std::size_t count,
             std::size_t shift = 0) {
    const AnyLayout from(count, random_);
    const AnyLayout back(count, random_);
    const AnyLayout to(count, random_);
    const std::size_t room = 4 * count * type.bytes + 64;
    test::fill_elements(type, scene.memory().first(room), random_);
    Bytes operands(room);
    test::fill_elements(type, operands, random_);
    Bytes results(room, std::byte{0xEE});
    Bytes wanted(scene.memory().begin(), scene.memory().begin() + static_cast<long>(room));
    Bytes wanted_results = results;
    const bool fetches = random_() % 2 == 0;
    const std::size_t offset = type.bytes * (random_() % 3) + shift;

    const auto sources = from.places(count);
    const auto returns = back.places(count);
    const auto places = to.places(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* const element = &wanted[offset + places[i] * type.bytes];
      if (fetches) std::memcpy(&wanted_results[returns[i] * type.bytes], element, type.bytes);
      base::reduce(type, op, element, &operands[sources[i] * type.bytes], 1);
    }
    scene.accumulate(origin, {.type = type,
                              .op = op,
                              .count = count,
                              .operands = op == OpCode::no_op ? nullptr : operands.data(),
                              .results = fetches ? results.data() : nullptr,
                              .offset_bytes = offset,
                              .operand_layout = from.get(),
                              .result_layout = back.get(),
                              .target_layout = to.get()});
    std::ranges::fill(operands, std::byte{});  // they may be reused at once
    scene.flush(origin);
    ASSERT_TRUE(std::ranges::equal(scene.memory().first(room), wanted))
        << to_string(type.kind) << ' ' << type.bytes << ' ' << to_string(op) << " on " << count;
    ASSERT_EQ(results, wanted_results) << to_string(type.kind) << ' ' << to_string(op);
  }

  std::mt19937_64 random_{4711};
};
INSTANTIATE_TEST_SUITE_P(Ways, AccumulateBy, testing::ValuesIn(all_ways()), way_name);

TEST_P(AccumulateBy, EveryPairWithAMeaningIsCarriedOut) {
  Scene scene(GetParam(), 2);
  for (std::size_t origin = 0; origin < 2; ++origin) {
    test::for_each_type([&]<class T>(std::type_identity<T>) {
      for (const OpCode op : test::all_op_codes()) {
        if (!has_meaning(element_type<T>().kind, op)) continue;
        for (const std::size_t count : {1U, 70U}) {
          check(scene, origin, element_type<T>(), op, count);
        }
      }
    });
  }
}

TEST_P(AccumulateBy, OpaqueElementsOfAnySizeAreReplacedAndRead) {
  Scene scene(GetParam(), 2);
  for (std::size_t origin = 0; origin < 2; ++origin) {
    for (const std::uint32_t bytes : {1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U, 100U}) {
      for (const OpCode op : {OpCode::replace, OpCode::no_op}) {
        for (const std::size_t count : {1U, 50U}) {
          check(scene, origin, {ElementKind::opaque, bytes}, op, count);
        }
      }
    }
  }
}

// More than one block of any mechanism, in pieces of all lengths; one element larger than a block.
TEST_P(AccumulateBy, ManyElementsAtOnce) {
  Scene scene(GetParam(), 2);
  for (std::size_t origin = 0; origin < 2; ++origin) {
    check(scene, origin, element_type<std::complex<double>>(), OpCode::prod, 4'200);
    check(scene, origin, element_type<float>(), OpCode::sum, 5'003);
    check(scene, origin, element_type<double>(), OpCode::max, 700);
    check(scene, origin, element_type<std::int64_t>(), OpCode::sum, 700);
    check(scene, origin, {ElementKind::opaque, 70'000}, OpCode::replace, 2);
  }
}

TEST_P(AccumulateBy, NothingToDoIsDone) {
  Scene scene(GetParam(), 1);
  scene.accumulate(0, {.type = element_type<std::int64_t>(), .op = OpCode::sum, .count = 0});
  scene.accumulate(0, {.type = element_type<std::int64_t>(), .op = OpCode::no_op, .count = 5});
  scene.flush(0);
  EXPECT_EQ(scene.locks.locks, 0);
  EXPECT_EQ(scene.memory()[0], std::byte{0});
}

TEST_P(AccumulateBy, SwapsHappenWhereAllBytesAreEqual) {
  Scene scene(GetParam(), 2);
  for (std::size_t origin = 0; origin < 2; ++origin) {
    for (const std::size_t bytes : {1U, 2U, 3U, 4U, 7U, 8U, 12U, 16U}) {
      for (const std::size_t shift : {0U, 1U}) {  // of the result, which need not be aligned
        test::fill_elements({ElementKind::opaque, 1}, scene.memory().first(64), random_);
        const Bytes before(scene.memory().begin(), scene.memory().begin() + 64);
        const std::size_t offset = bytes * 2;
        Bytes swap(bytes, std::byte{0x5A});
        Bytes compare(&before[offset], &before[offset] + bytes);
        alignas(8) std::array<std::byte, 32> result{};
        const auto run = [&] {
          scene.compare_and_swap(origin,
                                 {.type = {ElementKind::opaque, static_cast<std::uint32_t>(bytes)},
                                  .compare = compare.data(),
                                  .swap = swap.data(),
                                  .result = &result[shift],
                                  .offset_bytes = offset});
          scene.flush(origin);
          EXPECT_EQ(std::memcmp(&result[shift], &before[offset], bytes), 0);
        };
        compare[bytes - 1] ^= std::byte{0x80};
        run();
        EXPECT_TRUE(std::ranges::equal(scene.memory().first(64), before)) << bytes;
        compare[bytes - 1] ^= std::byte{0x80};
        run();
        Bytes after = before;
        std::ranges::copy(swap, after.begin() + static_cast<long>(offset));
        EXPECT_TRUE(std::ranges::equal(scene.memory().first(64), after)) << bytes;
      }
    }
  }
}

// Without a flush in between: the accumulates of one origin on one location keep their order.
TEST_P(AccumulateBy, CallsOfOneOriginAreCarriedOutInTheirOrder) {
  Scene scene(GetParam(), 1);
  constexpr std::size_t kWords = 3;
  constexpr OpCode kOps[] = {OpCode::sum,  OpCode::replace, OpCode::sum,
                             OpCode::prod, OpCode::bxor,    OpCode::no_op};
  constexpr std::size_t kCalls = 1000;
  std::array<std::uint64_t, kWords> wanted{};
  std::vector<std::uint64_t> operands(kCalls);
  std::vector<std::uint64_t> results(kCalls, ~std::uint64_t{0});
  std::vector<std::uint64_t> wanted_results(kCalls);
  for (std::size_t call = 0; call < kCalls; ++call) {
    operands[call] = random_();
    const std::size_t word = random_() % kWords;
    const OpCode op = kOps[random_() % std::size(kOps)];
    wanted_results[call] = wanted[word];
    const auto* const operand = reinterpret_cast<const std::byte*>(&operands[call]);
    base::reduce(element_type<std::uint64_t>(), op, reinterpret_cast<std::byte*>(&wanted[word]),
                 operand, 1);
    scene.accumulate(0, {.type = element_type<std::uint64_t>(),
                         .op = op,
                         .count = 1,
                         .operands = operand,
                         .results = reinterpret_cast<std::byte*>(&results[call]),
                         .offset_bytes = word * sizeof(std::uint64_t)});
  }
  scene.flush(0);
  EXPECT_EQ(results, wanted_results);
  EXPECT_EQ(std::memcmp(scene.memory().data(), wanted.data(), sizeof wanted), 0);
}

// No atomic covers them: they go as elements do that none covers, wherever they lie.
TEST_P(AccumulateBy, MisalignedElementsAreCombinedUnderALock) {
  const bool in_place = GetParam().legs.front() == Leg::in_place;
  Scene scene(GetParam(), 2);
  for (std::size_t origin = 0; origin < 2; ++origin) {
    test::for_each_type([&]<class T>(std::type_identity<T>) {
      const ElementType type = element_type<T>();
      for (const OpCode op : {OpCode::sum, OpCode::replace, OpCode::maxloc}) {
        if (type.bytes == 1 || !has_meaning(type.kind, op)) continue;
        scene.locks.locks = 0;
        for (const std::size_t shift : {1U, type.bytes / 2})
          check(scene, origin, type, op, 9, shift);
        EXPECT_EQ(scene.locks.locks, in_place ? 0 : 2) << to_string(type.kind);
      }
    });
    std::array<std::byte, 8> seen{};
    std::array<std::byte, 8> swap{std::byte{7}};
    for (const std::uint32_t bytes : {2U, 4U, 8U}) {
      const auto target = scene.memory().subspan(bytes / 2, bytes);
      const Bytes before(target.begin(), target.end());
      scene.compare_and_swap(origin, {.type = {ElementKind::opaque, bytes},
                                      .compare = before.data(),
                                      .swap = swap.data(),
                                      .result = seen.data(),
                                      .offset_bytes = bytes / 2});
      scene.flush(origin);
      EXPECT_EQ(std::memcmp(seen.data(), before.data(), bytes), 0);
      EXPECT_EQ(std::memcmp(target.data(), swap.data(), bytes), 0);
    }
  }
}

// What a device cannot combine is locked for everybody as soon as somebody has to come through one.
TEST_P(AccumulateBy, TheLockIsTakenOnceForACallAndOnlyIfNeeded) {
  Scene scene(GetParam(), 2);
  const bool through_device = GetParam().domain != CoherenceDomain::cpu;
  const bool in_place = GetParam().legs.front() == Leg::in_place;
  const Bytes operands(200'000);
  for (std::size_t origin = 0; origin < 2; ++origin) {
    for (const ElementType type :
         {element_type<std::uint8_t>(), element_type<float>(), element_type<std::int64_t>(),
          element_type<double>(), element_type<std::complex<double>>()}) {
      scene.locks.locks = 0;
      scene.accumulate(origin, {.type = type,
                                .op = OpCode::sum,
                                .count = operands.size() / 16,
                                .operands = operands.data()});
      scene.flush(origin);
      const bool no_word_of_a_device = type.bytes < 8 || type == element_type<double>();
      const bool locked =
          !in_place && (type.bytes == 16 || (through_device && no_word_of_a_device));
      EXPECT_EQ(scene.locks.locks, locked ? 1 : 0) << to_string(type.kind);
      EXPECT_FALSE(scene.locks.is_held);
    }
  }
}

TEST_P(AccumulateBy, APromiseSparesTheLockAndKeepsTheOrder) {
  Way way = GetParam();
  way.promises.no_concurrent = true;
  Scene scene(way, 2);
  for (std::size_t origin = 0; origin < 2; ++origin) {
    for (const std::size_t count : {1U, 1000U}) {
      check(scene, origin, element_type<std::int16_t>(), OpCode::sum, count);
      check(scene, origin, element_type<double>(), OpCode::min, count);
      check(scene, origin, element_type<std::complex<double>>(), OpCode::sum, count);
      check(scene, origin, {ElementKind::opaque, 8}, OpCode::replace, count);
    }
  }
  EXPECT_EQ(scene.locks.locks, 0);
}

/// Fails everything from the n-th operation on.
class BreakingEndpoint final : public transport::Endpoint {
 public:
  using Completion = transport::Completion;
  using PostResult = transport::PostResult;
  using RemoteAddress = transport::RemoteAddress;

  explicit BreakingEndpoint(int good) : good_(good) {}
  std::size_t put(const std::byte*, std::size_t bytes, RemoteAddress, Completion& done) override {
    return attempt(done), bytes;
  }
  std::size_t get(std::byte*, std::size_t bytes, RemoteAddress, Completion& done) override {
    return attempt(done), bytes;
  }
  std::size_t put_runs(std::span<const transport::Run> runs, RemoteAddress,
                       Completion& done) override {
    return attempt(done), runs.size();
  }
  std::size_t get_runs(std::span<const transport::Run> runs, RemoteAddress,
                       Completion& done) override {
    return attempt(done), runs.size();
  }
  PostResult fetch_add(std::uint64_t, std::uint64_t*, RemoteAddress, Completion& done) override {
    return attempt(done);
  }
  PostResult compare_and_swap(std::uint64_t, std::uint64_t, std::uint64_t*, RemoteAddress,
                              Completion& done) override {
    return attempt(done);
  }
  PostResult signal(std::uint64_t, RemoteAddress, Completion& done) override {
    return attempt(done);
  }
  PostResult add(std::uint64_t, RemoteAddress, Completion& done) override { return attempt(done); }
  PostResult seal(Completion&) override { return PostResult::posted; }
  void probe() noexcept override {}
  const Error* failure() const noexcept override { return good_ > 0 ? nullptr : &error_; }
  std::string describe() const override { return "breaking"; }

 private:
  PostResult attempt(Completion& done) {
    if (good_-- <= 0) done.failed(error_);
    return PostResult::posted;
  }
  int good_;
  Error error_{ErrorCode::peer_lost, {.operation = "test", .problem = "gone"}};
};

TEST(Accumulate, AFailureOnTheWayIsThrownAndLeavesTheLock) {
  for (const int good : {0, 1}) {  // in the get, in the put behind it
    BreakingEndpoint endpoint(good);
    const Target target{.bytes = 64, .data = &endpoint, .atomics = &endpoint};
    transport::Progress progress({}, nullptr, true);
    CountingMutex locks;
    Accumulator accumulator(progress, locks, {.domain = CoherenceDomain::nic});
    const std::array<std::byte, 16> operand{};
    std::array<std::byte, 16> result{};
    transport::Completion done;
    const auto lost = [&](auto call) {
      try {
        call();
        ADD_FAILURE() << "did not fail";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::peer_lost);
      }
    };
    lost([&] {
      accumulator.accumulate(
          {.type = element_type<float>(), .count = 4, .operands = operand.data()}, 2, target, done);
    });
    lost([&] {
      accumulator.accumulate({.type = element_type<std::int64_t>(),
                              .op = OpCode::max,
                              .count = 2,
                              .operands = operand.data()},
                             2, target, done);
    });
    lost([&] {
      accumulator.compare_and_swap({.type = {ElementKind::opaque, 16},
                                    .compare = operand.data(),
                                    .swap = operand.data(),
                                    .result = result.data()},
                                   2, target, done);
    });
    EXPECT_EQ(locks.locks, 2);
    EXPECT_EQ(locks.last, 2U);
    EXPECT_FALSE(locks.is_held);
    EXPECT_EQ(done.remote_pending, 0U);
  }
}

}  // namespace
}  // namespace oriel::window
