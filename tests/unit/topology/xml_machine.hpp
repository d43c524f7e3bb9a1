#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace oriel::topology {

/// One package with one NUMA node: what synthetic descriptions cannot tell apart or cannot hold.
struct XmlPackage {
  unsigned cores = 1;
  std::string devices = {};  ///< from xml_device()
};

/// A PCI device near the place it is put, seen by the operating system as `name`.
/// @param kind  hwloc's number: 2 network, 3 openfabrics
inline std::string xml_device(unsigned bus, std::string_view name, int kind) {
  return fmt::format(
      R"(<object type="Bridge" gp_index="{0}0" bridge_type="0-1" depth="0" bridge_pci="0000:[{1:02x}-{1:02x}]">
           <object type="PCIDev" gp_index="{0}1" pci_busid="0000:{1:02x}:00.0"
             pci_type="0207 [15b3:1017] [15b3:1017] 00" pci_link_speed="0.000000">
             <object type="OSDev" gp_index="{0}2" name="{2}" osdev_type="{3}"/>
           </object>
         </object>)",
      1000 + bus, bus, name, kind);
}

/// The XML export of such a machine; cores have one thread each and are numbered through.
inline std::string xml_machine(const std::vector<XmlPackage>& packages, std::string_view devices) {
  const auto sets = [](unsigned cpus, unsigned nodes) {
    return fmt::format(
        R"(cpuset="{0:#x}" complete_cpuset="{0:#x}" nodeset="{1:#x}" complete_nodeset="{1:#x}")",
        cpus, nodes);
  };
  std::string body;
  unsigned first_core = 0;
  for (unsigned p = 0; p < packages.size(); ++p) {
    const unsigned cores = packages[p].cores;
    const std::string whole = sets(((1U << cores) - 1) << first_core, 1U << p);
    body += fmt::format(R"(<object type="Package" os_index="{0}" {1} gp_index="{2}">
                             <object type="NUMANode" os_index="{0}" {1} gp_index="{3}"/>)",
                        p, whole, 10 + p, 20 + p);
    for (unsigned core = first_core; core < first_core + cores; ++core) {
      body += fmt::format(R"(<object type="Core" os_index="{0}" {1} gp_index="{2}">
                               <object type="PU" os_index="{0}" {1} gp_index="{3}"/>
                             </object>)",
                          core, sets(1U << core, 1U << p), 100 + core, 200 + core);
    }
    body += packages[p].devices + "</object>";
    first_core += cores;
  }
  const unsigned all_cpus = (1U << first_core) - 1;
  const unsigned all_nodes = (1U << packages.size()) - 1;
  return fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?>
         <!DOCTYPE topology SYSTEM "hwloc2.dtd">
         <topology version="2.0"><object type="Machine" os_index="0" gp_index="1" {}
           allowed_cpuset="{:#x}" allowed_nodeset="{:#x}">{}{}</object></topology>)",
      sets(all_cpus, all_nodes), all_cpus, all_nodes, body, devices);
}

}  // namespace oriel::topology
