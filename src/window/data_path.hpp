#pragma once
/// The way of a contiguous put or get from the public call to the endpoint, in line: every one that
/// the CPU cannot do at once takes it; and that of an accumulate which it can.

#include <oriel/shared_bytes.hpp>

#include "sync/flush.hpp"
#include "window/accumulate.hpp"
#include "window/window_state.hpp"

namespace oriel::window {

/// Bytes of a target's part, from the offset on.
[[nodiscard]] inline DataPlace place_in(const Target& memory, std::size_t offset) noexcept {
  return {memory.mapped != nullptr ? memory.mapped + offset : nullptr,
          memory.data_base.plus(offset)};
}

inline DataPlace WindowState::locate(const TargetBytes& where, std::size_t bytes,
                                     const Route& route) {
  if (kind_ == WindowKind::dynamic) [[unlikely]] {
    const Spot spot = locate_region(where, bytes, route.peer);
    return place_in(spot.target, spot.offset);
  }
  check_range(where, bytes, route.peer.target);
  return place_in(route.peer.target, where.offset);
}

inline void start_put(const DataPlace& to, std::size_t offset, const std::byte* source,
                      std::size_t bytes, const Route& route) {
  if (to.mapped != nullptr) return detail::store_bytes(to.mapped + offset, source, bytes);
  const auto attempt = [source, bytes, address = to.address.plus(offset), &data = route.data,
                        &done = route.done](std::size_t sent) noexcept {
    return data.put(source + sent, bytes - sent, address.plus(sent), done);
  };
  sync::post_all(route.way.turns(), bytes, attempt);
}

inline void start_get(const DataPlace& from, std::size_t offset, std::byte* destination,
                      std::size_t bytes, const Route& route) {
  if (from.mapped != nullptr) return detail::load_bytes(destination, from.mapped + offset, bytes);
  const auto attempt = [destination, bytes, address = from.address.plus(offset), &data = route.data,
                        &done = route.done](std::size_t asked) noexcept {
    return data.get(destination + asked, bytes - asked, address.plus(asked), done);
  };
  sync::post_all(route.way.turns(), bytes, attempt);
}

/// What goes the common way to a target that has been met and is listed. The turn is not given up
/// in between, so it counts before it is posted as well as behind. No bytes, parts that are mapped,
/// dynamic windows, whose parts have no bytes, and errors are left to others.
template <class Post>
inline bool WindowState::transfer_at_once(Rank target, std::size_t offset, std::size_t bytes,
                                          std::size_t& taken, Post&& post) {
  const auto index = static_cast<std::size_t>(static_cast<int>(target));
  if (index >= peers_.size() || !goes_the_common_way()) [[unlikely]]
    return false;
  const transport::Progress::Turn turn(common_.turns());
  Peer* const to = peers_.find(index);
  if (to == nullptr) [[unlikely]]
    return false;
  const std::uint64_t reach = to->pending.at_once;
  if (offset > reach || bytes - 1 >= reach - offset) [[unlikely]]
    return false;
  to->pending.count();
  const Target& part = to->target;
  taken = post(*part.data, part.data_base.plus(offset), to->pending.done);
  return taken == bytes;
}

inline void WindowState::put(const std::byte* source, std::size_t bytes, const TargetBytes& to,
                             const Route& route) {
  start_put(locate(to, bytes, route), 0, source, bytes, route);
}

inline void WindowState::get(std::byte* destination, std::size_t bytes, const TargetBytes& from,
                             const Route& route) {
  start_get(locate(from, bytes, route), 0, destination, bytes, route);
}

inline bool WindowState::accumulate_in_place(ElementType type, OpCode op, const void* operands,
                                             void* results, std::size_t count,
                                             const TargetBytes& where) {
  std::byte* const found = in_place_ ? find(where.rank, where.offset, count * type.bytes) : nullptr;
  if (found == nullptr) return false;
  check_supported(where.operation, type, op);
  const auto rank = static_cast<std::size_t>(static_cast<int>(where.rank));
  accumulator_->in_place(type, op, {found, where.offset, rank},
                         static_cast<const std::byte*>(operands), static_cast<std::byte*>(results),
                         count);
  return true;
}

}  // namespace oriel::window
