#pragma once
/// The suite: everything that is run, in its order.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include <oriel/team.hpp>

#include "conformance/cases.hpp"
#include "conformance/job.hpp"
#include "conformance/options.hpp"
#include "conformance/report.hpp"

namespace oriel::conformance {

/// What the families have in common.
struct Suite {
  Job& job;
  const Options& options;
  Setting setting;
  MakeInterpreter make_interpreter;
  Report report{};
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point started = begun;  ///< the family
  double allowed = 0;  ///< seconds from `started` on; 0: any number
  std::chrono::steady_clock::time_point told = std::chrono::steady_clock::now();  ///< of progress

  /// Starts a family of tests, which may use this share of the budget, whatever others have used.
  void begin_family(double share);
  /// Whether the family's time allows for more, the same on all ranks. Collective.
  [[nodiscard]] bool may_go_on() const;
  /// Rank 0 prints how far it is, once a minute.
  void tell_progress(std::string_view name, std::size_t done, std::size_t all);
  /// Rank 0 prints.
  void say(const std::string& text) const;
  /// Agrees on a verdict, tells of a failure and how to see it again. Collective.
  /// @return whether all passed
  /// @param wrong  what this rank has found, if anything
  bool conclude(const Row& row, const std::string& name, const std::string& wrong,
                std::uint64_t seed);
  /// Tells what the ranks have found wrong. Collective.
  void tell_failure(const std::string& name, const std::string& wrong, std::uint64_t seed) const;
  /// Rank 0 prints the report and the verdict on all. @param where  it was run
  void tell_end(const std::string& where) const;
  [[nodiscard]] bool lists() const { return options.list; }
};

/// Runs `step`; what it throws counts as what it returns.
[[nodiscard]] std::string caught(const std::function<std::string()>& step);

/// main(): starts MPI, reads the command line, does `run` and ends MPI.
/// @param threads  the level that `run` needs [MPI_Init_thread]
/// @param run  returns the status; what it throws is a failure
[[nodiscard]] int run_tool(Tool tool, int threads, int argc, char** argv,
                           int (*run)(const Options&));

void run_cases(Suite& suite);
void run_programs(Suite& suite);
void run_litmus(Suite& suite, const Team& world);

}  // namespace oriel::conformance
