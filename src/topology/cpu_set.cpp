#include "topology/cpu_set.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

namespace oriel::topology {
namespace {

std::shared_ptr<hwloc_bitmap_s> own(hwloc_bitmap_t bits) {
  if (bits == nullptr) throw std::bad_alloc();
  return {bits, hwloc_bitmap_free};
}

}  // namespace

CpuSet::CpuSet() : bits_(own(hwloc_bitmap_alloc())) {}

CpuSet::CpuSet(std::shared_ptr<const hwloc_bitmap_s> bits) : bits_(std::move(bits)) {}

CpuSet CpuSet::copy_of(const hwloc_bitmap_s* bits) {
  return CpuSet(own(hwloc_bitmap_dup(bits)));
}

CpuSet CpuSet::parse(std::string_view list) {
  auto bits = own(hwloc_bitmap_alloc());
  // hwloc reads words as 0 and an open range as infinite, so neither may reach the caller.
  const bool is_list = list.find_first_not_of("0123456789,-") == std::string_view::npos &&
                       hwloc_bitmap_list_sscanf(bits.get(), std::string(list).c_str()) == 0 &&
                       hwloc_bitmap_weight(bits.get()) >= 0;
  if (!is_list) {
    throw std::invalid_argument(
        fmt::format("'{}' is not a list of CPUs; write numbers and ranges like 0-3,8", list));
  }
  return CpuSet(std::move(bits));
}

bool CpuSet::empty() const {
  return hwloc_bitmap_iszero(native()) != 0;
}

unsigned CpuSet::count() const {
  return static_cast<unsigned>(hwloc_bitmap_weight(native()));
}

bool CpuSet::contains(unsigned cpu) const {
  return hwloc_bitmap_isset(native(), cpu) != 0;
}

bool CpuSet::includes(const CpuSet& other) const {
  return hwloc_bitmap_isincluded(other.native(), native()) != 0;
}

bool CpuSet::intersects(const CpuSet& other) const {
  return hwloc_bitmap_intersects(native(), other.native()) != 0;
}

std::string CpuSet::to_string() const {
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, native()) < 0) throw std::bad_alloc();
  const std::unique_ptr<char, decltype(&std::free)> guard(text, &std::free);
  return text;
}

CpuSet operator&(const CpuSet& left, const CpuSet& right) {
  auto bits = own(hwloc_bitmap_alloc());
  if (hwloc_bitmap_and(bits.get(), left.native(), right.native()) != 0) throw std::bad_alloc();
  return CpuSet(std::move(bits));
}

CpuSet operator|(const CpuSet& left, const CpuSet& right) {
  auto bits = own(hwloc_bitmap_alloc());
  if (hwloc_bitmap_or(bits.get(), left.native(), right.native()) != 0) throw std::bad_alloc();
  return CpuSet(std::move(bits));
}

bool operator==(const CpuSet& left, const CpuSet& right) {
  return hwloc_bitmap_isequal(left.native(), right.native()) != 0;
}

}  // namespace oriel::topology
