#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/shared_segment.hpp"
#include "transport/shm/agent.hpp"
#include "transport/shm/peer_watch.hpp"
#include "transport/shm/shm_endpoint.hpp"
#include "transport/transport.hpp"

namespace oriel::shm {

/// Moves bytes between processes of one machine: shared segments by plain loads and stores, other
/// memory by the kernel's process_vm_readv/writev; atomics are always CPU atomics, by the requester
/// or by the owner's agent.
class ShmTransport final : public transport::Transport {
 public:
  /// Whether the kernel lets ranks copy from and to each other's memory. Found out at the first
  /// attach, unless it is known.
  enum class CrossMemory : bool { to_be_tried, forbidden };

  ShmTransport(int world_rank, transport::PeerHealth& health,
               CrossMemory cross_memory = CrossMemory::to_be_tried);
  ~ShmTransport() override;

  [[nodiscard]] std::string_view name() const noexcept override { return "shm"; }
  [[nodiscard]] transport::Capabilities capabilities() const noexcept override {
    return {.atomics = transport::AtomicScope::system, .strictly_ordered = true};
  }
  [[nodiscard]] transport::AddressBytes address() const noexcept override;
  void meet(std::span<const transport::Peer> peers) override;
  [[nodiscard]] transport::Endpoint& endpoint(int world_rank) override;
  [[nodiscard]] std::unique_ptr<transport::ExposedMemory> expose(
      const transport::LocalMemory& memory) override;
  [[nodiscard]] std::unique_ptr<transport::PeerMemory> attach(
      int world_rank, const transport::RegionDescriptor& region) override;
  std::size_t progress() override;
  [[nodiscard]] std::size_t outstanding() const noexcept override { return expected_.size(); }
  [[nodiscard]] std::string describe() const override;

  /// Rung when a peer has changed memory that this process may wait for.
  [[nodiscard]] base::Doorbell& doorbell() noexcept { return control().doorbell; }

  // For the endpoints:
  struct Expected {
    AgentSlot* slot;
    const std::byte* from;  ///< the answer, in the slot or its staging bytes
    std::byte* to;  ///< where it is wanted; null: nowhere, and the origin was told that it is
                    ///< locally complete
    std::size_t bytes;
    ShmEndpoint* endpoint;
    transport::Completion* done;
  };
  [[nodiscard]] int world_rank() const noexcept { return world_rank_; }
  [[nodiscard]] bool has_room() const noexcept { return expected_.size() < expected_.capacity(); }
  [[nodiscard]] bool may_copy() const noexcept { return cross_memory_ != CrossMemory::forbidden; }
  void expect(const Expected& answer) { expected_.push_back(answer); }
  [[nodiscard]] std::optional<transport::PeerHealth::Death> death_of(int rank) const {
    return health_.deaths() == 0 ? std::nullopt : health_.find(rank);
  }
  void report_dead(int rank, const std::string& how) { health_.report_dead(rank, how); }

 private:
  struct Neighbour {
    transport::Peer peer;
    base::Mapping control_mapping;  // empty for this process itself
    std::optional<ShmEndpoint> endpoint;
  };

  [[nodiscard]] ControlBlock& control() noexcept {
    return *reinterpret_cast<ControlBlock*>(segment_.bytes().data());
  }
  bool finish(const Expected& answer);
  void try_to_copy(const transport::Peer& peer, std::uint64_t address);
  Agent& agent();

  int world_rank_;
  transport::PeerHealth& health_;
  CrossMemory cross_memory_;
  base::SharedSegment segment_;
  std::vector<std::unique_ptr<Neighbour>> neighbours_;  // by world rank; null for other machines
  std::vector<Expected> expected_;  // answers of agents; never grows past its capacity
  std::unique_ptr<PeerWatch> watch_;
  std::shared_ptr<Agent> agent_;  // from the first memory exposed that cannot be mapped
};

}  // namespace oriel::shm
