#include "launcher/preflight.hpp"

#include <fmt/format.h>

#include <oriel/error.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "base/options.hpp"
#include "launcher/process_limits.hpp"
#include "launcher/shell_words.hpp"
#include "transport/verbs/bounce_pool.hpp"

namespace oriel::launcher {
namespace {

/// The verbs transport's bounce pool, and as much again for its connections.
constexpr std::uint64_t kLockedMemoryNeededBytes =
    2 * verbs::BouncePool::kSlots * verbs::BouncePool::kSlotBytes;

class Preflight {
 public:
  Preflight(const JobRequest& request, unsigned ranks, const MachineFacts& facts)
      : request_(request),
        ranks_(ranks),
        facts_(facts),
        reach_(reach_of(request, facts.host_name, facts.environment)) {}

  std::vector<Finding> run() {
    check_mpirun();
    check_program();
    check_drop_in();
    check_slots();
    check_options();
    check_cores();
    return std::move(findings_);
  }

 private:
  void error(std::string text) { findings_.push_back({true, std::move(text)}); }
  void note(std::string text) { findings_.push_back({false, std::move(text)}); }

  /// Whether some of the ranks run here, so that this machine's facts count.
  bool runs_here() const {
    if (reach_ == Reach::unknown_hosts) return false;
    return request_.hosts.empty() || std::ranges::any_of(request_.hosts, [&](const Host& host) {
             return is_this_machine(host.name, facts_.host_name);
           });
  }

  std::size_t machines() const {
    std::set<std::string> names;
    for (const Host& host : request_.hosts) {
      names.insert(is_this_machine(host.name, facts_.host_name) ? facts_.host_name : host.name);
    }
    return std::max<std::size_t>(names.size(), 1);
  }

  void check_mpirun() {
    if (!facts_.has_mpirun) {
      error(
          "mpirun is not in PATH; hint: install Open MPI, on Debian and Ubuntu the package "
          "openmpi-bin");
    }
    if (reach_ == Reach::this_machine && facts_.loopback.empty()) {
      note("no loopback interface is up, and mpirun needs some network; hint: ip link set lo up");
    }
    if (reach_ == Reach::listed_hosts && !facts_.has_remote_shell) {
      error(
          "there are other hosts, and neither ssh nor rsh is in PATH to reach them; hint: "
          "install the package openssh-client");
    }
  }

  void check_program() {
    if (!runs_here()) return;
    const std::string name = shell_quote(request_.program.front());
    switch (facts_.program) {
      case ProgramState::ready:
        return;
      case ProgramState::missing:
        return error(request_.program.front().find('/') == std::string::npos
                         ? fmt::format("no program {} in PATH; hint: for one in this directory "
                                       "write ./{}",
                                       name, name)
                         : fmt::format("there is no program {}; hint: is it built, and is the "
                                       "path right from this directory?",
                                       name));
      case ProgramState::directory:
        return error(fmt::format("{} is a directory; hint: name a program in it", name));
      case ProgramState::not_executable:
        return error(fmt::format("{} may not be executed; hint: chmod +x {}", name, name));
    }
  }

  void check_drop_in() {
    if (!request_.mpi) return;
    const DropInFacts& drop_in = facts_.drop_in;
    if (!drop_in.problem.empty()) return error(drop_in.problem);
    if (!runs_here() || facts_.program != ProgramState::ready) return;
    const std::string text = link_text(drop_in.link, drop_in.program_mpi, drop_in.mpi);
    if (text.empty()) return;
    findings_.push_back({drop_in.link != MpiLink::none,
                         fmt::format("{} {}", shell_quote(request_.program.front()), text)});
  }

  void check_slots() {
    const unsigned slots = total_slots(request_.hosts);
    const bool user_decides = has_option(request_.mpirun_args, {"oversubscribe", "np", "n", "c"});
    if (reach_ != Reach::listed_hosts || ranks_ <= slots || user_decides) return;
    const unsigned hosts = static_cast<unsigned>(request_.hosts.size());
    error(fmt::format(
        "{} ranks do not fit into the {} slot{} of --hosts; hint: a host without a number has one "
        "slot; write --hosts {}:{},… or add --mpirun-args=--oversubscribe",
        ranks_, slots, slots == 1 ? "" : "s", request_.hosts.front().name,
        (ranks_ + hosts - 1) / hosts));
  }

  void check_options() {
    try {
      check_fabric(base::parse_options(oriel_variables(request_, facts_.environment)).fabric);
    } catch (const Error& malformed) {
      error(malformed.what());
    }
  }

  void check_fabric(base::Fabric fabric) {
    const std::size_t count = machines();
    if (fabric == base::Fabric::shm && count > 1) {
      return error(fmt::format(
          "the fabric shm reaches ranks of one machine only, and --hosts names {}; hint: "
          "--fabric auto takes shared memory on each machine and RDMA between them",
          count));
    }
    const bool needs_verbs =
        fabric == base::Fabric::verbs || (fabric == base::Fabric::automatic && count > 1);
    if (!needs_verbs || !runs_here()) return;
    if (!facts_.device_problem.empty()) return error(facts_.device_problem);
    check_locked_memory();
  }

  void check_locked_memory() {
    const auto limit = facts_.locking.limit_bytes;
    if (!limit || facts_.locking.may_exceed) return;
    const std::string limit_text = fmt::format("{} (ulimit -l)", bytes_text(limit));
    constexpr std::string_view kHint =
        "hint: `ulimit -l unlimited` before oriel-run, or for good a file "
        "/etc/security/limits.d/rdma.conf with the line `* - memlock unlimited`, then log in "
        "again; under systemd LimitMEMLOCK=infinity";
    if (*limit < kLockedMemoryNeededBytes) {
      error(fmt::format(
          "the locked-memory limit is {}, too low for RDMA: each rank registers its "
          "windows and up to {} of its own buffers, and registered memory is locked; {}",
          limit_text, bytes_text(kLockedMemoryNeededBytes), kHint));
    } else {
      note(fmt::format("the locked-memory limit is {}: windows cannot be larger over RDMA; {}",
                       limit_text, kHint));
    }
  }

  void check_cores() {
    if (reach_ != Reach::this_machine || ranks_ <= facts_.usable_cores) return;
    if (request_.bind == Bind::core) {
      return error(
          fmt::format("{} ranks cannot have a core each, for there are {}; hint: leave "
                      "out --bind core",
                      ranks_, facts_.usable_cores));
    }
    note(fmt::format("{} ranks share {} core{}: it works, but tells nothing about speed", ranks_,
                     facts_.usable_cores, facts_.usable_cores == 1 ? "" : "s"));
  }

  const JobRequest& request_;
  const unsigned ranks_;
  const MachineFacts& facts_;
  const Reach reach_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> preflight(const JobRequest& request, unsigned ranks,
                               const MachineFacts& facts) {
  return Preflight(request, ranks, facts).run();
}

unsigned ranks_to_start(const JobRequest& request, unsigned usable_cores) {
  if (request.ranks) return *request.ranks;
  return request.hosts.empty() ? usable_cores : total_slots(request.hosts);
}

}  // namespace oriel::launcher
