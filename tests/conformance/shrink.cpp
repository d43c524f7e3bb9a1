#include "conformance/shrink.hpp"

#include <algorithm>
#include <utility>

namespace oriel::conformance {
namespace {

/// Something that a program has a number of, and that can be taken away.
struct Removable {
  std::size_t (*count)(const Program&);
  void (*remove)(Program&, std::size_t index);
};

void remove_phase(Program& program, std::size_t index) {
  program.phases.erase(program.phases.begin() + static_cast<std::ptrdiff_t>(index));
  for (WindowPlan& window : program.windows) {
    if (window.born == kNever) continue;
    if (window.born == index && window.dies == index) {
      window.born = kNever;
      continue;
    }
    if (window.born > index) --window.born;
    if (window.dies >= index) --window.dies;
  }
}

std::size_t epoch_count(const Program& program) {
  std::size_t count = 0;
  for (const Phase& phase : program.phases) count += phase.epochs.size();
  return count;
}

void remove_epoch(Program& program, std::size_t index) {
  for (Phase& phase : program.phases) {
    if (index < phase.epochs.size()) {
      phase.epochs.erase(phase.epochs.begin() + static_cast<std::ptrdiff_t>(index));
      return;
    }
    index -= phase.epochs.size();
  }
}

void remove_operation(Program& program, std::size_t index) {
  for (Phase& phase : program.phases) {
    for (Epoch& epoch : phase.epochs) {
      if (index < epoch.operations.size()) {
        epoch.operations.erase(epoch.operations.begin() + static_cast<std::ptrdiff_t>(index));
        return;
      }
      index -= epoch.operations.size();
    }
  }
}

/// Only windows that nothing uses any more.
void remove_window(Program& program, std::size_t index) {
  for (const Phase& phase : program.phases) {
    for (const Epoch& epoch : phase.epochs) {
      if (epoch.window == index) return;
    }
  }
  program.windows[index].born = kNever;
}

constexpr Removable kRemovables[] = {
    {[](const Program& p) { return p.phases.size(); }, remove_phase},
    {epoch_count, remove_epoch},
    {[](const Program& p) { return p.operations(); }, remove_operation},
    {[](const Program& p) { return p.windows.size(); }, remove_window},
};

std::size_t weight(const Program& program) {
  const auto living = std::ranges::count_if(
      program.windows, [](const WindowPlan& window) { return window.born != kNever; });
  return program.phases.size() + epoch_count(program) + program.operations() +
         static_cast<std::size_t>(living);
}

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& fails, int tries) {
  bool shorter = true;
  while (std::exchange(shorter, false)) {
    for (const Removable& kind : kRemovables) {
      for (std::size_t chunk = std::max<std::size_t>(kind.count(program) / 2, 1); chunk > 0;
           chunk /= 2) {
        for (std::size_t end = kind.count(program); end > 0; end -= std::min(end, chunk)) {
          Program candidate = program;
          for (std::size_t i = std::min(end, kind.count(candidate)); i > end - std::min(end, chunk);
               --i) {
            kind.remove(candidate, i - 1);
          }
          if (weight(candidate) == weight(program)) continue;
          if (tries-- <= 0) return program;
          if (!fails(candidate)) continue;
          program = std::move(candidate);
          shorter = true;
        }
      }
    }
  }
  return program;
}

}  // namespace oriel::conformance
