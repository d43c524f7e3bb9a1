// Windows are made and freed.

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <oriel/error.hpp>

#include "base/log.hpp"
#include "mpi/call.hpp"
#include "mpi/job.hpp"
#include "mpi/requests.hpp"
#include "mpi/win.hpp"

namespace oriel::mpi {
namespace {

// MPI has no limit. 64 bytes each.
constexpr std::size_t kMostRegions = 4096;

/// What a program asks for.
struct Wish {
  const char* call;
  int flavor;
  MPI_Aint bytes;
  int unit;
  MPI_Info info;
  MPI_Comm comm;
  MPI_Win* result;
};

void check_wish(const Wish& wish) {
  if (wish.result == nullptr) fail(MPI_ERR_ARG, "no place for the window's handle");
  if (wish.bytes < 0) fail(MPI_ERR_SIZE, fmt::format("a size of {} bytes", wish.bytes));
  if (wish.unit <= 0) fail(MPI_ERR_DISP, fmt::format("a displacement unit of {}", wish.unit));
}

std::unique_ptr<Win> wrap(const Wish& wish, WindowBytes window) {
  auto made = std::make_unique<Win>(std::move(window), wish.comm, wish.flavor);
  made->bytes = wish.bytes;
  made->unit = wish.unit;
  made->info = known_hints(wish.info, wish.flavor);
  if (wish.flavor == MPI_WIN_FLAVOR_DYNAMIC) return made;  // MPI_BOTTOM, 0 bytes, units of 1
  made->base = made->window.local().data();
  const std::vector<int> units = made->window.team().allgather(wish.unit);
  for (const int unit : units) {
    if (unit == wish.unit) continue;
    made->units = units;
    break;
  }
  return made;
}

void tell_native(const Wish& wish, std::string_view why) {
  count(statistics().native_windows);
  base::log(base::LogLevel::info, "{}: MPI keeps this window: {}", wish.call, why);
}

/// Makes the window by Oriel, or by MPI where Oriel cannot carry it.
/// @param make  makes it of a team  @param native  calls MPI's own function
template <class Make, class Native>
int make_window(const Wish& wish, Make&& make, Native&& native) {
  try {
    std::string why = "its communicator is MPI_COMM_NULL";
    std::optional<Team> team;
    if (wish.comm != MPI_COMM_NULL) team = team_of(wish.comm, why);
    if (team) {
      check_wish(wish);
      try {
        *wish.result = wrap(wish, make(*team)).release()->handle();
        count(statistics().windows);
        return MPI_SUCCESS;
      } catch (const Error& error) {  // on all ranks alike
        if (code_of(error) != ErrorCode::unsupported) throw;
        why = error.what();
      }
    }
    tell_native(wish, why);
  } catch (...) {
    return report_exception(wish.comm, wish.call);
  }
  return native();
}

std::span<std::byte> bytes_at(void* base, MPI_Aint bytes) {
  if (base == nullptr && bytes != 0)
    fail(MPI_ERR_ARG, fmt::format("{} bytes at a null address", bytes));
  return {static_cast<std::byte*>(base), static_cast<std::size_t>(bytes)};
}

/// Where a window's memory begins, as its maker wants to know it.
WindowBytes telling(WindowBytes window, void* baseptr) {
  void* const base = window.local().data();
  std::memcpy(baseptr, &base, sizeof base);
  return window;
}

void attach(Win& window, void* base, MPI_Aint bytes) {
  if (bytes < 0) fail(MPI_ERR_SIZE, fmt::format("a size of {} bytes", bytes));
  if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC)
    fail(MPI_ERR_RMA_FLAVOR, "only windows of MPI_Win_create_dynamic take further memory");
  const auto memory = bytes_at(base, bytes);
  try {
    if (!memory.empty()) window.window.attach(memory);
  } catch (const Error& error) {
    fail(MPI_ERR_RMA_ATTACH, error.what());
  }
  window.regions.add(base, memory.size());
}

void detach(Win& window, void* base) {
  if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC)
    fail(MPI_ERR_RMA_FLAVOR, "only windows of MPI_Win_create_dynamic have memory attached");
  const auto bytes = window.regions.find(base);
  if (!bytes) fail(MPI_ERR_RMA_ATTACH, fmt::format("no memory at {} is attached", base));
  if (*bytes != 0) window.window.detach({static_cast<std::byte*>(base), *bytes});
  window.regions.remove(base, *bytes);
}

/// The lowest rank with memory, for MPI_PROC_NULL.
int first_with_memory(const Win& window) {
  int rank = 0;
  while (rank + 1 < window.size() && window.window.size_bytes(Rank(rank)) == 0) ++rank;
  return rank;
}

/// Memory of others as loads and stores reach it. Where they do not [MPI-4.1, 12.2.6], and that is
/// so of all but shared windows now and then, there is none.
std::span<std::byte> shared_part(const Win& window, int rank) {
  if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC)
    fail(MPI_ERR_RMA_FLAVOR, "the parts of a dynamic window are not shared");
  if (window.flavor == MPI_WIN_FLAVOR_CREATE && rank == window.rank()) return window.window.local();
  try {
    return window.window.shared_span(Rank(rank));
  } catch (const Error& error) {
    if (code_of(error) != ErrorCode::unsupported) throw;
    return {};
  }
}

/// All that MPI keeps with a window ends first: callbacks may still look at it.
void free_window(Win& window) {
  window.epochs.check_none();
  window.attributes.clear(window);
  complete_all(window);
  window.window.free();
}

}  // namespace
}  // namespace oriel::mpi

using oriel::mpi::guarded;
using oriel::mpi::Win;
using oriel::mpi::Wish;

extern "C" int MPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info,
                              MPI_Comm comm, MPI_Win* win) {
  const Wish wish{"MPI_Win_create", MPI_WIN_FLAVOR_CREATE, size, disp_unit, info, comm, win};
  return oriel::mpi::make_window(
      wish,
      [&](const oriel::Team& team) {
        return oriel::WindowBytes::create(team, oriel::mpi::bytes_at(base, size));
      },
      [&] { return PMPI_Win_create(base, size, disp_unit, info, comm, win); });
}

extern "C" int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                void* baseptr, MPI_Win* win) {
  const Wish wish{"MPI_Win_allocate", MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm, win};
  return oriel::mpi::make_window(
      wish,
      [&](const oriel::Team& team) {
        return oriel::mpi::telling(
            oriel::WindowBytes::allocate(team, static_cast<std::size_t>(size)), baseptr);
      },
      [&] { return PMPI_Win_allocate(size, disp_unit, info, comm, baseptr, win); });
}

extern "C" int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                       void* baseptr, MPI_Win* win) {
  const Wish wish{
      "MPI_Win_allocate_shared", MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, comm, win};
  return oriel::mpi::make_window(
      wish,
      [&](const oriel::Team& team) {
        const bool contiguous = !oriel::mpi::is_true_hint(info, "alloc_shared_noncontig");
        return oriel::mpi::telling(
            oriel::WindowBytes::allocate_shared(team, static_cast<std::size_t>(size),
                                                {.contiguous = contiguous}),
            baseptr);
      },
      [&] { return PMPI_Win_allocate_shared(size, disp_unit, info, comm, baseptr, win); });
}

extern "C" int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  const Wish wish{"MPI_Win_create_dynamic", MPI_WIN_FLAVOR_DYNAMIC, 0, 1, info, comm, win};
  return oriel::mpi::make_window(
      wish,
      [&](const oriel::Team& team) {
        return oriel::WindowBytes::dynamic(team, {.most_regions = oriel::mpi::kMostRegions});
      },
      [&] { return PMPI_Win_create_dynamic(info, comm, win); });
}

extern "C" int MPI_Win_attach(MPI_Win handle, void* base, MPI_Aint size) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_attach(handle, base, size);
  return guarded(window, "MPI_Win_attach", [&] { oriel::mpi::attach(*window, base, size); });
}

extern "C" int MPI_Win_detach(MPI_Win handle, const void* base) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_detach(handle, base);
  return guarded(window, "MPI_Win_detach",
                 [&] { oriel::mpi::detach(*window, const_cast<void*>(base)); });
}

extern "C" int MPI_Win_shared_query(MPI_Win handle, int rank, MPI_Aint* size, int* disp_unit,
                                    void* baseptr) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_shared_query(handle, rank, size, disp_unit, baseptr);
  return guarded(window, "MPI_Win_shared_query", [&] {
    if (rank == MPI_PROC_NULL) rank = oriel::mpi::first_with_memory(*window);
    window->check_rank(rank);
    const auto part = oriel::mpi::shared_part(*window, rank);
    void* const base = part.data();
    std::memcpy(baseptr, &base, sizeof base);
    *size = static_cast<MPI_Aint>(part.size());
    *disp_unit = window->unit_of(rank);
  });
}

extern "C" int MPI_Win_free(MPI_Win* handle) {
  Win* const window = handle == nullptr ? nullptr : Win::of(*handle);
  if (window == nullptr) return PMPI_Win_free(handle);
  const int status = guarded(window, "MPI_Win_free", [&] { oriel::mpi::free_window(*window); });
  if (status != MPI_SUCCESS) return status;
  delete window;
  *handle = MPI_WIN_NULL;
  return MPI_SUCCESS;
}
