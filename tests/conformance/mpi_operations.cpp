// One operation by MPI: its call, and what completes it at once.

#include <fmt/format.h>

#include <cstring>

#include "conformance/mpi_interpreter.hpp"
#include "conformance/oracle.hpp"

namespace oriel::conformance::mpi {

/// Both ends are described by choices of their own, but for the elements: puts and gets may move
/// them as anything, accumulates that may meet are of one type.
MpiInterpreter::Types MpiInterpreter::types_of(const Epoch& epoch,
                                               const Operation& operation) const {
  const MemoryPlan& memory = program_.memory_of(epoch.window);
  const std::uint64_t seed = operation.values;
  Datatype element = facts(operation.call).accumulates
                         ? basic_type(*memory.element, memory.fill / 3)
                         : moved_type(*memory.element, mix(seed, 1));
  element.commit();
  Described from = describe(operation.from, element, mix(seed, 2));
  Described into = describe(operation.into, element, mix(seed, 3));
  Described to = describe(operation.to, element, mix(seed, 4));
  return {std::move(element), std::move(from), std::move(into), std::move(to)};
}

std::string MpiInterpreter::explain(const Epoch& epoch, const Operation& operation) const {
  const CallFacts& call = facts(operation.call);
  if (operation.call == Call::store || operation.call == Call::load) return {};
  const Types types = types_of(epoch, operation);
  if (call.single && !call.requests) return fmt::format(", as {}", types.element.text());
  std::string text = fmt::format(", at the target {} x {}", types.to.count, types.to.type.text());
  if (call.sends) text += fmt::format(", from {} x {}", types.from.count, types.from.type.text());
  if (call.fetches) text += fmt::format(", into {} x {}", types.into.count, types.into.type.text());
  return text;
}

void MpiInterpreter::call(Work& work) {
  const CallFacts& call = facts(work.operation->call);
  if (work.operation->call == Call::store || work.operation->call == Call::load) {
    plain(work);
    return;
  }
  const Types types = types_of(*work.epoch, *work.operation);
  if (call.single && !call.requests) {
    single(work, types.element.get());
  } else if (call.accumulates) {
    accumulate(work, types);
  } else {
    move(work, types);
  }
}

void MpiInterpreter::move(Work& work, const Types& types) {
  const MPI_Win win = window(work).handle;
  const int target = rank_in(window(work), work.operation->target);
  const MPI_Aint at = displacement(work);
  const auto& [element, from, into, to] = types;
  switch (work.operation->call) {
    case Call::rput:
      check(MPI_Rput(work.sent.data(), from.count, from.type.get(), target, at, to.count,
                     to.type.get(), win, &request(work)),
            "MPI_Rput");
      break;
    case Call::rget:
      check(MPI_Rget(work.results(), into.count, into.type.get(), target, at, to.count,
                     to.type.get(), win, &request(work)),
            "MPI_Rget");
      break;
    case Call::put:
    case Call::put_notify:
      check(MPI_Put(work.sent.data(), from.count, from.type.get(), target, at, to.count,
                    to.type.get(), win),
            "MPI_Put");
      break;
    default:
      check(MPI_Get(work.results(), into.count, into.type.get(), target, at, to.count,
                    to.type.get(), win),
            "MPI_Get");
      break;
  }
}

void MpiInterpreter::accumulate(Work& work, const Types& types) {
  const Operation& operation = *work.operation;
  const MPI_Win win = window(work).handle;
  const int target = rank_in(window(work), operation.target);
  const MPI_Aint at = displacement(work);
  const auto& [element, from, into, to] = types;
  const MPI_Op op = mpi::operation(operation.op);
  // Nothing need be sent to read.
  const bool sends = operation.op != OpCode::no_op || operation.values % 2 == 0;
  const void* const sent = sends ? work.sent.data() : nullptr;
  const int count = sends ? from.count : 0;
  const MPI_Datatype type = sends ? from.type.get() : types.element.get();
  switch (operation.call) {
    case Call::raccumulate:
      check(MPI_Raccumulate(sent, count, type, target, at, to.count, to.type.get(), op, win,
                            &request(work)),
            "MPI_Raccumulate");
      break;
    case Call::rget_accumulate:
    case Call::rfetch_and_op:
      check(MPI_Rget_accumulate(sent, count, type, work.results(), into.count, into.type.get(),
                                target, at, to.count, to.type.get(), op, win, &request(work)),
            "MPI_Rget_accumulate");
      break;
    case Call::get_accumulate:
      check(MPI_Get_accumulate(sent, count, type, work.results(), into.count, into.type.get(),
                               target, at, to.count, to.type.get(), op, win),
            "MPI_Get_accumulate");
      break;
    default:
      check(MPI_Accumulate(sent, count, type, target, at, to.count, to.type.get(), op, win),
            "MPI_Accumulate");
      break;
  }
}

void MpiInterpreter::single(Work& work, MPI_Datatype type) {
  const Operation& operation = *work.operation;
  const MPI_Win win = window(work).handle;
  const int target = rank_in(window(work), operation.target);
  const MPI_Aint at = displacement(work);
  if (is_swap(operation.call)) {
    check(MPI_Compare_and_swap(work.sent.data(), work.expected->compare.data(), work.results(),
                               type, target, at, win),
          "MPI_Compare_and_swap");
    return;
  }
  const bool sends = operation.op != OpCode::no_op || operation.values % 2 == 0;
  check(MPI_Fetch_and_op(sends ? work.sent.data() : nullptr, work.results(), type, target, at,
                         mpi::operation(operation.op), win),
        "MPI_Fetch_and_op");
}

void MpiInterpreter::plain(Work& work) {
  const Operation& operation = *work.operation;
  const Window& win = window(work);
  const WindowPlan& plan = program_.windows[work.epoch->window];
  const std::size_t size = element_of(work).bytes();
  std::byte* base = memories_[plan.memory].part.data() + plan.first_byte;
  if (operation.target != job_.rank()) {
    MPI_Aint bytes = 0;
    int unit = 0;
    check(MPI_Win_shared_query(win.handle, rank_in(win, operation.target), &bytes, &unit, &base),
          "MPI_Win_shared_query");
  }
  check(MPI_Win_sync(win.handle), "MPI_Win_sync");
  if (operation.call == Call::store) {
    std::memcpy(base + operation.offset * size, work.sent.data(), work.sent.size());
  } else {
    std::memcpy(work.results(), base + operation.offset * size, operation.to.count() * size);
  }
  check(MPI_Win_sync(win.handle), "MPI_Win_sync");
}

int MpiInterpreter::tag_of(const Epoch& epoch, std::size_t slot) const {
  return static_cast<int>(epoch.window * program_.windows[epoch.window].options.notification_slots +
                          slot);
}

/// A message behind what was done to the target.
void MpiInterpreter::notify(const Epoch& epoch, int target, std::size_t slot) {
  const Window& win = window(epoch);
  check(MPI_Win_flush(rank_in(win, target), win.handle), "MPI_Win_flush");
  check(MPI_Isend(nullptr, 0, MPI_BYTE, target, tag_of(epoch, slot), messages_,
                  &notifications_.emplace_back(MPI_REQUEST_NULL)),
        "MPI_Isend");
}

void MpiInterpreter::complete(Work& work) {
  const Operation& operation = *work.operation;
  const Window& win = window(work);
  const int target = rank_in(win, operation.target);
  if (facts(operation.call).notifies) {
    notify(*work.epoch, operation.target, operation.slot);
    finished(work);
  }
  if (facts(operation.call).now) {
    const bool is_plain = operation.call == Call::store || operation.call == Call::load;
    if (!is_plain) check(MPI_Win_flush_local(target, win.handle), "MPI_Win_flush_local");
    finished(work);
  }
  switch (operation.after) {
    case After::nothing:
    case After::later:
      return;
    case After::flush:
      check(MPI_Win_flush(target, win.handle), "MPI_Win_flush");
      break;
    case After::flush_all:
      check(MPI_Win_flush_all(win.handle), "MPI_Win_flush_all");
      break;
    case After::flush_local:
      if (operation.values % 3 == 0) {
        check(MPI_Win_flush_local_all(win.handle), "MPI_Win_flush_local_all");
      } else {
        check(MPI_Win_flush_local(target, win.handle), "MPI_Win_flush_local");
      }
      break;
    case After::wait:
    case After::wait_remote:
      finish({&work}, operation.values / 2);
      if (operation.after == After::wait_remote) {
        check(MPI_Win_flush(target, win.handle), "MPI_Win_flush");
      }
      return;
  }
  finished(work);
}

}  // namespace oriel::conformance::mpi
