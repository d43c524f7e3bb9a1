#include "base/memory_map.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace oriel::base {

bool is_mapped_writable(std::span<const std::byte> memory) {
  // The table is ordered by address: walk it, moving `next` over every piece that continues the
  // range.
  auto next = reinterpret_cast<std::uint64_t>(memory.data());
  const std::uint64_t end = next + memory.size();
  std::ifstream table("/proc/self/maps");
  for (std::string line; next < end && std::getline(table, line);) {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, rights) != 3) continue;
    if (to <= next) continue;
    if (from > next || rights[0] != 'r' || rights[1] != 'w') return false;
    next = to;
  }
  return next >= end;
}

}  // namespace oriel::base
