#pragma once
/// The members of a team as a window of one rank meets them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <vector>

#include "sync/partner.hpp"
#include "transport/completion.hpp"
#include "transport/endpoint.hpp"
#include "window/region_table.hpp"
#include "window/target.hpp"

namespace oriel::window {

/// Operations of this rank on a target by one way. Changed in a turn of that way; the question
/// alone needs none.
struct Pending {
  transport::Completion done;
  transport::Endpoint* endpoint = nullptr;  ///< of this way; null until met, see Traffic::meet()
  std::atomic<std::uint32_t> posted{0};     ///< operations, modulo 2^32
  std::atomic<std::uint32_t> flushed{0};    ///< of these, what a flush has seen done
  bool listed = false;                      ///< see Traffic
  /// So many bytes of the target's part are within reach of an operation that looks at no more than
  /// this: all while listed, unless they are mapped here; else none.
  std::uint64_t at_once = 0;

  /// One operation more has posted all that it will.
  void count() noexcept {
    posted.store(posted.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// What this thread has posted, it sees.
  [[nodiscard]] bool needs_flush() const noexcept {
    return posted.load(std::memory_order_relaxed) != flushed.load(std::memory_order_relaxed);
  }
};

/// A member that this rank has had to do with.
struct Peer {
  Target target{};                  ///< its part; nowhere in a dynamic window
  sync::Partner control_by_data{};  ///< its control area, by the way that data takes
  sync::Partner control_by_atomics{};
  bool adds_words = false;  ///< a sum of an integer of 64 bits is one atomic of its device
  std::unique_ptr<RegionDirectory> regions{};  ///< of a dynamic window
  Pending pending{};                           ///< by the common way
  /// By the lanes, of their numbers; null before the first transfer by any of them. Set once, in
  /// the common turn.
  std::atomic<Pending*> by_lane{nullptr};

  [[nodiscard]] bool was_met_by_lane() const noexcept {
    return by_lane.load(std::memory_order_acquire) != nullptr;
  }

  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { delete[] by_lane.load(std::memory_order_relaxed); }
};

/// Members by team rank, made when first asked for: for all others a pointer is kept, no more.
class PeerTable {
 public:
  explicit PeerTable(std::size_t members) : size_(members), table_(members) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Null: nobody has asked for it yet. Threads: any.
  [[nodiscard]] Peer* find(std::size_t index) const noexcept {
    return table_[index].load(std::memory_order_acquire);
  }
  /// One that stays where it is; found once it is shown. These three in the common turn.
  [[nodiscard]] Peer& make() { return made_.emplace_front(); }
  void show(std::size_t index, Peer& peer) noexcept {
    table_[index].store(&peer, std::memory_order_release);
  }
  [[nodiscard]] std::forward_list<Peer>& made() noexcept { return made_; }

 private:
  std::size_t size_;
  std::vector<std::atomic<Peer*>> table_;
  std::forward_list<Peer> made_;
};

}  // namespace oriel::window
