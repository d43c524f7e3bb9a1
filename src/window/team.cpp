#include <oriel/team.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "bootstrap/exchange.hpp"
#include "window/team_state.hpp"

namespace oriel {
namespace window {
namespace {

struct Choice {
  int color;
  int key;
};

/// Colors as the bootstrap wants them: from 0 without gaps; each rank with a negative color gets
/// one of its own.
int compact_color(std::span<const Choice> choices, std::size_t rank) {
  std::set<int> colors;
  for (const Choice& choice : choices) {
    if (choice.color >= 0) colors.insert(choice.color);
  }
  if (choices[rank].color < 0) return static_cast<int>(colors.size() + rank);
  return static_cast<int>(std::distance(colors.begin(), colors.find(choices[rank].color)));
}

}  // namespace

int TeamState::world_rank(std::string_view operation, int member) const {
  if (member < 0 || member >= size()) {
    base::throw_error(ErrorCode::invalid_rank,
                      {.operation = std::string(operation),
                       .problem = fmt::format("rank {} of a team of {}", member, size()),
                       .origin = job_.world_rank,
                       .hint = fmt::format("ranks are 0 to {}", size() - 1)});
  }
  return members_[static_cast<std::size_t>(member)];
}

const JobRank& TeamState::job_rank(std::string_view operation, int member) const {
  return job_.ranks[static_cast<std::size_t>(world_rank(operation, member))];
}

std::shared_ptr<TeamState> split(const TeamState& parent, int color, int key) {
  const auto choices = bootstrap::allgather_records(parent.group(), Choice{color, key});
  const auto me = static_cast<std::size_t>(parent.rank());
  const int mine = compact_color(choices, me);
  std::vector<std::pair<int, int>> chosen;  // key, parent rank: in the order of the new team
  for (std::size_t rank = 0; rank < choices.size(); ++rank) {
    if (compact_color(choices, rank) == mine) {
      chosen.emplace_back(choices[rank].key, static_cast<int>(rank));
    }
  }
  std::ranges::sort(chosen);
  std::vector<int> members;
  for (const auto& [ignored, rank] : chosen) {
    members.push_back(parent.members()[static_cast<std::size_t>(rank)]);
  }
  return std::make_shared<TeamState>(parent.job(), parent.group().split(mine, key),
                                     std::move(members));
}

}  // namespace window

Team::Team(std::shared_ptr<window::TeamState> state) noexcept : state_(std::move(state)) {}

Rank Team::rank() const noexcept {
  return Rank(state_->rank());
}
int Team::size() const noexcept {
  return state_->size();
}
Rank Team::world_rank(Rank member) const {
  return Rank(state_->world_rank("Team::world_rank", member));
}
std::string Team::host(Rank member) const {
  return state_->job_rank("Team::host", member).host;
}
std::string_view Team::fabric(Rank member) const {
  return state_->job_rank("Team::fabric", member).transport->name();
}
Team Team::split(int color, int key) const {
  return Team(window::split(*state_, color, key));
}
void Team::barrier() const {
  state_->group().barrier();
}

}  // namespace oriel
