#include "sync/notification.hpp"

#include <string>

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "sync/flush.hpp"

namespace oriel::sync {

Notifications::Notifications(std::span<std::uint64_t> mine, transport::Progress& progress,
                             const Vigil& vigil)
    : mine_(mine),
      progress_(progress),
      vigil_(vigil),
      consumed_(mine.size()),
      tests_(vigil.watch("test_notification")) {}

void Notifications::notify(std::string_view operation, const Partner& target, std::size_t slot,
                           transport::Completion& done) const {
  check_range(operation, slot, 1);
  const Place word = target.at(offset(slot));
  sync::post(progress_, [&] { return word.endpoint->add(1, word.address, done); });
}

void Notifications::wait(std::size_t slot, std::uint64_t count) {
  wait_all(slot, 1, count);
}

bool Notifications::test(std::size_t slot, std::uint64_t count) {
  return test_all(slot, 1, count);
}

std::size_t Notifications::wait_any(std::size_t first, std::size_t slots) {
  check_any("wait_any", first, slots);
  std::optional<std::size_t> found;
  progress_.wait([&]() noexcept { return (found = find(first, slots)).has_value(); },
                 vigil_.watch("wait_any"));
  consume(*found, 1, 1);
  return last_ = *found;
}

std::optional<std::size_t> Notifications::test_any(std::size_t first, std::size_t slots) {
  check_any("test_any", first, slots);
  static_cast<void>(progress_.poll());
  const auto found = find(first, slots);
  if (!found) {
    tests_.look("test_any", nullptr);
    return std::nullopt;
  }
  consume(*found, 1, 1);
  return last_ = *found;
}

void Notifications::wait_all(std::size_t first, std::size_t slots, std::uint64_t count) {
  check_range("wait_notification", first, slots);
  progress_.wait([&]() noexcept { return all_have(first, slots, count); },
                 vigil_.watch("wait_notification"));
  consume(first, slots, count);
}

bool Notifications::test_all(std::size_t first, std::size_t slots, std::uint64_t count) {
  check_range("test_notification", first, slots);
  static_cast<void>(progress_.poll());
  if (!all_have(first, slots, count)) {
    tests_.look("test_notification", nullptr);
    return false;
  }
  consume(first, slots, count);
  return true;
}

std::uint64_t Notifications::pending(std::size_t slot) const {
  check_range("pending_notifications", slot, 1);
  return arrived(slot);
}

std::uint64_t Notifications::reset(std::size_t slot) {
  check_range("reset_notification", slot, 1);
  const std::uint64_t forgotten = arrived(slot);
  consume(slot, 1, forgotten);
  return forgotten;
}

void Notifications::check_range(std::string_view operation, std::size_t first,
                                std::size_t slots) const {
  if (first < size() && slots <= size() - first) return;
  if (first == size() && slots == 0) return;
  base::throw_error(
      ErrorCode::out_of_range,
      {.operation = std::string(operation),
       .problem = slots == 1 ? fmt::format("slot {} of {}", first, size())
                             : fmt::format("{} slots from {} on, of {}", slots, first, size()),
       .origin = vigil_.members()[static_cast<std::size_t>(vigil_.rank())],
       .hint = "a window has as many notification slots as it was made with"});
}

void Notifications::check_any(std::string_view operation, std::size_t first,
                              std::size_t slots) const {
  check_range(operation, first, slots);
  if (slots != 0) return;
  base::throw_error(ErrorCode::invalid_argument,
                    {.operation = std::string(operation),
                     .problem = "any of 0 slots",
                     .origin = vigil_.members()[static_cast<std::size_t>(vigil_.rank())],
                     .hint = "name at least one slot"});
}

std::uint64_t Notifications::arrived(std::size_t slot) const noexcept {
  return load(mine_[slot]) - consumed_[slot];
}

bool Notifications::all_have(std::size_t first, std::size_t slots,
                             std::uint64_t count) const noexcept {
  for (std::size_t slot = first; slot < first + slots; ++slot) {
    if (arrived(slot) < count) return false;
  }
  return true;
}

std::optional<std::size_t> Notifications::find(std::size_t first,
                                               std::size_t slots) const noexcept {
  const std::size_t begin = last_ >= first && last_ - first < slots ? last_ - first + 1 : 0;
  for (std::size_t step = 0; step < slots; ++step) {
    const std::size_t slot = first + (begin + step) % slots;
    if (arrived(slot) != 0) return slot;
  }
  return std::nullopt;
}

void Notifications::consume(std::size_t first, std::size_t slots, std::uint64_t count) noexcept {
  for (std::size_t slot = first; slot < first + slots; ++slot) consumed_[slot] += count;
  tests_ = vigil_.watch("test_notification");
}

}  // namespace oriel::sync
