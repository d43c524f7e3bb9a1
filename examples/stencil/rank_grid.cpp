#include "stencil/rank_grid.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace stencil {
namespace {

bool has_empty_blocks(const RankGrid& grid, const Extent& extent) noexcept {
  return static_cast<std::size_t>(grid.columns) > extent.nx ||
         static_cast<std::size_t>(grid.rows) > extent.ny;
}

std::optional<int> parse_count(std::string_view text) noexcept {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end || value < 1) return std::nullopt;
  return value;
}

}  // namespace

Side opposite(Side side) noexcept {
  switch (side) {
    case Side::west:
      return Side::east;
    case Side::east:
      return Side::west;
    case Side::north:
      return Side::south;
    case Side::south:
      break;
  }
  return Side::north;
}

RankGrid parse_rank_grid(std::string_view text) {
  const auto cross = text.find_first_of("xX");
  if (cross != std::string_view::npos) {
    const auto columns = parse_count(text.substr(0, cross));
    const auto rows = parse_count(text.substr(cross + 1));
    if (columns && rows) return {*columns, *rows};
  }
  throw InputError(
      fmt::format("'{}' is no rank grid: give COLUMNSxROWS such as 4x2, or auto", text));
}

std::size_t halo_cells(const RankGrid& grid, const Extent& extent) noexcept {
  const auto borders_across = static_cast<std::size_t>(grid.columns - 1);
  const auto borders_down = static_cast<std::size_t>(grid.rows - 1);
  return 2 * (borders_across * extent.ny + borders_down * extent.nx);
}

RankGrid choose_rank_grid(int ranks, const Extent& extent) {
  std::optional<RankGrid> best;
  for (int columns = 1; columns <= ranks; ++columns) {
    if (ranks % columns != 0) continue;
    const RankGrid grid{columns, ranks / columns};
    if (has_empty_blocks(grid, extent)) continue;
    if (!best || halo_cells(grid, extent) < halo_cells(*best, extent)) best = grid;
  }
  if (!best) {
    throw InputError(
        fmt::format("{} x {} cells cannot be divided among {} ranks without empty blocks: use "
                    "fewer ranks or more cells",
                    extent.nx, extent.ny, ranks));
  }
  return *best;
}

void require_fit(const RankGrid& grid, int ranks, const Extent& extent) {
  const auto places = static_cast<long long>(grid.columns) * grid.rows;
  if (places != ranks) {
    throw InputError(fmt::format("--grid {}x{} needs {} ranks, but the job has {}", grid.columns,
                                 grid.rows, places, ranks));
  }
  if (has_empty_blocks(grid, extent)) {
    throw InputError(
        fmt::format("--grid {}x{} leaves ranks without cells: the field has only {} x {}",
                    grid.columns, grid.rows, extent.nx, extent.ny));
  }
}

Range part_of(std::size_t cells, int parts, int index) noexcept {
  const auto count = static_cast<std::size_t>(parts);
  const auto before = static_cast<std::size_t>(index);
  const std::size_t longer_parts = cells % count;  // the first ones take one cell more
  return {before * (cells / count) + std::min(before, longer_parts),
          cells / count + (before < longer_parts ? 1 : 0)};
}

Block block_of(const RankGrid& grid, const Extent& extent, int rank) noexcept {
  return {part_of(extent.nx, grid.columns, rank % grid.columns),
          part_of(extent.ny, grid.rows, rank / grid.columns)};
}

std::optional<int> neighbour(const RankGrid& grid, int rank, Side side) noexcept {
  int column = rank % grid.columns;
  int row = rank / grid.columns;
  switch (side) {
    case Side::west:
      --column;
      break;
    case Side::east:
      ++column;
      break;
    case Side::north:
      --row;
      break;
    case Side::south:
      ++row;
      break;
  }
  if (column < 0 || column >= grid.columns || row < 0 || row >= grid.rows) return std::nullopt;
  return row * grid.columns + column;
}

}  // namespace stencil
