#include "transport/verbs/registered_memory.hpp"

#include <sys/resource.h>

#include <bit>
#include <cerrno>
#include <fstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::verbs {
namespace {

constexpr unsigned kCapIpcLock = 14;  // <linux/capability.h>

bool has_ipc_lock() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("CapEff:")) continue;
    const auto mask = std::stoull(line.substr(7), nullptr, 16);
    return ((mask >> kCapIpcLock) & 1U) != 0;
  }
  return false;
}

std::uint64_t address_of(const std::byte* memory) {
  return std::bit_cast<std::uintptr_t>(memory);
}

transport::RegionDescriptor describe(const ibv_mr* mr, std::span<std::byte> memory) {
  if (mr == nullptr) return {};
  return {.address = address_of(memory.data()), .length = memory.size(), .key = mr->rkey};
}

}  // namespace

LockingRights locking_rights() {
  rlimit limit{};
  LockingRights rights{.limit_bytes = {}, .may_exceed = has_ipc_lock()};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    rights.limit_bytes = limit.rlim_cur;
  return rights;
}

Error registration_error(int error, std::uint64_t bytes, const LockingRights& rights,
                         std::string_view operation) {
  ErrorDetails details{.operation = std::string(operation),
                       .problem = fmt::format("the device could not register {} bytes", bytes),
                       .length_bytes = bytes,
                       .system_errno = error};
  if (error == EFAULT) {
    details.problem += ": they are not all mapped, or not writable";
    details.hint = "windows need memory that may be written; memory only read by put() needs none";
    return {ErrorCode::invalid_argument, std::move(details)};
  }
  if (error == ENOMEM && rights.limit_bytes && !rights.may_exceed) {
    details.problem += fmt::format(
        ": at most {} bytes may be locked (RLIMIT_MEMLOCK, all "
        "registrations of the process together)",
        *rights.limit_bytes);
    details.hint =
        "raise it where the ranks are started: ulimit -l unlimited; for ever: \"* - memlock "
        "unlimited\" in /etc/security/limits.d/; systemd and launchers: LimitMEMLOCK=infinity; "
        "containers: --ulimit memlock=-1";
    return {ErrorCode::locked_memory_limit, std::move(details)};
  }
  details.hint =
      error == ENOMEM
          ? "memory, a memory limit of the container (cgroup), or the device's table of "
            "registrations (max_mr in oriel-info) is exhausted"
          : "the device may not be able to register this kind of memory (files, device memory)";
  return {ErrorCode::registration_failed, std::move(details)};
}

MrHandle register_memory(ibv_pd* pd, std::span<std::byte> memory, Access access,
                         std::string_view operation) {
  constexpr int kLocal = IBV_ACCESS_LOCAL_WRITE;
  constexpr int kPeers = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                         IBV_ACCESS_REMOTE_ATOMIC;
  MrHandle mr(access == Access::peers ? ibv_reg_mr(pd, memory.data(), memory.size(), kPeers)
                                      : ibv_reg_mr(pd, memory.data(), memory.size(), kLocal));
  if (mr == nullptr) {
    throw registration_error(errno, memory.size(), locking_rights(),
                             fmt::format("{}: ibv_reg_mr", operation));
  }
  return mr;
}

RegisteredBlock::RegisteredBlock(ibv_pd* pd, std::size_t bytes, Access access,
                                 std::string_view operation)
    : segment_(bytes), mr_(register_memory(pd, segment_.bytes(), access, operation)) {
  segment_.close_fd();
}

std::unique_ptr<RegisteredMemory> RegisteredMemory::expose(ibv_pd* pd, SharedRanges& ranges,
                                                           std::span<std::byte> memory) {
  MrHandle mr;
  if (!memory.empty()) mr = register_memory(pd, memory, Access::peers, "expose memory");
  return std::make_unique<RegisteredMemory>(std::move(mr), ranges, memory);
}

RegisteredMemory::RegisteredMemory(MrHandle mr, SharedRanges& ranges, std::span<std::byte> memory)
    : ExposedMemory(describe(mr.get(), memory)),
      mr_(std::move(mr)),
      ranges_(ranges),
      memory_(memory) {
  if (mr_ != nullptr) ranges_.add(memory_, mr_->lkey);
}

RegisteredMemory::~RegisteredMemory() {
  if (mr_ != nullptr) ranges_.remove(memory_, mr_->lkey);
}

}  // namespace oriel::verbs
