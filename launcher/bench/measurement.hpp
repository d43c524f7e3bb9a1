#pragma once
/// One row of the table: samples of all subjects in turn, and what they say.

#include <cstddef>
#include <optional>

#include "launcher/bench/statistics.hpp"
#include "launcher/bench/subject.hpp"

namespace oriel::bench {

struct Compared {
  Figures figures;
  Ratio ratio;
};

struct Row {
  Task task{};
  std::size_t samples = 0;
  std::size_t times = 0;  ///< operations in one sample
  Figures oriel{};
  std::optional<Compared> floor{};
  std::optional<Compared> mpi{};
};

/// What is compared, and how long.
struct Plan {
  bool floor = true;
  bool mpi = true;
  double seconds = 1;  ///< for a row
};

/// Takes samples of Oriel, the floor and MPI in turn (A B C A B C …), so that what disturbs the
/// machine disturbs all alike. A sample is as many operations as take some 0.2 ms. Collective; the
/// row is complete on rank 0.
[[nodiscard]] Row measure(const Stand& stand, const Task& task, const Plan& plan);

}  // namespace oriel::bench
