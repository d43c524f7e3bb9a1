#include <oriel/team.hpp>

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "window/team_state.hpp"

namespace oriel {
namespace {

window::TeamState& checked(const std::shared_ptr<window::TeamState>& state,
                           std::string_view operation) {
  if (state) return *state;
  base::throw_error(ErrorCode::window_freed,
                    {.operation = std::string(operation), .hint = "the team was moved from"});
}

}  // namespace

using transport::Progress;

Team::Team(std::shared_ptr<window::TeamState> state) noexcept : state_(std::move(state)) {}

Rank Team::rank() const noexcept {
  return Rank(state_->rank());
}
int Team::size() const noexcept {
  return state_->size();
}
Rank Team::world_rank(Rank member) const {
  constexpr std::string_view kOperation = "Team::world_rank";
  return Rank(checked(state_, kOperation).world_rank(kOperation, member));
}
std::string Team::host(Rank member) const {
  constexpr std::string_view kOperation = "Team::host";
  return checked(state_, kOperation).job_rank(kOperation, member).host;
}
std::string_view Team::fabric(Rank member) const {
  constexpr std::string_view kOperation = "Team::fabric";
  return checked(state_, kOperation).job_rank(kOperation, member).transport->name();
}
Team Team::split(int color, int key) const {
  window::TeamState& team = checked(state_, "Team::split");
  const Progress::Turn turn(team.progress("Team::split"));
  return Team(window::split(team, color, key));
}
void Team::barrier() const {
  constexpr std::string_view kOperation = "Team::barrier";
  window::TeamState& team = checked(state_, kOperation);
  const Progress::Turn turn(team.progress(kOperation));
  team.barrier(kOperation);
}
void Team::allgather_bytes(std::string_view operation, std::span<const std::byte> mine,
                           std::span<std::byte> all) const {
  window::TeamState& team = checked(state_, operation);
  if (all.size() / static_cast<std::size_t>(team.size()) != mine.size() ||
      all.size() % static_cast<std::size_t>(team.size()) != 0) {
    base::throw_error(ErrorCode::invalid_argument,
                      {.operation = std::string(operation),
                       .problem = fmt::format("room for {} bytes, but {} ranks give {} bytes each",
                                              all.size(), team.size(), mine.size()),
                       .hint = "give room for exactly all"});
  }
  const Progress::Turn turn(team.progress(operation));
  team.allgather(operation, mine, all);
}
void Team::broadcast_bytes(std::span<std::byte> bytes, Rank root) const {
  constexpr std::string_view kOperation = "Team::broadcast";
  window::TeamState& team = checked(state_, kOperation);
  const Progress::Turn turn(team.progress(kOperation));
  team.broadcast(kOperation, bytes, root);
}

}  // namespace oriel
