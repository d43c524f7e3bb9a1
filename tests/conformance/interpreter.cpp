// Memory, windows, and a phase as a whole.

#include "conformance/interpreter.hpp"

#include <algorithm>

#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

constexpr std::size_t kGuard = 256;  // a multiple of every alignment
constexpr std::byte kGuardByte{0xa5};
constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

bool is_untouched(std::span<const std::byte> guard) {
  return std::ranges::all_of(guard, [](std::byte b) { return b == kGuardByte; });
}

/// Whether the phase's own synchronisation lets every rank look at its part.
bool ends_synchronised(const Phase& phase) {
  if (phase.epochs.size() != 1) return false;
  const EpochKind kind = phase.epochs.front().kind;
  return kind == EpochKind::fence || kind == EpochKind::pscw || kind == EpochKind::notify;
}

}  // namespace

Interpreter::Interpreter(Job& job, const Program& program, Plant plant)
    : job_(job),
      program_(program),
      plant_(plant),
      memories_(program.memories.size()),
      windows_(program.windows.size()),
      buffer_(job.runtime(), kBufferBytes) {
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    if (!program.memories[i].by_program) continue;
    const std::size_t bytes = program.memories[i].bytes[static_cast<std::size_t>(job.rank())];
    Memory& memory = memories_[i];
    memory.lines.resize((bytes + 2 * kGuard) / sizeof(Line) + 1);
    const std::span<std::byte> whole = std::as_writable_bytes(std::span(memory.lines));
    std::ranges::fill(whole, kGuardByte);
    memory.part = whole.subspan(kGuard, bytes);
    std::ranges::fill(memory.part, std::byte{0});
  }
}

void Interpreter::create(std::size_t index) {
  const WindowPlan& plan = program_.windows[index];
  const Team& team = job_.world();
  const std::size_t bytes = plan.bytes[static_cast<std::size_t>(job_.rank())];
  Memory& memory = memories_[plan.memory];
  const auto owned = [&] {  // parts that end before the window begins are empty in it
    return memory.part.subspan(std::min(plan.first_byte, memory.part.size()), bytes);
  };
  switch (plan.kind) {
    case WindowKind::allocated:
      windows_[index] = WindowBytes::allocate(team, bytes, plan.options);
      memory.part = window(index).local();
      break;
    case WindowKind::shared:
      windows_[index] = WindowBytes::allocate_shared(team, bytes, plan.options);
      memory.part = window(index).local();
      break;
    case WindowKind::created:
      windows_[index] = WindowBytes::create(team, owned(), plan.options);
      break;
    case WindowKind::dynamic:
      windows_[index] = WindowBytes::dynamic(team, plan.options);
      if (bytes != 0) {
        static_cast<void>(window(index).attach(owned()));
      }
      memory.addresses = job_.gather(reinterpret_cast<std::uintptr_t>(memory.part.data()));
      break;
  }
}

void Interpreter::free(std::size_t index) {
  const WindowPlan& plan = program_.windows[index];
  attempt("free", [&] { window(index).free(); });
  if (!program_.memories[plan.memory].by_program) memories_[plan.memory].part = {};
}

void Interpreter::reset_notifications() {
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    if (!windows_[w]) continue;
    for (std::size_t slot = 0; slot < program_.windows[w].options.notification_slots; ++slot) {
      static_cast<void>(window(w).reset_notify(slot));
    }
  }
}

std::span<std::byte> Interpreter::part(std::size_t memory) {
  return memories_[memory].part;
}

bool Interpreter::guards_are_whole(std::size_t memory) const {
  const Memory& owned = memories_[memory];
  if (owned.lines.empty()) return true;
  const std::span<const std::byte> whole = std::as_bytes(std::span(owned.lines));
  return is_untouched(whole.first(kGuard)) &&
         is_untouched(whole.subspan(kGuard + owned.part.size()));
}

void Interpreter::note(std::string text) {
  if (!failure_.empty()) return;
  job_.remark(text);
  failure_ = std::move(text);
}

std::span<std::byte> Interpreter::take(std::size_t bytes, bool registered) {
  constexpr std::size_t kAlignment = 16;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (registered && buffer_used_ + rounded <= kBufferBytes) {
    buffer_used_ += rounded;
    return buffer_.bytes().subspan(buffer_used_ - rounded, bytes);
  }
  heap_.push_back(std::make_unique<std::byte[]>(bytes));
  return {heap_.back().get(), bytes};
}

void Interpreter::run(const Phase& phase, const Forecast& forecast) {
  failure_.clear();
  witnesses_.clear();
  std::uint32_t number = 0;
  for (const Epoch& epoch : phase.epochs) {
    for (const Operation& operation : epoch.operations) {
      const Expectation& expected = forecast.operations[number];
      if (operation.origin == job_.rank()) {
        works_.push_back(
            {.epoch = &epoch, .operation = &operation, .expected = &expected, .number = number});
        prepare(works_.back());
      }
      ++number;
    }
  }
  for (const Epoch& epoch : phase.epochs) run(epoch);
  finish_requests(nullptr, phase.epochs.empty() ? 0 : phase.epochs.front().seed);
  if (!ends_synchronised(phase)) {
    for (const Epoch& epoch : phase.epochs) {
      attempt("sync", [&] { window(epoch.window).sync(); });
    }
    attempt("barrier", [&] { job_.world().barrier(); });
  }
  for (Work& work : works_) look_at(work);
  works_.clear();
  heap_.clear();
  buffer_used_ = 0;
}

}  // namespace oriel::conformance
