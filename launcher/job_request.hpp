#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oriel::launcher {

struct Host {
  std::string name;
  unsigned slots = 1;  ///< ranks it takes

  friend bool operator==(const Host&, const Host&) = default;
};

enum class Bind : std::uint8_t { automatic, none, core };

/// What the user of oriel-run asked for.
struct JobRequest {
  std::optional<unsigned> ranks{};  ///< empty: one per slot, or per core of this machine
  std::vector<Host> hosts{};        ///< empty: this machine, or what a batch system says
  std::string fabric{};             ///< "" leaves ORIEL_FABRIC as it is
  std::string log{};                ///< "" leaves ORIEL_LOG as it is
  std::string interface {};         ///< for MPI's own connections: "eth0" or "10.0.0.0/24"
  Bind bind = Bind::automatic;
  bool mpi = false;                        ///< an MPI program, with the drop-in before its MPI
  std::vector<std::string> exports{};      ///< NAME or NAME=VALUE
  std::vector<std::string> mpirun_args{};  ///< the user's own words, which win
  std::vector<std::string> program{};      ///< with its arguments
};

/// Reads "node1:4,node2"; a host without a number takes one rank, as for mpirun.
/// Errors: std::invalid_argument naming the entry.
[[nodiscard]] std::vector<Host> parse_hosts(std::string_view list);

[[nodiscard]] unsigned total_slots(const std::vector<Host>& hosts);

/// Whether the user's own mpirun words have one of these options, written with - or --.
[[nodiscard]] bool has_option(const std::vector<std::string>& mpirun_args,
                              const std::vector<std::string_view>& names);

/// Where the ranks will run, which decides what can be known before the start.
enum class Reach : std::uint8_t {
  this_machine,
  listed_hosts,  ///< --hosts names at least one other machine
  unknown_hosts  ///< a host file or a batch system says
};

/// @param host_name    this machine's
/// @param environment  NAME=VALUE, as in environ
[[nodiscard]] Reach reach_of(const JobRequest& request, std::string_view host_name,
                             const std::vector<std::string>& environment);

[[nodiscard]] bool is_this_machine(std::string_view host, std::string_view host_name);

/// The job's environment as far as it concerns Oriel: `environment` with --fabric, --log and --env
/// laid over it, each ORIEL_* once, as NAME=VALUE.
[[nodiscard]] std::vector<std::string> oriel_variables(const JobRequest& request,
                                                       const std::vector<std::string>& environment);

/// LD_PRELOAD of the ranks: the drop-in, then what --env or `environment` has in it already.
[[nodiscard]] std::string preload_list(const std::string& drop_in, const JobRequest& request,
                                       const std::vector<std::string>& environment);

/// Value of a variable in a NAME=VALUE list.
[[nodiscard]] std::optional<std::string_view> find_variable(
    const std::vector<std::string>& environment, std::string_view name);

}  // namespace oriel::launcher
