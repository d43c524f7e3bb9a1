#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>

#include "fabric_state.hpp"

// The header hides the exported functions of these names behind macros.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace oriel::fake_verbs {
namespace {

/// Whether every page of the range is mapped, and writable where asked for: what the kernel finds
/// out when it pins the pages.
bool pinnable(std::uintptr_t begin, std::size_t length, bool writable) {
  std::uintptr_t covered = begin;
  const std::uintptr_t end = begin + length;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; covered < end && std::getline(maps, line);) {
    unsigned long from = 0, to = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, rights) != 3 || to <= covered)
      continue;
    if (from > covered || rights[0] != 'r' || (writable && rights[1] != 'w')) return false;
    covered = to;
  }
  return covered >= end;
}

int check_registration(const Pd& pd, void* address, std::size_t length, unsigned access) {
  constexpr unsigned known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                             IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                             IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;
  constexpr unsigned need_local_write = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  const auto& config = device_of(pd.context).config;
  if (length == 0 || length > config.max_mr_bytes || (access & ~known) != 0) return EINVAL;
  if ((access & need_local_write) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0) return EINVAL;
  if (state().mrs.size() >= static_cast<std::size_t>(config.max_mr)) return ENOMEM;
  const auto lockable = state().config.lockable_bytes;
  if (length > lockable || state().locked_bytes > lockable - length) return ENOMEM;
  const bool writable = (access & IBV_ACCESS_LOCAL_WRITE) != 0;
  return pinnable(reinterpret_cast<std::uintptr_t>(address), length, writable) ? 0 : EFAULT;
}

}  // namespace
}  // namespace oriel::fake_verbs

using namespace oriel::fake_verbs;

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  if (injected_errno("ibv_alloc_pd")) return nullptr;
  const auto lock = lock_state();
  Pd& pd = state().pds.make();
  pd.context = context;
  return &pd;
}

int ibv_dealloc_pd(ibv_pd* base) {
  if (const int error = injected("ibv_dealloc_pd")) return error;
  const auto lock = lock_state();
  Pd& pd = static_cast<Pd&>(*base);
  if (pd.users != 0) return EBUSY;
  state().pds.destroy(pd, "ibv_dealloc_pd");
  return 0;
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* base, void* address, std::size_t length, std::uint64_t iova,
                         unsigned access) {
  if (injected_errno("ibv_reg_mr")) return nullptr;
  const auto lock = lock_state();
  State& all = state();
  Pd& pd = static_cast<Pd&>(*base);
  if (const int error = check_registration(pd, address, length, access)) {
    return fail_with<ibv_mr*>(error, nullptr);
  }
  Mr& mr = all.mrs.make();
  const auto index = static_cast<std::uint32_t>(all.mr_by_index.size());
  mr.context = pd.context;
  mr.pd = base;
  mr.addr = address;
  mr.length = length;
  mr.handle = index;
  // The two differ, so that a mix-up is noticed; both are never 0.
  mr.lkey = (index << 8U) | 0x51U;
  mr.rkey = (index << 8U) | 0xa2U;
  mr.iova = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova;
  mr.access = access;
  all.mr_by_index.push_back(&mr);
  ++pd.users;
  all.locked_bytes += length;
  ++all.statistics.registrations;
  all.statistics.registered_bytes += length;
  return &mr;
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                        int access) {
  return ibv_reg_mr_iova2(pd, address, length, iova, static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
  return ibv_reg_mr_iova2(pd, address, length, reinterpret_cast<std::uintptr_t>(address),
                          static_cast<unsigned>(access));
}

int ibv_rereg_mr(ibv_mr*, int, ibv_pd*, void*, std::size_t, int) {
  return fail_with<int>(EOPNOTSUPP, IBV_REREG_MR_ERR_CMD);
}

ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) {
  return fail_with<ibv_mr*>(EOPNOTSUPP, nullptr);
}

int ibv_dereg_mr(ibv_mr* base) {
  if (const int error = injected("ibv_dereg_mr")) return error;
  const auto lock = lock_state();
  State& all = state();
  Mr& mr = static_cast<Mr&>(*base);
  if (!all.mrs.contains(&mr)) misuse("ibv_dereg_mr", "the region does not exist (freed twice?)");
  --static_cast<Pd*>(mr.pd)->users;
  all.locked_bytes -= mr.length;
  all.mr_by_index[mr.handle] = nullptr;
  all.mrs.destroy(mr, "ibv_dereg_mr");
  return 0;
}
