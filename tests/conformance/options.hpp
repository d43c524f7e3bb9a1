#pragma once
/// The command lines of oriel-conformance and mpi-conformance.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/interpreter.hpp"

namespace oriel::conformance {

/// What the command line is of.
enum class Tool : std::uint8_t {
  oriel,  ///< oriel-conformance: all of the suite
  mpi,    ///< mpi-conformance: its programs, by MPI
};
[[nodiscard]] std::string_view name_of(Tool tool) noexcept;

struct Options {
  Tool tool = Tool::oriel;
  std::string fabric{};     ///< empty: not said
  std::uint64_t seed = 1;   ///< of the first program, and of the choice of cases
  std::uint64_t seeds = 0;  ///< how many programs
  bool full = false;
  bool list = false;
  bool without_shared = false;  ///< windows of MPI_Win_allocate_shared
  bool shrink = false;
  std::string only = ".*";  ///< regular expression of names
  std::uint64_t from = 0;   ///< number of the first case that is run
  double budget = 0;        ///< seconds; 0: none
  int limit = 0;            ///< seconds for one step; 0: none
  Plant plant = Plant::none;

  [[nodiscard]] bool wants(const std::string& name) const;
  /// The command that runs `name` alone.
  [[nodiscard]] std::string rerun(int ranks, const std::string& name, std::uint64_t its_seed) const;
};

/// Options, or the status to end with: help was asked for, or something is wrong, which is then
/// printed. Words for MPI are nobody's business here.
struct Parsed {
  Options options{};
  std::optional<int> status{};
};
[[nodiscard]] Parsed parse_options(Tool tool, int argc, char** argv, bool speaks);

}  // namespace oriel::conformance
