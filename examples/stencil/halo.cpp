#include "stencil/halo.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>

namespace stencil {
namespace {

/// Everybody waits for everybody: the shortest, and the one to begin with.
///
///   arrival   fence s completes the puts of all ranks.
///   reading   the neighbour puts for s+2 after fence s+1, which this rank enters after computing
///   s. reuse     fence s.
class FencedHalo final : public Halo {
 public:
  explicit FencedHalo(Blocks& blocks) : blocks_(blocks) {}

  void exchange(std::size_t step) override {
    for (const auto& to : blocks_.neighbours()) blocks_.put_edge(to, step);
    blocks_.window().fence();
  }

 private:
  Blocks& blocks_;
};

/// Post, start, complete, wait: neighbours wait for each other, and for nobody else.
///
///   arrival   wait() returns after complete() of all neighbours, and behind their puts.
///   reading   the neighbour's start() for s+2 returns after post() for s+2 here: computing s, and
///             even s+1, is over then. This way alone could do with one block's ghost cells.
///   reuse     complete().
class PscwHalo final : public Halo {
 public:
  explicit PscwHalo(Blocks& blocks) : blocks_(blocks) {
    for (const auto& neighbour : blocks.neighbours()) ranks_.push_back(neighbour.rank);
  }

  void exchange(std::size_t step) override {
    auto& window = blocks_.window();
    window.post(ranks_);
    window.start(ranks_);
    for (const auto& to : blocks_.neighbours()) blocks_.put_edge(to, step);
    window.complete();
    window.wait();
  }

 private:
  Blocks& blocks_;
  std::vector<oriel::Rank> ranks_;
};

/// A notification behind each edge: one message more per neighbour, and nobody asks for leave.
///
/// A rank has one slot for each side, which gets one notification per step, in the order of steps.
///
///   arrival   a notification is ordered behind the same rank's puts: the (s+1)th in the slot of a
///             side says that this side's edge of step s is there.
///   reading   the neighbour puts for s+2 after it has seen this rank's notification for s+1, which
///             was sent after computing s.
///   reuse     flush_local_all().
class NotifiedHalo final : public Halo {
 public:
  explicit NotifiedHalo(Blocks& blocks) : blocks_(blocks) {}

  void exchange(std::size_t step) override {
    auto& window = blocks_.window();
    for (const auto& to : blocks_.neighbours()) {
      blocks_.put_edge(to, step);
      window.put_notify({}, to.rank, 0, slot(opposite(to.side)));
    }
    for (const auto& from : blocks_.neighbours()) window.wait_notify(slot(from.side));
    window.flush_local_all();
  }

 private:
  static std::size_t slot(Side side) { return static_cast<std::size_t>(side); }

  Blocks& blocks_;
};

/// Passive: a rank counts in its neighbour's memory how many of its edges are there, and the
/// neighbour looks from time to time.
///
/// Putting ranks share the lock of a part, as they write to different cells of it; its owner looks
/// at the counts as the only holder, when nobody is half-way. No rank waits for a lock while it
/// holds another.
///
///   arrival   an edge and its count are complete before the lock they were put under is given up.
///             So an owner that holds the lock and finds a count above s has the edge of s, too.
///   reading   the neighbour puts for s+2 after it has found this rank's count above s+1, which was
///             put after computing s.
///   reuse     the unlock.
///
/// Who looks does not wait for anybody in particular, and so may not notice that a neighbour is
/// dead: then it is mpirun that ends the job.
class LockedHalo final : public Halo {
 public:
  explicit LockedHalo(Blocks& blocks)
      : blocks_(blocks),
        arrived_(oriel::Window<std::uint64_t>::allocate(blocks.window().team(), kSides.size())) {}

  void exchange(std::size_t step) override {
    for (const auto& to : blocks_.neighbours()) {
      auto guard = blocks_.window().lock(to.rank, oriel::LockMode::shared);
      blocks_.put_edge(to, step);
      arrived_.put(step + 1, to.rank, cell(opposite(to.side)));
      arrived_.flush(to.rank);  // the lock is the other window's, which completes its own puts
      guard.unlock();           // and says if an edge was lost, as the end of the scope cannot
    }
    while (!all_arrived(step)) std::this_thread::yield();
  }

 private:
  static std::size_t cell(Side side) { return static_cast<std::size_t>(side); }

  bool all_arrived(std::size_t step) {
    const auto guard =
        blocks_.window().lock(blocks_.window().team().rank(), oriel::LockMode::exclusive);
    return std::ranges::all_of(blocks_.neighbours(), [&](const Blocks::Neighbour& from) {
      return arrived_.local()[cell(from.side)] > step;
    });
  }

  Blocks& blocks_;
  oriel::Window<std::uint64_t> arrived_;  ///< for each side, the edges that have come from there
};

}  // namespace

std::unique_ptr<Halo> make_halo(Sync sync, Blocks& blocks) {
  switch (sync) {
    case Sync::fence:
      return std::make_unique<FencedHalo>(blocks);
    case Sync::pscw:
      return std::make_unique<PscwHalo>(blocks);
    case Sync::notify:
      return std::make_unique<NotifiedHalo>(blocks);
    case Sync::lock:
      break;
  }
  return std::make_unique<LockedHalo>(blocks);
}

}  // namespace stencil
