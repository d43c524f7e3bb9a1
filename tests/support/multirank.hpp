#pragma once
/// What multi-rank tests share. Every rank runs the same tests in the same order; a verdict is
/// agreed upon after each, so that a test fails on all ranks or on none.
///
/// Rules: use EXPECT_, not ASSERT_, before anything collective; or `if (!all_ranks(condition))
/// return;`.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <oriel/oriel.hpp>

namespace oriel::test {

/// The job's runtime, alive as long as tests run.
[[nodiscard]] Runtime& job();
[[nodiscard]] inline Team world() {
  return job().world();
}
[[nodiscard]] inline int ranks() {
  return job().world().size();
}
[[nodiscard]] inline int me() {
  return job().world().rank();
}

/// Whether `condition` holds on all ranks. Collective (through MPI, not through what is tested).
[[nodiscard]] bool all_ranks(bool condition);

/// The fabric the test was started for: shm, verbs, fake2, cluster.
[[nodiscard]] std::string_view fabric();

/// A collective barrier and sum that do not depend on what is tested.
void mpi_barrier();
[[nodiscard]] long mpi_sum(long value);

/// Runs `call` and returns the ErrorCode it threw, with its text in `what`; fails the test if it
/// threw nothing or something else.
template <class Call>
std::error_code thrown_code(Call&& call, std::string* what = nullptr) {
  try {
    call();
  } catch (const Error& error) {
    if (what != nullptr) *what = error.what();
    return error.code();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "threw something else: " << error.what();
    return {};
  }
  ADD_FAILURE() << "threw nothing";
  return {};
}

}  // namespace oriel::test
