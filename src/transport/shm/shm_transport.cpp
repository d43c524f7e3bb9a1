#include "transport/shm/shm_transport.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/memory_map.hpp"
#include "base/throw_error.hpp"

namespace oriel::shm {
namespace {

using transport::RegionDescriptor;
using transport::RemoteAddress;

constexpr std::size_t kExpectedAnswers = 1024;

struct ShmAddress {
  std::int32_t control_fd;
};

class SharedMemory final : public transport::ExposedMemory {
 public:
  explicit SharedMemory(RegionDescriptor descriptor) noexcept : ExposedMemory(descriptor) {}
};

/// The program's own memory: peers copy through the kernel and ask the agent for atomics.
class OwnMemory final : public transport::ExposedMemory {
 public:
  OwnMemory(RegionDescriptor descriptor, std::span<std::byte> bytes, std::shared_ptr<Agent> agent)
      : ExposedMemory(descriptor), bytes_(bytes), agent_(std::move(agent)) {
    agent_->allow(bytes_);
  }
  ~OwnMemory() override { agent_->forbid(bytes_); }

 private:
  std::span<std::byte> bytes_;
  std::shared_ptr<Agent> agent_;
};

class MappedPeerMemory final : public transport::PeerMemory {
 public:
  /// @param offset  where the memory begins in the segment that is mapped
  MappedPeerMemory(base::Mapping mapping, std::size_t offset) noexcept
      : PeerMemory(mapping.get() + offset,
                   {reinterpret_cast<std::uint64_t>(mapping.get() + offset), ShmEndpoint::kMapped}),
        mapping_(std::move(mapping)) {}

 private:
  base::Mapping mapping_;
};

/// Memory that needs no mapping: this process's own, or one that only the kernel reaches.
class UnmappedPeerMemory final : public transport::PeerMemory {
 public:
  UnmappedPeerMemory(std::byte* own, RemoteAddress base) noexcept : PeerMemory(own, base) {}
};

}  // namespace

ShmTransport::ShmTransport(int world_rank, transport::PeerHealth& health, CrossMemory cross_memory)
    : world_rank_(world_rank),
      health_(health),
      cross_memory_(cross_memory),
      segment_(base::whole_pages(sizeof(ControlBlock))) {
  ::new (segment_.bytes().data()) ControlBlock();
  expected_.reserve(kExpectedAnswers);
}

ShmTransport::~ShmTransport() = default;

transport::AddressBytes ShmTransport::address() const noexcept {
  const ShmAddress address{segment_.fd()};
  transport::AddressBytes bytes{};
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

void ShmTransport::meet(std::span<const transport::Peer> peers) {
  neighbours_.resize(peers.size());
  std::vector<const transport::Peer*> others;
  for (const transport::Peer& peer : peers) {
    if (!peer.same_machine) continue;
    auto& neighbour = neighbours_[static_cast<std::size_t>(peer.rank)];
    neighbour = std::make_unique<Neighbour>();
    neighbour->peer = peer;
    auto* block = &control();
    if (peer.rank != world_rank_) {
      ShmAddress address{};
      std::memcpy(&address, peer.address.data(), sizeof address);
      neighbour->control_mapping = base::SharedSegment::map_of(
          static_cast<pid_t>(peer.pid), address.control_fd, segment_.bytes().size());
      block = reinterpret_cast<ControlBlock*>(neighbour->control_mapping.get());
      others.push_back(&neighbour->peer);
    }
    neighbour->endpoint.emplace(*this, neighbour->peer, *block);
  }
  watch_ = std::make_unique<PeerWatch>(others, health_);
}

transport::Endpoint& ShmTransport::endpoint(int world_rank) {
  return *neighbours_.at(static_cast<std::size_t>(world_rank))->endpoint;
}

std::unique_ptr<transport::ExposedMemory> ShmTransport::expose(
    const transport::LocalMemory& memory) {
  RegionDescriptor descriptor{.address = reinterpret_cast<std::uint64_t>(memory.bytes.data()),
                              .length = memory.bytes.size()};
  if (memory.segment != nullptr) {
    descriptor.fd = memory.segment->fd();
    descriptor.offset =
        static_cast<std::uint64_t>(memory.bytes.data() - memory.segment->bytes().data());
    return std::make_unique<SharedMemory>(descriptor);
  }
  if (memory.bytes.empty()) return std::make_unique<SharedMemory>(descriptor);
  if (!base::is_mapped_writable(memory.bytes)) {
    base::throw_error(
        ErrorCode::invalid_argument,
        {.operation = "expose memory",
         .problem = fmt::format("the {} bytes at {} are not all mapped readable and writable",
                                memory.bytes.size(), fmt::ptr(memory.bytes.data())),
         .hint = "give memory that stays mapped until the window is freed"});
  }
  agent();
  return std::make_unique<OwnMemory>(descriptor, memory.bytes, agent_);
}

Agent& ShmTransport::agent() {
  if (!agent_) {
    // Where Yama restricts ptrace to descendants (scope 1), this lets the other ranks copy;
    // elsewhere it changes nothing.
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    agent_ = std::make_shared<Agent>(control(), [this](int rank) {
      auto& neighbour = *neighbours_[static_cast<std::size_t>(rank)];
      auto* block = neighbour.control_mapping
                        ? reinterpret_cast<ControlBlock*>(neighbour.control_mapping.get())
                        : &control();
      block->doorbell.ring();
    });
  }
  return *agent_;
}

std::unique_ptr<transport::PeerMemory> ShmTransport::attach(int world_rank,
                                                            const RegionDescriptor& region) {
  const transport::Peer& peer = neighbours_.at(static_cast<std::size_t>(world_rank))->peer;
  if (world_rank == world_rank_) {
    return std::make_unique<UnmappedPeerMemory>(
        reinterpret_cast<std::byte*>(region.address),
        RemoteAddress{region.address, ShmEndpoint::kMapped});
  }
  if (region.fd >= 0 && region.length > 0) {
    return std::make_unique<MappedPeerMemory>(
        base::SharedSegment::map_of(static_cast<pid_t>(peer.pid), region.fd,
                                    region.offset + region.length),
        region.offset);
  }
  if (region.length > 0 && may_copy()) try_to_copy(peer, region.address);
  return std::make_unique<UnmappedPeerMemory>(
      nullptr, RemoteAddress{region.address, ShmEndpoint::kPeerAddress});
}

/// Containers and security modules can forbid what is a plain system call elsewhere: then the
/// agents copy.
void ShmTransport::try_to_copy(const transport::Peer& peer, std::uint64_t address) {
  std::byte probe{};
  const iovec mine{.iov_base = &probe, .iov_len = 1};
  const iovec theirs{.iov_base = reinterpret_cast<void*>(address), .iov_len = 1};
  if (::process_vm_readv(static_cast<pid_t>(peer.pid), &mine, 1, &theirs, 1, 0) == 1) return;
  if (errno != EPERM && errno != ENOSYS && errno != EACCES)
    return;  // the first operation will tell
  cross_memory_ = CrossMemory::forbidden;
  base::log(base::LogLevel::info,
            "process_vm_readv: {}: created windows are copied by their owners' agents; faster with "
            "--cap-add SYS_PTRACE, or with Window::allocate",
            base::errno_text(errno));
}

std::size_t ShmTransport::progress() {
  if (expected_.empty()) return 0;
  return std::erase_if(expected_, [this](const Expected& answer) { return finish(answer); });
}

namespace {

void settle(const ShmTransport::Expected& answer) {
  answer.endpoint->answered();
  if (answer.to != nullptr) answer.done->locally_done();
  answer.done->remotely_done();
}

}  // namespace

bool ShmTransport::finish(const Expected& answer) {
  const std::uint32_t state = answer.slot->look();
  if (state == AgentSlot::ready) {
    const auto death = death_of(answer.endpoint->peer().rank);
    if (!death) return false;
    answer.endpoint->fail(ErrorCode::peer_lost,
                          {.operation = "request of the target's agent",
                           .problem = death->how,
                           .hint = "see why that rank ended"},
                          *answer.done);
    settle(answer);
    return true;
  }
  if (state == AgentSlot::done && answer.to != nullptr) {
    std::memcpy(answer.to, answer.from, answer.bytes);
  }
  answer.slot->pass_on(AgentSlot::free);
  if (state == AgentSlot::refused) {
    answer.endpoint->fail(ErrorCode::transport_failed,
                          {.operation = "request of the target's agent",
                           .problem = "refused: the memory is no longer exposed",
                           .hint = "the target has freed the window"},
                          *answer.done);
  }
  settle(answer);
  return true;
}

std::string ShmTransport::describe() const {
  const auto count =
      std::ranges::count_if(neighbours_, [](const auto& one) { return one != nullptr; });
  return fmt::format("shm: {} ranks on this machine; memory mapped, else process_vm_readv/writev",
                     count);
}

}  // namespace oriel::shm
