#pragma once
/// The way of a contiguous put or get from the public call to the endpoint, in line: every
/// operation that the CPU cannot do at once takes it.

#include <oriel/shared_bytes.hpp>

#include "sync/flush.hpp"
#include "window/window_state.hpp"

namespace oriel::window {

inline DataPlace WindowState::locate(const TargetBytes& where, std::size_t bytes,
                                     const Route& route) {
  const auto place = [&](const Target& memory, std::size_t offset) -> DataPlace {
    return {memory.mapped != nullptr ? memory.mapped + offset : nullptr,
            memory.data_base.plus(offset)};
  };
  if (kind_ == WindowKind::dynamic) [[unlikely]] {
    const Spot spot = locate_region(where, bytes, route.peer);
    return place(spot.target, spot.offset);
  }
  check_range(where, bytes, route.peer.target);
  return place(route.peer.target, where.offset);
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

inline void WindowState::put(const std::byte* source, std::size_t bytes, const TargetBytes& to,
                             const Route& route) {
  start_put(locate(to, bytes, route), 0, source, bytes, route);
}

inline void WindowState::get(std::byte* destination, std::size_t bytes, const TargetBytes& from,
                             const Route& route) {
  start_get(locate(from, bytes, route), 0, destination, bytes, route);
}

}  // namespace oriel::window
