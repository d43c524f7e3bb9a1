// Requests: ended by all the ways that MPI has, among messages and requests that are none.

#include <sched.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conformance/mpi_interpreter.hpp"
#include "conformance/oracle.hpp"

namespace oriel::conformance::mpi {
namespace {

constexpr std::size_t kWays = 9;
constexpr int kTag = 32767;  // no notification's

std::size_t index_of(int index) {
  return static_cast<std::size_t>(index);
}

/// One of the requests that are left ends.
/// @return which one; none are left: MPI_UNDEFINED
int end_one(std::vector<MPI_Request>& requests, bool waits, MPI_Status* status) {
  const int count = static_cast<int>(requests.size());
  int index = MPI_UNDEFINED;
  if (waits) {
    check(MPI_Waitany(count, requests.data(), &index, status), "MPI_Waitany");
    return index;
  }
  int done = 0;
  while (true) {
    check(MPI_Testany(count, requests.data(), &index, &done, status), "MPI_Testany");
    if (done != 0) return index;
    ::sched_yield();
  }
}

/// Some of the requests that are left end. Empty: none are left.
std::vector<int> end_some(std::vector<MPI_Request>& requests, bool waits) {
  const int count = static_cast<int>(requests.size());
  std::vector<int> indices(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  int done = 0;
  if (waits) {
    check(MPI_Waitsome(count, requests.data(), &done, indices.data(), statuses.data()),
          "MPI_Waitsome");
  } else {
    while (done == 0) {
      check(MPI_Testsome(count, requests.data(), &done, indices.data(), statuses.data()),
            "MPI_Testsome");
      if (done == 0) ::sched_yield();
    }
  }
  if (done == MPI_UNDEFINED) return {};
  indices.resize(index_of(done));
  return indices;
}

void end_all(std::vector<MPI_Request>& requests, bool waits, bool asks) {
  const int count = static_cast<int>(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  MPI_Status* const into = asks ? statuses.data() : MPI_STATUSES_IGNORE;
  if (waits) {
    check(MPI_Waitall(count, requests.data(), into), "MPI_Waitall");
    return;
  }
  int done = 0;
  while (true) {
    check(MPI_Testall(count, requests.data(), &done, into), "MPI_Testall");
    if (done != 0) return;
    ::sched_yield();
  }
}

void end(MPI_Request& request, std::uint64_t choice) {
  MPI_Status status;
  MPI_Status* const into = choice % 2 == 0 ? MPI_STATUS_IGNORE : &status;
  int done = 0;
  switch (choice / 2 % 3) {
    case 0:
      check(MPI_Wait(&request, into), "MPI_Wait");
      return;
    case 1:
      while (true) {
        check(MPI_Test(&request, &done, into), "MPI_Test");
        if (done != 0) return;
        ::sched_yield();
      }
    default:
      while (true) {
        check(MPI_Request_get_status(request, &done, into), "MPI_Request_get_status");
        if (done != 0) break;
        ::sched_yield();
      }
      check(MPI_Wait(&request, into), "MPI_Wait");
      return;
  }
}

}  // namespace

MPI_Request& MpiInterpreter::request(const Work& work) {
  if (requests_.size() <= work.index) requests_.resize(work.index + 1, MPI_REQUEST_NULL);
  return requests_[work.index];
}

/// Some at the end of an epoch, the others at the end of the phase: behind the epoch the operation
/// is complete, and its request has still to be ended.
void MpiInterpreter::finish_requests(const Epoch* epoch, std::uint64_t choice) {
  std::vector<Work*> left;
  for (Work& work : works_) {
    const bool in_turn = epoch == nullptr || (work.epoch == epoch && work.number % 2 == 0);
    if (in_turn && request(work) != MPI_REQUEST_NULL) left.push_back(&work);
  }
  for (std::size_t i = left.size(); i > 1; --i) std::swap(left[i - 1], left[mix(choice, i) % i]);
  if (!left.empty()) attempt("requests", [&] { finish(left, mix(choice, 7)); });
}

void MpiInterpreter::finish(const std::vector<Work*>& works, std::uint64_t choice) {
  const std::size_t way = choice % kWays;
  if (way < 3) {
    for (Work* const work : works) {
      end(request(*work), mix(choice, work->number));
      finished(*work);
    }
    return;
  }
  // Among ours: what is no request, and a message to ourselves.
  Requests requests{MPI_REQUEST_NULL};
  for (Work* const work : works) requests.push_back(request(*work));
  int sent = static_cast<int>(choice % 1000);
  int received = -1;
  check(MPI_Irecv(&received, 1, MPI_INT, job_.rank(), kTag, messages_,
                  &requests.emplace_back(MPI_REQUEST_NULL)),
        "MPI_Irecv");
  check(MPI_Isend(&sent, 1, MPI_INT, job_.rank(), kTag, messages_,
                  &requests.emplace_back(MPI_REQUEST_NULL)),
        "MPI_Isend");
  const auto ended = [&](int index) {
    const std::size_t at = index_of(index);
    if (at >= 1 && at <= works.size()) finished(*works[at - 1]);
  };
  const bool waits = way % 2 == 1;
  if (way < 5) {
    end_all(requests, waits, choice / kWays % 2 == 0);
  } else if (way < 7) {
    MPI_Status status;
    for (int one = 0; (one = end_one(requests, waits, &status)) != MPI_UNDEFINED;) ended(one);
  } else {
    std::vector<int> some;
    while (!(some = end_some(requests, waits)).empty()) {
      for (const int one : some) ended(one);
    }
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] != MPI_REQUEST_NULL) note(fmt::format("request {} is left", i));
  }
  if (received != sent) note(fmt::format("a message among requests: {} for {}", received, sent));
  for (Work* const work : works) {
    request(*work) = MPI_REQUEST_NULL;
    finished(*work);
  }
}

}  // namespace oriel::conformance::mpi
