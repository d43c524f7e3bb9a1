#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <oriel/error.hpp>

#include "base/shared_segment.hpp"
#include "transport/memory.hpp"
#include "transport/verbs/registered_ranges.hpp"
#include "transport/verbs/verbs_handles.hpp"

namespace oriel::verbs {

/// What this process may lock in memory.
struct LockingRights {
  std::optional<std::uint64_t> limit_bytes{};  ///< RLIMIT_MEMLOCK; empty: unlimited
  bool may_exceed = false;                     ///< CAP_IPC_LOCK
};
[[nodiscard]] LockingRights locking_rights();

/// The error for a registration that failed with `error`. Pure, so that every branch is tested.
[[nodiscard]] Error registration_error(int error, std::uint64_t bytes, const LockingRights& rights,
                                       std::string_view operation);

enum class Access : std::uint8_t { local, peers };

/// Registers memory for this process alone, or for its peers (write, read and atomics).
/// Requires: not empty. Errors: locked_memory_limit, invalid_argument (not mapped or not writable),
/// registration_failed.
[[nodiscard]] MrHandle register_memory(ibv_pd* pd, std::span<std::byte> memory, Access access,
                                       std::string_view operation);

/// Page-aligned registered memory of the library's own. A shared mapping on purpose: after a fork()
/// the parent's pages stay the ones that the device knows.
class RegisteredBlock {
 public:
  RegisteredBlock(ibv_pd* pd, std::size_t bytes, Access access, std::string_view operation);

  [[nodiscard]] std::byte* data() const noexcept { return segment_.bytes().data(); }
  [[nodiscard]] std::uint32_t lkey() const noexcept { return mr_->lkey; }
  [[nodiscard]] std::uint32_t rkey() const noexcept { return mr_->rkey; }

 private:
  base::SharedSegment segment_;
  MrHandle mr_;
};

/// Memory that peers reach by rkey; also zero-copy origin memory as long as it lives.
class RegisteredMemory final : public transport::ExposedMemory {
 public:
  /// Empty memory gets a descriptor of length 0 and no registration (length 0 is EINVAL to verbs).
  [[nodiscard]] static std::unique_ptr<RegisteredMemory> expose(ibv_pd* pd, SharedRanges& ranges,
                                                                std::span<std::byte> memory);
  RegisteredMemory(MrHandle mr, SharedRanges& ranges, std::span<std::byte> memory);
  ~RegisteredMemory() override;

 private:
  MrHandle mr_;
  SharedRanges& ranges_;
  std::span<std::byte> memory_;
};

/// A peer's memory: nothing but its address and rkey.
class PeerRegion final : public transport::PeerMemory {
 public:
  explicit PeerRegion(const transport::RegionDescriptor& region) noexcept
      : PeerMemory(nullptr, {region.address, region.key}) {}
};

}  // namespace oriel::verbs
