#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>

#include "base/unique_fd.hpp"

namespace oriel::base {

struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* address) const noexcept;
};
using Mapping = std::unique_ptr<std::byte, Unmap>;

/// Anonymous shared memory [memfd_create]: zeroed, page-aligned, without a name in any file system,
/// gone with the last mapping whatever is killed. Processes of the same user on the same machine
/// map it through /proc/<pid>/fd as long as the creator keeps the descriptor open.
class SharedSegment {
 public:
  /// Errors: out_of_memory.
  explicit SharedSegment(std::size_t bytes);

  /// Maps the first `bytes` of segment `fd` of process `pid`. Errors: out_of_memory; unsupported
  /// when the kernel forbids it (other user, hidden /proc).
  [[nodiscard]] static Mapping map_of(pid_t pid, int fd, std::size_t bytes);

  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {mapping_.get(), mapping_.get_deleter().bytes};
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Nobody can map the segment any more; what is mapped stays. Thousands of windows need no
  /// thousands of descriptors.
  void close_fd() noexcept { fd_.reset(); }

 private:
  UniqueFd fd_;
  Mapping mapping_;
};

/// Size of a page of memory in bytes.
[[nodiscard]] std::size_t page_bytes() noexcept;
/// `bytes` rounded up to whole pages.
[[nodiscard]] std::size_t whole_pages(std::size_t bytes) noexcept;

}  // namespace oriel::base
