#pragma once
/// --compare: what the exchange of edges costs, by Oriel and by MPI.

#include <string>
#include <vector>

#include <oriel/oriel.hpp>

#include "stencil/rank_grid.hpp"

namespace stencil {

/// One way of exchanging edges, over all rounds.
struct Contest {
  std::string name;
  double median = 0;      ///< seconds for one exchange, as rank 0 saw them
  double ratio = 0;       ///< to the first one, median over the rounds
  std::string trouble{};  ///< edges that this rank did not get, or got wrong
};

/// Collective: exchanges edges again and again, in turn by every way of synchronising that Oriel
/// has, by MPI's messages and by MPI's windows, nothing computed in between.
[[nodiscard]] std::vector<Contest> compare_exchanges(const oriel::Team& world, const RankGrid& grid,
                                                     const Extent& extent);

/// A table, each line ended.
[[nodiscard]] std::string format_contests(const std::vector<Contest>& contests);

}  // namespace stencil
