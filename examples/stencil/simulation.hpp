#pragma once
/// The run on all ranks.

#include <functional>
#include <optional>

#include <oriel/oriel.hpp>

#include "stencil/field.hpp"
#include "stencil/rank_grid.hpp"
#include "stencil/step_times.hpp"

namespace stencil {

/// What to simulate; the same on every rank.
struct Problem {
  Extent extent;
  RankGrid grid;
  std::size_t steps = 0;
  InitialField initial;
};

/// This rank's block and everything it needs to make steps. Collective to create and destroy.
class Simulation {
 public:
  Simulation(const oriel::Runtime& job, Problem problem);

  /// Collective: all steps; `after_step` is called with the number of steps done.
  StepTimes run(const std::function<void(std::size_t)>& after_step);

  /// Collective: the whole field on rank 0, nothing on the others.
  [[nodiscard]] std::optional<Field> gather() const;

 private:
  [[nodiscard]] BlockView view_of(const oriel::Buffer<double>& cells) const {
    return {cells.span(), block_.x.size, block_.y.size};
  }

  const oriel::Runtime& job_;
  Problem problem_;
  Block block_;
  // Buffers, so that rows leave straight from here; zeroed, so that the boundary of the domain is.
  oriel::Buffer<double> current_;
  oriel::Buffer<double> next_;
};

}  // namespace stencil
