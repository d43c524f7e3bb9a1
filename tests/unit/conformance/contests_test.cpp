// Old values of a contested sum: which stories hold together.

#include "conformance/contests.hpp"

#include <gtest/gtest.h>

#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

constexpr std::uint64_t kSeed = 1;  // of every operand

class Sums : public testing::Test {
 protected:
  Sums() {
    program_.ranks = 2;
    program_.memories.push_back({.element = &element_named("uint32"), .bytes = {16, 16}});
    program_.windows.push_back({.bytes = {16, 16}});
    phase_.epochs.resize(1);
    make_value(element_named("uint32"), OpCode::sum, kSeed, 0,
               reinterpret_cast<std::byte*>(&operand_));
  }

  /// Rank 0 and rank 1 in turn.
  void add(Call call) {
    const int origin = static_cast<int>(phase_.epochs[0].operations.size() % 2);
    phase_.epochs[0].operations.push_back({.origin = origin,
                                           .target = 0,
                                           .call = call,
                                           .op = OpCode::sum,
                                           .to = contiguous(1),
                                           .from = contiguous(1),
                                           .into = contiguous(1),
                                           .values = kSeed});
  }

  /// @param old  what the operations found, counted in operands
  std::string verdict(const std::vector<std::uint64_t>& old) {
    Predictor predictor(program_);
    const Forecast forecast = predictor.run(phase_, 0);
    std::vector<Witness> witnesses;
    for (std::uint32_t i = 0; i < old.size(); ++i) witnesses.push_back({i, 0, old[i] * operand_});
    return check_contests(program_, phase_, 0, forecast.contested, witnesses, predictor);
  }

  /// A seed whose operand is more than half of what 32 bits hold.
  static std::uint64_t wild_seed() {
    for (std::uint64_t seed = 0;; ++seed) {
      std::uint64_t operand = 0;
      make_value(element_named("uint32"), OpCode::sum, seed, 0,
                 reinterpret_cast<std::byte*>(&operand));
      if (operand > 0x8000'0000U) return seed;
    }
  }

  Program program_;
  Phase phase_;
  std::uint64_t operand_ = 0;
};

TEST_F(Sums, AnyOrderWillDo) {
  for (int i = 0; i < 3; ++i) add(Call::fetch_and_op);
  EXPECT_EQ(verdict({0, 1, 2}), "");
  EXPECT_EQ(verdict({2, 0, 1}), "");
}

TEST_F(Sums, AnUpdateThatIsLostIsFound) {
  for (int i = 0; i < 3; ++i) add(Call::fetch_and_op);
  EXPECT_NE(verdict({0, 1, 1}), "");
  EXPECT_NE(verdict({0, 1, 3}), "");
  EXPECT_NE(verdict({1, 2, 3}), "");
}

TEST_F(Sums, UpdatesThatFetchNothingLeaveGaps) {
  for (int i = 0; i < 2; ++i) add(Call::fetch_and_op);
  add(Call::accumulate);
  EXPECT_EQ(verdict({0, 2}), "");
  EXPECT_EQ(verdict({1, 2}), "");
  EXPECT_NE(verdict({0, 0}), "");
  EXPECT_NE(verdict({0, 3}), "");
}

// An operand of all bits, fetched by nobody: what others find may be more or less than before.
TEST_F(Sums, WhatWrapsAroundIsNotJudged) {
  for (int i = 0; i < 2; ++i) add(Call::fetch_and_op);
  add(Call::accumulate);
  phase_.epochs[0].operations.back().values = wild_seed();
  EXPECT_EQ(verdict({5, 3}), "");
}

}  // namespace
}  // namespace oriel::conformance
