// 64-bit atomics: by the CPU where the part is mapped and the window's coherence domain allows it,
// else by the path's own means.

#include <atomic>

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "sync/flush.hpp"
#include "window/window_state.hpp"

namespace oriel::window {
namespace {

std::atomic_ref<std::uint64_t> word(std::byte* address) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(address));
}

}  // namespace

Target& WindowState::checked_word(std::string_view operation, Rank target, std::size_t offset) {
  Target& at = checked_target(operation, target, offset, sizeof(std::uint64_t));
  if (atomics_refused_) {
    base::throw_error(ErrorCode::unsupported,
                      {.operation = std::string(operation),
                       .problem = coherence_.reason,
                       .origin = team_state_->job().world_rank,
                       .window = number_,
                       .hint = "use a device with atomics, or one machine"});
  }
  // The part's base may be the program's own pointer: what counts is the address, not the offset.
  if ((at.atomics_base.address + offset) % sizeof(std::uint64_t) != 0) {
    base::throw_error(
        ErrorCode::misaligned,
        {.operation = std::string(operation),
         .problem = "64-bit atomics need an address that is a multiple of 8",
         .origin = team_state_->job().world_rank,
         .target = team_state_->members()[static_cast<std::size_t>(static_cast<int>(target))],
         .window = number_,
         .offset_bytes = offset,
         .hint = "align the target's memory and the offset to 8 bytes"});
  }
  return at;
}

void WindowState::start_fetch_add(Target& at, std::uint64_t operand, std::uint64_t& result,
                                  std::size_t offset, transport::Completion& done) {
  sync::post(progress(), [&]() noexcept {
    return at.atomics->fetch_add(operand, &result, at.atomics_base.plus(offset), done);
  });
}

void WindowState::start_compare_and_swap(Target& at, std::uint64_t compare, std::uint64_t swap,
                                         std::uint64_t& result, std::size_t offset,
                                         transport::Completion& done) {
  sync::post(progress(), [&]() noexcept {
    return at.atomics->compare_and_swap(compare, swap, &result, at.atomics_base.plus(offset), done);
  });
}

void WindowState::fetch_add(std::uint64_t operand, std::uint64_t& result, Rank target,
                            std::size_t offset) {
  Target& at = checked_word("fetch_add", target, offset);
  if (at.by_cpu()) {
    result = word(at.mapped + offset).fetch_add(operand);
  } else {
    start_fetch_add(at, operand, result, offset, pending(at));
  }
}

std::uint64_t WindowState::fetch_add_now(std::uint64_t operand, Rank target, std::size_t offset) {
  Target& at = checked_word("fetch_add", target, offset);
  if (at.by_cpu()) return word(at.mapped + offset).fetch_add(operand);
  transport::Completion done;
  std::uint64_t result = 0;
  start_fetch_add(at, operand, result, offset, done);
  sync::flush_local(progress(), *at.atomics, done);
  return result;
}

void WindowState::compare_and_swap(std::uint64_t compare, std::uint64_t swap, std::uint64_t& result,
                                   Rank target, std::size_t offset) {
  Target& at = checked_word("compare_and_swap", target, offset);
  if (at.by_cpu()) {
    word(at.mapped + offset).compare_exchange_strong(compare, swap);
    result = compare;
  } else {
    start_compare_and_swap(at, compare, swap, result, offset, pending(at));
  }
}

std::uint64_t WindowState::compare_and_swap_now(std::uint64_t compare, std::uint64_t swap,
                                                Rank target, std::size_t offset) {
  Target& at = checked_word("compare_and_swap", target, offset);
  if (at.by_cpu()) {
    word(at.mapped + offset).compare_exchange_strong(compare, swap);
    return compare;
  }
  transport::Completion done;
  std::uint64_t result = 0;
  start_compare_and_swap(at, compare, swap, result, offset, done);
  sync::flush_local(progress(), *at.atomics, done);
  return result;
}

}  // namespace oriel::window
