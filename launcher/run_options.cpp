#include "launcher/run_options.hpp"

#include <oriel/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string_view>

#include "launcher/shell_words.hpp"

namespace oriel::launcher {
namespace {

constexpr unsigned kMaxRanks = 65536;

constexpr const char* kSummary =
    "Starts PROGRAM on N ranks by Open MPI's mpirun, with the words that mpirun needs on this\n"
    "machine. Tells before the start what will not work, and after a failure which rank it was.\n";

constexpr const char* kManual = R"(Examples:
  oriel-run -n 4 ./stencil --steps 300         four ranks here, through shared memory
  oriel-run -n 4 --fabric verbs ./stencil      the same through the RDMA device
  oriel-run --hosts node1:8,node2:8 ./stencil  16 ranks on two machines; RDMA between them
  oriel-run -n 4 --mpi ./program               an existing MPI program, its windows by Oriel
  oriel-run -n 4 --dry-run ./stencil           the mpirun command and the reason for each word
  oriel-run -n 2 --mpirun-args "--tag-output" ./stencil
                                               any option of mpirun

What it adds to mpirun:
  --allow-run-as-root if you are root; --oversubscribe if there are more ranks than cores;
  a binding of ranks to cores, even over the NUMA nodes; the loopback for MPI's own connections
  if all ranks are on this machine, so that no network is needed; MPI components that leave RDMA
  devices alone, as MPI only introduces the ranks to each other; every ORIEL_* variable that is
  set. What you decide by --mpirun-args or OMPI_MCA_* variables is left to you. With --mpi, MPI
  chooses its own networks if there are other machines: the program's messages go by them.

Before the start it checks: mpirun, PROGRAM, slots, ORIEL_* values, the RDMA device and the
locked-memory limit if RDMA is needed; with --mpi, that PROGRAM is linked against the same MPI as
Oriel (`oriel-info --mpi PROGRAM` tells which of its calls Oriel takes over). `oriel-info` shows the same facts, `oriel-info --options`
the ORIEL_* variables.

SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 go on to mpirun; 10 s after being told to stop it is
killed. No rank on this machine outlives oriel-run.

Status: that of mpirun (the failed rank's, 128 + N if signal N killed it); 128 + N if oriel-run
was told to stop by signal N; 2 if the job was not started.
)";

/// CLI11 does not know what follows its options here.
class RunHelp : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: oriel-run [OPTIONS] [--] PROGRAM [ARGUMENTS…]\n\n";
  }
};

/// Without CLI11's own account of what is allowed: the type name says it.
CLI::Validator one_of(const std::vector<std::string>& names) {
  return CLI::IsMember(names).description("");
}

/// Options that are read further than CLI11 does.
struct RawOptions {
  std::string hosts{};
  std::string bind{"auto"};
  std::string mpirun_args{};
};

Bind parse_bind(const std::string& text) {
  if (text == "none") return Bind::none;
  return text == "core" ? Bind::core : Bind::automatic;
}

void describe_options(CLI::App& app, RunOptions& options, RawOptions& raw) {
  JobRequest& request = options.request;
  app.add_option("-n,--ranks", request.ranks,
                 "number of ranks (default: one per slot of --hosts, else one per core)")
      ->check(CLI::Range(1U, kMaxRanks).description(""))
      ->type_name("N");
  app.add_option("--hosts", raw.hosts, "machines to use and how many ranks each takes (default: 1)")
      ->type_name("HOST:SLOTS,...");
  app.add_option("--fabric", request.fabric,
                 "path to the peers (sets ORIEL_FABRIC): auto takes shared memory on one\n"
                 "machine and verbs between machines; verbs takes the device for all")
      ->check(one_of({"auto", "shm", "verbs"}))
      ->type_name("auto|shm|verbs");
  app.add_option("--log", request.log, "what the ranks log on standard error (sets ORIEL_LOG)")
      ->check(one_of({"debug", "info", "warning", "error", "off"}))
      ->type_name("LEVEL");
  app.add_option("--interface", request.interface,
                 "network for MPI's own connections, such as eth0 or 10.0.0.0/24")
      ->type_name("IF|CIDR");
  app.add_option("--bind", raw.bind,
                 "binding of ranks to cores: auto (the default) spreads them over the NUMA\n"
                 "nodes, and does not bind if ranks outnumber cores")
      ->check(one_of({"auto", "none", "core"}))
      ->type_name("auto|none|core");
  app.add_option("--env", request.exports, "variable for the ranks; without =VALUE, as it is here")
      ->allow_extra_args(false)
      ->type_name("NAME[=VALUE]");
  app.add_option("--mpirun-args", raw.mpirun_args, "more words for mpirun, which win over ours")
      ->type_name("WORDS");
  app.add_flag("--mpi", request.mpi,
               "PROGRAM is an MPI program, whose windows Oriel is to carry: puts\n"
               "liboriel_mpi.so before the MPI of the ranks (LD_PRELOAD)");
  app.add_flag("--dry-run", options.dry_run, "print the mpirun command with reasons, run nothing");
}

/// The rest of the line, less a leading "--".
std::vector<std::string> program_of(std::vector<std::string> rest) {
  if (!rest.empty() && rest.front() == "--") {
    rest.erase(rest.begin());
  } else if (!rest.empty() && rest.front().starts_with('-')) {
    throw UsageError("no option is called " + shell_quote(rest.front()));
  }
  if (rest.empty()) throw UsageError("there is no PROGRAM to start");
  return rest;
}

}  // namespace

RunOptions parse_run_options(std::vector<std::string> words) {
  RunOptions options;
  RawOptions raw;
  CLI::App app(kSummary, "oriel-run");
  app.formatter(std::make_shared<RunHelp>());
  app.prefix_command();
  app.set_version_flag("--version", "oriel-run " ORIEL_VERSION_STRING);
  app.footer(kManual);
  describe_options(app, options, raw);
  try {
    std::ranges::reverse(words);  // CLI11 takes them from the back
    app.parse(std::move(words));
    if (app.count("--hosts") > 0) options.request.hosts = parse_hosts(raw.hosts);
    options.request.mpirun_args = split_words(raw.mpirun_args);
    options.request.bind = parse_bind(raw.bind);
  } catch (const CLI::CallForHelp&) {
    return {.answer = app.help()};
  } catch (const CLI::CallForVersion& version) {
    return {.answer = std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  options.request.program = program_of(app.remaining());
  return options;
}

}  // namespace oriel::launcher
