#include "launcher/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "launcher/shell_words.hpp"

namespace oriel::launcher {
namespace {

using Setting = std::pair<std::string_view, std::string_view>;

const std::vector<std::string_view> kBindingOptions = {
    "bind-to",       "map-by",        "rank-by",  "cpu-set", "cpu-list",   "rankfile",         "rf",
    "cpus-per-proc", "cpus-per-rank", "npernode", "N",       "npersocket", "use-hwthread-cpus"};
const std::vector<std::string_view> kBindingVariables = {"OMPI_MCA_hwloc_base_binding_policy",
                                                         "OMPI_MCA_rmaps_base_mapping_policy",
                                                         "OMPI_MCA_rmaps_base_ranking_policy"};

class Builder {
 public:
  Builder(const JobRequest& request, const Surroundings& surroundings)
      : request_(request), around_(surroundings) {}

  std::vector<WordGroup> build() {
    add({"mpirun"}, "Open MPI's launcher");
    add_root();
    add_ranks();
    add_hosts();
    add_oversubscription();
    add_binding();
    add_interface();
    add_quiet_mpi();
    add_exports();
    add_drop_in();
    if (!request_.mpirun_args.empty()) add(request_.mpirun_args, "from --mpirun-args");
    add(request_.program, "the program and its arguments");
    return std::move(groups_);
  }

 private:
  void add(std::vector<std::string> words, std::string reason) {
    groups_.push_back({std::move(words), std::move(reason)});
  }

  bool user_gave(const std::vector<std::string_view>& names) const {
    return has_option(request_.mpirun_args, names);
  }

  /// Who else decides this MCA parameter, if anybody.
  std::optional<std::string> decided_by(std::string_view parameter) const {
    const std::string variable = fmt::format("OMPI_MCA_{}", parameter);
    if (find_variable(around_.environment, variable)) return variable;
    const auto& args = request_.mpirun_args;
    for (auto word = args.begin(); word != args.end() && word + 1 != args.end(); ++word) {
      if (has_option({*word}, {"mca", "gmca"}) && word[1] == parameter) return "--mpirun-args";
    }
    return std::nullopt;
  }

  void add_mca(const std::vector<Setting>& settings, const std::string& reason) {
    std::vector<std::string> words;
    for (const auto& [parameter, value] : settings) {
      if (const auto who = decided_by(parameter)) {
        add({}, fmt::format("no --mca {}: {} decides it", parameter, *who));
      } else {
        words.insert(words.end(), {"--mca", std::string(parameter), std::string(value)});
      }
    }
    if (!words.empty()) add(std::move(words), reason);
  }

  void add_root() {
    if (!around_.is_root || user_gave({"allow-run-as-root"})) return;
    add({"--allow-run-as-root"}, "you are root, whom mpirun refuses otherwise");
  }

  void add_ranks() {
    if (user_gave({"np", "n", "c"})) return add({}, "no -np: --mpirun-args decides it");
    add({"-np", fmt::to_string(around_.ranks)},
        request_.ranks           ? "from -n"
        : request_.hosts.empty() ? "one rank per usable core, for there is no -n"
                                 : "one rank per slot of --hosts, for there is no -n");
  }

  void add_hosts() {
    if (request_.hosts.empty()) return;
    std::string list;
    for (const Host& host : request_.hosts) {
      list += fmt::format("{}{}:{}", list.empty() ? "" : ",", host.name, host.slots);
    }
    add({"--host", list}, "from --hosts");
  }

  void add_oversubscription() {
    if (around_.reach != Reach::this_machine || user_gave({"oversubscribe"})) return;
    const unsigned slots =
        request_.hosts.empty() ? around_.usable_cores : total_slots(request_.hosts);
    if (around_.ranks <= slots) return;
    add({"--oversubscribe"},
        fmt::format("{} ranks are more than the {} {} of this machine", around_.ranks, slots,
                    request_.hosts.empty() ? "usable cores" : "slots"));
  }

  void add_binding() {
    const auto variable = std::ranges::find_if(kBindingVariables, [&](std::string_view name) {
      return find_variable(around_.environment, name).has_value();
    });
    if (user_gave(kBindingOptions)) return add({}, "no binding: --mpirun-args decides it");
    if (variable != kBindingVariables.end()) {
      return add({}, fmt::format("no binding: {} decides it", *variable));
    }
    if (request_.bind == Bind::none) return add({"--bind-to", "none"}, "from --bind none");
    if (request_.bind == Bind::core) {
      return add({"--map-by", "core", "--bind-to", "core"}, "from --bind core");
    }
    if (around_.reach != Reach::this_machine) {
      return add({}, "no binding: other hosts may look different, mpirun decides on each");
    }
    std::vector<std::string> words = around_.binding.mpirun_words;
    std::erase(words, "--oversubscribe");  // its own group says why
    add(std::move(words), around_.binding.reason);
  }

  void add_interface() {
    if (!request_.interface.empty()) {
      return add_interface_words(request_.interface, "from --interface");
    }
    if (around_.reach != Reach::this_machine || around_.loopback.empty()) return;
    add_interface_words(around_.loopback,
                        "all ranks are on this machine: MPI meets on the loopback, which works "
                        "without a network");
  }

  void add_interface_words(std::string_view interface, const std::string& reason) {
    // Open MPI stops if the counterpart …_if_exclude is set too.
    for (const std::string_view layer : {"oob_tcp", "btl_tcp"}) {
      const std::string exclude = fmt::format("{}_if_exclude", layer);
      if (const auto who = decided_by(exclude)) {
        add({}, fmt::format("no --mca {}_if_include: {} sets {}", layer, *who, exclude));
      } else {
        add_mca({{fmt::format("{}_if_include", layer), interface}}, reason);
      }
    }
  }

  void add_quiet_mpi() {
    if (request_.mpi && around_.reach != Reach::this_machine) {
      return add({}, "MPI chooses its own networks: the program's messages go by them");
    }
    add_mca({{"pml", "ob1"}, {"btl", "self,vader,tcp"}, {"osc", "^ucx"}},
            request_.mpi ? "MPI's messages stay on this machine: it need not open RDMA devices"
                         : "MPI only introduces the ranks to each other: it need not open RDMA "
                           "devices");
    add_mca({{"btl_base_warn_component_unused", "0"}},
            "no warning about networks that MPI leaves alone");
  }

  void add_exports() {
    std::vector<std::string> words;
    for (const std::string& line : oriel_variables(request_, around_.environment)) {
      words.insert(words.end(), {"-x", line});
    }
    if (!words.empty()) add(std::move(words), "ORIEL_* variables, for ranks on other hosts too");
    std::vector<std::string> others;
    for (const std::string& name : request_.exports) {
      if (name.starts_with("ORIEL_") || (request_.mpi && is_preload(name))) continue;
      others.insert(others.end(), {"-x", name});
    }
    if (!others.empty()) add(std::move(others), "from --env");
  }

  void add_drop_in() {
    if (!request_.mpi) return;
    add({"-x", "LD_PRELOAD=" + preload_list(around_.drop_in, request_, around_.environment)},
        "from --mpi: for the ranks, Oriel before their MPI");
  }

  static bool is_preload(std::string_view name) {
    return name == "LD_PRELOAD" || name.starts_with("LD_PRELOAD=");
  }

  const JobRequest& request_;
  const Surroundings& around_;
  std::vector<WordGroup> groups_;
};

}  // namespace

std::vector<WordGroup> mpirun_command(const JobRequest& request, const Surroundings& surroundings) {
  return Builder(request, surroundings).build();
}

std::vector<std::string> all_words(const std::vector<WordGroup>& groups) {
  std::vector<std::string> words;
  for (const WordGroup& group : groups) {
    words.insert(words.end(), group.words.begin(), group.words.end());
  }
  return words;
}

std::string explain(const std::vector<WordGroup>& groups) {
  std::string text = shell_line(all_words(groups)) + "\n";
  for (const WordGroup& group : groups) {
    if (group.words.empty()) {
      text += fmt::format("# ({})\n", group.reason);
    } else {
      text += fmt::format("# {}\n#     {}\n", shell_line(group.words), group.reason);
    }
  }
  return text;
}

}  // namespace oriel::launcher
