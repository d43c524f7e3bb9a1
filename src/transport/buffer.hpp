#pragma once

#include <memory>
#include <span>

#include "base/shared_segment.hpp"
#include "transport/transport.hpp"

namespace oriel::transport {

/// Memory of an oriel::Buffer: a segment that the device knows as long as it lives.
class Buffer {
 public:
  /// @param device  registers the memory; null where every peer is reached by shared memory
  /// @param prepare  called on the memory before its first use, to bind it near the rank's cores
  template <class Prepare>
  Buffer(Transport* device, std::size_t bytes, Prepare&& prepare) {
    if (bytes == 0) return;
    segment_ = std::make_unique<base::SharedSegment>(base::whole_pages(bytes));
    segment_->close_fd();  // nobody else maps it
    bytes_ = segment_->bytes().first(bytes);
    prepare(segment_->bytes());
    if (device != nullptr) registered_ = device->expose({bytes_, nullptr});
  }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::unique_ptr<base::SharedSegment> segment_;
  std::span<std::byte> bytes_;
  std::unique_ptr<ExposedMemory> registered_;  // goes before the segment
};

}  // namespace oriel::transport
