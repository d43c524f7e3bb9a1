#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/endpoint.hpp"
#include "transport/memory.hpp"

namespace oriel::window {

/// The way to one target's part, all that an operation looks at. 64 bytes: one cache line per peer.
struct Target {
  std::byte* mapped = nullptr;  ///< the part, if plain loads and stores reach it
  std::uint64_t bytes = 0;      ///< its size
  transport::Endpoint* data = nullptr;
  transport::RemoteAddress data_base{};
  transport::Endpoint* atomics = nullptr;  ///< not `data` where the coherence domain says so
  transport::RemoteAddress atomics_base{};

  [[nodiscard]] bool by_cpu() const noexcept { return mapped != nullptr && atomics == data; }
};
static_assert(sizeof(Target) == 64);

}  // namespace oriel::window
