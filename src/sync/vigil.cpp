#include "sync/vigil.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/throw_error.hpp"

namespace oriel::sync {
namespace {

constexpr std::chrono::seconds kAskInterval{1};
constexpr std::chrono::seconds kTellAfter{30};
constexpr std::chrono::minutes kTellInterval{10};

}  // namespace

Vigil::Vigil(std::span<const int> members, int rank, ControlWords& mine,
             transport::PeerHealth& health, Partners partners)
    : members_(members),
      rank_(static_cast<std::size_t>(rank)),
      departures_(2 * (static_cast<std::size_t>(std::bit_width(members.size() - 1)) + 1)),
      mine_(mine),
      health_(health),
      partners_(std::move(partners)) {}

void Vigil::check(std::string_view operation, std::uint64_t barriers) const {
  for (std::size_t index = 0; index < departures_; ++index) {
    const std::uint64_t word = load(mine_.gave_up[index]);
    if (word != 0) check_departure(operation, Departure::unpack(word), barriers);
  }
  if (health_.deaths() == 0) return;
  // In the order of their deaths: a survivor that has left and ended after the first one is not to
  // blame.
  for (const transport::PeerHealth::Death& death : health_.list()) {
    if (std::ranges::find(members_, death.rank) != members_.end())
      throw_lost(operation, death.rank);
  }
}

/// A death that a departure tells of counts whatever the barrier, and for more than what this rank
/// sees itself: a survivor may have left, ended and been found dead meanwhile, and is not to blame.
void Vigil::check_departure(std::string_view operation, const Departure& departure,
                            std::uint64_t barriers) const {
  if (departure.culprit >= members_.size()) return;
  const int culprit = members_[departure.culprit];
  if (departure.dead) {
    health_.report_dead(culprit, "another rank has lost it");
    throw_lost(operation, culprit);
  }
  if (departure.barriers >= barriers) return;
  base::throw_error(ErrorCode::peer_failed,
                    {.operation = std::string(operation),
                     .problem = fmt::format("team rank {} left it by an error", departure.culprit),
                     .origin = members_[rank_],
                     .target = culprit,
                     .target_host = health_.host(culprit),
                     .hint = "the first error of the job's output tells why"});
}

void Vigil::throw_lost(std::string_view operation, int world_rank) const {
  const auto death = health_.find(world_rank).value_or(transport::PeerHealth::Death{});
  base::throw_error(
      ErrorCode::peer_lost,
      {.operation = std::string(operation),
       .problem = death.how,
       .origin = members_[rank_],
       .target = world_rank,
       .target_host = death.host,
       .hint = "see why that rank ended: its last output, the kernel log (out of memory?)"});
}

void Vigil::Watch::look(std::string_view operation, transport::Endpoint* awaited) {
  vigil_->check(operation, barriers_);
  if (awaited != nullptr && awaited->failure() != nullptr) throw Error(*awaited->failure());
  const auto now = std::chrono::steady_clock::now();
  if (since_ == std::chrono::steady_clock::time_point{}) {
    since_ = now;
    ask_at_ = now + kAskInterval;
    tell_at_ = now + kTellAfter;
  }
  if (now >= tell_at_) {
    tell(operation, awaited);
    tell_at_ = now + kTellInterval;
  }
  if (now < ask_at_) return;
  ask_at_ = now + kAskInterval;
  transport::Endpoint* const asked = awaited != nullptr ? awaited : next_member();
  if (asked == nullptr) return;
  if (const Error* failure = asked->failure()) throw Error(*failure);
  asked->probe();
}

void Vigil::Watch::tell(std::string_view operation, const transport::Endpoint* awaited) const {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - since_);
  base::log(base::LogLevel::warning,
            "{}: rank {} has waited for {} s{}{}, nobody is known to be dead", operation,
            vigil_->members_[vigil_->rank_], seconds.count(), what_ ? " for " + what_() : "",
            awaited != nullptr ? fmt::format(" ({})", awaited->describe()) : "");
}

/// The other members in turn, from this rank on; null if there is none.
transport::Endpoint* Vigil::Watch::next_member() {
  const std::size_t others = vigil_->members_.size() - 1;
  if (others == 0 || !vigil_->partners_) return nullptr;
  const std::size_t member = (vigil_->rank_ + 1 + asked_++ % others) % vigil_->members_.size();
  return vigil_->partners_(static_cast<int>(member)).endpoint;
}

}  // namespace oriel::sync
