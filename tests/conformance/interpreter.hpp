#pragma once
/// The interpreter: one rank's part of a program, carried out by the library.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <oriel/oriel.hpp>

#include "conformance/contests.hpp"
#include "conformance/job.hpp"
#include "conformance/predictor.hpp"
#include "conformance/program.hpp"

namespace oriel::conformance {

/// Faults for the suite's own tests, which it must find.
enum class Plant : std::uint8_t { none, wrong_byte, duplicate };

/// Errors of the library do not end a phase: the first is noted, and this rank goes on through all
/// synchronisations, so that no other waits for it in vain.
class Interpreter {
 public:
  /// @param program  outlives the interpreter
  Interpreter(Job& job, const Program& program, Plant plant);

  /// Collective.
  void create(std::size_t window);
  void free(std::size_t window);

  /// This rank's part of a memory; empty when the window that made it is gone.
  [[nodiscard]] std::span<std::byte> part(std::size_t memory);
  /// Whether the bytes around a memory of the program's own are as they were.
  [[nodiscard]] bool guards_are_whole(std::size_t memory) const;

  void reset_notifications();

  /// Runs this rank's operations and looks at what they fetch. Afterwards everything that all ranks
  /// did is complete. Collective.
  void run(const Phase& phase, const Forecast& forecast);

  /// What went wrong first in the last run(); empty: nothing.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] const std::vector<Witness>& witnesses() const noexcept { return witnesses_; }

 private:
  /// An operation of this rank that has been started.
  struct Work {
    const Epoch* epoch = nullptr;
    const Operation* operation = nullptr;
    const Expectation* expected = nullptr;
    std::uint32_t number = 0;
    std::span<std::byte> sent{};
    std::span<std::byte> received{};  ///< with guards before and after
    Request request{};
    bool looked_at = false;
  };
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  struct Memory {
    std::vector<Line> lines{};               ///< of the program: the part and guards around
    std::span<std::byte> part{};             ///< within, or the window's
    std::vector<std::uint64_t> addresses{};  ///< of all ranks' parts, for dynamic windows
  };

  template <class Step>
  void attempt(std::string_view what, Step&& step);
  void note(std::string text);
  WindowBytes& window(std::size_t index) { return *windows_[index]; }
  [[nodiscard]] std::span<std::byte> take(std::size_t bytes, bool registered);

  // interpreter_operations.cpp
  void start(Work& work);
  void call(Work& work);
  void swap(Work& work, const TargetBytes& where);
  void accumulate(Work& work, const TargetBytes& where);
  void plain(Work& work);
  void complete(Work& work);
  void finish_request(Work& work, std::uint64_t choice);
  void finish_requests(const Epoch* epoch, std::uint64_t choice);
  void prepare(Work& work);
  void look_at(Work& work);
  [[nodiscard]] TargetBytes where(const Work& work) const;

  // interpreter_epochs.cpp
  void run(const Epoch& epoch);
  void run_locks(const Epoch& epoch);
  void run_general_epoch(const Epoch& epoch);
  void notify_and_wait(const Epoch& epoch);
  void wait_for_slots(const Epoch& epoch, std::span<const std::uint64_t> counts);
  void start_all(const Epoch& epoch);
  template <class Visit>
  void for_each_work(const Epoch& epoch, Visit&& visit);

  Job& job_;
  const Program& program_;
  Plant plant_;
  std::vector<Memory> memories_;
  std::vector<std::optional<WindowBytes>> windows_;
  BufferBytes buffer_;
  std::size_t buffer_used_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> heap_;
  std::vector<Work> works_;
  std::vector<Witness> witnesses_;
  std::string failure_;
};

template <class Step>
void Interpreter::attempt(std::string_view what, Step&& step) {
  try {
    step();
  } catch (const std::exception& error) {
    note(std::string(what) + " threw: " + error.what());
  }
}

}  // namespace oriel::conformance
