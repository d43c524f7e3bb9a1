#include "window/team_state.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::window {

TeamState::TeamState(JobContext& job, std::vector<int> members)
    : job_(&job),
      members_(std::move(members)),
      rank_(static_cast<int>(std::ranges::find(members_, job.world_rank) - members_.begin())),
      exceptions_at_start_(std::uncaught_exceptions()),
      segment_(std::make_unique<base::SharedSegment>(
          base::whole_pages(sync::Collectives::area_bytes(size())))),
      memory_(std::make_unique<TeamMemory>(job, paths_among(job, members_))) {
  job.place_memory(segment_->bytes());
  record_ = memory_->expose({segment_->bytes(), segment_.get()});
  job.teams.insert(this);
}

TeamState::~TeamState() {
  if (job_ != nullptr) job_->teams.erase(this);
}

void TeamState::attach(std::span<const MemoryRecord> records) {
  auto rounds = sync::make_rounds(sync::meetings(size(), rank_), [&](int member) {
    const auto index = static_cast<std::size_t>(member);
    const int world_rank = members_[index];
    transport::Transport* const path = job_->ranks[static_cast<std::size_t>(world_rank)].transport;
    return sync::Partner{&path->endpoint(world_rank),
                         memory_->attach(world_rank, records[index]).base()};
  });
  collectives_ = std::make_unique<sync::Collectives>(
      members_, rank_, std::move(rounds), segment_->bytes().data(), *job_->progress, *job_->health);
}

void TeamState::release() noexcept {
  collectives_.reset();
  memory_.reset();
  segment_.reset();
  job_ = nullptr;
}

/// An error that passes through here may be this rank's alone: others may wait for it, and it may
/// yet be caught. So nobody is told now, but the team is kept until the runtime knows how it ends.
void TeamState::drop(std::unique_ptr<TeamState> team) noexcept {
  if (team->job_ == nullptr) return;
  const transport::Progress::Turn turn(*team->job_->progress);
  const bool by_error = std::uncaught_exceptions() > team->exceptions_at_start_;
  if (!by_error && !team->collectives_->given_up()) return team.reset();
  auto& dropped = team->job_->dropped;
  try {
    dropped.push_back(std::move(team));
  } catch (const std::bad_alloc&) {  // it goes now, then
  }
}

void TeamState::give_up() noexcept {
  if (collectives_) collectives_->give_up(job_->why ? &*job_->why : nullptr);
}

void TeamState::check_open(std::string_view operation) const {
  if (job_ != nullptr) return;
  base::throw_error(ErrorCode::window_freed,
                    {.operation = std::string(operation),
                     .problem = "the Runtime of this team has ended",
                     .hint = "a Team is of use as long as its Runtime lives"});
}

transport::Progress& TeamState::progress(std::string_view operation) const {
  check_open(operation);
  return *job_->progress;
}

template <class Call>
void TeamState::collectively(std::string_view operation, Call&& call) {
  check_open(operation);
  try {
    call();
  } catch (const Error& error) {
    job_->left_by(error);
    throw;
  }
}

void TeamState::barrier(std::string_view operation) {
  collectively(operation, [&] { collectives_->barrier(operation); });
}

void TeamState::allgather(std::string_view operation, std::span<const std::byte> mine,
                          std::span<std::byte> all) {
  collectively(operation, [&] { collectives_->allgather(operation, mine, all); });
}

void TeamState::broadcast(std::string_view operation, std::span<std::byte> bytes, int root) {
  [[maybe_unused]] const int valid = world_rank(operation, root);
  collectively(operation, [&] { collectives_->broadcast(operation, bytes, root); });
}

int TeamState::world_rank(std::string_view operation, int member) const {
  if (member < 0 || member >= size()) {
    base::throw_error(ErrorCode::invalid_rank,
                      {.operation = std::string(operation),
                       .problem = fmt::format("rank {} of a team of {}", member, size()),
                       .origin = members_[static_cast<std::size_t>(rank_)],
                       .hint = fmt::format("ranks are 0 to {}", size() - 1)});
  }
  return members_[static_cast<std::size_t>(member)];
}

const JobRank& TeamState::job_rank(std::string_view operation, int member) const {
  check_open(operation);
  return job_->ranks[static_cast<std::size_t>(world_rank(operation, member))];
}

std::shared_ptr<TeamState> split(TeamState& parent, int color, int key) {
  constexpr std::string_view kOperation = "Team::split";
  struct Choice {
    int color;
    int key;
  };
  TeamGroup group(parent, kOperation);
  const auto choices = bootstrap::allgather_records(group, Choice{color, key});
  std::vector<std::pair<int, int>> chosen;  // key, rank in the parent: in the order of the new team
  for (int rank = 0; rank < parent.size(); ++rank) {
    const Choice& theirs = choices[static_cast<std::size_t>(rank)];
    const bool together = color >= 0 && theirs.color == color;
    if (together || rank == parent.rank()) chosen.emplace_back(theirs.key, rank);
  }
  std::ranges::sort(chosen);
  std::vector<Candidate> candidates;
  for (const auto& [ignored, rank] : chosen) {
    candidates.push_back({parent.members()[static_cast<std::size_t>(rank)], rank});
  }
  return make_team(parent.job(), group, kOperation, candidates);
}

}  // namespace oriel::window
