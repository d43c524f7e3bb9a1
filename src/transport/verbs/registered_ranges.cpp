#include "transport/verbs/registered_ranges.hpp"

#include <algorithm>
#include <bit>
#include <exception>

namespace oriel::verbs {

void RegisteredRanges::add(std::span<const std::byte> memory, std::uint32_t lkey) {
  const auto begin = std::bit_cast<std::uintptr_t>(memory.data());
  const auto at = std::ranges::upper_bound(ranges_, begin, {}, &Range::begin);
  ranges_.insert(at, {.begin = begin, .end = begin + memory.size(), .reach = 0, .lkey = lkey});
  update_reach();
}

void RegisteredRanges::remove(std::span<const std::byte> memory, std::uint32_t lkey) noexcept {
  const auto begin = std::bit_cast<std::uintptr_t>(memory.data());
  const auto found = std::ranges::find_if(ranges_, [&](const Range& range) {
    return range.begin == begin && range.end == begin + memory.size() && range.lkey == lkey;
  });
  if (found == ranges_.end()) return;
  ranges_.erase(found);
  last_hit_ = 0;
  update_reach();
}

void RegisteredRanges::update_reach() noexcept {
  std::uintptr_t reach = 0;
  for (Range& range : ranges_) range.reach = reach = std::max(reach, range.end);
}

RegisteredRanges::Found RegisteredRanges::find(const std::byte* address) const noexcept {
  const auto at = std::bit_cast<std::uintptr_t>(address);
  const auto found = [at](const Range& range) { return Found{range.end - at, range.lkey}; };
  if (last_hit_ < ranges_.size() && ranges_[last_hit_].contains(at))
    return found(ranges_[last_hit_]);

  const auto after = std::ranges::upper_bound(ranges_, at, {}, &Range::begin);
  auto index = static_cast<std::size_t>(after - ranges_.begin());
  for (; index > 0 && ranges_[index - 1].reach > at; --index) {
    if (!ranges_[index - 1].contains(at)) continue;
    last_hit_ = index - 1;
    return found(ranges_[last_hit_]);
  }
  return {};
}

void SharedRanges::add(std::span<const std::byte> memory, std::uint32_t lkey) {
  const std::scoped_lock lock(mutex_);
  ranges_.add(memory, lkey);
  edition_.fetch_add(1, std::memory_order_release);
}

void SharedRanges::remove(std::span<const std::byte> memory, std::uint32_t lkey) noexcept {
  const std::scoped_lock lock(mutex_);
  ranges_.remove(memory, lkey);
  edition_.fetch_add(1, std::memory_order_release);
}

void RangesView::refresh() noexcept {
  try {
    const std::scoped_lock lock(shared_.mutex_);
    copy_ = shared_.ranges_;
    edition_ = shared_.edition_.load(std::memory_order_relaxed);
  } catch (const std::exception&) {
    copy_ = {};
  }
}

}  // namespace oriel::verbs
