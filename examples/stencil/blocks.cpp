#include "stencil/blocks.hpp"

namespace stencil {
namespace {

std::size_t cells_of(const Block& block) {
  return cells_with_border(block.x.size, block.y.size);
}

std::size_t start_of(std::size_t step, std::size_t block_cells) {
  return step % 2 * block_cells;
}

}  // namespace

Area area(std::size_t stride, const Range& x, const Range& y) {
  return {y.begin * stride + x.begin, oriel::Layout::strided(x.size, {{y.size, stride}})};
}

Area line(const Block& block, Side side, std::size_t depth) {
  const std::size_t width = block.x.size;
  const std::size_t height = block.y.size;
  const Range columns{1, width};
  const Range rows{1, height};
  switch (side) {
    case Side::west:
      return area(width + 2, {depth, 1}, rows);
    case Side::east:
      return area(width + 2, {width + 1 - depth, 1}, rows);
    case Side::north:
      return area(width + 2, columns, {depth, 1});
    case Side::south:
      break;
  }
  return area(width + 2, columns, {height + 1 - depth, 1});
}

Blocks::Blocks(const oriel::Team& team, const RankGrid& grid, const Extent& extent)
    : grid_(grid),
      extent_(extent),
      mine_(block_of(grid, extent, team.rank())),
      window_(oriel::Window<double>::allocate(team, 2 * cells_of(mine_))) {
  for (const Side side : kSides) {
    if (const auto rank = neighbour(grid, team.rank(), side)) {
      const Block its = block_of(grid, extent, *rank);
      neighbours_.push_back({side, oriel::Rank{*rank}, line(mine_, side, 1),
                             line(its, opposite(side), 0), cells_of(its)});
    }
  }
}

BlockView Blocks::block(std::size_t step) const {
  const std::size_t cells = cells_of(mine_);
  return {window_.local().subspan(start_of(step, cells), cells), mine_.x.size, mine_.y.size};
}

void Blocks::put_edge(const Neighbour& to, std::size_t step) {
  window_.put(block(step).cells.subspan(to.edge.first), to.edge.layout, to.rank,
              start_of(step, to.block_cells) + to.ghosts.first, to.ghosts.layout);
}

void Blocks::get_block(int rank, std::size_t step, Field& whole) {
  const Block its = block_of(grid_, extent_, rank);
  const Area there = area(its.x.size + 2, {1, its.x.size}, {1, its.y.size});
  const Area here =
      area(extent_.nx + 2, {its.x.begin + 1, its.x.size}, {its.y.begin + 1, its.y.size});
  window_.get(whole.view().cells.subspan(here.first), here.layout, oriel::Rank{rank},
              start_of(step, cells_of(its)) + there.first, there.layout);
}

}  // namespace stencil
