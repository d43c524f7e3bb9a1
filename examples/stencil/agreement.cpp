#include "stencil/agreement.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

namespace stencil {
namespace {

[[noreturn]] void tell_and_exit() {
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
    fmt::print(stderr, "stencil: terminated\n");
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "stencil: out of memory; use fewer cells or more machines\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "stencil: {}\n", error.what());
  } catch (...) {
    fmt::print(stderr, "stencil: unknown exception\n");
  }
  std::_Exit(1);
}

}  // namespace

bool all_well(const oriel::Team& team, const std::string& trouble) {
  constexpr oriel::Rank kKeeper{0};
  auto count = oriel::Window<std::int64_t>::allocate(team, team.rank() == kKeeper ? 1 : 0);
  if (!trouble.empty() && count.fetch_add(1, kKeeper, 0) == 0) {
    fmt::print(stderr, "stencil: {}\n", trouble);
  }
  count.fence();
  return count.get(kKeeper, 0) == 0;
}

void end_process_on_exception() {
  std::set_terminate(tell_and_exit);
}

}  // namespace stencil
