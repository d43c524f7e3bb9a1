#include "conformance/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

constexpr std::size_t kMemoryGuard = 256;  // a multiple of every alignment
constexpr std::byte kGuardByte{0xa5};
constexpr std::byte kUnreceived{0xee};
constexpr std::byte kReused{0xdd};

bool is_untouched(std::span<const std::byte> guard) {
  return std::ranges::all_of(guard, [](std::byte b) { return b == kGuardByte; });
}

/// The operations that a fault is planted in.
bool is_chosen(const Operation& operation) {
  return operation.values % 4 == 0;
}

}  // namespace

std::vector<int> partners(const Epoch& epoch, int rank, bool as_origin) {
  std::set<int> found;
  for (const Operation& operation : epoch.operations) {
    if ((as_origin ? operation.origin : operation.target) != rank) continue;
    found.insert(as_origin ? operation.target : operation.origin);
  }
  return {found.begin(), found.end()};
}

std::vector<std::uint64_t> notifications(const Epoch& epoch, int rank, std::size_t slots) {
  std::vector<std::uint64_t> counts(slots);
  for (const Operation& operation : epoch.operations) {
    if (operation.target == rank && facts(operation.call).notifies) ++counts[operation.slot];
  }
  return counts;
}

Interpreter::Interpreter(Job& job, const Program& program, Plant plant)
    : job_(job), program_(program), memories_(program.memories.size()), plant_(plant) {
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    if (!program.memories[i].by_program) continue;
    const std::size_t bytes = program.memories[i].bytes[static_cast<std::size_t>(job.rank())];
    Memory& memory = memories_[i];
    memory.lines.resize((bytes + 2 * kMemoryGuard) / sizeof(Line) + 1);
    const std::span<std::byte> whole = std::as_writable_bytes(std::span(memory.lines));
    std::ranges::fill(whole, kGuardByte);
    memory.part = whole.subspan(kMemoryGuard, bytes);
    std::ranges::fill(memory.part, std::byte{0});
  }
}

std::string Interpreter::explain(const Epoch& /*epoch*/, const Operation& /*operation*/) const {
  return {};
}

std::span<std::byte> Interpreter::part(std::size_t memory) {
  return memories_[memory].part;
}

std::span<std::byte> Interpreter::part_of(const WindowPlan& plan) {
  const std::span<std::byte> part = memories_[plan.memory].part;
  return part.subspan(std::min(plan.first_byte, part.size()),
                      plan.bytes[static_cast<std::size_t>(job_.rank())]);
}

bool Interpreter::guards_are_whole(std::size_t memory) const {
  const Memory& owned = memories_[memory];
  if (owned.lines.empty()) return true;
  const std::span<const std::byte> whole = std::as_bytes(std::span(owned.lines));
  return is_untouched(whole.first(kMemoryGuard)) &&
         is_untouched(whole.subspan(kMemoryGuard + owned.part.size()));
}

void Interpreter::note(std::string text) {
  if (!failure_.empty()) return;
  job_.remark(text);
  failure_ = std::move(text);
}

void Interpreter::reuse(std::span<std::byte> memory) {
  std::ranges::fill(memory, kReused);
}

std::span<std::byte> Interpreter::take(std::size_t bytes, bool registered) {
  constexpr std::size_t kAlignment = 16;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (registered && registered_used_ + rounded <= registered_.size()) {
    registered_used_ += rounded;
    return registered_.subspan(registered_used_ - rounded, bytes);
  }
  heap_.push_back(std::make_unique<std::byte[]>(bytes));
  return {heap_.back().get(), bytes};
}

void Interpreter::prepare(Work& work) {
  const Operation& operation = *work.operation;
  const CallFacts& call = facts(operation.call);
  const Element& element = element_of(work);
  const std::size_t size = element.bytes();
  if (call.sends) {
    work.sent = take(operation.from.extent() * size, operation.registered);
    reuse(work.sent);
    std::size_t index = 0;
    for (const std::size_t at : operation.from.places()) {
      make_value(element, operation.op, operation.values, index++, work.sent.data() + at * size);
    }
    if (plant_ == Plant::wrong_byte && is_chosen(operation) && !work.sent.empty()) {
      work.sent[operation.from.places().front() * size] ^= std::byte{1};
    }
  }
  if (call.fetches) {
    work.received = take(operation.into.extent() * size + 2 * kGuard, operation.registered);
    std::ranges::fill(work.received, kUnreceived);
  }
}

std::uint64_t Interpreter::place_of(const Work& work) const {
  const Operation& operation = *work.operation;
  const WindowPlan& plan = program_.windows[work.epoch->window];
  std::uint64_t base = 0;
  if (plan.kind == WindowKind::dynamic) {
    base = memories_[plan.memory].addresses[static_cast<std::size_t>(operation.target)] +
           plan.first_byte;
  }
  return base + operation.offset * program_.memories[plan.memory].element->bytes();
}

std::string Interpreter::text_of(const Work& work) const {
  return to_text(program_, *work.epoch, *work.operation) + explain(*work.epoch, *work.operation);
}

void Interpreter::start(Work& work) {
  attempt(facts(work.operation->call).name, [&] { call(work); });
  if (plant_ == Plant::duplicate && work.operation->call == Call::accumulate &&
      work.operation->op == OpCode::sum && is_chosen(*work.operation)) {
    attempt("accumulate", [&] { call(work); });
  }
  attempt("completion", [&] { complete(work); });
}

void Interpreter::finished(Work& work) {
  reuse(work.sent);
  look_at(work);
}

void Interpreter::run(const Phase& phase, const Forecast& forecast) {
  failure_.clear();
  witnesses_.clear();
  std::uint32_t number = 0;
  for (const Epoch& epoch : phase.epochs) {
    for (const Operation& operation : epoch.operations) {
      const Expectation& expected = forecast.operations[number];
      if (operation.origin == job_.rank()) {
        works_.push_back({.epoch = &epoch,
                          .operation = &operation,
                          .expected = &expected,
                          .number = number,
                          .index = works_.size()});
        prepare(works_.back());
      }
      ++number;
    }
  }
  for (const Epoch& epoch : phase.epochs) run(epoch);
  finish_requests(nullptr, phase.epochs.empty() ? 0 : phase.epochs.front().seed);
  settle(phase);
  for (Work& work : works_) look_at(work);
  works_.clear();
  heap_.clear();
  registered_used_ = 0;
}

void Interpreter::look_at(Work& work) {
  if (work.looked_at || work.received.empty()) return;
  work.looked_at = true;
  const Operation& operation = *work.operation;
  const Element& element = element_of(work);
  const std::size_t size = element.bytes();
  std::byte* const received = work.results();
  const std::vector<std::byte>& old = work.expected->old;
  const std::vector<bool>& contested = work.expected->contested;
  std::uint32_t index = 0;
  for (const std::size_t at : operation.into.places()) {
    std::byte* const found = received + at * size;
    if (!contested.empty() && contested[index]) {
      Witness witness{work.number, index, 0};
      std::memcpy(&witness.old, found, std::min<std::size_t>(size, 8));
      witnesses_.push_back(witness);
    } else if (!equal(element, found, old.data() + index * size)) {
      note(fmt::format("{}: element {} of the result: expected {}, found {}", text_of(work), index,
                       to_text(element, old.data() + index * size), to_text(element, found)));
    }
    std::fill_n(found, size, kUnreceived);  // so that what is left must be untouched
    ++index;
  }
  const auto stray =
      std::ranges::find_if(work.received, [](std::byte b) { return b != kUnreceived; });
  if (stray != work.received.end()) {
    note(fmt::format("{}: byte {} beside the result was written", text_of(work),
                     stray - work.received.begin() - static_cast<std::ptrdiff_t>(kGuard)));
  }
}

}  // namespace oriel::conformance
