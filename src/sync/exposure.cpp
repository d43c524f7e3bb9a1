#include "sync/exposure.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::sync {
namespace {

// Above the count, in a word of a large team: its writer's rank + 1.
constexpr std::uint64_t kOwner = std::uint64_t{1} << 40;

std::uint64_t owner_of(int rank) noexcept {
  return static_cast<std::uint64_t>(rank) + 1;
}

constexpr std::size_t first_slot(int rank) noexcept {
  return static_cast<std::size_t>(rank) % kPartnerSlots;
}

constexpr std::size_t kPosted = offsetof(ControlWords, posted);
constexpr std::size_t kCompleted = offsetof(ControlWords, completed);

constexpr std::size_t offset_of(std::size_t words, std::size_t slot) noexcept {
  return words + slot * sizeof(std::uint64_t);
}

}  // namespace

Exposure::Exposure(ControlWords& mine, Partners partners, transport::Progress& progress,
                   const Vigil& vigil)
    : mine_(mine),
      partners_(std::move(partners)),
      progress_(progress),
      vigil_(vigil),
      words_(progress),
      tests_(vigil.watch("test")) {}

void Exposure::post(std::span<const int> origins) {
  check_closed("post", exposure_, "end the exposure by wait() or test() first");
  check_group("post", origins);
  for (const int origin : origins) {
    Peer& peer = met_[origin];
    if (!peer.posted_slot) peer.posted_slot = take_slot("post", origin, kPosted);
  }
  open(exposure_, origins);
  known_complete_ = 0;
  tests_ = vigil_.watch("test");
  for (const int origin : origins) {
    Peer& peer = met_[origin];
    tell(origin, kPosted, *peer.posted_slot, ++peer.exposures);
  }
}

void Exposure::start(std::span<const int> targets) {
  check_closed("start", access_, "end the access by complete() first");
  check_group("start", targets);
  for (const int target : targets) {
    Peer& peer = met_[target];
    if (!peer.completed_slot) peer.completed_slot = take_slot("start", target, kCompleted);
  }
  for (const int target : targets) {
    const std::uint64_t used_up = met_[target].accesses;
    progress_.wait([&]() noexcept { return has_more(mine_.posted, target, used_up); },
                   vigil_.watch("start", partners_(target).endpoint));
  }
  open(access_, targets);
}

void Exposure::complete() {
  check_open("complete", access_, "begin an access by start()");
  access_.open = false;
  for (const int target : access_.group) {
    Peer& peer = met_[target];
    tell(target, kCompleted, *peer.completed_slot, ++peer.accesses);
  }
}

void Exposure::wait() {
  check_open("wait", exposure_, "begin an exposure by post()");
  for (; known_complete_ < exposure_.group.size(); ++known_complete_) {
    const int origin = exposure_.group[known_complete_];
    const std::uint64_t all_but_one = met_[origin].exposures - 1;
    progress_.wait([&]() noexcept { return has_more(mine_.completed, origin, all_but_one); },
                   vigil_.watch("wait", partners_(origin).endpoint));
  }
  exposure_.open = false;
}

bool Exposure::test() {
  check_open("test", exposure_, "begin an exposure by post()");
  static_cast<void>(progress_.poll());
  for (; known_complete_ < exposure_.group.size(); ++known_complete_) {
    const int origin = exposure_.group[known_complete_];
    if (!has_more(mine_.completed, origin, met_[origin].exposures - 1)) {
      tests_.look("test", partners_(origin).endpoint);
      return false;
    }
  }
  exposure_.open = false;
  return true;
}

void Exposure::check_group(std::string_view operation, std::span<const int> group) {
  const std::size_t size = vigil_.members().size();
  const int me = vigil_.members()[static_cast<std::size_t>(vigil_.rank())];
  for (const int rank : group) {
    if (rank >= 0 && static_cast<std::size_t>(rank) < size) continue;
    base::throw_error(ErrorCode::invalid_rank,
                      {.operation = std::string(operation),
                       .problem = fmt::format("rank {} of a team of {}", rank, size),
                       .origin = me,
                       .hint = "groups hold ranks of the window's team, from 0 on"});
  }
  ++groups_;
  for (const int rank : group) {
    if (std::exchange(met_[rank].listed_in, groups_) != groups_) continue;
    base::throw_error(ErrorCode::invalid_argument,
                      {.operation = std::string(operation),
                       .problem = fmt::format("rank {} is in the group twice", rank),
                       .origin = me,
                       .target = vigil_.members()[static_cast<std::size_t>(rank)],
                       .hint = "name each rank once"});
  }
}

void Exposure::check_open(std::string_view operation, const Epoch& epoch,
                          std::string_view hint) const {
  if (epoch.open) return;
  base::throw_error(ErrorCode::wrong_epoch,
                    {.operation = std::string(operation),
                     .problem = "there is none to end",
                     .origin = vigil_.members()[static_cast<std::size_t>(vigil_.rank())],
                     .hint = std::string(hint)});
}

void Exposure::check_closed(std::string_view operation, const Epoch& epoch,
                            std::string_view hint) const {
  if (!epoch.open) return;
  base::throw_error(ErrorCode::wrong_epoch,
                    {.operation = std::string(operation),
                     .problem = fmt::format("one with {} ranks is open", epoch.group.size()),
                     .origin = vigil_.members()[static_cast<std::size_t>(vigil_.rank())],
                     .hint = std::string(hint)});
}

void Exposure::open(Epoch& epoch, std::span<const int> group) {
  epoch.group.assign(group.begin(), group.end());
  epoch.open = true;
}

/// Counts one more in this rank's slot among `words` of another; `count` with it.
void Exposure::tell(int rank, std::size_t words, std::size_t slot, std::uint64_t count) {
  const Place word = partners_(rank).at(offset_of(words, slot));
  if (each_has_a_slot()) {
    words_.signal(word, count);
  } else {
    words_.add(word, 1);
  }
}

std::size_t Exposure::take_slot(std::string_view operation, int rank, std::size_t words) {
  const int me = vigil_.rank();
  if (each_has_a_slot()) return first_slot(me);
  for (std::size_t step = 0; step < kPartnerSlots; ++step) {
    const std::size_t slot = (first_slot(me) + step) % kPartnerSlots;
    const Place word = partners_(rank).at(offset_of(words, slot));
    if (words_.compare_and_swap(word, 0, owner_of(me) * kOwner) == 0) return slot;
  }
  base::throw_error(
      ErrorCode::unsupported,
      {.operation = std::string(operation),
       .problem = fmt::format("rank {} has had {} {} already", rank, kPartnerSlots,
                              words == kPosted ? "targets" : "origins"),
       .origin = vigil_.members()[static_cast<std::size_t>(me)],
       .target = vigil_.members()[static_cast<std::size_t>(rank)],
       .hint = "a window keeps that many apart for each rank; use another window, or fence()"});
}

/// Whether `writer` has counted further than to `than` in its slot of `words`, which are this
/// rank's.
bool Exposure::has_more(std::span<std::uint64_t, kPartnerSlots> words, int writer,
                        std::uint64_t than) const noexcept {
  if (each_has_a_slot()) return load(words[first_slot(writer)]) > than;
  for (std::size_t step = 0; step < kPartnerSlots; ++step) {
    const std::uint64_t word = load(words[(first_slot(writer) + step) % kPartnerSlots]);
    if (word == 0) return false;
    if (word / kOwner == owner_of(writer)) return word % kOwner > than;
  }
  return false;
}

bool Exposure::each_has_a_slot() const noexcept {
  return vigil_.members().size() <= kPartnerSlots;
}

}  // namespace oriel::sync
