#pragma once

#include <string>
#include <vector>

#include "launcher/job_request.hpp"
#include "topology/binding_plan.hpp"

namespace oriel::launcher {

/// Words of the command line that belong together, and why they are there. Words may be empty: the
/// reason then tells what was left out.
struct WordGroup {
  std::vector<std::string> words;
  std::string reason;
};

/// What the command line depends on beside the request.
struct Surroundings {
  bool is_root = false;
  Reach reach = Reach::this_machine;
  unsigned ranks = 1;
  unsigned usable_cores = 1;
  std::string loopback{};                  ///< interface that is up, or ""
  std::string drop_in{};                   ///< path, for --mpi
  std::vector<std::string> environment{};  ///< NAME=VALUE
  topology::BindingPlan binding{};         ///< for `ranks` ranks on this machine
};

/// The mpirun command line for `request`, in groups; the first word is "mpirun". Pure.
///
/// The user's own words win: a group is left out if --mpirun-args or an OMPI_MCA_* variable
/// decides the same thing.
[[nodiscard]] std::vector<WordGroup> mpirun_command(const JobRequest& request,
                                                    const Surroundings& surroundings);

[[nodiscard]] std::vector<std::string> all_words(const std::vector<WordGroup>& groups);

/// The command as one line for a shell, then the reasons as comment lines.
[[nodiscard]] std::string explain(const std::vector<WordGroup>& groups);

}  // namespace oriel::launcher
