/// oriel-run: starts a program on many ranks by mpirun. See --help.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "launcher/command_line.hpp"
#include "launcher/exit_report.hpp"
#include "launcher/job_process.hpp"
#include "launcher/machine_facts.hpp"
#include "launcher/preflight.hpp"
#include "launcher/run_options.hpp"
#include "launcher/scratch_directory.hpp"
#include "topology/binding_plan.hpp"
#include "topology/topology.hpp"

namespace oriel::launcher {
namespace {

constexpr int kNotStarted = 2;
constexpr int kSignalOffset = 128;

void say(const std::string& text) {
  fmt::print(stderr, "oriel-run: {}\n", text);
}

/// True if the job may start.
bool report(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    say(finding.fatal ? finding.text : "note: " + finding.text);
  }
  return std::ranges::none_of(findings, &Finding::fatal);
}

std::optional<ScratchDirectory> make_scratch(Reach reach) {
  if (reach != Reach::this_machine) return std::nullopt;
  try {
    return std::optional<ScratchDirectory>(std::in_place);
  } catch (const std::system_error& error) {
    say(fmt::format("note: no private directory for MPI's files: {}", error.what()));
    return std::nullopt;
  }
}

JobEnd run(const std::vector<WordGroup>& command, Reach reach,
           const std::vector<std::string>& environment) {
  const std::optional<ScratchDirectory> scratch = make_scratch(reach);
  return run_job(all_words(command),
                 scratch ? scratch->variables(environment) : std::vector<std::string>{});
}

/// Says why a job failed. Returns the status of oriel-run.
int conclude(const JobEnd& end) {
  if (end.status == 0) return 0;
  if (end.stop_signal) {
    say(fmt::format("the job was stopped by {}, which was sent to oriel-run",
                    signal_text(*end.stop_signal)));
    return kSignalOffset + *end.stop_signal;
  }
  if (end.killed_itself) {
    say(fmt::format("mpirun itself was killed by {}; its ranks on this machine are gone too",
                    signal_text(end.status - kSignalOffset)));
  } else {
    say(describe_failure(end.verdict, end.status));
  }
  return end.status;
}

int start(const RunOptions& options) {
  const JobRequest& request = options.request;
  const auto topology = topology::Topology::discover();
  const MachineFacts facts = collect_facts(topology, request);
  const unsigned ranks = ranks_to_start(request, facts.usable_cores);
  const Reach reach = reach_of(request, facts.host_name, facts.environment);
  const std::vector<WordGroup> command =
      mpirun_command(request, {.is_root = facts.is_root,
                               .reach = reach,
                               .ranks = ranks,
                               .usable_cores = facts.usable_cores,
                               .loopback = facts.loopback,
                               .drop_in = facts.drop_in.library,
                               .environment = facts.environment,
                               .binding = topology::plan_binding(topology, ranks)});
  const bool may_start = report(preflight(request, ranks, facts));
  if (options.dry_run) fmt::print("{}", explain(command));
  if (!may_start) return kNotStarted;
  return options.dry_run ? 0 : conclude(run(command, reach, facts.environment));
}

int main_or_throw(std::vector<std::string> words) {
  try {
    const RunOptions options = parse_run_options(std::move(words));
    if (options.answer.empty()) return start(options);
    fmt::print("{}", options.answer);
    return 0;
  } catch (const UsageError& error) {
    say(fmt::format("{}; hint: oriel-run --help", error.what()));
    return kNotStarted;
  }
}

}  // namespace
}  // namespace oriel::launcher

int main(int argc, char** argv) {
  try {
    return oriel::launcher::main_or_throw({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "oriel-run: {}\n", error.what());
    return oriel::launcher::kNotStarted;
  }
}
