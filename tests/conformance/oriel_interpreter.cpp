// Windows of Oriel's.

#include "conformance/oriel_interpreter.hpp"

#include <algorithm>

namespace oriel::conformance {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

}  // namespace

OrielInterpreter::OrielInterpreter(Runtime& runtime, Job& job, const Program& program, Plant plant)
    : Interpreter(job, program, plant),
      world_(runtime.world()),
      windows_(program.windows.size()),
      buffer_(runtime, kBufferBytes) {
  registered_ = buffer_.bytes();
}

void OrielInterpreter::create(std::size_t index) {
  const WindowPlan& plan = program_.windows[index];
  const std::size_t bytes = plan.bytes[static_cast<std::size_t>(job_.rank())];
  Memory& memory = memories_[plan.memory];
  switch (plan.kind) {
    case WindowKind::allocated:
      windows_[index] = WindowBytes::allocate(world_, bytes, plan.options);
      memory.part = window(index).local();
      break;
    case WindowKind::shared:
      windows_[index] = WindowBytes::allocate_shared(world_, bytes, plan.options);
      memory.part = window(index).local();
      break;
    case WindowKind::created:
      windows_[index] = WindowBytes::create(world_, part_of(plan), plan.options);
      break;
    case WindowKind::dynamic:
      windows_[index] = WindowBytes::dynamic(world_, plan.options);
      if (bytes != 0) {
        static_cast<void>(window(index).attach(part_of(plan)));
      }
      memory.addresses = job_.gather(reinterpret_cast<std::uintptr_t>(memory.part.data()));
      break;
  }
}

void OrielInterpreter::free(std::size_t index) {
  const WindowPlan& plan = program_.windows[index];
  attempt("free", [&] { window(index).free(); });
  if (!program_.memories[plan.memory].by_program) memories_[plan.memory].part = {};
}

void OrielInterpreter::publish(std::size_t index) {
  window(index).sync();
}

void OrielInterpreter::reset_notifications() {
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    if (!windows_[w]) continue;
    for (std::size_t slot = 0; slot < program_.windows[w].options.notification_slots; ++slot) {
      static_cast<void>(window(w).reset_notify(slot));
    }
  }
}

}  // namespace oriel::conformance
