#include "stencil/options.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace stencil {
namespace {

constexpr std::size_t kMaxSide = 1'000'000;
constexpr std::size_t kMaxSteps = 1'000'000'000;

constexpr const char* kDescription =
    "Heat spreads on a plate with cold edges: the 2-D heat equation by Jacobi steps.\n"
    "Ranks exchange the edges of their blocks through one-sided Oriel windows.\n";
constexpr const char* kExample =
    "Example:\n"
    "  mpirun -n 4 stencil --nx 512 --ny 384 --steps 300 --check --image heat.png\n"
    "Exit status: 0 done, 1 failed or a check failed, 2 bad options or files.";

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

std::variant<Options, Help> parse_options(int argc, const char* const* argv) {
  Options options;
  std::string grid = "auto";
  std::string sync{to_string(options.sync)};
  CLI::App app(kDescription, "stencil");
  app.footer(kExample);
  // The ranges need no place in the help: nobody will miss a million and one cells.
  const auto side = CLI::Range(std::size_t{1}, kMaxSide).description("");
  const auto count = CLI::Range(std::size_t{0}, kMaxSteps).description("");
  app.add_option("--nx", options.nx, "cells in a row (default: 256, or the picture's width)")
      ->type_name("CELLS")
      ->check(side);
  app.add_option("--ny", options.ny, "rows of cells (default: 256, or the picture's height)")
      ->type_name("CELLS")
      ->check(side);
  app.add_option("--steps", options.steps, "time steps (default: 200)")
      ->type_name("N")
      ->check(count);
  app.add_option("--grid", grid, "ranks across x down, as 4x2 (default: auto, the smallest halo)")
      ->type_name("PxQ|auto");
  app.add_option("--sync", sync, "how neighbours learn that edges have arrived (default: fence)")
      ->type_name("fence|pscw|notify|lock");
  app.add_option("--init", options.init,
                 "start from this PNG or PGM picture, white is hot (default: a sine hill)")
      ->type_name("FILE");
  app.add_option("--image", options.image,
                 "write the result as a PNG, coloured from its smallest to its largest value")
      ->type_name("FILE");
  app.add_flag("--check", options.check,
               "compare bit by bit with a serial run, and with theory for the sine hill");
  app.add_flag("--compare", options.compare,
               "no steps: what the exchange of edges costs by each --sync, and by MPI itself");
  app.add_flag("--quiet", options.quiet, "no progress bar and no table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Help{app.help()};
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{} (see --help)", one_line(error.what())));
  }
  options.sync = parse_sync(sync);
  if (grid != "auto") options.grid = parse_rank_grid(grid);
  return options;
}

}  // namespace stencil
