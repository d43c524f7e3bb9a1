#include "runtime/path_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/throw_error.hpp"

namespace oriel::runtime {
namespace {

std::vector<int> number_nodes(std::span<const Locality> ranks, int fake_nodes) {
  std::map<std::uint64_t, int> ranks_on_host;
  for (const Locality& one : ranks) ++ranks_on_host[one.host_id];
  std::map<std::uint64_t, int> seen;
  std::map<std::pair<std::uint64_t, int>, int> numbers;
  std::vector<int> node;
  for (const Locality& one : ranks) {
    const int index = seen[one.host_id]++;
    const int part =
        static_cast<int>(std::int64_t{index} * fake_nodes / ranks_on_host[one.host_id]);
    const auto next = static_cast<int>(numbers.size());
    node.push_back(numbers.try_emplace({one.host_id, part}, next).first->second);
  }
  return node;
}

std::string host_list(std::span<const Locality> ranks) {
  std::set<std::string> names;
  for (const Locality& one : ranks) names.insert(one.host);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

PathPlan plan_paths(std::span<const Locality> ranks, int rank, base::Fabric fabric,
                    int fake_nodes) {
  PathPlan plan;
  plan.node = number_nodes(ranks, fake_nodes);
  const int nodes = 1 + *std::ranges::max_element(plan.node);
  if (fabric == base::Fabric::shm && nodes > 1) {
    base::throw_error(
        ErrorCode::no_device,
        {.operation = "Runtime",
         .problem = fmt::format("ORIEL_FABRIC=shm, but the ranks are on {} machines ({}{})", nodes,
                                host_list(ranks), fake_nodes > 1 ? ", ORIEL_FAKE_NODES" : ""),
         .hint = "use ORIEL_FABRIC=auto, or run all ranks on one machine"});
  }
  const bool all_verbs = fabric == base::Fabric::verbs;
  plan.needs_verbs = all_verbs || nodes > 1;
  for (const int node : plan.node) {
    const bool near = node == plan.node[static_cast<std::size_t>(rank)];
    plan.path.push_back(near && !all_verbs ? Path::shm : Path::verbs);
  }
  plan.reason =
      all_verbs    ? "verbs for every peer: ORIEL_FABRIC=verbs"
      : nodes == 1 ? "shared memory alone: all ranks are on one machine"
                   : fmt::format("shared memory on each of {} machines, verbs between them", nodes);
  return plan;
}

}  // namespace oriel::runtime
