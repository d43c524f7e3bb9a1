#pragma once
/// Registered origin memory: what lies in a Buffer travels without a copy.

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <oriel/export.hpp>
#include <oriel/runtime.hpp>
#include <oriel/window_bytes.hpp>

namespace oriel {

namespace transport {
class Buffer;
}

/// Zeroed memory, page-aligned, known to the RDMA device (if one is in use), bound near this rank's
/// cores.
///
/// Needed by nobody: any memory can be the origin of any operation; larger transfers from elsewhere
/// are copied through a registered ring. A window created over a part of one is mapped by the ranks
/// of its machine, as an allocated one: a put there is a copy, not a system call. Not collective.
/// Must be destroyed before its Runtime, and after the operations on it are locally complete.
class ORIEL_API BufferBytes {
 public:
  /// @param bytes  may be 0
  /// Errors: out_of_memory, locked_memory_limit, registration_failed. Threads: one-at-a-time per
  /// runtime. Cost: maps and registers memory (about 0.1 ms and 0.2 ms per MiB): allocate once, use
  /// often. A file descriptor.
  BufferBytes(const Runtime& job, std::size_t bytes);
  ~BufferBytes();
  BufferBytes(BufferBytes&&) noexcept;
  BufferBytes& operator=(BufferBytes&&) noexcept;
  [[nodiscard]] std::span<std::byte> bytes() const noexcept;

 private:
  std::unique_ptr<transport::Buffer> buffer_;
};

/// A BufferBytes of `count` elements of T.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "a Buffer holds bytes that travel as they are");

 public:
  Buffer(const Runtime& job, std::size_t count)
      : bytes_(job, window::checked_bytes("Buffer", count, sizeof(T))),
        span_(reinterpret_cast<T*>(bytes_.bytes().data()), count) {}
  Buffer(Buffer&& other) noexcept
      : bytes_(std::move(other.bytes_)), span_(std::exchange(other.span_, {})) {}
  Buffer& operator=(Buffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    span_ = std::exchange(other.span_, {});
    return *this;
  }
  [[nodiscard]] std::span<T> span() const noexcept { return span_; }
  [[nodiscard]] std::size_t size() const noexcept { return span_.size(); }
  [[nodiscard]] T& operator[](std::size_t index) const noexcept { return span_[index]; }

 private:
  BufferBytes bytes_;
  std::span<T> span_;
};

}  // namespace oriel
