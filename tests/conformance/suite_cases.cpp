// All cases, one after the other, on windows that they share.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <regex>

#include "conformance/session.hpp"
#include "conformance/suite.hpp"

namespace oriel::conformance {
namespace {

constexpr double kShare = 0.4;           // of the budget
constexpr std::size_t kLooksAtTime = 8;  // cases in between

/// "compare_and_swap" for all its forms: rows are few.
std::string family_of(const Case& one) {
  std::string name(facts(one.call()).name);
  if (facts(one.call()).requests) name.erase(0, 1);
  for (const std::string_view form : {"_now", "_notify"}) {
    if (name.ends_with(form)) name.erase(name.size() - form.size());
  }
  return name;
}

Row row_of(const Case& one) {
  return {family_of(one), std::string(name_of(one.window())),
          std::string(to_string(one.placement()))};
}

/// Cases, whichever way they are chosen.
struct Cases {
  Cases(const Suite& suite) : full(suite.setting, suite.options.seed), is_full(suite.options.full) {
    if (!is_full) pairs = pairwise_cases(suite.setting, suite.options.seed);
  }
  [[nodiscard]] std::size_t size() const { return is_full ? full.size() : pairs.size(); }
  [[nodiscard]] Case at(std::size_t index) const { return is_full ? full.at(index) : pairs[index]; }

  FullCases full;
  std::vector<Case> pairs;
  bool is_full;
};

/// What the job has no place for.
void tell_impossible(Suite& suite) {
  for (const Placement placement : {Placement::same_node, Placement::other_node}) {
    if (suite.setting.has(placement)) continue;
    suite.report.skipped({"all cases", "-", std::string(to_string(placement))},
                         fmt::format("no two ranks are placed so: {}", to_string(placement)));
  }
  if (!suite.setting.has_shared_windows()) {
    suite.report.skipped({"all cases", "shared", "-"}, "shared windows need one machine");
  }
}

/// The windows that cases share. While the verdict on a case is agreed upon, the next one's memory
/// is there already: one exchange says both.
class Stage {
 public:
  explicit Stage(Suite& suite)
      : suite_(suite),
        program_(case_windows(suite.setting)),
        session_(suite.job, program_, suite.make_interpreter) {
    for (std::size_t w = 0; w < program_.windows.size(); ++w) {
      if (is_possible(w)) session_.create(w);
    }
  }

  /// Runs the case given before, then takes this one; none: runs the last one.
  void next(const Case* one) {
    std::string wrong;
    if (waits_) {
      suite_.job.now_at(name_);
      wrong = caught([&] { return session_.run(phase_); });
    }
    Phase following;
    if (one != nullptr) {
      following = case_phase(*one, suite_.setting, program_);
      session_.prepare(following);
    }
    if (!waits_) {
      suite_.job.barrier();
    } else if (!suite_.conclude(row_of(case_), name_, wrong, suite_.options.seed)) {
      session_.resume();
      session_.prepare(following);
      suite_.job.barrier();
    }
    waits_ = one != nullptr;
    if (!waits_) return;
    case_ = *one;
    name_ = one->name();
    phase_ = std::move(following);
  }

  void close() {
    next(nullptr);
    suite_.job.now_at("the end of the cases' windows");
    for (std::size_t w = 0; w < program_.windows.size(); ++w) {
      if (is_possible(w)) session_.free(w);
    }
  }

 private:
  [[nodiscard]] bool is_possible(std::size_t window) const {
    return program_.windows[window].kind != WindowKind::shared ||
           suite_.setting.has_shared_windows();
  }

  Suite& suite_;
  Program program_;
  Session session_;
  bool waits_ = false;
  Case case_;
  std::string name_;
  Phase phase_;
};

}  // namespace

void run_cases(Suite& suite) {
  const Cases cases(suite);
  if (!suite.lists()) tell_impossible(suite);
  const std::regex only(suite.options.only);
  suite.begin_family(kShare);
  std::unique_ptr<Stage> stage;
  bool time_left = true;
  for (std::size_t i = suite.options.from; i < cases.size(); ++i) {
    const Case one = cases.at(i);
    const std::string name = one.name();
    if (!std::regex_search(name, only)) continue;
    if (suite.lists()) {
      suite.say(name + "\n");
      continue;
    }
    if (time_left && i % kLooksAtTime == 0) time_left = suite.may_go_on();
    if (!time_left) {
      suite.report.skipped(row_of(one), "the budget of time was used up");
      continue;
    }
    suite.tell_progress(name, i, cases.size());
    if (!stage) stage = std::make_unique<Stage>(suite);
    stage->next(&one);
  }
  if (stage) stage->close();
}

}  // namespace oriel::conformance
