#pragma once

#include <cstddef>
#include <span>

namespace oriel::base {

/// Whether all of `memory` is mapped readable and writable now [/proc/self/maps]. Cost: reads the
/// whole table, about 20 µs.
[[nodiscard]] bool is_mapped_writable(std::span<const std::byte> memory);

}  // namespace oriel::base
