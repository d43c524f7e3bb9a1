#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transport/endpoint.hpp"
#include "transport/memory.hpp"

namespace oriel::transport {

/// How far a device's atomics reach [ibv_atomic_cap].
enum class AtomicScope : std::uint8_t {
  none,    ///< the device has no atomics
  device,  ///< atomic among operations of the same device only [IBV_ATOMIC_HCA]
  system,  ///< atomic also to the CPU [IBV_ATOMIC_GLOB]; CPU atomics themselves
};

struct Capabilities {
  AtomicScope atomics = AtomicScope::none;
  /// Completion alone means visible to the target's CPU (see ORIEL_VISIBILITY).
  bool strictly_ordered = true;
};

/// What a peer needs to reach this process over one transport; travels as plain bytes in the
/// start-up exchange.
using AddressBytes = std::array<std::byte, 128>;

/// A process as the start-up exchange described it.
struct Peer {
  int rank = 0;          ///< world rank
  std::string host{};    ///< host name, for messages
  std::int64_t pid = 0;  ///< in the pid namespace that the ranks of its machine share
  bool same_machine = false;
  AddressBytes address{};  ///< of this transport
};

/// Endpoints, one per peer, that make progress together. Threads: one-at-a-time.
class Lane {
 public:
  Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  virtual ~Lane() = default;

  [[nodiscard]] virtual Endpoint& endpoint(int world_rank) = 0;
  /// Those that were asked for, where Endpoint::follow() has something to do.
  virtual void for_each_endpoint(const std::function<void(Endpoint&)>& /*visit*/) {}
  /// Finishes what can be finished now; returns how many operations were. Never waits.
  virtual std::size_t progress() = 0;
  /// Operations posted and not finished; 0 means that progress() has nothing to do.
  [[nodiscard]] virtual std::size_t outstanding() const noexcept = 0;
};

/// A way to move bytes between processes.
///
/// Life: construct → address() travels to all → meet(peers) once → expose/attach/endpoint/progress
/// → destroy, after all memory handles. Endpoints live as long as the transport; connections are
/// made at the first operation. Threads: one-at-a-time, but for what a transport's own agent thread
/// does inside.
class Transport : public Lane {
 public:
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual Capabilities capabilities() const noexcept = 0;
  [[nodiscard]] virtual AddressBytes address() const noexcept = 0;

  /// Learns who is there, indexed by world rank; this process included.
  virtual void meet(std::span<const Peer> peers) = 0;

  /// Makes memory reachable for peers. Errors: locked_memory_limit, registration_failed,
  /// invalid_argument (not mapped).
  [[nodiscard]] virtual std::unique_ptr<ExposedMemory> expose(const LocalMemory& memory) = 0;
  /// Makes a peer's exposed memory reachable from here. Errors: out_of_memory, unsupported.
  [[nodiscard]] virtual std::unique_ptr<PeerMemory> attach(int world_rank,
                                                           const RegionDescriptor& region) = 0;

  /// A readable account: device, port, GID, limits, and why.
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace oriel::transport
