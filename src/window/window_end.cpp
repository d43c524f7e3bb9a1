// How a window goes: freed before, left by its destructor, by an exception, or by the end of the
// runtime.

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.hpp"
#include "window/window_state.hpp"

namespace oriel::window {

WindowState::~WindowState() {
  std::erase(team_state_->job().windows, this);
  if (!closed_) leave();
  // The records of what is outstanding point into this object, whatever has failed.
  const auto see_off = [this](Traffic& way) {
    way.turns().wait([&]() noexcept {
      return std::ranges::all_of(peers_.made(), [&](Peer& peer) {
        return !way.was_taken_to(peer) || way.pending(peer).done.remote_pending == 0;
      });
    });
  };
  see_off(common_);
  progress().out_of_turn([&] {
    for (Traffic& way : by_lanes_) {
      const transport::Progress::Turn turn(way.turns());
      see_off(way);
    }
  });
  if (kind_ == WindowKind::created || kind_ == WindowKind::dynamic) take_memory_back();
}

/// Memory of the program's that goes out of a window may still be what the device reads or writes
/// for another one, by this window's registration: that is waited for.
void WindowState::take_memory_back() noexcept {
  const auto settle = [](transport::Progress& turns) {
    const transport::Progress::Turn turn(turns);
    OwnCompletion done(turns);
    for (transport::Lane* const lane : turns.lanes()) {
      lane->for_each_endpoint([&](transport::Endpoint& endpoint) {
        sync::post(turns, [&]() noexcept { return endpoint.follow(*done); });
      });
    }
  };
  progress().out_of_turn([&] {
    settle(progress());
    for (Traffic& way : by_lanes_) settle(way.turns());
  });
}

/// The way out of a window that nobody freed. When an exception is on its way through here, this
/// rank will not take part in what the others may be waiting for: they are told instead. If the
/// team has fallen apart already, everybody knows.
void WindowState::leave() noexcept {
  if (std::uncaught_exceptions() > exceptions_at_start_ || barrier_->given_up()) {
    abandon();
    return;
  }
  try {
    close();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, "window {} was left by an error: {}", number_, error.what());
  }
}

void WindowState::abandon() noexcept {
  closed_ = true;
  team_state_->job().broken = true;
  try {
    vigil_->check("Window");
    barrier_->give_up();
  } catch (const Error& error) {  // others are told who was the first
    barrier_->give_up(&error);
  }
}

MappedParts::~MappedParts() = default;

void release(std::unique_ptr<MappedParts> window) noexcept {
  if (!window) return;
  const auto& state = static_cast<const WindowState&>(*window);
  const Team team = state.team();
  const transport::Progress::Turn turn(state.progress());
  window.reset();
}

void release_all(const JobContext& job) noexcept {
  while (!job.windows.empty()) release(std::move(job.windows.front()->owner()));
}

}  // namespace oriel::window
