// Parts of arrays: a box out of one, and what one process of a grid has of one that is distributed.

#include <algorithm>
#include <cstddef>

#include "mpi/type_map.hpp"

namespace oriel::mpi {
namespace {

/// Neighbouring indices of one dimension.
struct Segment {
  MPI_Aint first = 0;
  MPI_Aint count = 0;
};

/// A dimension of an array, and what is taken of it.
struct Dimension {
  MPI_Aint size = 0;
  std::vector<Segment> taken;
};

/// @param dimensions  the slowest first
/// @param first       index of the array's element that all indices of the slower ones lead to
void add_box(TypeMap& map, const FlatType& part, std::span<const Dimension> dimensions,
             MPI_Aint first) {
  const Dimension& slowest = dimensions.front();
  const auto faster = dimensions.subspan(1);
  for (const Segment& segment : slowest.taken) {
    const MPI_Aint begin = first * slowest.size + segment.first;
    if (faster.empty()) {
      map.add(part, begin * part.extent, segment.count);
      continue;
    }
    for (MPI_Aint i = 0; i < segment.count; ++i) add_box(map, part, faster, begin + i);
  }
}

void add_array(TypeMap& map, const FlatType& part, std::vector<Dimension> dimensions, int order) {
  if (order == MPI_ORDER_FORTRAN) std::ranges::reverse(dimensions);
  add_box(map, part, dimensions, 0);
}

/// Of `size` indices, those that process `coordinate` of `processes` has.
std::vector<Segment> distribute(MPI_Aint size, int distribution, int argument, int processes,
                                int coordinate) {
  if (distribution == MPI_DISTRIBUTE_NONE) return {{0, size}};
  MPI_Aint block = argument;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG) {
    block = distribution == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
  }
  std::vector<Segment> segments;
  for (MPI_Aint first = coordinate * block; first < size; first += processes * block) {
    segments.push_back({first, std::min(block, size - first)});
  }
  return segments;  // of blocks there is one: they cover the array by a round of all processes
}

}  // namespace

void add_subarray(TypeMap& map, const FlatType& part, std::span<const int> arguments) {
  const auto count = static_cast<std::size_t>(arguments[0]);
  const auto sizes = arguments.subspan(1, count);
  const auto subsizes = arguments.subspan(1 + count, count);
  const auto starts = arguments.subspan(1 + 2 * count, count);
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < count; ++i) {
    dimensions.push_back({sizes[i], {{starts[i], subsizes[i]}}});
  }
  add_array(map, part, std::move(dimensions), arguments[1 + 3 * count]);
}

void add_darray(TypeMap& map, const FlatType& part, std::span<const int> arguments) {
  const auto count = static_cast<std::size_t>(arguments[2]);
  const auto list = [&](std::size_t which) { return arguments.subspan(3 + which * count, count); };
  const auto sizes = list(0);
  const auto distributions = list(1);
  const auto distribution_arguments = list(2);
  const auto processes = list(3);
  std::vector<Dimension> dimensions(count);
  int rank = arguments[1];  // the grid of processes is counted as in C, whatever the array's order
  for (std::size_t i = count; i-- != 0; rank /= processes[i]) {
    dimensions[i] = {sizes[i], distribute(sizes[i], distributions[i], distribution_arguments[i],
                                          processes[i], rank % processes[i])};
  }
  add_array(map, part, std::move(dimensions), arguments[3 + 4 * count]);
}

}  // namespace oriel::mpi
