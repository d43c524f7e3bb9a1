#pragma once
/// For the programs in C++: windows of every flavor and epochs of every kind behind one face.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "support.h"

template <class T>
MPI_Datatype mpi_type();
template <>
inline MPI_Datatype mpi_type<int>() {
  return MPI_INT;
}
template <>
inline MPI_Datatype mpi_type<long>() {
  return MPI_LONG;
}
template <>
inline MPI_Datatype mpi_type<double>() {
  return MPI_DOUBLE;
}
template <>
inline MPI_Datatype mpi_type<unsigned char>() {
  return MPI_UNSIGNED_CHAR;
}

enum class Flavor { create, alloc_mem, allocate, shared, dynamic };
inline constexpr std::array kFlavors = {Flavor::create, Flavor::alloc_mem, Flavor::allocate,
                                        Flavor::shared, Flavor::dynamic};

inline int comm_rank(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int comm_size(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// The ranks that may share memory: of this machine, or of this part of one that is made to look
/// like several.
inline MPI_Comm shared_comm() {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, test.rank, MPI_INFO_NULL, &machine);
  const char* const fake = std::getenv("ORIEL_FAKE_NODES");
  const int nodes = fake == nullptr ? 1 : std::atoi(fake);
  if (nodes <= 1) return machine;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(machine, comm_rank(machine) * nodes / comm_size(machine), test.rank, &part);
  MPI_Comm_free(&machine);
  return part;
}

/// Whether all ranks of MPI_COMM_WORLD may share memory.
inline bool world_shares_memory() {
  MPI_Comm comm = shared_comm();
  const bool all = comm_size(comm) == test.ranks;
  MPI_Comm_free(&comm);
  return all;
}

/// A window with `count` elements of T at every rank, of any flavor. Collective.
template <class T>
class Area {
 public:
  Area(Flavor flavor, std::size_t count, MPI_Comm comm = MPI_COMM_WORLD)
      : flavor_(flavor), comm_(comm), starts_(static_cast<std::size_t>(comm_size(comm)), 0) {
    const auto bytes = static_cast<MPI_Aint>(count * sizeof(T));
    const int unit = sizeof(T);
    switch (flavor) {
      case Flavor::create:
        own_ = std::make_unique<T[]>(count);
        base = own_.get();
        CHECK_OK(MPI_Win_create(base, bytes, unit, MPI_INFO_NULL, comm, &win));
        break;
      case Flavor::alloc_mem:
        CHECK_OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base));
        CHECK_OK(MPI_Win_create(base, bytes, unit, MPI_INFO_NULL, comm, &win));
        break;
      case Flavor::allocate:
        CHECK_OK(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, comm, &base, &win));
        break;
      case Flavor::shared:
        CHECK_OK(MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, comm, &base, &win));
        break;
      case Flavor::dynamic: {
        own_ = std::make_unique<T[]>(count);
        base = own_.get();
        CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
        CHECK_OK(MPI_Win_attach(win, base, bytes));
        MPI_Aint start = 0;
        MPI_Get_address(base, &start);
        MPI_Allgather(&start, 1, MPI_AINT, starts_.data(), 1, MPI_AINT, comm);
        break;
      }
    }
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (std::size_t i = 0; i < count; ++i) base[i] = T{};
    MPI_Barrier(comm);
  }
  ~Area() {
    MPI_Barrier(comm_);
    if (flavor_ == Flavor::dynamic) CHECK_OK(MPI_Win_detach(win, base));
    CHECK_OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
    if (flavor_ == Flavor::alloc_mem) CHECK_OK(MPI_Free_mem(base));
  }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  /// The displacement of an element at `rank`.
  [[nodiscard]] MPI_Aint at(int rank, std::size_t element) const {
    if (flavor_ != Flavor::dynamic) return static_cast<MPI_Aint>(element);
    return MPI_Aint_add(starts_[static_cast<std::size_t>(rank)],
                        static_cast<MPI_Aint>(element * sizeof(T)));
  }

  MPI_Win win = MPI_WIN_NULL;
  T* base = nullptr;

 private:
  Flavor flavor_;
  MPI_Comm comm_;
  std::unique_ptr<T[]> own_;
  std::vector<MPI_Aint> starts_;
};

enum class Epoch { fence, pscw, lock_shared, lock_exclusive, lock_all };
inline constexpr std::array kEpochs = {Epoch::fence, Epoch::pscw, Epoch::lock_shared,
                                       Epoch::lock_exclusive, Epoch::lock_all};

inline bool is_passive(Epoch epoch) {
  return epoch != Epoch::fence && epoch != Epoch::pscw;
}

/// Runs `work` in an epoch that gives access to `target`. Afterwards all ranks' operations are
/// complete, at the targets too. Collective over MPI_COMM_WORLD, the window's communicator.
template <class Work>
void in_epoch(Epoch epoch, MPI_Win win, int target, Work&& work) {
  MPI_Group group = MPI_GROUP_NULL;
  switch (epoch) {
    case Epoch::fence:
      CHECK_OK(MPI_Win_fence(0, win));
      work();
      CHECK_OK(MPI_Win_fence(0, win));
      break;
    case Epoch::pscw:
      CHECK_OK(MPI_Win_get_group(win, &group));
      CHECK_OK(MPI_Win_post(group, 0, win));
      CHECK_OK(MPI_Win_start(group, 0, win));
      work();
      CHECK_OK(MPI_Win_complete(win));
      CHECK_OK(MPI_Win_wait(win));
      MPI_Group_free(&group);
      break;
    case Epoch::lock_shared:
    case Epoch::lock_exclusive:
      CHECK_OK(MPI_Win_lock(epoch == Epoch::lock_shared ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE,
                            target, 0, win));
      work();
      CHECK_OK(MPI_Win_unlock(target, win));
      break;
    case Epoch::lock_all:
      CHECK_OK(MPI_Win_lock_all(0, win));
      work();
      CHECK_OK(MPI_Win_unlock_all(win));
      break;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// The neighbours of this rank in a ring over MPI_COMM_WORLD.
inline int right_rank(int distance = 1) {
  return (test.rank + distance) % test.ranks;
}
inline int left_rank(int distance = 1) {
  return (test.rank + test.ranks - distance % test.ranks) % test.ranks;
}
