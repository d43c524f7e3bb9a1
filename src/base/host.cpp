#include "base/host.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

namespace oriel::base {
namespace {

// FNV-1a: any spread-out hash does; the same on all ranks is what counts.
std::uint64_t hash(std::string_view text) noexcept {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return value;
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return text;
}

}  // namespace

HostIdentity this_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  struct stat pid_namespace = {};
  ::stat("/proc/self/ns/pid", &pid_namespace);
  HostIdentity identity{.name = name.data()};
  // Machines booted from one image can share a boot id in theory; the host's name makes that
  // harmless.
  identity.id = hash(fmt::format("{} {} {}:{} {}", boot_id(), identity.name, pid_namespace.st_dev,
                                 pid_namespace.st_ino, ::geteuid()));
  return identity;
}

}  // namespace oriel::base
