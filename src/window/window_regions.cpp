// Dynamic windows: memory comes and goes while the window lives.

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "window/window_state.hpp"

namespace oriel::window {

std::size_t WindowState::attach_region(std::span<std::byte> memory, std::size_t alignment) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  if (kind_ != WindowKind::dynamic) {
    base::throw_error(ErrorCode::invalid_argument,
                      {.operation = "Window::attach",
                       .problem = fmt::format("the window is {}", to_string(kind_)),
                       .origin = team_state_->job().world_rank,
                       .window = number_,
                       .hint = "only windows made by Window::dynamic() take further memory"});
  }
  if (address % alignment != 0) {
    base::throw_error(
        ErrorCode::misaligned,
        {.operation = "Window::attach",
         .problem = fmt::format("the memory at {} is not at a multiple of the element's {} bytes",
                                fmt::ptr(memory.data()), alignment),
         .origin = team_state_->job().world_rank,
         .window = number_,
         .hint = "offsets of dynamic windows count elements from address 0: align the memory"});
  }
  regions_->attach(memory);
  return address;
}

void WindowState::detach_region(std::span<std::byte> memory) {
  if (kind_ == WindowKind::dynamic) {
    take_memory_back();
    return regions_->detach(memory);
  }
  base::throw_error(ErrorCode::invalid_argument,
                    {.operation = "Window::detach",
                     .problem = fmt::format("the window is {}", to_string(kind_)),
                     .origin = team_state_->job().world_rank,
                     .window = number_,
                     .hint = "only windows made by Window::dynamic() take memory away"});
}

Spot WindowState::locate_region(const TargetBytes& where, std::size_t bytes, Peer& peer) {
  const auto reach = [&](const MemoryRecord& region, Target& way) {
    auto attached = std::make_unique<TeamMemory>(team_state_->job(), memory_.paths());
    way = reach_memory(static_cast<std::size_t>(static_cast<int>(where.rank)), region, *attached);
    return attached;
  };
  std::uint64_t begin = 0;
  const Target* const found =
      peer.regions->find(progress(), *vigil_, peer.control_by_data.at(region_table_offset()), reach,
                         where.offset, bytes, begin);
  if (found == nullptr) throw_out_of_range(where, bytes);
  return {*found, where.offset - begin};
}

}  // namespace oriel::window
