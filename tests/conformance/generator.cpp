#include "conformance/generator.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "conformance/claims.hpp"
#include "conformance/mpi_rules.hpp"
#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

constexpr std::size_t kSlots = 4;
constexpr int kAttempts = 8;

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] std::uint64_t any() { return mix(seed_, ++drawn_); }
  [[nodiscard]] std::size_t below(std::size_t limit) { return any() % limit; }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }
  template <class T, std::size_t N>
  [[nodiscard]] T of(const std::array<T, N>& choices) {
    return choices[below(N)];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

class Generator {
 public:
  Generator(std::uint64_t seed, const Setting& setting)
      : random_(mix(seed, 42)), setting_(setting) {
    program_.seed = seed;
    program_.ranks = setting.ranks();
  }

  Program make() {
    const std::size_t phases = 2 + random_.below(5);
    const std::size_t windows = 1 + random_.below(4);
    for (std::size_t w = 0; w < windows; ++w) add_window(phases);
    program_.windows[0].born = 0;
    program_.windows[0].dies = phases - 1;
    Claims claims(program_);
    for (std::size_t p = 0; p < phases; ++p) {
      claims.begin_phase();
      add_phase(p, claims);
    }
    return std::move(program_);
  }

 private:
  [[nodiscard]] WindowKind some_kind() {
    while (true) {
      const auto kind = static_cast<WindowKind>(random_.below(4));
      if (kind != WindowKind::shared || setting_.has_shared_windows()) return kind;
    }
  }

  [[nodiscard]] const Element& some_element() {
    while (true) {
      const Element& element = elements()[random_.below(elements().size())];
      if (!setting_.by_mpi || mpi::has_type(element)) return element;
    }
  }

  /// Elements of one rank's part: mostly as on all ranks.
  [[nodiscard]] std::size_t some_size(std::size_t usual) {
    return random_.one_in(8) ? random_.below(usual + 1) : usual;
  }

  void add_memory(bool by_program) {
    constexpr std::array<std::size_t, 8> kUsual = {12, 40, 100, 100, 300, 700, 2000, 9000};
    MemoryPlan memory{.element = &some_element(), .by_program = by_program, .fill = random_.any()};
    const std::size_t usual = random_.of(kUsual);
    for (int rank = 0; rank < program_.ranks; ++rank) {
      memory.bytes.push_back(some_size(usual) * memory.element->bytes());
    }
    program_.memories.push_back(std::move(memory));
  }

  void add_window(std::size_t phases) {
    WindowPlan window{.kind = some_kind()};
    const bool by_program =
        window.kind == WindowKind::created || window.kind == WindowKind::dynamic;
    std::vector<std::size_t> others;
    for (std::size_t m = 0; m < program_.memories.size(); ++m) {
      if (program_.memories[m].by_program) others.push_back(m);
    }
    if (by_program && !others.empty() && random_.one_in(2)) {
      window.memory = others[random_.below(others.size())];
      window.first_byte = random_.below(20) * program_.memories[window.memory].element->bytes();
    } else {
      window.memory = program_.memories.size();
      add_memory(by_program);
    }
    for (const std::size_t bytes : program_.memories[window.memory].bytes) {
      window.bytes.push_back(bytes - std::min(bytes, window.first_byte));
    }
    window.options.notification_slots = kSlots;
    window.options.contiguous = random_.one_in(2);
    // Parts that follow each other without gaps lie at multiples of what comes before them.
    if (window.kind == WindowKind::shared) window.options.contiguous &= keeps_alignment(window);
    window.born = random_.below(phases);
    window.dies = window.born + random_.below(phases - window.born);
    program_.windows.push_back(std::move(window));
  }

  [[nodiscard]] bool keeps_alignment(const WindowPlan& window) const {
    const std::size_t alignment = program_.memories[window.memory].element->alignment;
    return std::ranges::all_of(window.bytes,
                               [&](std::size_t bytes) { return bytes % alignment == 0; });
  }

  void add_phase(std::size_t number, Claims& claims) {
    Phase& phase = program_.phases.emplace_back();
    std::vector<std::size_t> alive;
    for (std::size_t w = 0; w < program_.windows.size(); ++w) {
      const WindowPlan& window = program_.windows[w];
      if (window.born <= number && number <= window.dies) alive.push_back(w);
    }
    std::set<std::size_t> notified;  // one such epoch a window, so that slots are not mixed up
    const std::size_t epochs = 1 + random_.below(3);
    for (std::size_t e = 0; e < epochs; ++e) {
      Epoch epoch{.kind = static_cast<EpochKind>(random_.below(kEpochKinds)),
                  .window = alive[random_.below(alive.size())],
                  .seed = random_.any()};
      if (epoch.kind == EpochKind::notify && !notified.insert(epoch.window).second) {
        epoch.kind = EpochKind::flush;
      }
      add_operations(epoch, claims);
      if (epoch.kind != EpochKind::notify && epoch.kind != EpochKind::pscw) {
        claims.all_flushed(epoch.window);
      }
      phase.epochs.push_back(std::move(epoch));
    }
  }

  void add_operations(Epoch& epoch, Claims& claims) {
    const std::size_t operations = 1 + random_.below(4 * static_cast<std::size_t>(program_.ranks));
    for (std::size_t i = 0; i < operations; ++i) {
      for (int attempt = 0; attempt < kAttempts; ++attempt) {
        Operation operation = some_operation(epoch);
        if (operation.to.count() == 0 || !claims.take(epoch, operation, random_.one_in(3))) {
          continue;
        }
        epoch.operations.push_back(std::move(operation));
        break;
      }
    }
  }

  [[nodiscard]] Call some_call(const Epoch& epoch) {
    while (true) {
      const auto call = static_cast<Call>(random_.below(kCalls));
      const Element& element = *program_.memory_of(epoch.window).element;
      if (setting_.by_mpi && !mpi::allows(epoch.kind, element, call)) continue;
      if (facts(call).notifies && epoch.kind != EpochKind::notify) continue;
      if (is_swap(call) && element.bytes() > 16) continue;
      return call;
    }
  }

  /// Of reals, either sums or products on one memory: both together would not stay exact.
  [[nodiscard]] OpCode some_op(const Epoch& epoch, Call call) {
    const std::size_t memory = program_.windows[epoch.window].memory;
    const Element& element = *program_.memories[memory].element;
    const bool is_real = element.family != Family::opaque && is_floating(element.first.scalar);
    const OpCode barred = program_.memories[memory].fill % 3 == 0 ? OpCode::sum : OpCode::prod;
    while (true) {
      const auto op = static_cast<OpCode>(random_.below(14));
      if (setting_.by_mpi && !mpi::allows(call, op)) continue;
      if (has_meaning(element.type.kind, op) && !(is_real && op == barred)) return op;
    }
  }

  [[nodiscard]] std::size_t some_count(std::size_t most) {
    constexpr std::array<std::size_t, 6> kLimits = {1, 4, 4, 20, 100, 1000};
    const std::size_t limit = random_.one_in(20) ? most : random_.of(kLimits);
    return 1 + random_.below(std::min(limit, most));
  }

  Operation some_operation(const Epoch& epoch) {
    const WindowPlan& window = program_.windows[epoch.window];
    const auto ranks = static_cast<std::size_t>(program_.ranks);
    Operation operation{.origin = static_cast<int>(random_.below(ranks)),
                        .target = static_cast<int>(random_.below(ranks)),
                        .call = some_call(epoch),
                        .values = random_.any(),
                        .matches = !random_.one_in(3),
                        .registered = random_.one_in(3),
                        .slot = random_.below(kSlots)};
    const CallFacts& call = facts(operation.call);
    const bool is_plain = operation.call == Call::store || operation.call == Call::load;
    if (is_plain && window.kind != WindowKind::shared) operation.target = operation.origin;
    if (call.accumulates && !is_swap(operation.call)) operation.op = some_op(epoch, operation.call);
    const std::size_t size = window.bytes[static_cast<std::size_t>(operation.target)] /
                             program_.memories[window.memory].element->bytes();
    if (size == 0) return operation;
    lay_out(operation, size);
    operation.after = some_completion(epoch, call);
    return operation;
  }

  void lay_out(Operation& operation, std::size_t size) {
    const CallFacts& call = facts(operation.call);
    const std::size_t count = call.single ? 1 : some_count(size);
    const auto some_shape = [&] {
      const auto kind = call.layouts && random_.one_in(2)
                            ? static_cast<ShapeKind>(random_.below(kShapeKinds))
                            : ShapeKind::contiguous;
      return make_shape(kind, count, random_.any());
    };
    operation.to = some_shape();
    if (operation.to.extent() > size) operation.to = contiguous(count);
    if (call.sends) operation.from = some_shape();
    if (call.fetches) operation.into = some_shape();
    const std::size_t room = size - operation.to.extent() + 1;
    // Atomics like the start, so that they meet.
    const bool meets = call.accumulates && random_.one_in(2);
    operation.offset = random_.below(meets ? std::min<std::size_t>(room, 3) : room);
  }

  [[nodiscard]] After some_completion(const Epoch& epoch, const CallFacts& call) {
    constexpr std::array<After, 8> kAfters = {After::nothing,   After::nothing,    After::nothing,
                                              After::nothing,   After::flush,      After::flush,
                                              After::flush_all, After::flush_local};
    constexpr std::array<After, 4> kRequests = {After::wait, After::wait_remote, After::later,
                                                After::later};
    if (setting_.by_mpi && !mpi::is_passive(epoch.kind)) return After::nothing;
    if (call.requests) return random_.of(kRequests);
    return call.now ? After::nothing : random_.of(kAfters);
  }

  Random random_;
  const Setting& setting_;
  Program program_;
};

}  // namespace

Program make_program(std::uint64_t seed, const Setting& setting) {
  return Generator(seed, setting).make();
}

}  // namespace oriel::conformance
