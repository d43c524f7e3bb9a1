#include "stencil/simulation.hpp"

#include <utility>

#include "stencil/solver.hpp"

namespace stencil {

Simulation::Simulation(const oriel::Team& team, Problem problem)
    : problem_(std::move(problem)),
      blocks_(team, problem_.grid, problem_.extent),
      halo_(make_halo(problem_.sync, blocks_)) {
  fill(blocks_.block(0), block_of(problem_.grid, problem_.extent, team.rank()), problem_.initial);
}

StepTimes Simulation::run(const std::function<void(std::size_t)>& after_step) {
  const Scheme scheme = make_scheme(problem_.extent);
  StepTimes times(problem_.steps);
  for (std::size_t step = 0; step < problem_.steps; ++step) {
    times.begin_step();
    halo_->exchange(step);
    times.end_exchange();
    jacobi_step(scheme, blocks_.block(step), blocks_.block(step + 1));
    times.end_step();
    after_step(step + 1);
  }
  return times;
}

std::optional<Field> Simulation::gather() {
  auto& window = blocks_.window();
  window.fence();  // everybody has made the last step
  if (window.team().rank() != 0) return std::nullopt;
  Field whole(problem_.extent);
  for (int rank = 0; rank < window.team().size(); ++rank) {
    blocks_.get_block(rank, problem_.steps, whole);
  }
  window.flush_all();
  return whole;
}

}  // namespace stencil
