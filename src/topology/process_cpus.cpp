#include "topology/process_cpus.hpp"

#include <hwloc.h>
#include <sched.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace oriel::topology {
namespace {

constexpr std::size_t kBitsPerWord = sizeof(unsigned long) * CHAR_BIT;
constexpr std::size_t kMostCpus = std::size_t{1} << 20U;

/// The kernel refuses room for fewer CPUs than it may ever have.
CpuSet thread_cpus(pid_t thread) {
  std::vector<unsigned long> words(CPU_SETSIZE / kBitsPerWord);
  const auto ask = [&] {
    return ::sched_getaffinity(thread, words.size() * sizeof(unsigned long),
                               reinterpret_cast<cpu_set_t*>(words.data()));
  };
  int status = ask();
  while (status != 0 && errno == EINVAL && words.size() * kBitsPerWord < kMostCpus) {
    words.resize(2 * words.size());
    status = ask();
  }
  if (status != 0) return {};  // such as a thread that has ended meanwhile
  std::shared_ptr<hwloc_bitmap_s> bits(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  if (bits == nullptr ||
      hwloc_bitmap_from_ulongs(bits.get(), static_cast<unsigned>(words.size()), words.data()) != 0)
    throw std::bad_alloc();
  return CpuSet(std::move(bits));
}

}  // namespace

// The union over all threads: a main thread pinned by some other library is not the whole rank.
CpuSet process_cpus() {
  CpuSet all = thread_cpus(0);
  std::error_code over;  // an iterator that cannot go on is at its end
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator entry("/proc/self/task", over); entry != end;
       entry.increment(over)) {
    const std::string name = entry->path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    if (thread != 0) all = all | thread_cpus(thread);
  }
  return all;
}

bool has_several_numa_nodes(const std::filesystem::path& sysfs) {
  std::ifstream file(sysfs / "devices/system/node/online");
  std::string list;
  std::getline(file, list);
  try {
    return CpuSet::parse(list).count() > 1;  // nodes are listed as CPUs are
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace oriel::topology
