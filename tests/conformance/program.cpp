#include "conformance/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace oriel::conformance {
namespace {

constexpr std::array<CallFacts, kCalls> kFacts = {{
    {.name = "put", .sends = true, .layouts = true},
    {.name = "rput", .sends = true, .requests = true, .layouts = true},
    {.name = "put_notify", .sends = true, .notifies = true},
    {.name = "get", .fetches = true, .layouts = true},
    {.name = "get_now", .fetches = true, .now = true},
    {.name = "rget", .fetches = true, .requests = true, .layouts = true},
    {.name = "get_notify", .fetches = true, .notifies = true},
    {.name = "accumulate", .sends = true, .accumulates = true, .layouts = true},
    {.name = "raccumulate", .sends = true, .accumulates = true, .requests = true, .layouts = true},
    {.name = "accumulate_notify",
     .sends = true,
     .accumulates = true,
     .notifies = true,
     .layouts = true},
    {.name = "get_accumulate",
     .sends = true,
     .fetches = true,
     .accumulates = true,
     .layouts = true},
    {.name = "rget_accumulate",
     .sends = true,
     .fetches = true,
     .accumulates = true,
     .requests = true,
     .layouts = true},
    {.name = "fetch_and_op", .sends = true, .fetches = true, .accumulates = true, .single = true},
    {.name = "fetch_and_op_now",
     .sends = true,
     .fetches = true,
     .accumulates = true,
     .single = true,
     .now = true},
    {.name = "rfetch_and_op",
     .sends = true,
     .fetches = true,
     .accumulates = true,
     .requests = true,
     .single = true},
    {.name = "compare_and_swap",
     .sends = true,
     .fetches = true,
     .accumulates = true,
     .single = true},
    {.name = "compare_and_swap_now",
     .sends = true,
     .fetches = true,
     .accumulates = true,
     .single = true,
     .now = true},
    {.name = "rcompare_and_swap",
     .sends = true,
     .fetches = true,
     .accumulates = true,
     .requests = true,
     .single = true},
    {.name = "store", .sends = true, .now = true},
    {.name = "load", .fetches = true, .now = true},
}};

std::string_view to_text(After after) {
  constexpr std::array<std::string_view, 7> kTexts = {
      "", " flush", " flush_all", " flush_local", " wait", " wait_remote", " wait later"};
  return kTexts[static_cast<std::size_t>(after)];
}

std::string window_text(const Program& program, std::size_t index) {
  const WindowPlan& window = program.windows[index];
  return fmt::format(
      "  w{} = {} of {}, bytes by rank {{{}}}, memory m{} from byte {}, phases {}-{}\n", index,
      name_of(window.kind), program.memory_of(index).element->name, fmt::join(window.bytes, ", "),
      window.memory, window.first_byte, window.born, window.dies);
}

}  // namespace

const CallFacts& facts(Call call) noexcept {
  return kFacts[static_cast<std::size_t>(call)];
}

std::string_view to_string(EpochKind kind) noexcept {
  constexpr std::array<std::string_view, kEpochKinds> kNames = {
      "fence", "flush", "lock_shared", "lock_exclusive", "lock_all", "pscw", "notify"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(WindowKind kind) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"allocated", "created", "shared", "dynamic"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::size_t Program::operations() const {
  std::size_t count = 0;
  for (const Phase& phase : phases) {
    for (const Epoch& epoch : phase.epochs) count += epoch.operations.size();
  }
  return count;
}

std::string to_text(const Program& program, const Epoch& epoch, const Operation& operation) {
  const CallFacts& call = facts(operation.call);
  std::string text = fmt::format("rank {}: w{}.{}", operation.origin, epoch.window, call.name);
  if (is_swap(operation.call)) {
    text += operation.matches ? "<match>" : "<no match>";
  } else if (call.accumulates) {
    text += fmt::format("<{}>", to_string(operation.op));
  }
  text += fmt::format("(target {}, offset {}, {}", operation.target, operation.offset,
                      operation.to.to_text());
  if (call.sends) text += fmt::format(", from {}", operation.from.to_text());
  if (call.fetches) text += fmt::format(", into {}", operation.into.to_text());
  if (call.notifies) text += fmt::format(", slot {}", operation.slot);
  text += fmt::format(") of {}{}{}", program.memory_of(epoch.window).element->name,
                      operation.registered ? ", in a Buffer" : "", to_text(operation.after));
  return text;
}

std::string to_text(const Program& program) {
  std::string text =
      fmt::format("program of seed {}: {} ranks, {} phases, {} operations\n", program.seed,
                  program.ranks, program.phases.size(), program.operations());
  for (std::size_t w = 0; w < program.windows.size(); ++w) {
    if (program.windows[w].born != kNever) text += window_text(program, w);
  }
  for (std::size_t p = 0; p < program.phases.size(); ++p) {
    text += fmt::format("  phase {}\n", p);
    for (const Epoch& epoch : program.phases[p].epochs) {
      text += fmt::format("    {} on w{}\n", to_string(epoch.kind), epoch.window);
      for (const Operation& operation : epoch.operations) {
        text += fmt::format("      {}\n", to_text(program, epoch, operation));
      }
    }
  }
  return text;
}

}  // namespace oriel::conformance
