// The same operations by the RMA of the MPI library that started the job.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <mpi.h>

#include "launcher/bench/subject.hpp"

namespace oriel::bench {
namespace {

/// A window of MPI's, of the kind of Oriel's, and memory of MPI_Alloc_mem as origin.
class MpiField {
 public:
  MpiField(const Stand& stand, const Task& task, bool is_locked)
      : target_(stand.target()), is_locked_(is_locked) {
    const auto bytes = static_cast<MPI_Aint>(part_bytes(task));
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &origin_);
    std::fill_n(static_cast<char*>(origin_), bytes, char{0});
    make(task.window, bytes);
    if (is_locked_) MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  MpiField(const MpiField&) = delete;
  MpiField& operator=(const MpiField&) = delete;
  ~MpiField() {
    if (is_locked_) MPI_Win_unlock_all(window_);
    MPI_Barrier(MPI_COMM_WORLD);
    if (kind_ == WindowKind::dynamic) MPI_Win_detach(window_, own_);
    MPI_Win_free(&window_);
    if (own_ != nullptr) MPI_Free_mem(own_);
    MPI_Free_mem(origin_);
  }

  [[nodiscard]] MPI_Win window() const noexcept { return window_; }
  [[nodiscard]] int target() const noexcept { return target_; }
  [[nodiscard]] MPI_Aint base() const noexcept { return base_; }
  [[nodiscard]] void* origin() const noexcept { return origin_; }
  void flush() const noexcept { MPI_Win_flush(target_, window_); }

 private:
  void make(WindowKind kind, MPI_Aint bytes) {
    kind_ = kind;
    void* mine = nullptr;
    switch (kind) {
      case WindowKind::allocated:
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window_);
        return;
      case WindowKind::shared:
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window_);
        return;
      case WindowKind::created:
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &own_);
        MPI_Win_create(own_, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
        return;
      case WindowKind::dynamic:
        break;
    }
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &own_);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
    MPI_Win_attach(window_, own_, bytes);
    MPI_Get_address(own_, &base_);
    MPI_Bcast(&base_, 1, MPI_AINT, target_, MPI_COMM_WORLD);
  }

  int target_;
  bool is_locked_;
  WindowKind kind_ = WindowKind::allocated;
  MPI_Win window_ = MPI_WIN_NULL;
  void* origin_ = nullptr;
  void* own_ = nullptr;
  MPI_Aint base_ = 0;
};

using Field = std::shared_ptr<MpiField>;

template <class Once>
Subject flushed(Field field, bool each, Once once) {
  if (each) {
    return repeat([=] {
      once(*field);
      field->flush();
    });
  }
  return repeat([=] { once(*field); }, [=] { field->flush(); });
}

Subject put(Field field, const Task& task, bool each) {
  return flushed(std::move(field), each, [size = static_cast<int>(task.size)](MpiField& at) {
    MPI_Put(at.origin(), size, MPI_BYTE, at.target(), at.base(), size, MPI_BYTE, at.window());
  });
}

Subject get(Field field, const Task& task, bool each) {
  return flushed(std::move(field), each, [size = static_cast<int>(task.size)](MpiField& at) {
    MPI_Get(at.origin(), size, MPI_BYTE, at.target(), at.base(), size, MPI_BYTE, at.window());
  });
}

Subject strided(Field field, const Task& task) {
  const auto blocks = static_cast<int>(task.size / kStridedBlock);
  const std::shared_ptr<MPI_Datatype> type(new MPI_Datatype, [](MPI_Datatype* mine) {
    MPI_Type_free(mine);
    delete mine;
  });
  MPI_Type_vector(blocks, kStridedBlock, 2 * kStridedBlock, MPI_BYTE, type.get());
  MPI_Type_commit(type.get());
  return flushed(std::move(field), true, [type](MpiField& at) {
    MPI_Put(at.origin(), 1, *type, at.target(), at.base(), 1, *type, at.window());
  });
}

Subject accumulate(Field field, const Task& task) {
  const auto count = static_cast<int>(task.size / sizeof(double));
  return flushed(std::move(field), true, [count](MpiField& at) {
    MPI_Accumulate(at.origin(), count, MPI_DOUBLE, at.target(), at.base(), count, MPI_DOUBLE,
                   MPI_SUM, at.window());
  });
}

Subject fetch_add(Field field, bool each) {
  return flushed(std::move(field), each,
                 [one = std::int64_t{1}, old = std::make_shared<std::int64_t>()](MpiField& at) {
                   MPI_Fetch_and_op(&one, old.get(), MPI_INT64_T, at.target(), at.base(), MPI_SUM,
                                    at.window());
                 });
}

Subject compare_and_swap(Field field) {
  return repeat([field = std::move(field), known = std::int64_t{0}]() mutable {
    const std::int64_t wanted = known + 1;
    std::int64_t old = 0;
    MPI_Compare_and_swap(&wanted, &known, &old, MPI_INT64_T, field->target(), field->base(),
                         field->window());
    field->flush();
    known = old == known ? wanted : old;
  });
}

Subject lock(Field field, int mode) {
  return repeat([field = std::move(field), mode] {
    MPI_Win_lock(mode, field->target(), 0, field->window());
    MPI_Win_unlock(field->target(), field->window());
  });
}

Subject pscw(const Stand& stand, Field field) {
  std::vector<int> ranks = {stand.left()};
  if (stand.right() != stand.left()) ranks.push_back(stand.right());
  const std::shared_ptr<MPI_Group> neighbours(new MPI_Group, [](MPI_Group* mine) {
    MPI_Group_free(mine);
    delete mine;
  });
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), neighbours.get());
  MPI_Group_free(&world);
  return repeat([=] {
    MPI_Win_post(*neighbours, 0, field->window());
    MPI_Win_start(*neighbours, 0, field->window());
    MPI_Win_complete(field->window());
    MPI_Win_wait(field->window());
  });
}

/// MPI has no notified access: what programs use instead is a message.
Subject notify(const Stand& stand, const Task& task) {
  auto bytes = std::make_shared<std::vector<char>>(task.size);
  return repeat([=, begins = stand.rank() == 0, right = stand.right(), left = stand.left()] {
    const auto size = static_cast<int>(bytes->size());
    MPI_Request sent = MPI_REQUEST_NULL;
    if (begins) MPI_Isend(bytes->data(), size, MPI_BYTE, right, 0, MPI_COMM_WORLD, &sent);
    MPI_Recv(bytes->data(), size, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!begins) MPI_Isend(bytes->data(), size, MPI_BYTE, right, 0, MPI_COMM_WORLD, &sent);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  });
}

void create_free() {
  void* mine = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  MPI_Win_free(&window);
}

}  // namespace

Subject make_mpi(const Stand& stand, const Task& task) {
  const auto locked = [&] { return std::make_shared<MpiField>(stand, task, true); };
  const auto open = [&] { return std::make_shared<MpiField>(stand, task, false); };
  switch (task.operation) {
    case Operation::put:
      return put(locked(), task, true);
    case Operation::put_rate:
    case Operation::put_bw:
      return put(locked(), task, false);
    case Operation::get:
      return get(locked(), task, true);
    case Operation::get_rate:
    case Operation::get_bw:
      return get(locked(), task, false);
    case Operation::fetch_add:
      return fetch_add(locked(), true);
    case Operation::fetch_add_rate:
      return fetch_add(locked(), false);
    case Operation::cas:
      return compare_and_swap(locked());
    case Operation::accumulate:
      return accumulate(locked(), task);
    case Operation::strided:
      return strided(locked(), task);
    case Operation::fence:
      return repeat([field = open()] { MPI_Win_fence(0, field->window()); });
    case Operation::barrier:
      return repeat([] { MPI_Barrier(MPI_COMM_WORLD); });
    case Operation::lock_shared:
      return lock(open(), MPI_LOCK_SHARED);
    case Operation::lock_exclusive:
      return lock(open(), MPI_LOCK_EXCLUSIVE);
    case Operation::lock_all:
      return repeat([field = open()] {
        MPI_Win_lock_all(0, field->window());
        MPI_Win_unlock_all(field->window());
      });
    case Operation::pscw:
      return pscw(stand, open());
    case Operation::notify:
      return notify(stand, task);
    case Operation::create_free:
      break;
  }
  return repeat([] { create_free(); });
}

}  // namespace oriel::bench
