#include "conformance/suite.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <exception>

namespace oriel::conformance {

void Suite::begin_family(double share) {
  started = std::chrono::steady_clock::now();
  allowed = (options.only == ".*" ? share : 1) * options.budget;
}

bool Suite::may_go_on() const {
  if (allowed <= 0) return true;
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - started;
  return job.most(used.count()) < allowed;
}

void Suite::tell_progress(std::string_view name, std::size_t done, std::size_t all) {
  const auto now = std::chrono::steady_clock::now();
  if (now - told < std::chrono::minutes(1)) return;
  told = now;
  say(fmt::format("... {} ({} of {})\n", name, done, all));
}

void Suite::say(const std::string& text) const {
  if (job.rank() != 0) return;
  fmt::print("{}", text);
  std::fflush(stdout);
}

bool Suite::conclude(const Row& row, const std::string& name, const std::string& wrong,
                     std::uint64_t seed) {
  const bool all_passed = job.agree(wrong.empty());
  if (all_passed) {
    report.passed(row);
  } else {
    report.failed(row);
    tell_failure(name, wrong, seed);
  }
  return all_passed;
}

void Suite::tell_failure(const std::string& name, const std::string& wrong,
                         std::uint64_t seed) const {
  const std::vector<std::string> texts = job.gather_texts(wrong);
  std::string text = fmt::format("FAILED {}\n", name);
  for (const std::string& one : texts) text += fmt::format("  {}\n", one);
  text += fmt::format("  again: {}\n", options.rerun(job.ranks(), name, seed));
  say(text);
}

void Suite::tell_end(const std::string& where) const {
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begun;
  say(fmt::format("{}{}, {:.1f} s\n{}: {} run, {} failed\n", report.table(), where, used.count(),
                  report.is_good() ? "PASS" : "FAIL", report.run(), report.failed()));
}

std::string caught(const std::function<std::string()>& step) {
  try {
    return step();
  } catch (const std::exception& error) {
    return fmt::format("threw: {}", error.what());
  }
}

int run_tool(Tool tool, int threads, int argc, char** argv, int (*run)(const Options&)) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Parsed parsed = parse_options(tool, argc, argv, rank == 0);
  int status = parsed.status.value_or(1);
  if (!parsed.status) {
    try {
      status = run(parsed.options);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: FAIL: {}\n", name_of(tool), error.what());
    }
  }
  MPI_Finalize();
  return status;
}

}  // namespace oriel::conformance
