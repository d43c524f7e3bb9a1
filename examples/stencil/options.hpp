#pragma once
/// The command line.

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

#include "stencil/rank_grid.hpp"
#include "stencil/sync.hpp"

namespace stencil {

struct Options {
  std::optional<std::size_t> nx;
  std::optional<std::size_t> ny;
  std::size_t steps = 200;
  std::optional<RankGrid> grid;      ///< empty: automatic
  std::optional<std::string> init;   ///< empty: the eigenmode
  std::optional<std::string> image;  ///< empty: none
  Sync sync = Sync::fence;
  bool check = false;
  bool compare = false;
  bool quiet = false;
};

/// --help: this text, and no run.
struct Help {
  std::string text;
};

/// Throws InputError with one line on a bad command line.
[[nodiscard]] std::variant<Options, Help> parse_options(int argc, const char* const* argv);

}  // namespace stencil
