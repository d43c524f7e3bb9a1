// Oriel's operations.

#include <cstdint>
#include <memory>
#include <vector>

#include <mpi.h>

#include "launcher/bench/subject.hpp"

namespace oriel::bench {
namespace {

/// A window of any kind, and an origin of registered memory as large as a part.
template <class T>
class Field {
 public:
  Field(const Stand& stand, const Task& task)
      : count_(part_bytes(task) / sizeof(T)),
        own_(stand.job, count_),
        origin_(stand.job, count_),
        window_(make(stand, task.window)),
        target_(stand.target()),
        bases_(static_cast<std::size_t>(stand.ranks())) {
    const std::uint64_t mine = task.window == WindowKind::dynamic ? window_.attach(own_.span()) : 0;
    MPI_Allgather(&mine, 1, MPI_UINT64_T, bases_.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  }

  [[nodiscard]] Window<T>& window() noexcept { return window_; }
  [[nodiscard]] Rank target() const noexcept { return target_; }
  /// Where the memory of a rank begins, and that of the target.
  [[nodiscard]] std::size_t base(Rank rank) const noexcept {
    return bases_[static_cast<std::size_t>(static_cast<int>(rank))];
  }
  [[nodiscard]] std::size_t base() const noexcept { return base(target_); }
  [[nodiscard]] std::span<T> origin(std::size_t bytes) noexcept {
    return origin_.span().first(bytes / sizeof(T));
  }

 private:
  [[nodiscard]] Window<T> make(const Stand& stand, WindowKind kind) {
    switch (kind) {
      case WindowKind::created:
        return Window<T>::create(stand.world(), own_.span());
      case WindowKind::dynamic:
        return Window<T>::dynamic(stand.world());
      case WindowKind::shared:
        return Window<T>::allocate_shared(stand.world(), count_);
      case WindowKind::allocated:
        break;
    }
    return Window<T>::allocate(stand.world(), count_);
  }

  std::size_t count_;
  Buffer<T> own_;
  Buffer<T> origin_;
  Window<T> window_;
  Rank target_;
  std::vector<std::uint64_t> bases_;
};

template <class T>
std::shared_ptr<Field<T>> field(const Stand& stand, const Task& task) {
  return std::make_shared<Field<T>>(stand, task);
}

/// What `once(field)` does, each flushed or all together.
template <class T, class Once>
Subject flushed(std::shared_ptr<Field<T>> field, bool each, Once once) {
  if (each) {
    return repeat([=] {
      once(*field);
      field->window().flush(field->target());
    });
  }
  return repeat([=] { once(*field); }, [=] { field->window().flush(field->target()); });
}

Subject put(const Stand& stand, const Task& task, bool each) {
  return flushed(field<std::byte>(stand, task), each, [size = task.size](auto& field) {
    field.window().put(field.origin(size), field.target(), field.base());
  });
}

Subject get(const Stand& stand, const Task& task, bool each) {
  return flushed(field<std::byte>(stand, task), each, [size = task.size](auto& field) {
    field.window().get(field.origin(size), field.target(), field.base());
  });
}

Subject strided(const Stand& stand, const Task& task) {
  // Made once, as MPI's datatype is.
  const Layout every_other =
      Layout::strided(kStridedBlock, {{task.size / kStridedBlock, 2 * kStridedBlock}});
  return flushed(field<std::byte>(stand, task), true, [=](auto& field) {
    field.window().put(field.origin(2 * task.size), every_other, field.target(), field.base(),
                       every_other);
  });
}

Subject accumulate(const Stand& stand, const Task& task) {
  return flushed(field<double>(stand, task), true, [size = task.size](auto& field) {
    field.window().accumulate(std::span<const double>(field.origin(size)), field.target(),
                              field.base(), op::sum);
  });
}

Subject fetch_add(const Stand& stand, const Task& task) {
  return repeat([field = field<std::int64_t>(stand, task)] {
    field->window().fetch_add(1, field->target(), field->base());
  });
}

Subject fetch_add_rate(const Stand& stand, const Task& task) {
  return flushed(field<std::int64_t>(stand, task), false, [](auto& field) {
    field.window().fetch_add(1, field.origin(8)[0], field.target(), field.base());
  });
}

Subject compare_and_swap(const Stand& stand, const Task& task) {
  return repeat([field = field<std::int64_t>(stand, task), known = std::int64_t{0}]() mutable {
    const std::int64_t old =
        field->window().compare_and_swap(known, known + 1, field->target(), field->base());
    known = old == known ? known + 1 : old;
  });
}

Subject pscw(const Stand& stand, const Task& task) {
  std::vector<Rank> neighbours = {Rank(stand.left())};
  if (stand.right() != stand.left()) neighbours.emplace_back(stand.right());
  return repeat([field = field<std::byte>(stand, task), neighbours] {
    field->window().post(neighbours);
    field->window().start(neighbours);
    field->window().complete();
    field->window().wait();
  });
}

/// From each rank to the next, and back round.
Subject notify(const Stand& stand, const Task& task) {
  constexpr std::size_t kSlot = 1;
  const bool begins = stand.rank() == 0;
  return repeat([=, field = field<std::byte>(stand, task), right = Rank(stand.right())] {
    if (!begins) field->window().wait_notify(kSlot);
    field->window().put_notify(field->origin(task.size), right, field->base(right), kSlot);
    if (begins) field->window().wait_notify(kSlot);
  });
}

}  // namespace

Subject make_oriel(const Stand& stand, const Task& task) {
  switch (task.operation) {
    case Operation::put:
      return put(stand, task, true);
    case Operation::put_rate:
    case Operation::put_bw:
      return put(stand, task, false);
    case Operation::get:
      return get(stand, task, true);
    case Operation::get_rate:
    case Operation::get_bw:
      return get(stand, task, false);
    case Operation::fetch_add:
      return fetch_add(stand, task);
    case Operation::fetch_add_rate:
      return fetch_add_rate(stand, task);
    case Operation::cas:
      return compare_and_swap(stand, task);
    case Operation::accumulate:
      return accumulate(stand, task);
    case Operation::strided:
      return strided(stand, task);
    case Operation::fence:
      return repeat([field = field<std::byte>(stand, task)] { field->window().fence(); });
    case Operation::barrier:
      return repeat([&world = stand.world()] { world.barrier(); });
    case Operation::lock_shared:
    case Operation::lock_exclusive: {
      const LockMode mode =
          task.operation == Operation::lock_shared ? LockMode::shared : LockMode::exclusive;
      return repeat([mode, field = field<std::byte>(stand, task)] {
        LockGuard guard = field->window().lock(field->target(), mode);
        guard.unlock();
      });
    }
    case Operation::lock_all:
      return repeat([field = field<std::byte>(stand, task)] {
        LockGuard guard = field->window().lock_all();
        guard.unlock();
      });
    case Operation::pscw:
      return pscw(stand, task);
    case Operation::notify:
      return notify(stand, task);
    case Operation::create_free:
      break;
  }
  return repeat([&world = stand.world()] { Window<std::byte>::allocate(world, 64).free(); });
}

}  // namespace oriel::bench
