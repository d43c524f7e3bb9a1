#pragma once
/// The interpreter: one rank's part of a program. What is the same whoever carries operations out
/// is here: memory of the program's own, what is sent, and a look at what was fetched. The calls
/// are OrielInterpreter's, by the library, and MpiInterpreter's, by MPI.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/contests.hpp"
#include "conformance/job.hpp"
#include "conformance/predictor.hpp"
#include "conformance/program.hpp"

namespace oriel::conformance {

/// Faults for the suite's own tests, which it must find.
enum class Plant : std::uint8_t { none, wrong_byte, duplicate };

/// Errors of what is tested do not end a phase: the first is noted, and this rank goes on through
/// all synchronisations, so that no other waits for it in vain.
class Interpreter {
 public:
  /// @param program  outlives the interpreter
  Interpreter(Job& job, const Program& program, Plant plant);
  virtual ~Interpreter() = default;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Collective.
  virtual void create(std::size_t window) = 0;
  virtual void free(std::size_t window) = 0;

  /// This rank's part of a memory; empty when the window that made it is gone.
  [[nodiscard]] std::span<std::byte> part(std::size_t memory);
  /// Whether the bytes around a memory of the program's own are as they were.
  [[nodiscard]] bool guards_are_whole(std::size_t memory) const;
  /// What was stored plainly to this rank's part is there for operations of all ranks behind a
  /// barrier that follows.
  virtual void publish(std::size_t window) = 0;

  virtual void reset_notifications() {}

  /// What there is to say of an operation beside its own text.
  [[nodiscard]] virtual std::string explain(const Epoch& epoch, const Operation& operation) const;

  /// Runs this rank's operations and looks at what they fetch. Afterwards everything that all ranks
  /// did is complete. Collective.
  void run(const Phase& phase, const Forecast& forecast);

  /// What went wrong first in the last run(); empty: nothing.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] const std::vector<Witness>& witnesses() const noexcept { return witnesses_; }

 protected:
  static constexpr std::size_t kGuard = 64;  ///< bytes before and after what is received

  /// An operation of this rank.
  struct Work {
    const Epoch* epoch = nullptr;
    const Operation* operation = nullptr;
    const Expectation* expected = nullptr;
    std::uint32_t number = 0;  ///< of the operation in its phase
    std::size_t index = 0;     ///< among this rank's
    std::span<std::byte> sent{};
    std::span<std::byte> received{};  ///< with guards before and after
    bool looked_at = false;

    [[nodiscard]] std::byte* results() const noexcept { return received.data() + kGuard; }
  };
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  struct Memory {
    std::vector<Line> lines{};               ///< of the program: the part and guards around
    std::span<std::byte> part{};             ///< within, or the window's
    std::vector<std::uint64_t> addresses{};  ///< of all ranks' parts, for dynamic windows
  };

  virtual void run(const Epoch& epoch) = 0;
  /// Starts an operation.
  virtual void call(Work& work) = 0;
  /// What the operation asks for directly behind it.
  virtual void complete(Work& work) = 0;
  /// Ends the requests that were left to the end: of an epoch some, of a phase (no epoch) all.
  virtual void finish_requests(const Epoch* epoch, std::uint64_t choice) = 0;
  /// Behind the epochs: lets every rank look at its parts.
  virtual void settle(const Phase& phase) = 0;

  template <class Step>
  void attempt(std::string_view what, Step&& step);
  void note(std::string text);
  template <class Visit>
  void for_each_work(const Epoch& epoch, Visit&& visit);
  void start(Work& work);
  /// What is sent may be reused, what was asked for has arrived.
  void finished(Work& work);
  [[nodiscard]] const Element& element_of(const Work& work) const {
    return *program_.memory_of(work.epoch->window).element;
  }
  /// This rank's part of a memory as a window of that plan has it: parts that end before the window
  /// begins are empty in it.
  [[nodiscard]] std::span<std::byte> part_of(const WindowPlan& plan);
  /// Bytes from the start of the target's window, or its address if the window is dynamic.
  [[nodiscard]] std::uint64_t place_of(const Work& work) const;

  static void reuse(std::span<std::byte> memory);

  Job& job_;
  const Program& program_;
  std::vector<Memory> memories_;
  std::vector<Work> works_;
  std::span<std::byte> registered_;  ///< where Operation::registered has its memory

 private:
  [[nodiscard]] std::span<std::byte> take(std::size_t bytes, bool registered);
  void prepare(Work& work);
  void look_at(Work& work);
  [[nodiscard]] std::string text_of(const Work& work) const;

  Plant plant_;
  std::size_t registered_used_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> heap_;
  std::vector<Witness> witnesses_;
  std::string failure_;
};

using MakeInterpreter = std::function<std::unique_ptr<Interpreter>(const Program&)>;

/// The ranks at the other side of a rank's operations, or of those on it, in their order.
[[nodiscard]] std::vector<int> partners(const Epoch& epoch, int rank, bool as_origin);
/// How many operations of the epoch notify a rank, by slot.
[[nodiscard]] std::vector<std::uint64_t> notifications(const Epoch& epoch, int rank,
                                                       std::size_t slots);

template <class Step>
void Interpreter::attempt(std::string_view what, Step&& step) {
  try {
    step();
  } catch (const std::exception& error) {
    note(std::string(what) + " threw: " + error.what());
  }
}

template <class Visit>
void Interpreter::for_each_work(const Epoch& epoch, Visit&& visit) {
  for (Work& work : works_) {
    if (work.epoch == &epoch) visit(work);
  }
}

}  // namespace oriel::conformance
