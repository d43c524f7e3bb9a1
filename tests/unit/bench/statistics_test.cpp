#include "launcher/bench/statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "launcher/bench/operation.hpp"

namespace oriel::bench {
namespace {

std::vector<double> from_one_to(int last) {
  std::vector<double> values(static_cast<std::size_t>(last));
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

TEST(Statistics, TheMedianAndTheWorseEnd) {
  const Figures times = figures(from_one_to(101), true);
  EXPECT_EQ(times.median, 51);
  EXPECT_EQ(times.p99, 100);
  EXPECT_EQ(figures(from_one_to(101), false).p99, 2) << "of rates, the low ones are the bad ones";
  EXPECT_EQ(figures({7}, true).p99, 7);
}

TEST(Statistics, RatiosAreOfSamplesTakenTogether) {
  // Twice as slow throughout, on a machine that was disturbed for a while.
  const std::array<double, 5> ours = {2, 2, 200, 2, 2};
  const std::array<double, 5> theirs = {1, 1, 100, 1, 1};
  const Ratio same = ratio(ours, theirs);
  EXPECT_EQ(same.median, 2);
  EXPECT_EQ(same.low, 2);
  EXPECT_EQ(same.high, 2);
  const Ratio spread = ratio(from_one_to(101), std::vector<double>(101, 1.0));
  EXPECT_EQ(spread.low, 26);
  EXPECT_EQ(spread.high, 76);
}

TEST(Units, AreOfOneOperation) {
  EXPECT_DOUBLE_EQ(in_unit(Unit::microseconds, 2e-6, 8), 2);
  EXPECT_DOUBLE_EQ(in_unit(Unit::operations, 2e-6, 8), 0.5);
  EXPECT_DOUBLE_EQ(in_unit(Unit::megabytes, 1e-3, 1'000'000), 1000);
}

TEST(Operations, AreFoundByTheirNames) {
  for (const OperationInfo& one : operations()) {
    EXPECT_EQ(find_operation(one.name), &one);
    EXPECT_EQ(&info(one.operation), &one) << "the table is in the order of the numbers";
  }
  EXPECT_EQ(find_operation("puts"), nullptr);
}

}  // namespace
}  // namespace oriel::bench
