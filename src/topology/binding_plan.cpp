#include "topology/binding_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "topology/wording.hpp"

namespace oriel::topology {
namespace {

using Cores = std::vector<CpuSet>;

/// The cores of each NUMA node that has any, in the machine's order.
std::vector<Cores> cores_by_node(const Topology& topology, const Cores& cores) {
  std::vector<Cores> groups;
  std::map<std::vector<int>, std::size_t> group_of;
  for (const CpuSet& core : cores) {
    const auto [entry, is_new] = group_of.emplace(topology.home_nodes(core), groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(core);
  }
  return groups;
}

/// Dealing evenly, the first nodes take what is left over; mpirun does it likewise.
std::size_t ranks_on(std::size_t node, std::size_t nodes, std::size_t ranks) {
  return ranks / nodes + (node < ranks % nodes ? 1 : 0);
}

/// The same number of whole cores for each rank; 0 if some node has too few for its share of ranks.
std::size_t even_share(const std::vector<Cores>& nodes, std::size_t ranks) {
  std::size_t share = nodes.front().size();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t on_node = ranks_on(i, nodes.size(), ranks);
    if (on_node > 0) share = std::min(share, nodes[i].size() / on_node);
  }
  return share;
}

CpuSet join(Cores::const_iterator first, Cores::const_iterator last) {
  CpuSet all;
  for (; first != last; ++first) all = all | *first;
  return all;
}

std::vector<CpuSet> deal_out(const std::vector<Cores>& nodes, std::size_t ranks,
                             std::size_t share) {
  std::vector<CpuSet> rank_cpus;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t on_node = ranks_on(i, nodes.size(), ranks);
    auto core = nodes[i].begin();
    for (std::size_t rank = 0; rank < on_node; ++rank) {
      const auto next = core + static_cast<std::ptrdiff_t>(share);
      rank_cpus.push_back(join(core, next));
      core = next;
    }
  }
  return rank_cpus;
}

}  // namespace

BindingPlan plan_binding(const Topology& topology, unsigned ranks) {
  const Cores cores = topology.usable_cores();
  const std::string ask =
      fmt::format("{} on {}", counted(ranks, "rank"), counted(cores.size(), "usable core"));
  if (ranks > cores.size()) {
    return {{},
            {"--oversubscribe", "--bind-to", "none"},
            ask + ": oversubscribed, so not bound and the scheduler may move them",
            true};
  }
  if (!topology.all_cpus_usable()) {
    return {{},
            {"--bind-to", "none"},
            fmt::format("{}: not bound, ranks inherit this process's affinity mask {}", ask,
                        topology.usable_cpus().to_string())};
  }
  const std::vector<Cores> nodes = cores_by_node(topology, cores);
  // mpirun deals out over every NUMA node, those without cores too; then only cores are safe to
  // name.
  const bool only_homes = nodes.size() == topology.numa_nodes().size();
  const std::size_t share = only_homes ? even_share(nodes, ranks) : 0;
  if (share == 0) {
    return {{cores.begin(), cores.begin() + static_cast<std::ptrdiff_t>(ranks)},
            {"--map-by", "core", "--bind-to", "core"},
            ask + ": one core each in the machine's order, for the NUMA nodes are uneven"};
  }
  return {deal_out(nodes, ranks, share),
          {"--map-by", fmt::format("numa:PE={}", share), "--rank-by", "core", "--bind-to", "core"},
          fmt::format("{}: {} each, spread over {}", ask, counted(share, "core"),
                      counted(nodes.size(), "NUMA node"))};
}

}  // namespace oriel::topology
