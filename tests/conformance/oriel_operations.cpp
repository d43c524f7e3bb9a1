// One operation by Oriel: its call and its completion.

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "conformance/oracle.hpp"
#include "conformance/oriel_interpreter.hpp"

namespace oriel::conformance {

Request& OrielInterpreter::request(const Work& work) {
  if (requests_.size() <= work.index) requests_.resize(work.index + 1);
  return requests_[work.index];
}

TargetBytes OrielInterpreter::where(const Work& work) const {
  return {facts(work.operation->call).name, Rank(work.operation->target), place_of(work)};
}

void OrielInterpreter::call(Work& work) {
  const Operation& operation = *work.operation;
  const TargetBytes at = where(work);
  WindowBytes& win = window(work.epoch->window);
  const std::size_t size = element_of(work).bytes();
  const std::byte* const sent = work.sent.data();
  std::byte* const received = work.results();
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
      request(work) =
          plainly ? win.rput(sent, bytes, at)
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
      request(work) =
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

void OrielInterpreter::accumulate(Work& work, const TargetBytes& at) {
  const Operation& operation = *work.operation;
  const CallFacts& call = facts(operation.call);
  WindowBytes& win = window(work.epoch->window);
  const Layout from = operation.from.layout();
  const Layout into = call.fetches ? operation.into.layout() : operation.from.layout();
  const Layout to = operation.to.layout();
  // Nothing need be sent to read.
  const bool sends = operation.op != OpCode::no_op || operation.values % 2 == 0;
  const Accumulation what{element_of(work).type,
                          operation.op,
                          sends ? work.sent.data() : nullptr,
                          from,
                          call.fetches ? work.results() : nullptr,
                          into,
                          to};
  if (call.requests) {
    request(work) = win.raccumulate(what, at);
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

void OrielInterpreter::swap(Work& work, const TargetBytes& at) {
  WindowBytes& win = window(work.epoch->window);
  std::vector<std::byte> compare = work.expected->compare;  // as short-lived as may be
  const Swap what{element_of(work).type, compare.data(), work.sent.data(), work.results()};
  switch (work.operation->call) {
    case Call::compare_and_swap:
      win.compare_and_swap(what, at);
      break;
    case Call::rcompare_and_swap:
      request(work) = win.rcompare_and_swap(what, at);
      break;
    default:
      win.compare_and_swap_now(what, at);
      break;
  }
  reuse(compare);
}

void OrielInterpreter::plain(Work& work) {
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
    std::memcpy(work.results(), base + operation.offset * size, operation.to.count() * size);
  }
  win.sync();
}

/// What was asked for directly after the operation. What is locally complete may be reused, and has
/// arrived.
void OrielInterpreter::complete(Work& work) {
  WindowBytes& win = window(work.epoch->window);
  const Rank target(work.operation->target);
  const CallFacts& call = facts(work.operation->call);
  bool completed = call.now;
  if (call.accumulates) reuse(work.sent);  // they copy what they send
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
  finished(work);
}

void OrielInterpreter::finish_request(Work& work, std::uint64_t choice) {
  Request& request = this->request(work);
  if (!request.valid()) return;
  const bool remote = work.operation->after == After::wait_remote;
  if (choice % 2 == 0) {
    remote ? request.wait_remote() : request.wait();
  } else {
    while (!(remote ? request.test_remote() : request.test())) ::sched_yield();
  }
  finished(work);
}

/// Ends the requests that were left to the end: of an epoch some, of a phase (no epoch) all; in any
/// order, by all the ways there are.
void OrielInterpreter::finish_requests(const Epoch* epoch, std::uint64_t choice) {
  std::vector<Work*> left;
  for (Work& work : works_) {
    const bool in_turn = epoch == nullptr || (work.epoch == epoch && work.number % 2 == 0);
    if (in_turn && request(work).valid()) left.push_back(&work);
  }
  for (std::size_t i = left.size(); i > 1; --i) std::swap(left[i - 1], left[mix(choice, i) % i]);
  if (choice % 4 < 2) {
    for (Work* const work : left) {
      attempt("wait", [&] { finish_request(*work, mix(choice, work->number)); });
    }
    return;
  }
  std::vector<Request> requests;
  for (Work* const work : left) requests.push_back(std::move(request(*work)));
  if (choice % 4 == 2) {
    attempt("wait_all", [&] { wait_all(requests); });
  } else {
    for (std::size_t i = 0; i < left.size(); ++i) {
      attempt("wait_any", [&] { finished(*left[wait_any(requests)]); });
    }
  }
  for (Work* const work : left) finished(*work);
}

}  // namespace oriel::conformance
