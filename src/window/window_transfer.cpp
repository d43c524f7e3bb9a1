// The bytes of put and get: which target, which path, in which pieces.

#include <fmt/format.h>

#include "base/shared_bytes.hpp"
#include "base/throw_error.hpp"
#include "sync/flush.hpp"
#include "window/window_state.hpp"

namespace oriel::window {

std::size_t WindowState::checked_index(std::string_view operation, Rank target) const {
  const auto index =
      static_cast<std::size_t>(static_cast<int>(target));  // a negative rank becomes huge
  if (index < targets_.size()) return index;
  base::throw_error(ErrorCode::invalid_rank,
                    {.operation = std::string(operation),
                     .problem = fmt::format("target {} of a team of {}", static_cast<int>(target),
                                            targets_.size()),
                     .origin = team_state_->job().world_rank,
                     .window = number_,
                     .hint = fmt::format("ranks are 0 to {}", targets_.size() - 1)});
}

Target& WindowState::checked_target(std::string_view operation, Rank target, std::size_t offset,
                                    std::size_t bytes) {
  Target& found = targets_[checked_index(operation, target)];
  if (offset <= found.bytes && bytes <= found.bytes - offset) return found;
  throw_out_of_range(operation, target, offset, bytes);
}

void WindowState::throw_out_of_range(std::string_view operation, Rank target, std::size_t offset,
                                     std::size_t bytes) const {
  const auto index = static_cast<std::size_t>(static_cast<int>(target));
  const std::uint64_t size = targets_[index].bytes;
  const auto& job = team_state_->job();
  const int world_rank = team_state_->members()[index];
  base::throw_error(
      ErrorCode::out_of_range,
      {.operation = std::string(operation),
       .problem = fmt::format("the part of team rank {} has {} bytes", index, size),
       .origin = job.world_rank,
       .target = world_rank,
       .target_host = job.ranks[static_cast<std::size_t>(world_rank)].host,
       .window = number_,
       .offset_bytes = offset,
       .length_bytes = bytes,
       .hint = "sizes may differ from rank to rank: size(target) tells the target's"});
}

transport::Completion& WindowState::pending(const Target& target) {
  const auto index = static_cast<std::size_t>(&target - targets_.data());
  if (!is_touched_[index]) {
    is_touched_[index] = true;
    touched_.push_back(static_cast<std::uint32_t>(index));  // has room for all targets
  }
  return pending_[index];
}

void WindowState::start_put(Target& to, const std::byte* source, std::size_t bytes,
                            std::size_t offset, transport::Completion& done) {
  std::size_t sent = 0;
  const auto more = [&]() noexcept {
    while (sent < bytes) {
      const std::size_t now =
          to.data->put(source + sent, bytes - sent, to.data_base.plus(offset + sent), done);
      if (now == 0) return false;
      sent += now;
    }
    return true;
  };
  progress().wait(more);
}

void WindowState::start_get(Target& from, std::byte* destination, std::size_t bytes,
                            std::size_t offset, transport::Completion& done) {
  std::size_t asked = 0;
  const auto more = [&]() noexcept {
    while (asked < bytes) {
      const std::size_t now = from.data->get(destination + asked, bytes - asked,
                                             from.data_base.plus(offset + asked), done);
      if (now == 0) return false;
      asked += now;
    }
    return true;
  };
  progress().wait(more);
}

void WindowState::put(const std::byte* source, std::size_t bytes, Rank target, std::size_t offset) {
  Target& to = checked_target("put", target, offset, bytes);
  if (to.mapped != nullptr) {
    return base::store_bytes(to.mapped + offset, source, bytes);
  }
  start_put(to, source, bytes, offset, pending(to));
}

void WindowState::get(std::byte* destination, std::size_t bytes, Rank target, std::size_t offset) {
  Target& from = checked_target("get", target, offset, bytes);
  if (from.mapped != nullptr) {
    return base::load_bytes(destination, from.mapped + offset, bytes);
  }
  start_get(from, destination, bytes, offset, pending(from));
}

void WindowState::get_now(std::byte* destination, std::size_t bytes, Rank target,
                          std::size_t offset) {
  Target& from = checked_target("get", target, offset, bytes);
  if (from.mapped != nullptr) {
    return base::load_bytes(destination, from.mapped + offset, bytes);
  }
  transport::Completion done;
  start_get(from, destination, bytes, offset, done);
  sync::flush_local(progress(), *from.data, done);
}

}  // namespace oriel::window
