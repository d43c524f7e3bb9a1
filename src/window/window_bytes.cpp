// The public calls: is there still a window, is it this thread's turn, and who counts the
// operation.

#include <oriel/window_bytes.hpp>

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "sync/flush.hpp"
#include "window/data_path.hpp"

namespace oriel {

using transport::Completion;
using transport::Endpoint;
using transport::Progress;
using transport::RemoteAddress;
using window::Creation;
using window::MappedParts;
using window::Route;
using window::WindowState;

std::string_view to_string(WindowKind kind) noexcept {
  switch (kind) {
    case WindowKind::allocated:
      return "allocated";
    case WindowKind::created:
      return "created";
    case WindowKind::shared:
      return "shared";
    case WindowKind::dynamic:
      break;
  }
  return "dynamic";
}

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

void window::throw_too_many(std::string_view operation, std::size_t count,
                            std::size_t element_bytes) {
  base::throw_error(ErrorCode::out_of_range,
                    {.operation = std::string(operation),
                     .problem = fmt::format("{} elements of {} bytes do not fit in 64 bits", count,
                                            element_bytes),
                     .hint = "was a negative number given?"});
}

void window::check_origin(std::string_view operation, const Layout& layout, std::size_t elements) {
  if (layout.extent() <= elements) return;
  base::throw_error(
      ErrorCode::out_of_range,
      {.operation = std::string(operation),
       .problem = fmt::format("the layout reaches {} elements far, the memory here has {}",
                              layout.extent(), elements),
       .hint = "layouts count from the start of the span"});
}

namespace {

const std::byte* bytes_of(const void* memory) noexcept {
  return static_cast<const std::byte*>(memory);
}
std::byte* bytes_of(void* memory) noexcept {
  return static_cast<std::byte*>(memory);
}

}  // namespace

WindowBytes::WindowBytes(std::unique_ptr<MappedParts> state) noexcept : state_(std::move(state)) {
  if (state_) static_cast<WindowState&>(*state_).owned_by(state_);
}
WindowBytes::WindowBytes(WindowBytes&& other) noexcept : WindowBytes(std::move(other.state_)) {}
WindowBytes& WindowBytes::operator=(WindowBytes&& other) noexcept {
  if (this != &other) {
    window::release(std::move(state_));
    state_ = std::move(other.state_);
    if (state_) static_cast<WindowState&>(*state_).owned_by(state_);
  }
  return *this;
}
WindowBytes::~WindowBytes() {
  window::release(std::move(state_));
}

namespace {

/// A window comes and goes in this thread's turn; the team that it may be the last to hold has one
/// of its own.
std::unique_ptr<WindowState> make(const Team& team, const Creation& creation) {
  const Progress::Turn turn(*team.state()->job().progress);
  return std::make_unique<WindowState>(team.state(), creation);
}

}  // namespace

WindowBytes WindowBytes::allocate(const Team& team, std::size_t bytes,
                                  const WindowOptions& options) {
  return WindowBytes(make(team, {"Window::allocate", WindowKind::allocated, bytes, {}, options}));
}
WindowBytes WindowBytes::create(const Team& team, std::span<std::byte> memory,
                                const WindowOptions& options) {
  return WindowBytes(
      make(team, {"Window::create", WindowKind::created, memory.size(), memory, options}));
}
WindowBytes WindowBytes::allocate_shared(const Team& team, std::size_t bytes,
                                         const WindowOptions& options) {
  return WindowBytes(
      make(team, {"Window::allocate_shared", WindowKind::shared, bytes, {}, options}));
}
WindowBytes WindowBytes::dynamic(const Team& team, const WindowOptions& options) {
  return WindowBytes(make(team, {"Window::dynamic", WindowKind::dynamic, 0, {}, options}));
}

void WindowBytes::throw_freed(std::string_view operation) {
  base::throw_error(ErrorCode::window_freed, {.operation = std::string(operation),
                                              .hint = "the window was freed or moved from"});
}

void WindowBytes::free() {
  WindowState& last = checked("Window::free");
  std::exception_ptr failure;
  try {
    const Progress::Turn turn(last.progress());
    last.close();
  } catch (...) {
    failure = std::current_exception();
  }
  window::release(std::move(state_));
  if (failure) std::rethrow_exception(failure);
}

std::size_t WindowBytes::attach(std::span<std::byte> memory, std::size_t alignment) {
  WindowState& window = checked("Window::attach");
  const Progress::Turn turn(window.progress());
  return window.attach_region(memory, alignment);
}
void WindowBytes::detach(std::span<std::byte> memory) {
  WindowState& window = checked("Window::detach");
  const Progress::Turn turn(window.progress());
  window.detach_region(memory);
}

std::span<std::byte> WindowBytes::local() const {
  return checked("local").local();
}
std::span<std::byte> WindowBytes::shared_span(Rank target) const {
  return checked("shared_span").shared_span(target);
}
std::size_t WindowBytes::size_bytes(Rank target) const {
  return checked("size").size_bytes(target);
}
const Team& WindowBytes::team() const {
  return checked("team").team();
}
WindowKind WindowBytes::kind() const {
  return checked("kind").kind();
}
const WindowOptions& WindowBytes::options() const {
  return checked("options").options();
}
CoherenceDomain WindowBytes::coherence() const {
  return checked("coherence").coherence();
}
WindowCounters WindowBytes::counters() const {
  return checked("counters").counters();
}
std::string WindowBytes::describe() const {
  return checked("describe").describe();
}

// ---- put and get

namespace {

[[gnu::noinline]] void put_rest(WindowState& window, const std::byte* source, std::size_t bytes,
                                Rank target, std::size_t offset) {
  const TargetBytes where{"put", target, offset};
  window.transfer(where, [&](const Route& route) { window.put(source, bytes, where, route); });
}
[[gnu::noinline]] void get_rest(WindowState& window, std::byte* destination, std::size_t bytes,
                                Rank target, std::size_t offset) {
  const TargetBytes where{"get", target, offset};
  window.transfer(where, [&](const Route& route) { window.get(destination, bytes, where, route); });
}

}  // namespace

[[gnu::hot]] void WindowBytes::put_by_way(const void* source, std::size_t bytes, Rank target,
                                          std::size_t offset) {
  WindowState& window = checked("put");
  std::size_t sent = 0;
  const auto post = [&](Endpoint& endpoint, RemoteAddress address, Completion& done) {
    return endpoint.put(bytes_of(source), bytes, address, done);
  };
  if (window.transfer_at_once(target, offset, bytes, sent, post)) [[likely]]
    return;
  put_rest(window, bytes_of(source) + sent, bytes - sent, target, offset + sent);
}

[[gnu::hot]] void WindowBytes::get_by_way(void* destination, std::size_t bytes, Rank target,
                                          std::size_t offset) {
  WindowState& window = checked("get");
  std::size_t asked = 0;
  const auto post = [&](Endpoint& endpoint, RemoteAddress address, Completion& done) {
    return endpoint.get(bytes_of(destination), bytes, address, done);
  };
  if (window.transfer_at_once(target, offset, bytes, asked, post)) [[likely]]
    return;
  get_rest(window, bytes_of(destination) + asked, bytes - asked, target, offset + asked);
}

void WindowBytes::get_now(void* destination, std::size_t bytes, const TargetBytes& target) {
  WindowState& window = checked(target.operation);
  window.transfer_now(
      target, [&](const Route& route) { window.get(bytes_of(destination), bytes, target, route); });
}

Request WindowBytes::rput(const void* source, std::size_t bytes, const TargetBytes& target) {
  WindowState& window = checked(target.operation);
  return window.request(
      target, [&](const Route& route) { window.put(bytes_of(source), bytes, target, route); });
}

Request WindowBytes::rget(void* destination, std::size_t bytes, const TargetBytes& target) {
  WindowState& window = checked(target.operation);
  return window.request(
      target, [&](const Route& route) { window.get(bytes_of(destination), bytes, target, route); });
}

void WindowBytes::put(const void* source, const Layout& from, const TargetBytes& target,
                      const Layout& to, std::size_t element_bytes) {
  WindowState& window = checked(target.operation);
  if (window.put_by_cpu(bytes_of(source), from, target, to, element_bytes)) return;
  window.transfer(target, [&](const Route& route) {
    window.put(bytes_of(source), from, target, to, element_bytes, route);
  });
}

void WindowBytes::get(void* destination, const Layout& to, const TargetBytes& target,
                      const Layout& from, std::size_t element_bytes) {
  WindowState& window = checked(target.operation);
  if (window.get_by_cpu(bytes_of(destination), to, target, from, element_bytes)) return;
  window.transfer(target, [&](const Route& route) {
    window.get(bytes_of(destination), to, target, from, element_bytes, route);
  });
}

Request WindowBytes::rput(const void* source, const Layout& from, const TargetBytes& target,
                          const Layout& to, std::size_t element_bytes) {
  WindowState& window = checked(target.operation);
  return window.request(target, [&](const Route& route) {
    window.put(bytes_of(source), from, target, to, element_bytes, route);
  });
}

Request WindowBytes::rget(void* destination, const Layout& to, const TargetBytes& target,
                          const Layout& from, std::size_t element_bytes) {
  WindowState& window = checked(target.operation);
  return window.request(target, [&](const Route& route) {
    window.get(bytes_of(destination), to, target, from, element_bytes, route);
  });
}

// ---- accumulates

void WindowBytes::accumulate(const Accumulation& what, const TargetBytes& target) {
  WindowState& window = checked(target.operation);
  window.operate(target, [&](const Route& route) { window.accumulate(what, target, route); });
}

void WindowBytes::accumulate(ElementType type, OpCode op, const void* operands, void* results,
                             std::size_t count, const TargetBytes& target) {
  WindowState& window = checked(target.operation);
  if (window.accumulate_in_place(type, op, operands, results, count, target)) return;
  window.operate(target, [&](const Route& route) {
    window.accumulate(type, op, operands, results, count, target, route);
  });
}

[[gnu::hot]] void WindowBytes::accumulate_now(ElementType type, OpCode op, const void* operands,
                                              void* results, std::size_t count,
                                              const TargetBytes& target) {
  WindowState& window = checked(target.operation);
  if (window.accumulate_in_place(type, op, operands, results, count, target)) return;
  window.operate_now(target, [&](const Route& route) {
    window.accumulate(type, op, operands, results, count, target, route);
  });
}

Request WindowBytes::raccumulate(const Accumulation& what, const TargetBytes& target) {
  WindowState& window = checked(target.operation);
  return window.request(target,
                        [&](const Route& route) { window.accumulate(what, target, route); });
}

void WindowBytes::compare_and_swap(const Swap& what, const TargetBytes& target) {
  WindowState& window = checked(target.operation);
  window.operate(target, [&](const Route& route) { window.compare_and_swap(what, target, route); });
}

void WindowBytes::compare_and_swap_now(const Swap& what, const TargetBytes& target) {
  WindowState& window = checked(target.operation);
  window.operate_now(target,
                     [&](const Route& route) { window.compare_and_swap(what, target, route); });
}

Request WindowBytes::rcompare_and_swap(const Swap& what, const TargetBytes& target) {
  WindowState& window = checked(target.operation);
  return window.request(target,
                        [&](const Route& route) { window.compare_and_swap(what, target, route); });
}

}  // namespace oriel
