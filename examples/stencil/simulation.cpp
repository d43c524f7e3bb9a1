#include "stencil/simulation.hpp"

#include <algorithm>
#include <utility>

#include "stencil/halo.hpp"
#include "stencil/solver.hpp"

namespace stencil {

Simulation::Simulation(const oriel::Runtime& job, Problem problem)
    : job_(job),
      problem_(std::move(problem)),
      block_(block_of(problem_.grid, problem_.extent, job.world().rank())),
      current_(job, cells_with_border(block_.x.size, block_.y.size)),
      next_(job, cells_with_border(block_.x.size, block_.y.size)) {
  fill(view_of(current_), block_, problem_.initial);
}

StepTimes Simulation::run(const std::function<void(std::size_t)>& after_step) {
  const Scheme scheme = make_scheme(problem_.extent);
  Halo halo(job_, problem_.grid, problem_.extent);
  StepTimes times(problem_.steps);
  for (std::size_t step = 0; step < problem_.steps; ++step) {
    times.begin_step();
    halo.exchange(view_of(current_), step);
    times.end_exchange();
    jacobi_step(scheme, view_of(current_), view_of(next_));
    std::swap(current_, next_);
    times.end_step();
    after_step(step + 1);
  }
  return times;
}

std::optional<Field> Simulation::gather() const {
  const oriel::Team& world = job_.world();
  const BlockView mine = view_of(current_);
  auto blocks = oriel::Window<double>::allocate(world, mine.width * mine.height);
  for (std::size_t y = 0; y < mine.height; ++y) {
    std::ranges::copy(mine.inner_row(y), blocks.local().subspan(y * mine.width).begin());
  }
  blocks.fence();
  if (world.rank() != 0) return std::nullopt;

  Field whole(problem_.extent);
  for (int rank = 0; rank < world.size(); ++rank) {
    const Block block = block_of(problem_.grid, problem_.extent, rank);
    for (std::size_t y = 0; y < block.y.size; ++y) {
      const auto row = whole.view().inner_row(block.y.begin + y);
      blocks.get(row.subspan(block.x.begin, block.x.size), oriel::Rank{rank}, y * block.x.size);
    }
  }
  blocks.flush_all();
  return whole;
}

}  // namespace stencil
