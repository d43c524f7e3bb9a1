#pragma once
/// How cells are divided among ranks: pure arithmetic, the same on every rank.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stencil {

/// Something the user gave that cannot work; what() is one line for the user.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Cells of the interior, the boundary not counted.
struct Extent {
  std::size_t nx = 0;
  std::size_t ny = 0;
  bool operator==(const Extent&) const = default;
};

/// Ranks in `columns` × `rows`; rank r sits in column r % columns of row r / columns.
struct RankGrid {
  int columns = 1;
  int rows = 1;
  bool operator==(const RankGrid&) const = default;
};

struct Range {
  std::size_t begin = 0;
  std::size_t size = 0;
  bool operator==(const Range&) const = default;
};

/// The cells of one rank; never empty.
struct Block {
  Range x;
  Range y;
  bool operator==(const Block&) const = default;
};

enum class Side : std::uint8_t { west, east, north, south };
inline constexpr std::array kSides{Side::west, Side::east, Side::north, Side::south};
[[nodiscard]] Side opposite(Side side) noexcept;

/// Reads "4x2" (columns x rows). Throws InputError.
[[nodiscard]] RankGrid parse_rank_grid(std::string_view text);

/// Cells that cross a border between ranks in one step, both directions.
[[nodiscard]] std::size_t halo_cells(const RankGrid& grid, const Extent& extent) noexcept;

/// The grid of exactly `ranks` ranks without empty blocks that has the fewest halo cells; among
/// equals the one with fewer columns, because a row travels in one piece. Throws InputError if
/// every grid would have empty blocks.
[[nodiscard]] RankGrid choose_rank_grid(int ranks, const Extent& extent);

/// Throws InputError unless `grid` has `ranks` places and none of them is empty.
void require_fit(const RankGrid& grid, int ranks, const Extent& extent);

/// Part `index` of `cells` cells in `parts` parts that differ in size by at most one.
[[nodiscard]] Range part_of(std::size_t cells, int parts, int index) noexcept;

[[nodiscard]] Block block_of(const RankGrid& grid, const Extent& extent, int rank) noexcept;

/// The rank beyond that side, or nothing at the boundary of the domain.
[[nodiscard]] std::optional<int> neighbour(const RankGrid& grid, int rank, Side side) noexcept;

}  // namespace stencil
