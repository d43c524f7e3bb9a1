#include "stencil/halo.hpp"

#include <algorithm>

namespace stencil {
namespace {

LandingAreas areas_of(const RankGrid& grid, const Extent& extent, int rank) {
  const Block block = block_of(grid, extent, rank);
  return {block.x.size, block.y.size};
}

}  // namespace

Halo::Halo(const oriel::Runtime& job, const RankGrid& grid, const Extent& extent)
    : areas_(areas_of(grid, extent, job.world().rank())),
      packed_columns_(job, 2 * areas_.height),
      window_(oriel::Window<double>::allocate(job.world(), 2 * areas_.one_parity())) {
  for (const Side side : kSides) {
    if (const auto rank = neighbour(grid, job.world().rank(), side)) {
      neighbours_.push_back({side, oriel::Rank{*rank}, areas_of(grid, extent, *rank)});
    }
  }
}

void Halo::exchange(const BlockView& block, std::size_t step) {
  const std::size_t parity = step % 2;
  for (const Neighbour& to : neighbours_) put_edge(block, to, parity);
  window_.fence();
  for (const Neighbour& from : neighbours_) take_edge(block, from.side, parity);
}

void Halo::put_edge(const BlockView& block, const Neighbour& to, std::size_t parity) {
  const std::size_t offset = to.areas.offset(opposite(to.side), parity);
  if (to.side == Side::north || to.side == Side::south) {
    window_.put(block.inner_row(to.side == Side::north ? 0 : block.height - 1), to.rank, offset);
    return;
  }
  const std::size_t column = to.side == Side::west ? 1 : block.width;
  const auto packed =
      packed_columns_.span().subspan(to.side == Side::west ? 0 : areas_.height, areas_.height);
  for (std::size_t y = 0; y < packed.size(); ++y) packed[y] = block.row(y + 1)[column];
  window_.put(packed, to.rank, offset);
}

void Halo::take_edge(const BlockView& block, Side side, std::size_t parity) const {
  const auto edge = window_.local().subspan(areas_.offset(side, parity), areas_.cells(side));
  if (side == Side::north || side == Side::south) {
    std::ranges::copy(edge, block.row(side == Side::north ? 0 : block.height + 1) + 1);
    return;
  }
  const std::size_t column = side == Side::west ? 0 : block.width + 1;
  for (std::size_t y = 0; y < edge.size(); ++y) block.row(y + 1)[column] = edge[y];
}

}  // namespace stencil
