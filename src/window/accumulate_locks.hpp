#pragma once

#include <cstddef>
#include <utility>

#include "sync/queued_lock.hpp"
#include "window/accumulate.hpp"

namespace oriel::window {

/// The accumulate locks that lie in the ranks' control areas.
class AccumulateLocks final : public TargetMutex {
 public:
  AccumulateLocks(sync::ControlWords& mine, sync::Partners partners, transport::Progress& progress,
                  const sync::Vigil& vigil)
      : partners_(std::move(partners)),
        locks_(mine, &sync::ControlWords::accumulate_node, partners_, progress, vigil) {}

  void lock(std::size_t team_rank) override {
    locks_.lock("accumulate", at(team_rank), sync::LockMode::exclusive);
  }
  void unlock(std::size_t team_rank) override {
    locks_.unlock(at(team_rank), sync::LockMode::exclusive);
  }
  /// As that of QueuedLock.
  void settle() { locks_.settle(); }

 private:
  [[nodiscard]] sync::Place at(std::size_t team_rank) const {
    return partners_(static_cast<int>(team_rank)).at(offsetof(sync::ControlWords, accumulate_lock));
  }

  sync::Partners partners_;
  sync::QueuedLock locks_;
};

}  // namespace oriel::window
