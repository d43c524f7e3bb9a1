#pragma once

#include <memory>
#include <span>
#include <vector>

#include "transport/memory.hpp"
#include "transport/transport.hpp"
#include "window/job_context.hpp"

namespace oriel::window {

/// The transports that lead from this rank to members of a team; null where none does.
struct TeamPaths {
  transport::Transport* shm = nullptr;
  transport::Transport* verbs = nullptr;
  /// The same on all ranks: who has a far peer is itself far from that peer.
  [[nodiscard]] bool all_near() const noexcept { return verbs == nullptr; }
};

/// @param members  world ranks
[[nodiscard]] TeamPaths paths_among(const JobContext& job, std::span<const int> members);

/// One piece of memory as each transport exposes it; length 0 where the transport is not used.
/// Travels as bytes.
struct MemoryRecord {
  transport::RegionDescriptor shm{};
  transport::RegionDescriptor verbs{};
};

/// Memory that the members of a team reach from one another: this rank's is exposed, records travel
/// by whatever way the team has, and the memory of those that matter is attached. Goes before the
/// memory itself.
class TeamMemory {
 public:
  TeamMemory(const JobContext& job, const TeamPaths& paths) : job_(job), paths_(paths) {}

  [[nodiscard]] const TeamPaths& paths() const noexcept { return paths_; }
  /// The one that leads to a member.
  [[nodiscard]] transport::Transport& path_to(int world_rank) const noexcept;
  /// Makes this rank's memory reachable by all members. Errors: as Transport::expose.
  [[nodiscard]] MemoryRecord expose(const transport::LocalMemory& memory);
  /// A member's memory, by the path to it. Errors: as Transport::attach.
  [[nodiscard]] const transport::PeerMemory& attach(int world_rank, const MemoryRecord& theirs);
  /// The same by the device, whatever the path. Requires a member that is reached by it.
  [[nodiscard]] const transport::PeerMemory& attach_by_device(int world_rank,
                                                              const MemoryRecord& theirs);

 private:
  const JobContext& job_;
  TeamPaths paths_;
  // Released in reverse: peers' views, exposures.
  std::vector<std::unique_ptr<transport::ExposedMemory>> exposed_;
  std::vector<std::unique_ptr<transport::PeerMemory>> attached_;
};

}  // namespace oriel::window
