#pragma once

#include <cstdint>
#include <functional>

#include "transport/endpoint.hpp"
#include "transport/memory.hpp"

namespace oriel::sync {

/// Words of some rank, and the way to them.
struct Place {
  transport::Endpoint* endpoint = nullptr;
  transport::RemoteAddress address{};

  [[nodiscard]] Place plus(std::uint64_t bytes) const noexcept {
    return {endpoint, address.plus(bytes)};
  }
};

/// A member of the team that this rank signals or waits for.
struct Partner {
  transport::Endpoint* endpoint = nullptr;
  transport::RemoteAddress words{};  ///< its ControlWords

  [[nodiscard]] Place at(std::uint64_t byte_offset) const noexcept {
    return {endpoint, words.plus(byte_offset)};
  }
};

/// Any member by team rank, this one included.
using Partners = std::function<Partner(int team_rank)>;

}  // namespace oriel::sync
