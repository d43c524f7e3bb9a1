/// 2-D heat equation on Oriel windows: see ../README.md, or --help.

#include <fmt/core.h>

#include <cstdio>
#include <oriel/oriel.hpp>
#include <string>
#include <tuple>
#include <variant>

#include "stencil/agreement.hpp"
#include "stencil/check.hpp"
#include "stencil/colour_map.hpp"
#include "stencil/compare.hpp"
#include "stencil/options.hpp"
#include "stencil/report.hpp"
#include "stencil/simulation.hpp"

namespace stencil {
namespace {

constexpr std::size_t kDefaultSide = 256;
constexpr int kStatusDone = 0;
constexpr int kStatusFailed = 1;
constexpr int kStatusBadInput = 2;

Problem make_problem(const Options& options, int ranks) {
  Problem problem;
  problem.steps = options.steps;
  problem.sync = options.sync;
  if (!options.init) {
    problem.extent = {options.nx.value_or(kDefaultSide), options.ny.value_or(kDefaultSide)};
    problem.initial = eigenmode(problem.extent);
  } else {
    Picture picture = read_picture(*options.init);
    problem.extent = {options.nx.value_or(picture.width), options.ny.value_or(picture.height)};
    problem.initial = from_picture(std::move(picture), problem.extent);
  }
  problem.grid = options.grid ? *options.grid : choose_rank_grid(ranks, problem.extent);
  require_fit(problem.grid, ranks, problem.extent);
  return problem;
}

Summary summarise(const oriel::Team& world, const Problem& problem, StepTimes times) {
  Summary summary{problem.extent, problem.grid, problem.sync, {}, std::move(times)};
  for (int rank = 0; rank < world.size(); ++rank) {
    if (rank != world.rank()) summary.peer_fabrics.emplace_back(world.fabric(oriel::Rank{rank}));
  }
  return summary;
}

/// What rank 0 does with the whole field. Returns what went wrong, if anything.
std::string judge(const Options& options, const Problem& problem, const Field& result) {
  std::string trouble;
  if (options.check) {
    const bool is_mode = !options.init;
    for (const Verdict& verdict : check_result(result, problem.initial, is_mode, problem.steps)) {
      fmt::print("{}\n", verdict.text);
      if (!verdict.passed) trouble = "the check failed";
    }
    std::ignore = std::fflush(stdout);  // before the other ranks end, and mpirun with them
  }
  if (options.image) {
    try {
      write_png(*options.image, problem.extent.nx, problem.extent.ny, paint(result));
    } catch (const InputError& error) {
      trouble = error.what();
    }
  }
  return trouble;
}

int simulate(const oriel::Team& world, const Options& options, const Problem& problem) {
  const bool talks = world.rank() == 0 && !options.quiet;

  Simulation simulation(world, problem);
  StepTimes times = [&] {
    ProgressBar bar(talks && output_is_terminal(), problem.steps);
    return simulation.run([&](std::size_t done) { bar.update(done); });
  }();
  if (talks) fmt::print("{}", format_summary(summarise(world, problem, std::move(times))));

  std::string trouble;
  if (options.check || options.image) {
    if (const auto result = simulation.gather()) trouble = judge(options, problem, *result);
  }
  return all_well(world, trouble) ? kStatusDone : kStatusFailed;
}

int compare(const oriel::Team& world, const Problem& problem) {
  const auto contests = compare_exchanges(world, problem.grid, problem.extent);
  std::string trouble;
  for (const Contest& one : contests) {
    if (!one.trouble.empty()) trouble = fmt::format("{}: {}", one.name, one.trouble);
  }
  if (world.rank() == 0) fmt::print("{}", format_contests(contests));
  return all_well(world, trouble) ? kStatusDone : kStatusFailed;
}

int run(const oriel::Team& world, int argc, char** argv) {
  Options options;
  Problem problem;
  std::string trouble;
  try {
    const auto parsed = parse_options(argc, argv);
    if (const auto* help = std::get_if<Help>(&parsed)) {
      if (world.rank() == 0) fmt::print("{}", help->text);
      return kStatusDone;
    }
    options = std::get<Options>(parsed);
    problem = make_problem(options, world.size());
    if (world.rank() == 0 && options.image) require_writable(*options.image);
  } catch (const InputError& error) {
    trouble = error.what();
  }
  // A file may be missing on one machine only: all ranks learn of it here, and end together.
  if (!all_well(world, trouble)) return kStatusBadInput;
  return options.compare ? compare(world, problem) : simulate(world, options, problem);
}

}  // namespace
}  // namespace stencil

int main(int argc, char** argv) {
  stencil::end_process_on_exception();
  oriel::Runtime job(argc, argv);
  return stencil::run(job.world(), argc, argv);
}
