#pragma once
/// The interpreter of programs by the library: Oriel's windows.

#include <optional>

#include <oriel/oriel.hpp>

#include "conformance/interpreter.hpp"

namespace oriel::conformance {

class OrielInterpreter final : public Interpreter {
 public:
  OrielInterpreter(Runtime& runtime, Job& job, const Program& program, Plant plant);

  void create(std::size_t window) override;
  void free(std::size_t window) override;
  void publish(std::size_t window) override;
  void reset_notifications() override;

 private:
  WindowBytes& window(std::size_t index) { return *windows_[index]; }
  /// The request of an operation, if it has one.
  Request& request(const Work& work);

  // oriel_operations.cpp
  void call(Work& work) override;
  void complete(Work& work) override;
  void finish_requests(const Epoch* epoch, std::uint64_t choice) override;
  void swap(Work& work, const TargetBytes& where);
  void accumulate(Work& work, const TargetBytes& where);
  void plain(Work& work);
  void finish_request(Work& work, std::uint64_t choice);
  [[nodiscard]] TargetBytes where(const Work& work) const;

  // oriel_epochs.cpp
  void run(const Epoch& epoch) override;
  void settle(const Phase& phase) override;
  void run_locks(const Epoch& epoch);
  void run_general_epoch(const Epoch& epoch);
  void notify_and_wait(const Epoch& epoch);
  void wait_for_slots(const Epoch& epoch, std::span<const std::uint64_t> counts);
  void start_all(const Epoch& epoch);

  const Team& world_;
  std::vector<std::optional<WindowBytes>> windows_;
  std::vector<Request> requests_;  // by the index of the work
  BufferBytes buffer_;
};

}  // namespace oriel::conformance
