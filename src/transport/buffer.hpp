#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/shared_segment.hpp"
#include "transport/transport.hpp"

namespace oriel::transport {

/// The segments of a process's buffers: a window over a part of one can be mapped by its peers, as
/// memory of the program's own cannot. Threads: any.
class BufferSegments {
 public:
  void add(const base::SharedSegment& segment) {
    const std::scoped_lock lock(mutex_);
    segments_.push_back(&segment);
  }
  void remove(const base::SharedSegment& segment) {
    const std::scoped_lock lock(mutex_);
    std::erase(segments_, &segment);
  }
  /// The one that holds all of the bytes, or null. It stays as long as its buffer.
  [[nodiscard]] const base::SharedSegment* find(std::span<const std::byte> bytes) const {
    const std::scoped_lock lock(mutex_);
    const auto holds = [&](const base::SharedSegment* segment) {
      const auto all = segment->bytes();
      return bytes.data() >= all.data() && bytes.data() + bytes.size() <= all.data() + all.size();
    };
    const auto found = std::ranges::find_if(segments_, holds);
    return bytes.empty() || found == segments_.end() ? nullptr : *found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<const base::SharedSegment*> segments_;
};

/// Memory of an oriel::Buffer: a segment that the device knows as long as it lives.
class Buffer {
 public:
  /// @param device  registers the memory; null where every peer is reached by shared memory
  /// @param prepare  called on the memory before its first use, to bind it near the rank's cores
  template <class Prepare>
  Buffer(BufferSegments& segments, Transport* device, std::size_t bytes, Prepare&& prepare)
      : segments_(segments) {
    if (bytes == 0) return;
    segment_ = std::make_unique<base::SharedSegment>(base::whole_pages(bytes));
    bytes_ = segment_->bytes().first(bytes);
    prepare(segment_->bytes());
    if (device != nullptr) registered_ = device->expose({bytes_, nullptr});
    segments_.add(*segment_);
  }
  ~Buffer() {
    if (segment_) segments_.remove(*segment_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  BufferSegments& segments_;
  std::unique_ptr<base::SharedSegment> segment_;
  std::span<std::byte> bytes_;
  std::unique_ptr<ExposedMemory> registered_;  // goes before the segment
};

}  // namespace oriel::transport
