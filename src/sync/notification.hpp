#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sync/control_words.hpp"
#include "sync/partner.hpp"
#include "sync/vigil.hpp"
#include "transport/completion.hpp"
#include "transport/progress.hpp"

namespace oriel::sync {

/// Counters of a rank that origins add to when their data has arrived: its slots, behind the
/// ControlWords. All ranks have as many.
///
/// Invariant: a slot's word is changed by Endpoint::add() of origins alone, and only grows; what
/// this rank has consumed of it is counted here. So nothing that arrives is lost or seen twice, and
/// nobody need agree on when a slot is reset.
///
/// Slots that do not exist throw out_of_range before anything is done. A test that finds nothing,
/// like a wait, throws when a member is dead or has left by an error (peer_lost, peer_failed).
/// Threads: one-at-a-time. Cost: of a notification, one message; of the rest, reading own memory.
class Notifications {
 public:
  /// Where a slot is, from the ControlWords on.
  [[nodiscard]] static constexpr std::size_t offset(std::size_t slot) noexcept {
    return sizeof(ControlWords) + slot * sizeof(std::uint64_t);
  }

  /// @param mine  this rank's slots
  Notifications(std::span<std::uint64_t> mine, transport::Progress& progress, const Vigil& vigil);

  /// Adds one to a slot of `target`, behind everything posted on its endpoint before.
  void notify(std::string_view operation, const Partner& target, std::size_t slot,
              transport::Completion& done) const;

  /// Waits until `count` notifications are in the slot, and consumes them.
  void wait(std::size_t slot, std::uint64_t count = 1);
  /// Consumes `count` notifications if that many are there. Never waits.
  [[nodiscard]] bool test(std::size_t slot, std::uint64_t count = 1);

  /// Waits until there is one in any of the `slots` slots from `first` on, consumes it, and returns
  /// its slot. Of several, the first one behind that of the last call: none is passed over for
  /// ever. Errors: invalid_argument for no slots.
  [[nodiscard]] std::size_t wait_any(std::size_t first, std::size_t slots);
  [[nodiscard]] std::optional<std::size_t> test_any(std::size_t first, std::size_t slots);

  /// Waits until each slot of the range has `count`, and consumes them; before, none.
  void wait_all(std::size_t first, std::size_t slots, std::uint64_t count = 1);
  [[nodiscard]] bool test_all(std::size_t first, std::size_t slots, std::uint64_t count = 1);

  /// How many are there, not consumed.
  [[nodiscard]] std::uint64_t pending(std::size_t slot) const;
  /// Consumes all that are there; returns how many.
  std::uint64_t reset(std::size_t slot);

  [[nodiscard]] std::size_t size() const noexcept { return mine_.size(); }
  void check_range(std::string_view operation, std::size_t first, std::size_t slots) const;

 private:
  void check_any(std::string_view operation, std::size_t first, std::size_t slots) const;
  [[nodiscard]] std::uint64_t arrived(std::size_t slot) const noexcept;
  [[nodiscard]] bool all_have(std::size_t first, std::size_t slots,
                              std::uint64_t count) const noexcept;
  [[nodiscard]] std::optional<std::size_t> find(std::size_t first,
                                                std::size_t slots) const noexcept;
  void consume(std::size_t first, std::size_t slots, std::uint64_t count) noexcept;

  std::span<std::uint64_t> mine_;
  transport::Progress& progress_;
  const Vigil& vigil_;
  std::vector<std::uint64_t> consumed_;
  std::size_t last_ = 0;  // slot that wait_any or test_any returned last
  Vigil::Watch tests_;    // those in a row that have found nothing: as long as a wait
};

}  // namespace oriel::sync
