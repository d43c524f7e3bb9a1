#include <oriel/window_bytes.hpp>

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "window/window_state.hpp"

namespace oriel {

std::string_view to_string(CoherenceDomain domain) noexcept {
  switch (domain) {
    case CoherenceDomain::cpu:
      return "cpu";
    case CoherenceDomain::cpu_and_nic:
      return "cpu_and_nic";
    case CoherenceDomain::nic:
      break;
  }
  return "nic";
}

std::size_t window::checked_bytes(std::string_view operation, std::size_t count,
                                  std::size_t element_bytes) {
  if (count <= std::numeric_limits<std::size_t>::max() / element_bytes)
    return count * element_bytes;
  base::throw_error(ErrorCode::out_of_range,
                    {.operation = std::string(operation),
                     .problem = fmt::format("{} elements of {} bytes do not fit in 64 bits", count,
                                            element_bytes),
                     .hint = "was a negative number given?"});
}

WindowBytes::WindowBytes(std::unique_ptr<window::WindowState> state) noexcept
    : state_(std::move(state)) {}
WindowBytes::WindowBytes(WindowBytes&&) noexcept = default;
WindowBytes& WindowBytes::operator=(WindowBytes&&) noexcept = default;
WindowBytes::~WindowBytes() = default;

WindowBytes WindowBytes::allocate(const Team& team, std::size_t bytes) {
  return WindowBytes(
      std::make_unique<window::WindowState>(team.state(), "Window::allocate", std::nullopt, bytes));
}

WindowBytes WindowBytes::create(const Team& team, std::span<std::byte> memory) {
  return WindowBytes(
      std::make_unique<window::WindowState>(team.state(), "Window::create", memory, memory.size()));
}

window::WindowState& WindowBytes::checked(std::string_view operation) const {
  if (state_) return *state_;
  base::throw_error(ErrorCode::window_freed, {.operation = std::string(operation),
                                              .hint = "the window was freed or moved from"});
}

void WindowBytes::free() {
  window::WindowState& last = checked("Window::free");
  const std::unique_ptr<window::WindowState> owned =
      std::move(state_);  // freed even if close() throws
  last.close();
}

std::span<std::byte> WindowBytes::local() const {
  return checked("local").local();
}
std::size_t WindowBytes::size_bytes(Rank target) const {
  return checked("size").size_bytes(target);
}
const Team& WindowBytes::team() const {
  return checked("team").team();
}
CoherenceDomain WindowBytes::coherence() const {
  return checked("coherence").coherence();
}
std::string WindowBytes::describe() const {
  return checked("describe").describe();
}

void WindowBytes::put(const void* source, std::size_t bytes, Rank target,
                      std::size_t offset_bytes) {
  checked("put").put(static_cast<const std::byte*>(source), bytes, target, offset_bytes);
}
void WindowBytes::get(void* destination, std::size_t bytes, Rank target, std::size_t offset_bytes) {
  checked("get").get(static_cast<std::byte*>(destination), bytes, target, offset_bytes);
}
void WindowBytes::get_now(void* destination, std::size_t bytes, Rank target,
                          std::size_t offset_bytes) {
  checked("get").get_now(static_cast<std::byte*>(destination), bytes, target, offset_bytes);
}
void WindowBytes::fetch_add(std::uint64_t operand, std::uint64_t& result, Rank target,
                            std::size_t offset_bytes) {
  checked("fetch_add").fetch_add(operand, result, target, offset_bytes);
}
std::uint64_t WindowBytes::fetch_add_now(std::uint64_t operand, Rank target,
                                         std::size_t offset_bytes) {
  return checked("fetch_add").fetch_add_now(operand, target, offset_bytes);
}
void WindowBytes::compare_and_swap(std::uint64_t compare, std::uint64_t swap, std::uint64_t& result,
                                   Rank target, std::size_t offset_bytes) {
  checked("compare_and_swap").compare_and_swap(compare, swap, result, target, offset_bytes);
}
std::uint64_t WindowBytes::compare_and_swap_now(std::uint64_t compare, std::uint64_t swap,
                                                Rank target, std::size_t offset_bytes) {
  return checked("compare_and_swap").compare_and_swap_now(compare, swap, target, offset_bytes);
}
void WindowBytes::flush(Rank target) {
  checked("flush").flush(target);
}
void WindowBytes::flush_all() {
  checked("flush_all").flush_all();
}
void WindowBytes::flush_local(Rank target) {
  checked("flush_local").flush_local(target);
}
void WindowBytes::flush_local_all() {
  checked("flush_local_all").flush_local_all();
}
void WindowBytes::fence() {
  checked("fence").fence();
}

}  // namespace oriel
