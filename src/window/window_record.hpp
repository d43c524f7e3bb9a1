#pragma once

#include <cstdint>

#include <oriel/window_options.hpp>

#include "transport/transport.hpp"
#include "window/team_memory.hpp"

namespace oriel::window {

/// What a rank tells the others when a window is created; travels as bytes.
struct WindowRecord {
  std::uint64_t bytes = 0;  ///< size of the part
  WindowKind kind{};
  WindowOptions options{};
  MemoryRecord segment{};            ///< [the part, if it is made here][control area]
  MemoryRecord own{};                ///< the part, if it is the program's memory
  std::uint64_t control_offset = 0;  ///< of the control area in the segment
  transport::AtomicScope scope{};    ///< of this rank's device
};

}  // namespace oriel::window
