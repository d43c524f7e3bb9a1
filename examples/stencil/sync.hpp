#pragma once
/// The ways of synchronising: which one the user wants.

#include <cstdint>
#include <string_view>

namespace stencil {

/// halo.cpp has one exchange for each.
enum class Sync : std::uint8_t { fence, pscw, notify, lock };

/// As on the command line.
[[nodiscard]] std::string_view to_string(Sync sync) noexcept;

/// Reads "fence", "pscw", "notify" or "lock". Throws InputError.
[[nodiscard]] Sync parse_sync(std::string_view text);

}  // namespace stencil
