#include "mpi/access.hpp"

#include <fmt/format.h>

#include "mpi/call.hpp"

namespace oriel::mpi {
namespace {

[[noreturn]] void fail_range(const Win& window, const Place& place, MPI_Aint from, MPI_Aint to) {
  fail(MPI_ERR_RMA_RANGE,
       fmt::format("bytes {} to {} of rank {}, whose part has {} (displacement {} in units of {})",
                   from, to, place.rank, window.window.size_bytes(Rank(place.rank)),
                   place.displacement, window.unit_of(place.rank)));
}

}  // namespace

void Data::fail_count(int count) {
  fail(MPI_ERR_COUNT, fmt::format("a count of {}", count));
}

MPI_Aint begin_of(const Win& window, const Place& place, const Data& data) {
  if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC) return place.displacement;
  if (place.displacement < 0)
    fail(MPI_ERR_DISP, fmt::format("a displacement of {}", place.displacement));
  MPI_Aint begin = 0;
  if (__builtin_mul_overflow(place.displacement, MPI_Aint{window.unit_of(place.rank)}, &begin))
    fail(MPI_ERR_RMA_RANGE, fmt::format("a displacement of {}", place.displacement));
  if (data.type().is_contiguous || data.bytes() == 0) return begin;  // Oriel looks at the rest
  const MPI_Aint last = static_cast<MPI_Aint>(data.count() - 1) * data.type().extent;
  const MPI_Aint from = begin + data.type().true_lower + std::min(last, MPI_Aint{0});
  const MPI_Aint to = begin + data.type().true_upper + std::max(last, MPI_Aint{0});
  const auto bytes = static_cast<MPI_Aint>(window.window.size_bytes(Rank(place.rank)));
  if (from < 0 || to > bytes) fail_range(window, place, from, to);
  return begin;
}

void check_fits(const Data& sent, const Data& room) {
  if (sent.bytes() > room.bytes())
    fail(MPI_ERR_TRUNCATE, fmt::format("{} bytes do not go into {}", sent.bytes(), room.bytes()));
}

}  // namespace oriel::mpi
