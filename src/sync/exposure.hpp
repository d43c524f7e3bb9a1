#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sync/control_words.hpp"
#include "sync/partner.hpp"
#include "sync/remote_words.hpp"
#include "sync/vigil.hpp"
#include "transport/progress.hpp"

namespace oriel::sync {

/// Epochs among some of the ranks: a target posts an exposure to its origins, an origin starts an
/// access to its targets and completes it, the target waits for that. Groups are team ranks, may
/// change with every epoch, be empty, and hold this rank.
///
/// Invariant: for each pair, the target counts the exposures that it has posted to the origin (in
/// `posted` of the origin's words), and the origin the accesses that it has completed on the target
/// (in `completed` of the target's words). Both only grow, and each is changed by one rank. Every
/// access uses up one exposure: start() waits for more exposures than accesses completed before,
/// wait() for as many accesses as exposures posted. So a post that comes early, for the next epoch,
/// is counted once, then.
///
/// Slots: in a team of up to kPartnerSlots, the writer's team rank is its slot, and it writes its
/// count by a signal. In a larger one a slot has an owner, in its upper bits, who has taken it by a
/// compare-and-swap at the first contact, in the first free one from rank % kPartnerSlots on; it
/// then counts by add(). Slots are never given back, so a reader finds the owner before the first
/// free one. A rank can thus have kPartnerSlots origins and kPartnerSlots targets, ever.
///
/// Misuse and groups that do not fit throw before anything is done.
/// Threads: one-at-a-time. Cost: one message per partner and direction; in a large team, besides, a
/// round trip at the first contact. Memory only for partners met.
class Exposure {
 public:
  /// @param partners  leads to all ranks' words, this one's included; `mine` are this rank's
  Exposure(ControlWords& mine, Partners partners, transport::Progress& progress,
           const Vigil& vigil);

  /// Opens this rank's part to the `origins` [MPI_Win_post]. Does not wait for them.
  /// Errors: wrong_epoch, invalid_rank, invalid_argument (a rank twice), unsupported (more than
  /// kPartnerSlots targets of one origin).
  void post(std::span<const int> origins);
  /// Waits until all `targets` have posted [MPI_Win_start]. Errors: wrong_epoch, invalid_rank,
  /// invalid_argument (a rank twice), unsupported (more than kPartnerSlots origins of one target);
  /// peer_lost, peer_failed.
  void start(std::span<const int> targets);
  /// Ends the access [MPI_Win_complete]. What the caller has posted on the endpoints of `partners`
  /// arrives before the targets' wait() ends; what it has posted on others it flushes before.
  /// Errors: wrong_epoch.
  void complete();
  /// Waits until all origins have completed [MPI_Win_wait]. Errors: wrong_epoch; peer_lost,
  /// peer_failed.
  void wait();
  /// Whether all origins have completed; if so, the exposure has ended as by wait()
  /// [MPI_Win_test]. Never waits. Errors: as wait().
  [[nodiscard]] bool test();

  /// Waits until nothing is on its way to other ranks' words. Errors: those of the endpoints.
  void settle() { words_.settle(); }

  [[nodiscard]] bool in_access() const noexcept { return access_.open; }
  [[nodiscard]] bool in_exposure() const noexcept { return exposure_.open; }
  /// The targets of the open access.
  [[nodiscard]] std::span<const int> targets() const noexcept { return access_.group; }

  /// Messages sent, and atomics besides.
  [[nodiscard]] std::uint64_t messages() const noexcept { return words_.messages(); }
  [[nodiscard]] std::uint64_t atomics() const noexcept { return words_.atomics(); }
  [[nodiscard]] std::size_t partners_met() const noexcept { return met_.size(); }

 private:
  struct Epoch {
    bool open = false;
    std::vector<int> group{};
  };
  /// What this rank knows of one that it has met.
  struct Peer {
    std::uint64_t exposures = 0;                  ///< posted to it
    std::uint64_t accesses = 0;                   ///< completed on it
    std::uint64_t listed_in = 0;                  ///< the last group that it was found in
    std::optional<std::size_t> posted_slot{};     ///< mine in its `posted`
    std::optional<std::size_t> completed_slot{};  ///< mine in its `completed`
  };

  void check_group(std::string_view operation, std::span<const int> group);
  void open(Epoch& epoch, std::span<const int> group);
  void check_open(std::string_view operation, const Epoch& epoch, std::string_view hint) const;
  void check_closed(std::string_view operation, const Epoch& epoch, std::string_view hint) const;
  void tell(int rank, std::size_t words, std::size_t slot, std::uint64_t count);
  [[nodiscard]] std::size_t take_slot(std::string_view operation, int rank, std::size_t words);
  [[nodiscard]] bool has_more(std::span<std::uint64_t, kPartnerSlots> words, int writer,
                              std::uint64_t than) const noexcept;
  [[nodiscard]] bool each_has_a_slot() const noexcept;

  ControlWords& mine_;
  Partners partners_;
  transport::Progress& progress_;
  const Vigil& vigil_;
  RemoteWords words_;
  std::unordered_map<int, Peer> met_;
  std::uint64_t groups_ = 0;  // checked so far
  Epoch access_;
  Epoch exposure_;
  std::size_t known_complete_ = 0;  // so many of the exposure's first origins
  Vigil::Watch tests_;              // of this exposure
};

}  // namespace oriel::sync
