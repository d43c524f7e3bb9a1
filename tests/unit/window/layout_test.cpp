// Layouts, the walk over their runs, and over those that two of them have in common.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include <oriel/layout.hpp>

#include "window/pieces.hpp"

namespace oriel::window {
namespace {

using testing::ElementsAre;
using Indices = std::vector<std::size_t>;

/// The elements that a layout names, by its definition.
void list(std::span<const Dimension> dimensions, std::size_t block, std::size_t offset,
          Indices& out) {
  if (dimensions.empty()) {
    for (std::size_t i = 0; i < block; ++i) out.push_back(offset + i);
    return;
  }
  for (std::size_t i = 0; i < dimensions.front().count; ++i) {
    list(dimensions.subspan(1), block, offset + i * dimensions.front().stride, out);
  }
}

/// The same by the cursor, in steps of at most `most`.
Indices walk(const Layout& layout, std::size_t most) {
  Indices found;
  for (LayoutCursor cursor(layout); !cursor.at_end();) {
    const std::size_t count = std::min(cursor.run(), most);
    EXPECT_GT(count, 0U);
    for (std::size_t i = 0; i < count; ++i) found.push_back(cursor.offset() + i);
    cursor.advance(count);
  }
  return found;
}

TEST(LayoutCursor, WalksColumnsAndBlocks) {
  EXPECT_THAT(walk(Layout::contiguous(3), 9), ElementsAre(0, 1, 2));
  EXPECT_THAT(walk(Layout::strided(1, {{3, 4}}), 9), ElementsAre(0, 4, 8));
  EXPECT_THAT(walk(Layout::strided(2, {{2, 10}, {2, 3}}), 9),
              ElementsAre(0, 1, 3, 4, 10, 11, 13, 14));
  EXPECT_THAT(walk(Layout::strided(2, {{3, 0}}), 1), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(walk(Layout::indexed(2, Indices{7, 0, 3}), 9), ElementsAre(7, 8, 0, 1, 3, 4));
  EXPECT_TRUE(walk(Layout::contiguous(0), 1).empty());
  EXPECT_TRUE(walk(Layout::strided(3, {{4, 3}, {0, 1}}), 1).empty());
}

TEST(LayoutCursor, NamesWhatTheDimensionsSay) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<Dimension> dimensions(random() % 6);
    for (Dimension& one : dimensions) one = {random() % 4, random() % 30};
    const std::size_t block = random() % 4;
    const Layout layout = Layout::strided(block, dimensions);
    Indices expected;
    list(dimensions, block, 0, expected);
    EXPECT_EQ(layout.count(), expected.size());
    EXPECT_EQ(layout.extent(), expected.empty() ? 0 : std::ranges::max(expected) + 1);
    for (const std::size_t most : {1U, 2U, 9U}) EXPECT_EQ(walk(layout, most), expected);
  }
}

TEST(ForEachPiece, VisitsTheLargestCommonRuns) {
  std::vector<std::array<std::size_t, 3>> pieces;
  const auto note = [&](const Piece& piece) {
    pieces.push_back({piece.origin, piece.target, piece.elements});
  };
  using P = std::array<std::size_t, 3>;
  for_each_piece(Layout::contiguous(6), Layout::contiguous(6), note);
  EXPECT_THAT(pieces, ElementsAre(P{0, 0, 6}));
  pieces.clear();
  for_each_piece(Layout::strided(2, {{3, 5}}), Layout::strided(3, {{2, 10}}), note);
  EXPECT_THAT(pieces, ElementsAre(P{0, 0, 2}, P{5, 2, 1}, P{6, 10, 1}, P{10, 11, 2}));
  pieces.clear();
  for_each_piece(Layout::contiguous(0), Layout::indexed(1, {}), note);
  EXPECT_TRUE(pieces.empty());
}

TEST(ForEachPiece, KeepsTheOrderOfBoth) {
  std::mt19937 random(6);
  for (int round = 0; round < 300; ++round) {
    const std::size_t block = 1 + random() % 5;
    Indices offsets(1 + random() % 8);
    for (std::size_t& one : offsets) one = random() % 100;
    const Layout indexed = Layout::indexed(block, offsets);
    const Layout other = round % 2 == 0 ? Layout::strided(1, {{indexed.count(), 1 + random() % 3}})
                                        : Layout::contiguous(indexed.count());
    Indices here;
    Indices there;
    for_each_piece(indexed, other, [&](const Piece& piece) {
      for (std::size_t i = 0; i < piece.elements; ++i) {
        here.push_back(piece.origin + i);
        there.push_back(piece.target + i);
      }
    });
    EXPECT_EQ(here, walk(indexed, 100));
    EXPECT_EQ(there, walk(other, 100));
  }
}

}  // namespace
}  // namespace oriel::window
