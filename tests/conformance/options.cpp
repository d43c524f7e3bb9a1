#include "conformance/options.hpp"

#include <fmt/format.h>
#include <oriel/version.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>

namespace oriel::conformance {
namespace {

constexpr int kUsageStatus = 2;
constexpr std::uint64_t kQuickSeeds = 60;
constexpr std::uint64_t kFullSeeds = 1000;
constexpr double kQuickBudget = 15;
constexpr int kQuickLimit = 120;
constexpr int kFullLimit = 1200;

constexpr const char* kMpiManual = R"(Examples:
  mpirun -n 4 -x LD_PRELOAD=/path/to/liboriel_mpi.so mpi-conformance --seeds 2000
  mpirun -n 4 -x LD_PRELOAD=/path/to/liboriel_mpi.so mpi-conformance --seed 77 --shrink
  mpirun -n 4 mpi-conformance                            MPI's own windows

The programs of oriel-conformance, as far as MPI's rules allow them, carried out by MPI_ calls with
derived datatypes. Names are those of --list. Status 0: all passed; 1: something failed; 2: wrong use.
)";

constexpr const char* kManual = R"(Examples:
  mpirun -n 4 oriel-conformance                          a quarter of a minute
  mpirun -n 64 oriel-conformance --full                  every operation with every count
  mpirun -n 4 oriel-conformance --only '^litmus/'        one family
  mpirun -n 4 oriel-conformance --only '^program/' --seeds 10000
  mpirun -n 4 oriel-conformance --seed 77 --shrink       the program of seed 77, made short if it fails

Three families: cases (one operation form each, in one setting), programs (random, of many epochs)
and litmus tests. Names are those of --list. Status 0: all passed; 1: something failed; 2: wrong use.
)";

}  // namespace

std::string_view name_of(Tool tool) noexcept {
  return tool == Tool::oriel ? "oriel-conformance" : "mpi-conformance";
}

bool Options::wants(const std::string& name) const {
  return std::regex_search(name, std::regex(only));
}

std::string Options::rerun(int ranks, const std::string& name, std::uint64_t its_seed) const {
  // Whatever stands in front of MPI is to do so again.
  const char* const preloaded = tool == Tool::mpi ? std::getenv("LD_PRELOAD") : nullptr;
  return fmt::format("mpirun -n {}{} {}{}{} --seed {} --only '^{}$'", ranks,
                     preloaded == nullptr ? "" : fmt::format(" -x LD_PRELOAD={}", preloaded),
                     name_of(tool), fabric.empty() ? "" : " --fabric " + fabric,
                     full             ? " --full"
                     : without_shared ? " --without-shared"
                                      : "",
                     its_seed, name);
}

Parsed parse_options(Tool tool, int argc, char** argv, bool speaks) {
  const bool whole = tool == Tool::oriel;
  const std::string name(name_of(tool));
  CLI::App app(
      fmt::format(
          "Checks the operations of {} windows on the ranks it is started on, against what a\n"
          "serial run would leave in memory.",
          whole ? "Oriel's" : "MPI's"),
      name);
  Parsed parsed;
  Options& options = parsed.options;
  options.tool = tool;
  bool quick = false;
  app.footer(whole ? kManual : kMpiManual);
  app.set_version_flag("--version", name + " " ORIEL_VERSION_STRING);
  CLI::Option* const seed = app.add_option("--seed", options.seed, "first seed; default 1");
  CLI::Option* const seeds = app.add_option(
      "--seeds", options.seeds,
      fmt::format("random programs to run; default {}{}, with --seed alone 1", kQuickSeeds,
                  whole ? fmt::format(", with --full {}", kFullSeeds) : ""));
  if (whole) {
    app.add_option("--fabric", options.fabric, "path to the peers, as ORIEL_FABRIC")
        ->check(CLI::IsMember({"auto", "shm", "verbs"}));
    CLI::Option* const full = app.add_flag(
        "--full", options.full, "all forms with all counts; each seed in other windows and places");
    app.add_flag("--quick", quick, "cases that cover all pairs of settings (default)")
        ->excludes(full);
    app.add_option("--from", options.from,
                   "skip so many cases: goes on where a run was stopped that said how far it was");
  }
  app.add_option("--only", options.only, "run what has a name that matches")->type_name("REGEX");
  app.add_flag("--list", options.list, "print names, run nothing");
  if (!whole) {
    app.add_flag("--without-shared", options.without_shared,
                 "no windows of MPI_Win_allocate_shared: what stands in front of MPI may leave "
                 "them to MPI");
  }
  app.add_flag("--shrink", options.shrink, "make a failing program short");
  CLI::Option* const budget =
      app.add_option("--budget", options.budget,
                     fmt::format("seconds after which no more is begun; 0: none; default {}, with "
                                 "--full, --only or --seeds none",
                                 kQuickBudget));
  CLI::Option* const limit =
      app.add_option("--limit", options.limit,
                     fmt::format("seconds that one test may take before it counts as hung; 0: for "
                                 "ever; default {}, with --full {}",
                                 kQuickLimit, kFullLimit))
          ->check(CLI::NonNegativeNumber);
  app.add_option("--plant", options.plant)
      ->group("")  // hidden: for the tests of this program
      ->transform(CLI::CheckedTransformer(std::map<std::string, Plant>{
          {"wrong-byte", Plant::wrong_byte}, {"duplicate", Plant::duplicate}}));
  try {
    app.parse(argc, argv);
    static_cast<void>(options.wants(""));  // is it a regular expression?
  } catch (const CLI::Success& answer) {
    parsed.status = speaks ? app.exit(answer) : 0;
    return parsed;
  } catch (const std::exception& error) {
    if (speaks) {
      fmt::print(stderr, "{}: {}; hint: {} --help\n", name, error.what(), name);
    }
    parsed.status = kUsageStatus;
    return parsed;
  }
  if (limit->count() == 0) options.limit = options.full ? kFullLimit : kQuickLimit;
  // A seed alone means the one program.
  if (seed->count() != 0 && seeds->count() == 0 && options.only == ".*") {
    options.only = "^program/";
    options.seeds = 1;
  } else if (seeds->count() == 0)
    options.seeds = options.full ? kFullSeeds : kQuickSeeds;
  const bool bounded = whole && !options.full && options.only == ".*" && seeds->count() == 0;
  if (budget->count() == 0 && bounded) options.budget = kQuickBudget;
  return parsed;
}

}  // namespace oriel::conformance
