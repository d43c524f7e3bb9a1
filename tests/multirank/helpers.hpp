#pragma once
/// Small things that several multi-rank tests need.

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <oriel/oriel.hpp>

#include "support/multirank.hpp"

namespace oriel::test {

/// `rounds` on shared memory, fewer where processors are emulated and every message takes longer.
[[nodiscard]] inline int scaled(int rounds) {
  return fabric() == "shm" ? rounds : std::max(2, rounds / 20);
}

[[nodiscard]] inline Rank right() {
  return Rank((me() + 1) % ranks());
}
[[nodiscard]] inline Rank left() {
  return Rank((me() + ranks() - 1) % ranks());
}

/// Polls; gives way between looks, as there may be fewer cores than ranks.
template <class Condition>
void wait_until(Condition&& condition) {
  while (!condition()) ::sched_yield();
}

/// The two kinds of windows; the suites that must hold for both take it as their parameter.
enum class Kind { allocated, created };

inline void PrintTo(Kind kind, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << (kind == Kind::allocated ? "allocated" : "created");
}
[[nodiscard]] inline std::string kind_name(const testing::TestParamInfo<Kind>& info) {
  return testing::PrintToString(info.param);
}

class BothKinds : public testing::TestWithParam<Kind> {};

/// A window of either kind, with the memory that a created one lies over.
template <class T>
struct Exposed {
  Exposed(const Team& team, Kind kind, std::size_t count)
      : own(kind == Kind::created ? count : 0),
        window(kind == Kind::created ? Window<T>::create(team, own)
                                     : Window<T>::allocate(team, count)) {}
  std::vector<T> own;  // goes after the window
  Window<T> window;
};

/// Byte `index` of the pattern `seed`: neighbours, seeds and shifted copies differ.
[[nodiscard]] constexpr std::byte pattern(std::uint64_t seed, std::size_t index) {
  return static_cast<std::byte>((seed * 0x9e3779b97f4a7c15U >> 56U) + seed + index * 7 +
                                (index >> 8U) * 13 + (index >> 16U) * 31);
}

inline void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t index = 0; index < bytes.size(); ++index) bytes[index] = pattern(seed, index);
}

/// Index of the first byte that is not the pattern's, or the size.
[[nodiscard]] inline std::size_t mismatch(std::span<const std::byte> bytes, std::uint64_t seed) {
  std::size_t index = 0;
  while (index < bytes.size() && bytes[index] == pattern(seed, index)) ++index;
  return index;
}

[[nodiscard]] inline bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte one) { return one == std::byte{0}; });
}

/// Everybody's `mine`, in the order of ranks; through MPI.
template <class T>
[[nodiscard]] std::vector<T> gather(const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(ranks()));
  MPI_Allgather(&mine, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

[[nodiscard]] inline std::ptrdiff_t resident_pages() {
  std::ifstream statm("/proc/self/statm");
  std::ptrdiff_t total = 0;
  std::ptrdiff_t resident = 0;
  statm >> total >> resident;
  return resident;
}

/// On which machine, as Oriel is to see it, a rank of the job runs: fake2 and cluster have half of
/// the ranks on each of two.
[[nodiscard]] inline int machine_of(int rank) {
  const bool two = fabric() == "fake2" || fabric() == "cluster";
  return two ? rank * 2 / ranks() : 0;
}
[[nodiscard]] inline bool shares_machine(int rank) {
  return machine_of(rank) == machine_of(me());
}
[[nodiscard]] inline bool one_machine() {
  return machine_of(ranks() - 1) == 0;
}

}  // namespace oriel::test
