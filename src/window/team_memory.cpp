#include "window/team_memory.hpp"

namespace oriel::window {

TeamPaths paths_among(const JobContext& job, std::span<const int> members) {
  TeamPaths paths;
  for (const int member : members) {
    transport::Transport* const path = job.ranks[static_cast<std::size_t>(member)].transport;
    (path == job.verbs ? paths.verbs : paths.shm) = path;
  }
  return paths;
}

transport::Transport& TeamMemory::path_to(int world_rank) const noexcept {
  transport::Transport* const path = job_.ranks[static_cast<std::size_t>(world_rank)].transport;
  return path == paths_.verbs ? *path : *paths_.shm;
}

MemoryRecord TeamMemory::expose(const transport::LocalMemory& memory) {
  const auto expose_to = [&](transport::Transport* transport) -> transport::RegionDescriptor {
    if (transport == nullptr) return {};
    exposed_.push_back(transport->expose(memory));
    return exposed_.back()->descriptor();
  };
  return {.shm = expose_to(paths_.shm), .verbs = expose_to(paths_.verbs)};
}

const transport::PeerMemory& TeamMemory::attach(int world_rank, const MemoryRecord& theirs) {
  transport::Transport& path = path_to(world_rank);
  if (&path == paths_.verbs) return attach_by_device(world_rank, theirs);
  attached_.push_back(path.attach(world_rank, theirs.shm));
  return *attached_.back();
}

const transport::PeerMemory& TeamMemory::attach_by_device(int world_rank,
                                                          const MemoryRecord& theirs) {
  attached_.push_back(paths_.verbs->attach(world_rank, theirs.verbs));
  return *attached_.back();
}

}  // namespace oriel::window
