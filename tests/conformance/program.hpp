#pragma once
/// A program of one-sided operations of all ranks, as data: what cases and seeds become, what the
/// interpreter executes, the predictor foretells and the shrinker makes shorter.
///
/// A program is a series of phases. A phase is a series of epochs, which all ranks go through in
/// the same order; at its end every operation is complete, memory and results are compared with
/// the prediction, and all ranks agree on the verdict. Within a phase, operations of different
/// ranks meet only where the outcome does not depend on their order (see Claims).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <oriel/window_options.hpp>

#include "conformance/element.hpp"
#include "conformance/shape.hpp"

namespace oriel::conformance {

enum class Call : std::uint8_t {
  put,
  rput,
  put_notify,
  get,
  get_now,
  rget,
  get_notify,
  accumulate,
  raccumulate,
  accumulate_notify,
  get_accumulate,
  rget_accumulate,
  fetch_and_op,
  fetch_and_op_now,
  rfetch_and_op,
  compare_and_swap,
  compare_and_swap_now,
  rcompare_and_swap,
  store,  ///< plain, to the own part or to a shared one
  load,
};
inline constexpr std::size_t kCalls = 20;

struct CallFacts {
  std::string_view name;
  bool sends = false;        ///< carries values of the origin
  bool fetches = false;      ///< brings something to the origin
  bool accumulates = false;  ///< atomic
  bool requests = false;     ///< returns a Request
  bool notifies = false;
  bool single = false;   ///< of one element
  bool layouts = false;  ///< takes layouts
  bool now = false;      ///< complete, locally, on return
};
[[nodiscard]] const CallFacts& facts(Call call) noexcept;
[[nodiscard]] inline bool is_swap(Call call) noexcept {
  return call >= Call::compare_and_swap && call <= Call::rcompare_and_swap;
}

/// What the origin does directly after an operation. The request ones are for calls that return a
/// request, and no other; `later`: at the end of the epoch or of the phase.
enum class After : std::uint8_t {
  nothing,
  flush,
  flush_all,
  flush_local,
  wait,
  wait_remote,
  later
};

struct Operation {
  int origin = 0;
  int target = 0;
  Call call{};
  OpCode op = OpCode::replace;
  std::size_t offset = 0;  ///< elements, from the start of the target's part
  Shape to{};              ///< in the target's part
  Shape from{};            ///< of what is sent, if anything
  Shape into{};            ///< of what is fetched, if anything
  std::uint64_t values = 0;
  bool matches = true;      ///< compare-and-swap: whether it finds what it compares with
  bool registered = false;  ///< the origin's memory is an oriel::Buffer
  std::size_t slot = 0;
  After after = After::nothing;
};

enum class EpochKind : std::uint8_t {
  fence,
  flush,
  lock_shared,
  lock_exclusive,
  lock_all,
  pscw,
  notify,
};
inline constexpr std::size_t kEpochKinds = 7;
[[nodiscard]] std::string_view to_string(EpochKind kind) noexcept;
/// As the library calls them, but without the library.
[[nodiscard]] std::string_view name_of(WindowKind kind) noexcept;

/// Operations on one window, and what surrounds and ends them.
struct Epoch {
  EpochKind kind{};
  std::size_t window = 0;
  std::vector<Operation> operations{};  ///< each rank takes its own, in this order
  std::uint64_t seed = 0;               ///< of choices that must not change the outcome
};

/// New contents of the first bytes of a memory's parts, before a phase.
struct Refill {
  std::size_t memory = 0;
  const Element* element = nullptr;
  std::size_t bytes = 0;
  std::uint64_t seed = 0;
};

struct Phase {
  std::vector<Epoch> epochs{};
  std::vector<Refill> refills{};
};

/// Memory of all ranks: of a window's own, or of the program's under any number of windows.
struct MemoryPlan {
  const Element* element = nullptr;  ///< what it consists of
  std::vector<std::size_t> bytes{};  ///< by rank
  bool by_program = false;
  std::uint64_t fill = 0;  ///< seed of its first contents, given when its first window is created
};
inline constexpr std::size_t kNever = ~std::size_t{0};

struct WindowPlan {
  WindowKind kind{};
  std::size_t memory = 0;
  std::size_t first_byte = 0;        ///< where in the memory's parts it begins, on all ranks
  std::vector<std::size_t> bytes{};  ///< by rank
  WindowOptions options{};
  std::size_t born = 0;  ///< the phase before which it is created, or kNever
  std::size_t dies = 0;  ///< the phase at whose end it is freed
};

struct Program {
  std::uint64_t seed = 0;
  int ranks = 1;
  std::vector<MemoryPlan> memories{};
  std::vector<WindowPlan> windows{};
  std::vector<Phase> phases{};

  [[nodiscard]] const MemoryPlan& memory_of(std::size_t window) const {
    return memories[windows[window].memory];
  }
  [[nodiscard]] std::size_t operations() const;
};

/// One operation as a line of C++, nearly.
[[nodiscard]] std::string to_text(const Program& program, const Epoch& epoch,
                                  const Operation& operation);
/// All of it, for reading.
[[nodiscard]] std::string to_text(const Program& program);

}  // namespace oriel::conformance
