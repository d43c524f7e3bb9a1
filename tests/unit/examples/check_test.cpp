#include "stencil/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "stencil/solver.hpp"

namespace stencil {
namespace {

using testing::HasSubstr;
using testing::StrEq;

constexpr Extent kExtent{24, 17};
constexpr std::size_t kSteps = 60;

Field solution() {
  return solve_serially(kExtent, eigenmode(kExtent), kSteps);
}

TEST(Check, ARightResultPassesEverything) {
  const auto verdicts = check_result(solution(), eigenmode(kExtent), true, kSteps);
  ASSERT_EQ(verdicts.size(), 3U);
  for (const Verdict& verdict : verdicts) EXPECT_TRUE(verdict.passed) << verdict.text;
  EXPECT_THAT(verdicts[0].text,
              StrEq("check: bit-identical to the serial run (24 x 17, 60 steps)"));
}

TEST(Check, WithoutTheEigenmodeOnlyTheBitsAreCompared) {
  EXPECT_EQ(check_result(solution(), eigenmode(kExtent), false, kSteps).size(), 1U);
}

TEST(Check, OneBitInOneCellIsNoticed) {
  Field result = solution();
  double& cell = result.view().inner_row(16)[23];
  cell = std::nextafter(cell, 2.0);
  const Verdict verdict = compare_with_serial(result, solution(), kSteps);
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.text, HasSubstr("1 of 408 cells"));
  EXPECT_THAT(verdict.text, HasSubstr("(23, 16)"));
}

TEST(Check, TheSignOfZeroIsABit) {
  Field positive({1, 1});
  Field negative({1, 1});
  negative.view().inner_row(0)[0] = -0.0;
  EXPECT_FALSE(compare_with_serial(negative, positive, 0).passed);
}

TEST(Check, AMissingOrExtraStepExceedsBothBounds) {
  for (const std::size_t steps : {kSteps - 1, kSteps + 1}) {
    const Field result = solve_serially(kExtent, eigenmode(kExtent), steps);
    EXPECT_FALSE(compare_with_discrete(result, kSteps).passed);
  }
  const Field untouched = solve_serially(kExtent, eigenmode(kExtent), 0);
  const Verdict verdict = compare_with_analytic(untouched, kSteps);
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.text, HasSubstr("EXCEEDS"));
}

TEST(Check, OneWrongCellIsNoticed) {
  Field result = solution();
  result.view().inner_row(3)[4] += 0.01;
  EXPECT_FALSE(compare_with_discrete(result, kSteps).passed);
  EXPECT_FALSE(compare_with_analytic(result, kSteps).passed);
  result.view().inner_row(3)[4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(compare_with_discrete(result, kSteps).passed);
  EXPECT_FALSE(compare_with_analytic(result, kSteps).passed);
}

TEST(Check, TheDiscretisationBoundHoldsAndIsOfSecondOrder) {
  for (const Extent extent : {Extent{1, 1}, Extent{3, 40}, Extent{31, 31}, Extent{200, 100}}) {
    const Scheme scheme = make_scheme(extent);
    for (const double steps : {1.0, 10.0, 1000.0, 100000.0}) {
      const double ours = std::pow(discrete_decay(scheme), steps);
      const double exact = std::exp(-2 * std::numbers::pi * std::numbers::pi * scheme.dt * steps);
      const double bound = discretisation_bound(extent, static_cast<std::size_t>(steps));
      EXPECT_LE(std::abs(ours - exact), bound) << extent.nx << " x " << extent.ny << ", " << steps;
    }
  }
  // Half the distance, a quarter of the time step, the same time: a quarter of the error.
  const double ratio = discretisation_bound({31, 31}, 1000) / discretisation_bound({63, 63}, 4000);
  EXPECT_NEAR(ratio, 4, 0.1);
}

}  // namespace
}  // namespace stencil
