#pragma once
/// A session: a program's windows, its prediction and its execution, phase by phase.

#include <memory>
#include <string>
#include <string_view>

#include "conformance/interpreter.hpp"
#include "conformance/job.hpp"
#include "conformance/predictor.hpp"
#include "conformance/program.hpp"

namespace oriel::conformance {

class Session {
 public:
  /// @param program  outlives the session
  Session(Job& job, const Program& program, const MakeInterpreter& make_interpreter);

  /// Creates a window, or frees it. Collective.
  void create(std::size_t window);
  void free(std::size_t window);
  /// Fills memory as a phase wants to find it. All ranks must have done so before one runs it.
  void prepare(const Phase& phase);
  /// Runs a phase, and compares this rank's memory and results. Collective.
  /// @return what is wrong here first; empty: nothing
  [[nodiscard]] std::string run(const Phase& phase);
  /// After a failure: takes this rank's memory for what it is, and forgets notifications.
  void resume();
  /// Runs all phases of the program, windows included, until one fails on any rank. Collective.
  /// @return what is wrong here; on other ranks than those that found it: empty
  [[nodiscard]] std::string run_all(bool& all_passed);

 private:
  void begin(std::size_t phase);
  [[nodiscard]] std::string compare(std::size_t memory);
  [[nodiscard]] std::string check_contests(const Phase& phase, const Forecast& forecast);

  Job& job_;
  const Program& program_;
  Predictor predictor_;
  std::unique_ptr<Interpreter> interpreter_;
  std::vector<bool> filled_;  // memories
};

}  // namespace oriel::conformance
