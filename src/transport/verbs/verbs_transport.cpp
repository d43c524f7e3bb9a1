#include "transport/verbs/verbs_transport.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/throw_error.hpp"
#include "transport/verbs/completion_poller.hpp"
#include "transport/verbs/verbs_call.hpp"

namespace oriel::verbs {
namespace {

constexpr std::uint32_t kLargestRequest = 1U << 30U;
constexpr int kMostReadsInFlight = 16;
/// A peer that is only slow to accept gets more time than one that does not acknowledge.
constexpr int kConnectPatienceFactor = 2;

std::uint64_t random_incarnation() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U) | random();
}

/// Devices on whose single-port path the completion of a write means that every later access sees
/// it, the target's CPU included. Others get a read behind the writes.
bool is_known_strict(const DeviceInfo& device) {
  constexpr std::array<std::string_view, 3> kDrivers = {"mlx4_core", "mlx5_core", "rdma_rxe"};
  constexpr std::array<std::string_view, 3> kNames = {"mlx4", "mlx5", "rxe"};
  return std::ranges::find(kDrivers, device.driver) != kDrivers.end() ||
         std::ranges::any_of(kNames, [&](auto name) { return device.name.starts_with(name); });
}

bool is_strictly_ordered(base::Visibility visibility, const DeviceInfo& device) {
  if (visibility == base::Visibility::automatic) return is_known_strict(device);
  return visibility == base::Visibility::ordered;
}

DeviceChoice choose(const base::Options& options, const std::string& preferred_device) {
  const auto devices = inventory();
  DeviceChoice choice = choose_device(devices, options, preferred_device, usable_netdev());
  base::log(base::LogLevel::info, "verbs: {}", choice.reason);
  return choice;
}

std::uint8_t reads_in_flight(const DeviceInfo& device) {
  return static_cast<std::uint8_t>(std::clamp(device.limits.max_qp_rd_atom, 1, kMostReadsInFlight));
}

}  // namespace

VerbsTransport::VerbsTransport(const base::Options& options, const std::string& preferred_device,
                               int world_rank, std::uint64_t job_nonce,
                               transport::PeerHealth& health)
    : rank_(world_rank),
      incarnation_(random_incarnation()),
      choice_(choose(options, preferred_device)),
      strictly_ordered_(is_strictly_ordered(options.visibility, choice_.device)),
      listening_(choice_),
      pd_(check_made<PdHandle>(ibv_alloc_pd(listening_.context()), "ibv_alloc_pd",
                               choice_.where())),
      visibility_word_(pd_.get(), sizeof(std::uint64_t), Access::peers, "verbs set-up"),
      settings_(make_settings(options, world_rank, job_nonce, health)),
      listener_(listening_, pd_.get(), make_identity(job_nonce)) {}

LaneSettings VerbsTransport::make_settings(const base::Options& options, int world_rank,
                                           std::uint64_t job_nonce, transport::PeerHealth& health) {
  const auto depth = static_cast<std::uint32_t>(
      std::clamp(choice_.device.limits.max_qp_wr, 2, static_cast<int>(kQueueDepth)));
  return {
      .origin = {.where = choice_.where(),
                 .source = choice_.local_address,
                 .pd = pd_.get(),
                 .depth = depth,
                 .inline_bytes = kSmallBytes,
                 .initiator_depth = reads_in_flight(choice_.device),
                 .ack_timeout = ack_timeout(options.peer_timeout_seconds),
                 .patience =
                     std::chrono::seconds(kConnectPatienceFactor * options.peer_timeout_seconds),
                 .job_nonce = job_nonce,
                 .rank = world_rank},
      .context = listening_.context(),
      .max_completions = choice_.device.limits.max_cqe,
      .ranges = ranges_,
      .health = health,
      .device_text = fmt::format("{} gid {} mtu {}", choice_.where(), choice_.gid.index,
                                 choice_.port.active_mtu_bytes),
      .max_message_bytes = std::clamp(choice_.port.max_message_bytes, kSmallBytes, kLargestRequest),
      .read_after_writes = !strictly_ordered_,
      .peer_timeout_seconds = options.peer_timeout_seconds};
}

ListenerIdentity VerbsTransport::make_identity(std::uint64_t job_nonce) const {
  return {.rank = rank_,
          .job_nonce = job_nonce,
          .incarnation = incarnation_,
          .max_responder_resources = reads_in_flight(choice_.device),
          .where = choice_.where()};
}

VerbsTransport::~VerbsTransport() = default;

transport::Capabilities VerbsTransport::capabilities() const noexcept {
  return {.atomics = choice_.device.atomics, .strictly_ordered = strictly_ordered_};
}

transport::AddressBytes VerbsTransport::address() const noexcept {
  PeerAddress address;
  address.set_socket_address(choice_.local_address);
  address.port = listening_.port();
  address.incarnation = incarnation_;
  address.visibility_word_address = std::bit_cast<std::uintptr_t>(visibility_word_.data());
  address.visibility_word_rkey = visibility_word_.rkey();
  address.atomics = choice_.device.atomics;
  address.set_device(choice_.device.name);
  return address.to_bytes();
}

void VerbsTransport::meet(std::span<const transport::Peer> peers) {
  peers_.assign(peers.begin(), peers.end());
  lane_.emplace(settings_, peers_);
}

std::unique_ptr<transport::ExposedMemory> VerbsTransport::expose(
    const transport::LocalMemory& memory) {
  return RegisteredMemory::expose(pd_.get(), ranges_, memory.bytes);
}

std::unique_ptr<transport::PeerMemory> VerbsTransport::attach(
    int /*world_rank*/, const transport::RegionDescriptor& region) {
  return std::make_unique<PeerRegion>(region);
}

std::string VerbsTransport::describe() const {
  const DeviceLimits& limits = choice_.device.limits;
  return fmt::format(
      "verbs: {}; mtu {}, messages up to {} bytes; listening at port {}; atomics: {}; a flush "
      "ends with {}; inline up to {} bytes, {} requests per peer, {} completions, {} reads in "
      "flight; limits: {} queue pairs, {} registrations; acknowledge timeout {} with {} retries",
      choice_.reason, choice_.port.active_mtu_bytes, settings_.max_message_bytes, listening_.port(),
      choice_.device.atomics == transport::AtomicScope::system
          ? "also to the CPU"
          : "among the device's own operations",
      strictly_ordered_ ? "its completions" : "a read", kSmallBytes, settings_.origin.depth,
      lane_->completions(), settings_.origin.initiator_depth, limits.max_qp, limits.max_mr,
      settings_.origin.ack_timeout, kRetries);
}

}  // namespace oriel::verbs
