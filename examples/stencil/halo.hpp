#pragma once
/// The exchange of edges between neighbours, and four ways of telling each other about it.

#include <cstddef>
#include <memory>

#include "stencil/blocks.hpp"
#include "stencil/sync.hpp"

namespace stencil {

/// The edges of a step, from all neighbours to all neighbours.
///
/// Every way of doing it must guarantee for each rank, each neighbour and each step s:
///
///   arrival   this rank computes step s after the neighbour's edge of step s has arrived.
///   reading   the neighbour puts its edge of step s+2 after this rank has computed step s, which
///             reads the same ghost cells. (Its edge of step s+1 goes to the other block.)
///   reuse     this rank computes step s+1, which overwrites its own edge of step s, after the put
///             of that edge is locally complete.
///
/// Nothing else is shared: computing reads and writes a rank's own block, and ghost cells are
/// written by one neighbour each. So there is no race.
class Halo {
 public:
  Halo() = default;
  virtual ~Halo() = default;
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  /// Between computing step - 1 and computing `step`: on return, the ghost cells of the block of
  /// `step` hold the neighbours' edges.
  virtual void exchange(std::size_t step) = 0;
};

/// Collective, as is the destruction of what it returns, before that of `blocks`.
[[nodiscard]] std::unique_ptr<Halo> make_halo(Sync sync, Blocks& blocks);

}  // namespace stencil
