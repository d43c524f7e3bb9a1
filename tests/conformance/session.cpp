#include "conformance/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "conformance/contests.hpp"
#include "conformance/oracle.hpp"

namespace oriel::conformance {

Session::Session(Job& job, const Program& program, const MakeInterpreter& make_interpreter)
    : job_(job),
      program_(program),
      predictor_(program),
      interpreter_(make_interpreter(program)),
      filled_(program.memories.size()) {}

void Session::create(std::size_t window) {
  interpreter_->create(window);
}

void Session::free(std::size_t window) {
  interpreter_->free(window);
}

void Session::prepare(const Phase& phase) {
  for (const Refill& refill : phase.refills) {
    predictor_.refill(refill);
    fill(refill, interpreter_->part(refill.memory), job_.rank());
  }
}

std::string Session::run(const Phase& phase) {
  const Forecast forecast = predictor_.run(phase, job_.rank());
  interpreter_->run(phase, forecast);
  std::string wrong = interpreter_->failure();
  for (const Epoch& epoch : phase.epochs) {
    if (wrong.empty()) wrong = compare(program_.windows[epoch.window].memory);
  }
  const std::string order = check_contests(phase, forecast);  // collective
  return wrong.empty() ? order : wrong;
}

std::string Session::compare(std::size_t memory) {
  const std::span<std::byte> found = interpreter_->part(memory);
  if (!interpreter_->guards_are_whole(memory)) {
    return fmt::format("memory m{}: bytes before or after it were written", memory);
  }
  const std::span<std::byte> expected = predictor_.part(memory, job_.rank()).first(found.size());
  if (found.empty() || std::memcmp(found.data(), expected.data(), found.size()) == 0) return {};
  const Element& element = *program_.memories[memory].element;
  const std::size_t size = element.bytes();
  for (std::size_t at = 0; at + size <= found.size(); at += size) {
    if (equal(element, found.data() + at, expected.data() + at)) continue;
    return fmt::format("memory m{}: element {} of {}: expected {}, found {}", memory, at / size,
                       element.name, to_text(element, expected.data() + at),
                       to_text(element, found.data() + at));
  }
  for (std::size_t at = found.size() / size * size; at < found.size(); ++at) {
    if (found[at] != expected[at]) return fmt::format("memory m{}: byte {}", memory, at);
  }
  std::ranges::copy(found, expected.begin());  // equal, but for bits that do not count
  return {};
}

std::string Session::check_contests(const Phase& phase, const Forecast& forecast) {
  if (forecast.contested.empty()) return {};
  const std::vector<Witness>& mine = interpreter_->witnesses();
  std::vector<std::byte> bytes(mine.size() * sizeof(Witness));
  if (!mine.empty()) std::memcpy(bytes.data(), mine.data(), bytes.size());
  const std::vector<std::byte> all = job_.gather_all(bytes);
  std::vector<Witness> witnesses(all.size() / sizeof(Witness));
  if (!all.empty()) std::memcpy(witnesses.data(), all.data(), all.size());
  return conformance::check_contests(program_, phase, job_.rank(), forecast.contested, witnesses,
                                     predictor_);
}

void Session::resume() {
  for (std::size_t memory = 0; memory < program_.memories.size(); ++memory) {
    std::ranges::copy(interpreter_->part(memory), predictor_.part(memory, job_.rank()).begin());
  }
  interpreter_->reset_notifications();
}

/// Creates the phase's windows, and fills memory that is new.
void Session::begin(std::size_t phase) {
  bool has_new = false;
  for (std::size_t w = 0; w < program_.windows.size(); ++w) {
    const WindowPlan& window = program_.windows[w];
    if (window.born != phase) continue;
    interpreter_->create(w);
    has_new = true;
    if (filled_[window.memory]) continue;
    filled_[window.memory] = true;
    const MemoryPlan& memory = program_.memories[window.memory];
    prepare({.refills = {{window.memory, memory.element, ~std::size_t{0}, memory.fill}}});
    interpreter_->publish(w);
  }
  if (has_new) job_.barrier();
}

std::string Session::run_all(bool& all_passed) {
  all_passed = true;
  for (std::size_t p = 0; p < program_.phases.size(); ++p) {
    begin(p);
    std::string wrong = run(program_.phases[p]);
    for (std::size_t w = 0; w < program_.windows.size(); ++w) {
      if (program_.windows[w].born != kNever && program_.windows[w].dies == p)
        interpreter_->free(w);
    }
    if (wrong.empty()) wrong = interpreter_->failure();
    if (!wrong.empty()) wrong = fmt::format("phase {}: {}", p, wrong);
    all_passed = job_.agree(wrong.empty());
    if (!all_passed) return wrong;
  }
  return {};
}

}  // namespace oriel::conformance
