#pragma once

#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace oriel::topology {

/// Which CPUs each rank of one machine gets, and the words that make Open MPI's mpirun do so.
struct BindingPlan {
  std::vector<CpuSet> rank_cpus;          ///< one per rank, disjoint; empty if ranks are not bound
  std::vector<std::string> mpirun_words;  ///< options to put before the program's name
  std::string reason;                     ///< one readable line
  bool oversubscribed = false;            ///< more ranks than usable cores

  [[nodiscard]] bool bound() const { return !rank_cpus.empty(); }
};

/// Plans for `ranks` ranks on one machine. Pure: binds nothing.
///
/// Ranks are dealt out evenly over the NUMA nodes, neighbouring ranks together, each with the same
/// number of whole cores of one node (so a rank's memory has one home, and spare cores serve its
/// threads). Where nodes cannot be dealt out evenly, ranks take one core after the other.
/// Ranks are not bound if they outnumber the usable cores, or if an affinity mask hides some CPUs
/// (mpirun would bind to cores outside the mask; unbound ranks inherit it).
BindingPlan plan_binding(const Topology& topology, unsigned ranks);

}  // namespace oriel::topology
