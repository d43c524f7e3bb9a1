// One operation: its memory, its call, its completion, and a look at what it brought.

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "conformance/interpreter.hpp"
#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

constexpr std::size_t kGuard = 64;
constexpr std::byte kUnreceived{0xee};
constexpr std::byte kReused{0xdd};

/// The elements that a fault is planted in.
bool is_chosen(const Operation& operation) {
  return operation.values % 4 == 0;
}

}  // namespace

void Interpreter::prepare(Work& work) {
  const Operation& operation = *work.operation;
  const CallFacts& call = facts(operation.call);
  const Element& element = *program_.memory_of(work.epoch->window).element;
  const std::size_t size = element.bytes();
  if (call.sends) {
    work.sent = take(operation.from.extent() * size, operation.registered);
    std::ranges::fill(work.sent, kReused);
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

TargetBytes Interpreter::where(const Work& work) const {
  const Operation& operation = *work.operation;
  const WindowPlan& plan = program_.windows[work.epoch->window];
  std::size_t base = 0;
  if (plan.kind == WindowKind::dynamic) {
    base = memories_[plan.memory].addresses[static_cast<std::size_t>(operation.target)] +
           plan.first_byte;
  }
  const std::size_t size = program_.memories[plan.memory].element->bytes();
  return {facts(operation.call).name, Rank(operation.target), base + operation.offset * size};
}

void Interpreter::start(Work& work) {
  attempt(facts(work.operation->call).name, [&] { call(work); });
  if (plant_ == Plant::duplicate && work.operation->call == Call::accumulate &&
      work.operation->op == OpCode::sum && is_chosen(*work.operation)) {
    attempt("accumulate", [&] { call(work); });
  }
  if (facts(work.operation->call).accumulates) std::ranges::fill(work.sent, kReused);
  attempt("completion", [&] { complete(work); });
}

void Interpreter::call(Work& work) {
  const Operation& operation = *work.operation;
  const TargetBytes at = where(work);
  WindowBytes& win = window(work.epoch->window);
  const std::size_t size = program_.memory_of(work.epoch->window).element->bytes();
  const std::byte* const sent = work.sent.data();
  std::byte* const received = work.received.data() + kGuard;
  const bool plainly = operation.from.kind == ShapeKind::contiguous &&
                       operation.into.kind == ShapeKind::contiguous &&
                       operation.to.kind == ShapeKind::contiguous;
  const std::size_t bytes = operation.to.count() * size;
  switch (operation.call) {
    case Call::put:
      plainly ? win.put(sent, bytes, at)
              : win.put(sent, operation.from.layout(), at, operation.to.layout(), size);
      break;
    case Call::rput:
      work.request = plainly
                         ? win.rput(sent, bytes, at)
                         : win.rput(sent, operation.from.layout(), at, operation.to.layout(), size);
      break;
    case Call::put_notify:
      win.put_notify(sent, bytes, at, operation.slot);
      break;
    case Call::get:
      plainly ? win.get(received, bytes, at)
              : win.get(received, operation.into.layout(), at, operation.to.layout(), size);
      break;
    case Call::get_now:
      win.get_now(received, bytes, at);
      break;
    case Call::rget:
      work.request =
          plainly ? win.rget(received, bytes, at)
                  : win.rget(received, operation.into.layout(), at, operation.to.layout(), size);
      break;
    case Call::get_notify:
      win.get_notify(received, bytes, at, operation.slot);
      break;
    case Call::store:
    case Call::load:
      plain(work);
      break;
    default:
      is_swap(operation.call) ? swap(work, at) : accumulate(work, at);
      break;
  }
}

void Interpreter::accumulate(Work& work, const TargetBytes& at) {
  const Operation& operation = *work.operation;
  const CallFacts& call = facts(operation.call);
  WindowBytes& win = window(work.epoch->window);
  const Layout from = operation.from.layout();
  const Layout into = call.fetches ? operation.into.layout() : operation.from.layout();
  const Layout to = operation.to.layout();
  // Nothing need be sent to read.
  const bool sends = operation.op != OpCode::no_op || operation.values % 2 == 0;
  const Accumulation what{program_.memory_of(work.epoch->window).element->type,
                          operation.op,
                          sends ? work.sent.data() : nullptr,
                          from,
                          call.fetches ? work.received.data() + kGuard : nullptr,
                          into,
                          to};
  if (call.requests) {
    work.request = win.raccumulate(what, at);
  } else if (call.notifies) {
    win.accumulate_notify(what, at, operation.slot);
  } else if (from.is_contiguous() && into.is_contiguous() && to.is_contiguous()) {
    if (call.now) {
      win.accumulate_now(what.type, what.op, what.operands, what.results, to.count(), at);
    } else {
      win.accumulate(what.type, what.op, what.operands, what.results, to.count(), at);
    }
  } else {
    win.accumulate(what, at);
  }
}

void Interpreter::swap(Work& work, const TargetBytes& at) {
  WindowBytes& win = window(work.epoch->window);
  std::vector<std::byte> compare = work.expected->compare;  // as short-lived as may be
  const Swap what{program_.memory_of(work.epoch->window).element->type, compare.data(),
                  work.sent.data(), work.received.data() + kGuard};
  switch (work.operation->call) {
    case Call::compare_and_swap:
      win.compare_and_swap(what, at);
      break;
    case Call::rcompare_and_swap:
      work.request = win.rcompare_and_swap(what, at);
      break;
    default:
      win.compare_and_swap_now(what, at);
      break;
  }
  std::ranges::fill(compare, kReused);
}

void Interpreter::plain(Work& work) {
  const Operation& operation = *work.operation;
  WindowBytes& win = window(work.epoch->window);
  const WindowPlan& plan = program_.windows[work.epoch->window];
  const std::size_t size = program_.memories[plan.memory].element->bytes();
  std::byte* base = memories_[plan.memory].part.data() + plan.first_byte;
  if (operation.target != job_.rank()) base = win.shared_span(Rank(operation.target)).data();
  win.sync();
  if (operation.call == Call::store) {
    std::memcpy(base + operation.offset * size, work.sent.data(), work.sent.size());
  } else {
    std::memcpy(work.received.data() + kGuard, base + operation.offset * size,
                operation.to.count() * size);
  }
  win.sync();
}

/// What was asked for directly after the operation. What is locally complete may be reused, and has
/// arrived.
void Interpreter::complete(Work& work) {
  WindowBytes& win = window(work.epoch->window);
  const Rank target(work.operation->target);
  bool completed = facts(work.operation->call).now;
  switch (work.operation->after) {
    case After::nothing:
    case After::later:
      break;
    case After::flush:
      win.flush(target);
      completed = true;
      break;
    case After::flush_all:
      win.flush_all();
      completed = true;
      break;
    case After::flush_local:
      win.flush_local(target);
      completed = true;
      break;
    case After::wait:
    case After::wait_remote:
      finish_request(work, work.operation->values);
      return;
  }
  if (!completed) return;
  std::ranges::fill(work.sent, kReused);
  look_at(work);
}

void Interpreter::finish_request(Work& work, std::uint64_t choice) {
  if (!work.request.valid()) return;
  const bool remote = work.operation->after == After::wait_remote;
  if (choice % 2 == 0) {
    remote ? work.request.wait_remote() : work.request.wait();
  } else {
    while (!(remote ? work.request.test_remote() : work.request.test())) ::sched_yield();
  }
  std::ranges::fill(work.sent, kReused);
  look_at(work);
}

/// Ends the requests that were left to the end: of an epoch some, of a phase (no epoch) all; in any
/// order, by all the ways there are.
void Interpreter::finish_requests(const Epoch* epoch, std::uint64_t choice) {
  std::vector<Work*> left;
  for (Work& work : works_) {
    const bool in_turn = epoch == nullptr || (work.epoch == epoch && work.number % 2 == 0);
    if (in_turn && work.request.valid()) left.push_back(&work);
  }
  for (std::size_t i = left.size(); i > 1; --i) std::swap(left[i - 1], left[mix(choice, i) % i]);
  if (choice % 4 < 2) {
    for (Work* const work : left) {
      attempt("wait", [&] { finish_request(*work, mix(choice, work->number)); });
    }
    return;
  }
  std::vector<Request> requests;
  for (Work* const work : left) requests.push_back(std::move(work->request));
  if (choice % 4 == 2) {
    attempt("wait_all", [&] { wait_all(requests); });
  } else {
    for (std::size_t i = 0; i < left.size(); ++i) {
      attempt("wait_any", [&] { look_at(*left[wait_any(requests)]); });
    }
  }
  for (Work* const work : left) {
    std::ranges::fill(work->sent, kReused);
    look_at(*work);
  }
}

void Interpreter::look_at(Work& work) {
  if (work.looked_at || work.received.empty()) return;
  work.looked_at = true;
  const Operation& operation = *work.operation;
  const Element& element = *program_.memory_of(work.epoch->window).element;
  const std::size_t size = element.bytes();
  std::byte* const received = work.received.data() + kGuard;
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
      note(fmt::format("{}: element {} of the result: expected {}, found {}",
                       to_text(program_, *work.epoch, operation), index,
                       to_text(element, old.data() + index * size), to_text(element, found)));
    }
    std::fill_n(found, size, kUnreceived);  // so that what is left must be untouched
    ++index;
  }
  const auto stray =
      std::ranges::find_if(work.received, [](std::byte b) { return b != kUnreceived; });
  if (stray != work.received.end()) {
    note(fmt::format("{}: byte {} beside the result was written",
                     to_text(program_, *work.epoch, operation),
                     stray - work.received.begin() - static_cast<std::ptrdiff_t>(kGuard)));
  }
}

}  // namespace oriel::conformance
