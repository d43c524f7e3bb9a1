#include "base/shared_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <limits>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::base {
namespace {

Mapping map(int fd, std::size_t bytes, const char* operation) {
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) {
    throw_error(ErrorCode::out_of_memory,
                {.operation = operation,
                 .problem = "mmap failed",
                 .length_bytes = bytes,
                 .system_errno = errno,
                 .hint = "ask for less, or raise the address-space limit (ulimit -v)"});
  }
  // Advice only: huge pages where the kernel gives them to shared memory, nothing lost where not.
  if (bytes >= 2U << 20U) ::madvise(address, bytes, MADV_HUGEPAGE);
  return Mapping(static_cast<std::byte*>(address), Unmap{bytes});
}

}  // namespace

void Unmap::operator()(std::byte* address) const noexcept {
  ::munmap(address, bytes);
}

SharedSegment::SharedSegment(std::size_t bytes) {
  constexpr auto kLargest = static_cast<std::size_t>(std::numeric_limits<off_t>::max());
  fd_ = UniqueFd(::memfd_create("oriel", MFD_CLOEXEC));
  if (!fd_ || bytes > kLargest || ::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
    throw_error(ErrorCode::out_of_memory,
                {.operation = "shared segment",
                 .problem = fd_ ? "ftruncate failed" : "memfd_create failed",
                 .length_bytes = bytes,
                 .system_errno = bytes > kLargest ? EFBIG : errno,
                 .hint = fd_ ? "ask for less memory"
                             : "raise the limit of open files (ulimit -n) or free windows"});
  }
  mapping_ = map(fd_.get(), bytes, "shared segment");
}

Mapping SharedSegment::map_of(pid_t pid, int fd, std::size_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, fd);
  const UniqueFd opened(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!opened) {
    throw_error(ErrorCode::unsupported,
                {.operation = "map a peer's shared segment",
                 .problem = fmt::format("cannot open {}", path),
                 .system_errno = errno,
                 .hint = "ranks of one machine must run as one user and see one another in /proc; "
                         "else use ORIEL_FABRIC=verbs"});
  }
  struct stat status = {};
  if (::fstat(opened.get(), &status) != 0 || static_cast<std::size_t>(status.st_size) < bytes) {
    throw_error(ErrorCode::internal,
                {.operation = "map a peer's shared segment",
                 .problem = fmt::format("{} is shorter than {} bytes", path, bytes)});
  }
  return map(opened.get(), bytes, "map a peer's shared segment");
}

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t whole_pages(std::size_t bytes) noexcept {
  const std::size_t page = page_bytes();
  return bytes > std::numeric_limits<std::size_t>::max() - page ? bytes
                                                                : (bytes + page - 1) / page * page;
}

}  // namespace oriel::base
