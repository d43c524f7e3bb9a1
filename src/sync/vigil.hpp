#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sync/control_words.hpp"
#include "sync/partner.hpp"
#include "transport/endpoint.hpp"
#include "transport/peer_health.hpp"

namespace oriel::sync {

/// What every wait of the protocols looks at while it waits, so that none hangs: whether a member
/// is dead or has left the team by an error, and whether the way to the one waited for has failed.
/// Who waits long asks for a sign of life, as nobody else may notice that the other one is gone,
/// and tells the log, so that a program that waits for ever by its own fault says where.
///
/// Use: progress.wait(done, vigil.watch("lock", &endpoint)).
/// Threads: any. Cost: nothing for a wait that is over at once.
class Vigil {
 public:
  class Watch;

  /// For check() and watch(): whoever has left, however long ago, ends the wait.
  static constexpr std::uint64_t kEver = std::numeric_limits<std::uint64_t>::max();

  /// @param members  world ranks in team order; they and `mine`, this rank's words, outlive this
  /// @param partners  whom to ask for a sign of life when it is not known who is waited for; may be
  /// empty if that is always known
  Vigil(std::span<const int> members, int rank, ControlWords& mine, transport::PeerHealth& health,
        Partners partners = {});

  /// Throws if a member is dead, or has left after fewer than `barriers` barriers.
  /// Errors: peer_lost, peer_failed.
  void check(std::string_view operation, std::uint64_t barriers = kEver) const;

  /// What Progress::wait calls while it waits in vain. `operation` outlives it.
  /// @param awaited  the way to the one waited for; null: it could be anybody
  [[nodiscard]] Watch watch(std::string_view operation, transport::Endpoint* awaited = nullptr,
                            std::uint64_t barriers = kEver) const;

  [[nodiscard]] std::span<const int> members() const noexcept { return members_; }
  [[nodiscard]] int rank() const noexcept { return static_cast<int>(rank_); }

 private:
  void check_departure(std::string_view operation, const Departure& departure,
                       std::uint64_t barriers) const;
  [[noreturn]] void throw_lost(std::string_view operation, int world_rank) const;

  std::span<const int> members_;
  std::size_t rank_;
  std::size_t departures_;  // words of gave_up that may be in use: see kMaxRounds
  ControlWords& mine_;
  transport::PeerHealth& health_;
  Partners partners_;
};

/// One wait's look at the vigil; or that of a row of fruitless tests, which is a wait too.
class Vigil::Watch {
 public:
  /// Errors: peer_lost, peer_failed; those of the endpoint.
  void operator()() { look(operation_, awaited_); }
  /// What the log says of a long wait, besides how long it is. Called when it does.
  [[nodiscard]] Watch& saying(std::function<std::string()> what) {
    what_ = std::move(what);
    return *this;
  }
  void look(std::string_view operation, transport::Endpoint* awaited);

 private:
  friend class Vigil;
  Watch(const Vigil& vigil, std::string_view operation, transport::Endpoint* awaited,
        std::uint64_t barriers)
      : vigil_(&vigil), operation_(operation), awaited_(awaited), barriers_(barriers) {}
  [[nodiscard]] transport::Endpoint* next_member();
  void tell(std::string_view operation, const transport::Endpoint* awaited) const;

  const Vigil* vigil_;
  std::string_view operation_;
  transport::Endpoint* awaited_;
  std::uint64_t barriers_;
  std::function<std::string()> what_{};
  std::size_t asked_ = 0;                          // members asked for a sign of life so far
  std::chrono::steady_clock::time_point since_{};  // the first look
  std::chrono::steady_clock::time_point ask_at_{};
  std::chrono::steady_clock::time_point tell_at_{};
};

inline Vigil::Watch Vigil::watch(std::string_view operation, transport::Endpoint* awaited,
                                 std::uint64_t barriers) const {
  return {*this, operation, awaited, barriers};
}

}  // namespace oriel::sync
