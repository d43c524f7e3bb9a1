#include "stencil/rank_grid.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace stencil {
namespace {

TEST(RankGrid, PartsCoverAllCellsOnceAndDifferByAtMostOne) {
  for (const std::size_t cells : {1U, 7U, 8U, 9U, 384U}) {
    for (const int parts : {1, 2, 3, 7, 8}) {
      std::size_t next = 0;
      for (int index = 0; index < parts; ++index) {
        const Range part = part_of(cells, parts, index);
        EXPECT_EQ(part.begin, next);
        EXPECT_GE(part.size, cells / static_cast<std::size_t>(parts));
        EXPECT_LE(part.size, cells / static_cast<std::size_t>(parts) + 1);
        next = part.begin + part.size;
      }
      EXPECT_EQ(next, cells) << cells << " in " << parts;
    }
  }
}

TEST(RankGrid, BlocksFollowRanksRowByRow) {
  const Block block = block_of({3, 2}, {10, 5}, 4);  // column 1, row 1
  EXPECT_EQ(block, (Block{{4, 3}, {3, 2}}));
}

TEST(RankGrid, NeighboursLookBackAtEachOther) {
  const RankGrid grid{3, 4};
  int borders = 0;
  for (int rank = 0; rank < 12; ++rank) {
    for (const Side side : kSides) {
      const auto other = neighbour(grid, rank, side);
      if (!other) continue;
      ++borders;
      EXPECT_EQ(neighbour(grid, *other, opposite(side)), rank);
    }
  }
  EXPECT_EQ(borders, 2 * (2 * 4 + 3 * 3));
}

TEST(RankGrid, NeighboursEndAtTheBoundary) {
  const RankGrid grid{3, 2};
  EXPECT_EQ(neighbour(grid, 0, Side::west), std::nullopt);
  EXPECT_EQ(neighbour(grid, 0, Side::north), std::nullopt);
  EXPECT_EQ(neighbour(grid, 0, Side::east), 1);
  EXPECT_EQ(neighbour(grid, 0, Side::south), 3);
  EXPECT_EQ(neighbour(grid, 2, Side::east), std::nullopt);  // not rank 3, the next row
  EXPECT_EQ(neighbour(grid, 3, Side::west), std::nullopt);
  EXPECT_EQ(neighbour(grid, 5, Side::south), std::nullopt);
}

TEST(RankGrid, AutomaticChoiceHasTheSmallestHaloOfAll) {
  for (const Extent extent : {Extent{512, 384}, Extent{16, 1000}, Extent{1000, 16}}) {
    for (const int ranks : {1, 2, 3, 4, 6, 8, 12, 36}) {
      const RankGrid chosen = choose_rank_grid(ranks, extent);
      EXPECT_NO_THROW(require_fit(chosen, ranks, extent));
      for (int columns = 1; columns <= ranks; ++columns) {
        if (ranks % columns != 0) continue;
        const RankGrid other{columns, ranks / columns};
        if (static_cast<std::size_t>(other.columns) > extent.nx) continue;
        if (static_cast<std::size_t>(other.rows) > extent.ny) continue;
        EXPECT_LE(halo_cells(chosen, extent), halo_cells(other, extent));
      }
    }
  }
}

TEST(RankGrid, AutomaticChoiceFollowsTheShape) {
  EXPECT_EQ(choose_rank_grid(4, {100, 100}), (RankGrid{2, 2}));
  EXPECT_EQ(choose_rank_grid(4, {1000, 10}), (RankGrid{4, 1}));
  EXPECT_EQ(choose_rank_grid(4, {10, 1000}), (RankGrid{1, 4}));
  EXPECT_EQ(choose_rank_grid(2, {50, 50}), (RankGrid{1, 2})) << "among equals: no columns to pack";
}

TEST(RankGrid, AutomaticChoiceLeavesNoRankWithoutCells) {
  EXPECT_EQ(choose_rank_grid(6, {2, 3}), (RankGrid{2, 3}));
  EXPECT_THROW((void)choose_rank_grid(7, {5, 6}), InputError);
  EXPECT_THROW((void)choose_rank_grid(5, {1, 4}), InputError);
}

TEST(RankGrid, HaloCellsCountBothDirections) {
  EXPECT_EQ(halo_cells({1, 1}, {10, 20}), 0U);
  EXPECT_EQ(halo_cells({2, 1}, {10, 20}), 40U);
  EXPECT_EQ(halo_cells({3, 2}, {10, 20}), 100U);
}

TEST(RankGrid, ParsesColumnsByRows) {
  EXPECT_EQ(parse_rank_grid("4x2"), (RankGrid{4, 2}));
  EXPECT_EQ(parse_rank_grid("1X16"), (RankGrid{1, 16}));
}

TEST(RankGrid, RefusesMalformedGridsAndNamesThem) {
  for (const char* text : {"", "x", "4", "4x", "x2", "0x2", "2x0", "-1x2", "2x-1", "2x2x2", "2x 2",
                           "99999999999x1", "axb", "2,2"}) {
    try {
      (void)parse_rank_grid(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find('\'' + std::string(text) + '\''), std::string::npos);
    }
  }
}

TEST(RankGrid, FitNeedsAllRanksAndNoEmptyBlock) {
  EXPECT_NO_THROW(require_fit({3, 2}, 6, {3, 2}));
  EXPECT_THROW(require_fit({3, 2}, 4, {100, 100}), InputError);
  EXPECT_THROW(require_fit({3, 2}, 6, {2, 100}), InputError);
  EXPECT_THROW(require_fit({3, 2}, 6, {100, 1}), InputError);
  constexpr int kHuge = std::numeric_limits<int>::max();
  EXPECT_THROW(require_fit({kHuge, kHuge}, 1, {100, 100}), InputError)
      << "the product must not wrap";
}

}  // namespace
}  // namespace stencil
