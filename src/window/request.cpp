// Requests: their states, and waiting for one, all or any.

#include <oriel/request.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "base/throw_error.hpp"
#include "sync/flush.hpp"
#include "window/request_pool.hpp"

namespace oriel {
namespace window {

RequestState& RequestPool::acquire(transport::Completion& within, transport::Endpoint& data,
                                   transport::Endpoint& atomics) {
  if (free_.empty()) sweep();
  if (free_.empty()) grow();
  RequestState& state = *free_.back();
  free_.pop_back();
  state = {.done = {.within = &within, .tally = within.tally},
           .data = &data,
           .atomics = &atomics,
           .pool = this};
  return state;
}

void RequestPool::release(RequestState& state) {
  (state.done.remote_pending == 0 ? free_ : draining_).push_back(&state);
}

void RequestPool::sweep() {
  std::erase_if(draining_, [this](RequestState* state) {
    const bool drained = state->done.remote_pending == 0;
    if (drained) free_.push_back(state);
    return drained;
  });
}

void RequestPool::grow() {
  blocks_.push_back(std::make_unique<RequestState[]>(kBlock));
  for (std::size_t i = 0; i < kBlock; ++i) free_.push_back(&blocks_.back()[i]);
  draining_.reserve(blocks_.size() * kBlock);  // so that release() never allocates
}

namespace {

RequestState& checked(std::string_view operation, RequestState* state) {
  if (state != nullptr) return *state;
  base::throw_error(ErrorCode::request_ended,
                    {.operation = std::string(operation),
                     .problem = "the request is empty: it has ended, or never had an operation",
                     .hint = "wait for a request once; valid() tells whether there is one"});
}

/// What was posted for the request completes by itself from now on.
void seal(RequestState& state) {
  if (std::exchange(state.sealed, true)) return;
  transport::Progress& progress = state.pool->progress();
  for (transport::Endpoint* endpoint : {state.data, state.atomics}) {
    if (state.done.remote_pending == 0) return;
    sync::post(progress, [&] { return endpoint->seal(state.done); });
  }
}

bool is_local(const RequestState& state) noexcept {
  return state.done.local_pending == 0;
}
bool is_remote(const RequestState& state) noexcept {
  return state.done.remote_pending == 0;
}

}  // namespace
}  // namespace window

using transport::Progress;
using window::RequestState;

Request& Request::operator=(Request&& other) noexcept {
  if (this != &other) {
    abandon();
    state_ = std::exchange(other.state_, nullptr);
  }
  return *this;
}

/// Ends the request; its failure is thrown when the state is no longer needed.
void Request::finish() {
  RequestState& state = *std::exchange(state_, nullptr);
  const Error* const failure = state.done.failure;
  state.pool->release(state);
  if (failure != nullptr) throw Error(*failure);
}

void Request::abandon() noexcept {
  if (state_ == nullptr) return;
  try {
    wait();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, "a request that nobody waited for: {}", error.what());
  }
}

void Request::wait() {
  RequestState& state = window::checked("Request::wait", state_);
  const Progress::Turn turn(state.pool->progress());
  if (!window::is_local(state)) window::seal(state);
  state.pool->progress().wait([&]() noexcept { return window::is_local(state); });
  finish();
}

void Request::wait_remote() {
  RequestState& state = window::checked("Request::wait_remote", state_);
  const Progress::Turn turn(state.pool->progress());
  window::seal(state);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // for plain stores: see ShmEndpoint::seal
  state.pool->progress().wait([&]() noexcept { return window::is_remote(state); });
  finish();
}

bool Request::test() {
  RequestState& state = window::checked("Request::test", state_);
  const Progress::Turn turn(state.pool->progress());
  if (!window::is_local(state)) {
    window::seal(state);
    state.pool->progress().poll();
  }
  if (!window::is_local(state)) return false;
  finish();
  return true;
}

bool Request::test_remote() {
  RequestState& state = window::checked("Request::test_remote", state_);
  const Progress::Turn turn(state.pool->progress());
  window::seal(state);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  state.pool->progress().poll();
  if (!window::is_remote(state)) return false;
  finish();
  return true;
}

void wait_all(std::span<Request> requests) {
  std::optional<Error> failure;
  for (Request& request : requests) {
    if (!request.valid()) continue;
    try {
      request.wait();
    } catch (const Error& error) {
      if (!failure) failure = error;
    }
  }
  if (failure) throw Error(*failure);
}

std::size_t wait_any(std::span<Request> requests) {
  const auto valid = std::ranges::find_if(requests, &Request::valid);
  Progress& progress =
      window::checked("wait_any", valid == requests.end() ? nullptr : valid->state_)
          .pool->progress();
  const Progress::Turn turn(progress);
  const auto complete = [&]() noexcept {
    return std::ranges::find_if(requests, [](const Request& request) {
      return request.valid() && window::is_local(*request.state_);
    });
  };
  auto found = complete();
  if (found == requests.end()) {
    for (Request& request : requests) {
      if (request.valid()) window::seal(*request.state_);
    }
    progress.wait([&]() noexcept { return (found = complete()) != requests.end(); });
  }
  found->finish();
  return static_cast<std::size_t>(found - requests.begin());
}

}  // namespace oriel
