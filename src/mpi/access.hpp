#pragma once
/// What all operations look at first: the arguments, the epoch, and which bytes are meant.

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include <oriel/rank.hpp>
#include <oriel/window_bytes.hpp>

#include "mpi/call.hpp"
#include "mpi/datatype.hpp"
#include "mpi/win.hpp"

namespace oriel::mpi {

/// A buffer of the program: an address, how many of which type. Or a place in a target's part, at
/// a displacement instead.
class Data {
 public:
  /// Errors: Failure MPI_ERR_COUNT, MPI_ERR_TYPE.
  Data(int count, MPI_Datatype type) : type_(find_predefined(type)) {
    if (count < 0) fail_count(count);
    count_ = static_cast<std::size_t>(count);
    if (type_ != nullptr) return;
    kept_ = flatten(type);
    type_ = kept_.get();
  }
  [[nodiscard]] const FlatType& type() const noexcept { return *type_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return count_ * type_->size; }
  [[nodiscard]] std::size_t element_bytes() const noexcept { return count_ * type_->element_bytes; }

 private:
  [[noreturn]] static void fail_count(int count);
  const FlatType* type_;
  std::shared_ptr<const FlatType> kept_{};  // of a derived type, which may be freed meanwhile
  std::size_t count_ = 0;
};

/// A place in a target's part.
struct Place {
  std::string_view call;  ///< whose name is known when it is compiled
  int rank;
  MPI_Aint displacement;
};

/// Whether there is anything to do: not for MPI_PROC_NULL. Errors: Failure MPI_ERR_RANK,
/// MPI_ERR_RMA_SYNC (no epoch towards the target).
[[nodiscard]] inline bool may_access(Win& window, const Place& place) {
  if (place.rank == MPI_PROC_NULL) return false;
  window.check_rank(place.rank);
  window.epochs.check_access(place.rank);
  return true;
}

/// Where the target's data begins: bytes from the start of its part, or an address in a dynamic
/// window. Errors: Failure MPI_ERR_DISP (below 0), MPI_ERR_RMA_RANGE (any of the data lies outside
/// the part), so that an operation that would fail in its middle does not begin.
[[nodiscard]] MPI_Aint begin_of(const Win& window, const Place& place, const Data& data);

/// One byte of it, as Oriel takes it.
[[nodiscard]] inline TargetBytes target_at(const Place& place, MPI_Aint offset) noexcept {
  return {place.call, Rank(place.rank), static_cast<std::size_t>(offset)};
}

/// Pieces of one operation: `together()`, in one call of Oriel's, which wants them all in one
/// region of a dynamic window. MPI does not: if they are in several, `apart()` does them one by
/// one. It then may fail in the middle, when a later piece is not attached at all.
template <class Together, class Apart>
void over_regions(const Win& window, Together&& together, Apart&& apart) {
  if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC) return together();
  try {
    return together();
  } catch (const Error& error) {
    if (code_of(error) != ErrorCode::out_of_range) throw;
  }
  apart();
}

/// Errors: Failure MPI_ERR_TRUNCATE, when the receiving side has not room for all that is sent.
void check_fits(const Data& sent, const Data& room);

/// Errors: Failure MPI_ERR_RMA_SYNC: a request outside a passive epoch.
inline void check_request(Win& window, const Place& place) {
  if (place.rank != MPI_PROC_NULL) window.epochs.check_passive(place.rank);
}

}  // namespace oriel::mpi
