#include "launcher/rdma_facts.hpp"

#include <oriel/error.hpp>

namespace oriel::launcher {

RdmaFacts look_at_devices(const topology::Topology& topology, const base::Options& options) {
  RdmaFacts facts{.devices = verbs::inventory()};
  std::vector<std::string> names;
  for (const verbs::DeviceInfo& device : facts.devices) names.push_back(device.name);
  facts.localities = topology::device_localities(topology, names);
  facts.placement =
      topology::choose_placement(topology, topology.usable_cpus(), facts.localities, 0);
  try {
    facts.choice = verbs::choose_device(facts.devices, options, facts.placement.device.value_or(""),
                                        verbs::usable_netdev());
  } catch (const Error& none) {
    facts.problem = none.what();
  }
  return facts;
}

}  // namespace oriel::launcher
