#include "stencil/sync.hpp"

#include <fmt/core.h>

#include <array>

#include "stencil/rank_grid.hpp"

namespace stencil {

std::string_view to_string(Sync sync) noexcept {
  switch (sync) {
    case Sync::fence:
      return "fence";
    case Sync::pscw:
      return "pscw";
    case Sync::notify:
      return "notify";
    case Sync::lock:
      break;
  }
  return "lock";
}

Sync parse_sync(std::string_view text) {
  for (const Sync sync : std::array{Sync::fence, Sync::pscw, Sync::notify, Sync::lock}) {
    if (text == to_string(sync)) return sync;
  }
  throw InputError(fmt::format("--sync '{}': must be fence, pscw, notify or lock", text));
}

}  // namespace stencil
