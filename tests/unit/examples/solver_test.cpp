#include "stencil/solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stencil/check.hpp"

namespace stencil {
namespace {

TEST(Solver, WeightsArePositiveAndSumToOne) {
  for (const Extent extent : {Extent{1, 1}, Extent{512, 384}, Extent{3, 1000}}) {
    const Scheme scheme = make_scheme(extent);
    EXPECT_GT(scheme.across, 0);
    EXPECT_GT(scheme.down, 0);
    EXPECT_NEAR(scheme.across + scheme.down, 0.25, 1e-15);
    EXPECT_NEAR(scheme.centre + 2 * scheme.across + 2 * scheme.down, 1, 1e-15);
    EXPECT_NEAR(scheme.across * scheme.hx * scheme.hx, scheme.dt, 1e-15 * scheme.dt);
  }
}

TEST(Solver, OneStepUsesTheFiveCells) {
  Field from({3, 3});
  const BlockView cells = from.view();
  cells.row(2)[2] = 1;      // centre
  cells.row(2)[1] = 10;     // west
  cells.row(2)[3] = 100;    // east
  cells.row(1)[2] = 1000;   // north
  cells.row(3)[2] = 10000;  // south
  cells.row(1)[1] = 1e9;    // corner: not looked at
  Field to({3, 3});
  const Scheme scheme{1, 1, 1, 2, 3, 5};
  jacobi_step(scheme, from.view(), to.view());
  EXPECT_EQ(to.row(1)[1], 5 * 1 + 2 * 110 + 3 * 11000);
}

TEST(Solver, GhostCellsAreReadAndNotWritten) {
  Field from({1, 1});
  from.view().row(0)[1] = 8;
  from.view().row(1)[2] = 16;
  Field to({1, 1});
  jacobi_step(make_scheme({1, 1}), from.view(), to.view());
  EXPECT_DOUBLE_EQ(to.row(0)[0], (8 + 16) / 8.0);
  EXPECT_EQ(to.view().row(0)[1], 0);
  EXPECT_EQ(to.view().row(1)[2], 0);
}

/// Sum over all discrete modes solves the scheme exactly: here two modes at once.
TEST(Solver, AgreesWithTheExactSolutionOfTheScheme) {
  const Extent extent{21, 13};
  const Scheme scheme = make_scheme(extent);
  const auto mode = [&](int k, int l, std::size_t x, std::size_t y) {
    return std::sin(std::numbers::pi * k * static_cast<double>(x + 1) * scheme.hx) *
           std::sin(std::numbers::pi * l * static_cast<double>(y + 1) * scheme.hy);
  };
  const auto decay = [&](int k, int l) {
    const double sx = std::sin(std::numbers::pi * k * scheme.hx / 2);
    const double sy = std::sin(std::numbers::pi * l * scheme.hy / 2);
    return 1 - 4 * scheme.across * sx * sx - 4 * scheme.down * sy * sy;
  };
  constexpr std::size_t kSteps = 50;
  const Field result = solve_serially(
      extent,
      [&](std::size_t x, std::size_t y) { return mode(2, 3, x, y) - 0.5 * mode(5, 1, x, y); },
      kSteps);
  for (std::size_t y = 0; y < extent.ny; ++y) {
    for (std::size_t x = 0; x < extent.nx; ++x) {
      const double exact = std::pow(decay(2, 3), kSteps) * mode(2, 3, x, y) -
                           0.5 * std::pow(decay(5, 1), kSteps) * mode(5, 1, x, y);
      EXPECT_NEAR(result.row(y)[x], exact, rounding_bound(kSteps)) << x << ", " << y;
    }
  }
  EXPECT_DOUBLE_EQ(discrete_decay(scheme), decay(1, 1));
}

TEST(Solver, StepsInBlocksWithCopiedEdgesGiveTheBitsOfTheWhole) {
  const Extent extent{37, 8};
  const InitialField initial = eigenmode(extent);
  const Scheme scheme = make_scheme(extent);
  Field whole(extent);
  fill(whole.view(), block_of({1, 1}, extent, 0), initial);
  Field whole_after(extent);
  jacobi_step(scheme, whole.view(), whole_after.view());

  for (int rank = 0; rank < 5; ++rank) {  // five columns of different alignment
    const Block block = block_of({5, 1}, extent, rank);
    Field part({block.x.size, block.y.size});
    for (std::size_t y = 0; y < block.y.size + 2; ++y) {
      for (std::size_t x = 0; x < block.x.size + 2; ++x) {
        part.view().row(y)[x] = whole.view().row(y)[block.x.begin + x];
      }
    }
    Field part_after({block.x.size, block.y.size});
    jacobi_step(scheme, part.view(), part_after.view());
    for (std::size_t y = 0; y < block.y.size; ++y) {
      for (std::size_t x = 0; x < block.x.size; ++x) {
        EXPECT_EQ(part_after.row(y)[x], whole_after.row(y)[block.x.begin + x]);
      }
    }
  }
}

}  // namespace
}  // namespace stencil
