#pragma once
/// The run on all ranks.

#include <functional>
#include <memory>
#include <optional>

#include <oriel/oriel.hpp>

#include "stencil/blocks.hpp"
#include "stencil/field.hpp"
#include "stencil/halo.hpp"
#include "stencil/rank_grid.hpp"
#include "stencil/step_times.hpp"
#include "stencil/sync.hpp"

namespace stencil {

/// What to simulate; the same on every rank.
struct Problem {
  Extent extent;
  RankGrid grid;
  std::size_t steps = 0;
  InitialField initial;
  Sync sync = Sync::fence;
};

/// This rank's part of the run. Collective to create and destroy.
class Simulation {
 public:
  Simulation(const oriel::Team& team, Problem problem);

  /// Collective: all steps; `after_step` is called with the number of steps done.
  StepTimes run(const std::function<void(std::size_t)>& after_step);

  /// Collective: the whole field on rank 0, nothing on the others.
  [[nodiscard]] std::optional<Field> gather();

 private:
  Problem problem_;
  Blocks blocks_;
  std::unique_ptr<Halo> halo_;
};

}  // namespace stencil
