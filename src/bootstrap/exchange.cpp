#include "bootstrap/exchange.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::bootstrap::detail {

Verdict current_exception_as_verdict() noexcept {
  Verdict verdict{.failed = true};
  const auto say = [&](std::string_view why) {
    std::copy_n(why.data(), std::min(why.size(), verdict.why.size() - 1), verdict.why.data());
  };
  try {
    throw;
  } catch (const std::exception& error) {
    say(error.what());
  } catch (...) {
    say("an exception of unknown type");
  }
  return verdict;
}

void throw_verdict(std::string_view operation, std::span<const Verdict> all) {
  const auto bad = std::ranges::find(all, true, &Verdict::failed);
  const auto rank = static_cast<int>(bad - all.begin());
  base::throw_error(ErrorCode::peer_failed,
                    {.operation = std::string(operation),
                     .problem = fmt::format("team rank {} says: {}", rank, bad->why.data()),
                     .target = rank,
                     .hint = "mend that; every rank of the team has given up this call alike"});
}

}  // namespace oriel::bootstrap::detail
