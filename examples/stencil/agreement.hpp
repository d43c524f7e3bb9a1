#pragma once
/// Going on, or ending, together.

#include <string>

#include <oriel/oriel.hpp>

namespace stencil {

/// Collective: true on every rank if `trouble` is empty on every rank. Otherwise one of the ranks
/// in trouble says so on standard error (most often it is everybody's).
[[nodiscard]] bool all_well(const oriel::Team& team, const std::string& trouble);

/// Makes an exception that nobody catches end this process at once with one line and status 1,
/// and so the job. Without it, and with a catch in main, destructors of windows would run, which
/// are collective, and wait for ranks that are waiting elsewhere for this one.
void end_process_on_exception();

}  // namespace stencil
