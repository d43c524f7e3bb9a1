#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <oriel/error.hpp>

#include "transport/buffer.hpp"
#include "transport/lanes.hpp"
#include "transport/peer_health.hpp"
#include "transport/progress.hpp"
#include "transport/transport.hpp"

namespace oriel::window {

class RequestPool;
class TeamState;
class WindowState;

/// A rank of the job as windows need it.
struct JobRank {
  std::string host{};
  int node = 0;                               ///< ranks with equal numbers share a machine
  transport::Transport* transport = nullptr;  ///< the path to it
};

/// What the runtime lends to its teams and windows; outlives them all.
struct JobContext {
  int world_rank = 0;
  std::vector<JobRank> ranks;  ///< by world rank
  transport::Transport* shm = nullptr;
  transport::Transport* verbs = nullptr;
  transport::BufferSegments* buffers = nullptr;
  RequestPool* requests = nullptr;
  transport::Progress* progress = nullptr;
  transport::Lanes* lanes = nullptr;  ///< null: everything goes the common way
  transport::PeerHealth* health = nullptr;
  std::function<void(std::span<std::byte>)>
      place_memory;  ///< binds fresh memory near the rank's cores
  bool broken =
      false;  ///< a collective was left by an error: nobody waits for the others at the end
  std::optional<Error> why{};           ///< the first such error, if it was one of Oriel's
  std::vector<WindowState*> windows{};  ///< alive, in the order of their creation
  std::set<TeamState*> teams;  ///< all there are: the runtime releases what they hold when it ends
  /// Teams that this rank dropped because of an error: peers may still write to their memory, and
  /// are to be told if the error ends the job.
  std::vector<std::unique_ptr<TeamState>> dropped;

  void left_by(const Error& error) {
    broken = true;
    if (!why) why = error;
  }
};

}  // namespace oriel::window
