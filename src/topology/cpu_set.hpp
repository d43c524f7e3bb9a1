#pragma once

#include <memory>
#include <string>
#include <string_view>

struct hwloc_bitmap_s;

namespace oriel::topology {

/// A set of CPUs (hardware threads), named by the operating system's numbers.
///
/// An immutable value: copies share their bits, operators make new sets.
class CpuSet {
 public:
  CpuSet();
  /// Shares `bits`, which nobody may change any more.
  explicit CpuSet(std::shared_ptr<const hwloc_bitmap_s> bits);
  static CpuSet copy_of(const hwloc_bitmap_s* bits);
  /// Reads the kernel's list form, "0-3,8"; "" is the empty set.
  /// Errors: std::invalid_argument if `list` is anything else.
  static CpuSet parse(std::string_view list);

  [[nodiscard]] bool empty() const;
  [[nodiscard]] unsigned count() const;
  [[nodiscard]] bool contains(unsigned cpu) const;
  [[nodiscard]] bool includes(const CpuSet& other) const;
  [[nodiscard]] bool intersects(const CpuSet& other) const;
  /// The kernel's list form; "" for the empty set.
  [[nodiscard]] std::string to_string() const;

  friend CpuSet operator&(const CpuSet& left, const CpuSet& right);
  friend CpuSet operator|(const CpuSet& left, const CpuSet& right);
  friend bool operator==(const CpuSet& left, const CpuSet& right);

  /// For src/topology only: what hwloc's functions take.
  [[nodiscard]] const hwloc_bitmap_s* native() const { return bits_.get(); }

 private:
  std::shared_ptr<const hwloc_bitmap_s> bits_;
};

}  // namespace oriel::topology
