// Random programs, seed after seed.

#include <fmt/format.h>

#include <memory>
#include <regex>

#include "conformance/generator.hpp"
#include "conformance/session.hpp"
#include "conformance/shrink.hpp"
#include "conformance/suite.hpp"

namespace oriel::conformance {
namespace {

constexpr double kShare = 0.3;  // of the budget
constexpr int kTries = 600;

/// @return what is wrong here
std::string run_program(Suite& suite, const Program& program) {
  return caught([&] {
    Session session(suite.job, program, suite.make_interpreter);
    bool all_passed = true;
    return session.run_all(all_passed);
  });
}

/// Collective.
std::string explain(Suite& suite, const Program& program) {
  const std::unique_ptr<Interpreter> interpreter = suite.make_interpreter(program);
  std::string text;
  for (const Phase& phase : program.phases) {
    for (const Epoch& epoch : phase.epochs) {
      for (const Operation& operation : epoch.operations) {
        const std::string more = interpreter->explain(epoch, operation);
        if (!more.empty()) text += fmt::format("  {}{}\n", facts(operation.call).name, more);
      }
    }
  }
  return text;
}

/// Makes the program short and prints it. Collective.
void show_shortest(Suite& suite, const Program& program) {
  std::string wrong;
  const Program shortest = shrink(
      program,
      [&](const Program& candidate) {
        suite.job.now_at(fmt::format("a shorter program of seed {}", program.seed));
        std::string found = run_program(suite, candidate);
        if (suite.job.agree(found.empty())) return false;
        wrong = std::move(found);
        return true;
      },
      kTries);
  std::string text = "the shortest that fails: " + to_text(shortest) + explain(suite, shortest);
  for (const std::string& one : suite.job.gather_texts(wrong)) text += fmt::format("  {}\n", one);
  suite.say(text);
}

}  // namespace

void run_programs(Suite& suite) {
  const std::regex only(suite.options.only);
  suite.begin_family(kShare);
  const Row row{"program", "mixed", "mixed"};
  for (std::uint64_t i = 0; i < suite.options.seeds; ++i) {
    const std::uint64_t seed = suite.options.seed + i;
    const std::string name = fmt::format("program/seed={}", seed);
    if (!std::regex_search(name, only)) continue;
    if (suite.lists()) {
      suite.say(name + "\n");
      continue;
    }
    if (!suite.may_go_on()) {
      suite.report.skipped(row, "the budget of time was used up", suite.options.seeds - i);
      return;
    }
    suite.job.now_at(name);
    suite.tell_progress(name, i, suite.options.seeds);
    const Program program = make_program(seed, suite.setting);
    const std::string wrong = run_program(suite, program);
    if (!suite.conclude(row, name, wrong, seed) && suite.options.shrink) {
      show_shortest(suite, program);
    }
  }
}

}  // namespace oriel::conformance
