#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace oriel::base {
class SharedSegment;
}

namespace oriel::transport {

/// Where bytes of a peer's exposed memory are, in the terms of the transport that reaches the peer:
/// a virtual address of the peer and an rkey (verbs), an address in this process and key 0 (shm,
/// mapped), an address of the peer (shm, not mapped).
struct RemoteAddress {
  std::uint64_t address = 0;
  std::uint64_t key = 0;

  [[nodiscard]] RemoteAddress plus(std::uint64_t bytes) const noexcept {
    return {address + bytes, key};
  }
};

/// What one rank tells its peers about memory it exposed through one transport; travels as plain
/// bytes.
struct RegionDescriptor {
  std::uint64_t address = 0;  ///< in the owner's address space
  std::uint64_t length = 0;   ///< bytes; 0: nothing exposed
  std::uint64_t key = 0;      ///< verbs: rkey
  std::int32_t fd =
      -1;  ///< shm: the owner's descriptor of the segment, -1 for memory of the program's own
  std::uint32_t reserved = 0;
  std::uint64_t offset = 0;  ///< shm: of the memory in the segment
};

/// Memory to be exposed: `segment` is the shareable one that holds `bytes`, null says that they are
/// the program's own.
struct LocalMemory {
  std::span<std::byte> bytes;
  const base::SharedSegment* segment = nullptr;
};

/// Keeps memory exposed as long as it lives.
class ExposedMemory {
 public:
  ExposedMemory(const ExposedMemory&) = delete;
  ExposedMemory& operator=(const ExposedMemory&) = delete;
  virtual ~ExposedMemory() = default;
  [[nodiscard]] const RegionDescriptor& descriptor() const noexcept { return descriptor_; }

 protected:
  explicit ExposedMemory(RegionDescriptor descriptor) noexcept : descriptor_(descriptor) {}

 private:
  RegionDescriptor descriptor_;
};

/// A peer's exposed memory as seen from here, as long as it lives.
class PeerMemory {
 public:
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  virtual ~PeerMemory() = default;
  /// Where the memory is mapped in this process, or null.
  [[nodiscard]] std::byte* mapped() const noexcept { return mapped_; }
  [[nodiscard]] RemoteAddress base() const noexcept { return base_; }

 protected:
  PeerMemory(std::byte* mapped, RemoteAddress base) noexcept : mapped_(mapped), base_(base) {}

 private:
  std::byte* mapped_;
  RemoteAddress base_;
};

}  // namespace oriel::transport
