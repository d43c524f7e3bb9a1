// MPI_Put, MPI_Get and their request forms.

#include <cstddef>
#include <vector>

#include "mpi/access.hpp"
#include "mpi/call.hpp"
#include "mpi/job.hpp"
#include "mpi/pieces.hpp"
#include "mpi/requests.hpp"
#include "mpi/win.hpp"

namespace oriel::mpi {
namespace {

/// One way of moving bytes: what to call for a run, and for many pieces at once.
struct Put {
  using Address = const std::byte*;
  static void run(Win& window, Address from, std::size_t bytes, const TargetBytes& to) {
    window.window.put(from, bytes, to);
  }
  static void pieces(Win& window, Address from, const Layout& layout, const TargetBytes& to,
                     const Layout& there) {
    window.window.put(from, layout, to, there, 1);
  }
};
struct Get {
  using Address = std::byte*;
  static void run(Win& window, Address to, std::size_t bytes, const TargetBytes& from) {
    window.window.get(to, bytes, from);
  }
  static void pieces(Win& window, Address to, const Layout& layout, const TargetBytes& from,
                     const Layout& there) {
    window.window.get(to, layout, from, there, 1);
  }
};

/// The same with requests, of which it collects those that a call leaves.
class RequestedPut {
 public:
  using Address = const std::byte*;
  void run(Win& window, Address from, std::size_t bytes, const TargetBytes& to) {
    parts.push_back(window.window.rput(from, bytes, to));
  }
  void pieces(Win& window, Address from, const Layout& layout, const TargetBytes& to,
              const Layout& there) {
    parts.push_back(window.window.rput(from, layout, to, there, 1));
  }
  std::vector<Request> parts;
};
class RequestedGet {
 public:
  using Address = std::byte*;
  void run(Win& window, Address to, std::size_t bytes, const TargetBytes& from) {
    parts.push_back(window.window.rget(to, bytes, from));
  }
  void pieces(Win& window, Address to, const Layout& layout, const TargetBytes& from,
              const Layout& there) {
    parts.push_back(window.window.rget(to, layout, from, there, 1));
  }
  std::vector<Request> parts;
};

template <class Way>
void move_pieces(Way&& way, Win& window, typename std::decay_t<Way>::Address address,
                 const Data& origin, const Place& place, MPI_Aint begin, const Data& target) {
  Cursor here(origin.type().data, origin.type().extent, origin.count());
  Cursor there(target.type().data, target.type().extent, target.count());
  for_each_batch<2>({&here, &there}, [&](const Batch<2>& batch) {
    const auto& mine = batch.places[0];
    const auto& theirs = batch.places[1];
    const TargetBytes at = target_at(place, begin + theirs.begin);
    if (batch.pieces() == 1) return way.run(window, address + mine.begin, batch.bytes, at);
    const auto together = [&] {
      way.pieces(window, address + mine.begin, Layout::indexed(batch.bytes, mine.offsets), at,
                 Layout::indexed(batch.bytes, theirs.offsets));
    };
    const auto apart = [&] {
      for (std::size_t i = 0; i < batch.pieces(); ++i)
        way.run(window, address + mine.begin + mine.offsets[i], batch.bytes,
                target_at(place, begin + theirs.begin + static_cast<MPI_Aint>(theirs.offsets[i])));
    };
    over_regions(window, together, apart);
  });
}

/// @param sent  which of origin and target is read: it may be shorter than the other
template <class Way>
void move(Way&& way, Win& window, typename std::decay_t<Way>::Address address, const Data& origin,
          const Place& place, const Data& target) {
  const MPI_Aint begin = begin_of(window, place, target);
  const std::size_t bytes = std::min(origin.bytes(), target.bytes());
  if (bytes == 0) return;
  if (origin.type().is_contiguous && target.type().is_contiguous)
    return way.run(window, address, bytes, target_at(place, begin));
  move_pieces(way, window, address, origin, place, begin, target);
}

template <class Way>
void put(Way&& way, Win& window, const void* address, const Data& origin, const Place& place,
         const Data& target) {
  if (!may_access(window, place)) return;
  check_fits(origin, target);
  count(statistics().puts);
  move(way, window, static_cast<const std::byte*>(address), origin, place, target);
}

template <class Way>
void get(Way&& way, Win& window, void* address, const Data& origin, const Place& place,
         const Data& target) {
  if (!may_access(window, place)) return;
  check_fits(target, origin);
  count(statistics().gets);
  move(way, window, static_cast<std::byte*>(address), origin, place, target);
}

MPI_Request rput(Win& window, const void* address, const Data& origin, const Place& place,
                 const Data& target) {
  RequestedPut way;
  check_request(window, place);
  put(way, window, address, origin, place, target);
  return make_request(window, std::move(way.parts));
}

MPI_Request rget(Win& window, void* address, const Data& origin, const Place& place,
                 const Data& target) {
  RequestedGet way;
  check_request(window, place);
  get(way, window, address, origin, place, target);
  return make_request(window, std::move(way.parts));
}

}  // namespace
}  // namespace oriel::mpi

using oriel::mpi::Data;
using oriel::mpi::guarded;
using oriel::mpi::Place;
using oriel::mpi::Win;

extern "C" int MPI_Put(const void* origin, int origin_count, MPI_Datatype origin_type, int rank,
                       MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                       MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr)
    return PMPI_Put(origin, origin_count, origin_type, rank, displacement, target_count,
                    target_type, handle);
  return guarded(window, "MPI_Put", [&] {
    oriel::mpi::put(oriel::mpi::Put{}, *window, origin, Data(origin_count, origin_type),
                    Place{"MPI_Put", rank, displacement}, Data(target_count, target_type));
  });
}

extern "C" int MPI_Get(void* origin, int origin_count, MPI_Datatype origin_type, int rank,
                       MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                       MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr)
    return PMPI_Get(origin, origin_count, origin_type, rank, displacement, target_count,
                    target_type, handle);
  return guarded(window, "MPI_Get", [&] {
    oriel::mpi::get(oriel::mpi::Get{}, *window, origin, Data(origin_count, origin_type),
                    Place{"MPI_Get", rank, displacement}, Data(target_count, target_type));
  });
}

extern "C" int MPI_Rput(const void* origin, int origin_count, MPI_Datatype origin_type, int rank,
                        MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                        MPI_Win handle, MPI_Request* request) {
  Win* const window = Win::of(handle);
  if (window == nullptr)
    return PMPI_Rput(origin, origin_count, origin_type, rank, displacement, target_count,
                     target_type, handle, request);
  return guarded(window, "MPI_Rput", [&] {
    *request =
        oriel::mpi::rput(*window, origin, Data(origin_count, origin_type),
                         Place{"MPI_Rput", rank, displacement}, Data(target_count, target_type));
  });
}

extern "C" int MPI_Rget(void* origin, int origin_count, MPI_Datatype origin_type, int rank,
                        MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                        MPI_Win handle, MPI_Request* request) {
  Win* const window = Win::of(handle);
  if (window == nullptr)
    return PMPI_Rget(origin, origin_count, origin_type, rank, displacement, target_count,
                     target_type, handle, request);
  return guarded(window, "MPI_Rget", [&] {
    *request =
        oriel::mpi::rget(*window, origin, Data(origin_count, origin_type),
                         Place{"MPI_Rget", rank, displacement}, Data(target_count, target_type));
  });
}
