#pragma once
/// How an operation of a window travels, and where to.

#include <cstddef>

#include "transport/completion.hpp"
#include "transport/endpoint.hpp"
#include "transport/memory.hpp"
#include "window/peer.hpp"
#include "window/target.hpp"
#include "window/traffic.hpp"

namespace oriel::window {

/// Where the bytes of a put or get are: mapped here, or behind the endpoint of the route.
struct DataPlace {
  std::byte* mapped = nullptr;  ///< null: see the address
  transport::RemoteAddress address{};
};

/// Where an accumulate goes: a way to memory, and a place behind its base. A copy: while the
/// operation waits for room, another thread may learn of other regions.
struct Spot {
  Target target{};
  std::size_t offset = 0;
};

/// How an operation travels, and who counts it.
struct Route {
  Traffic& way;
  Peer& peer;
  transport::Endpoint& data;  ///< to the peer, of this way
  transport::Completion& done;
};

}  // namespace oriel::window
