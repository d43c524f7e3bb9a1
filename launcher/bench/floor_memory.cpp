// What the machine's memory can do: a bounds check and a copy, or an atomic, on memory mapped by
// both sides; process_vm_* for memory that is the program's own.

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include <mpi.h>

#include "launcher/bench/subject.hpp"

namespace oriel::bench {
namespace {

/// Has the compiler believe that all memory is read and changed here.
void touch_memory() noexcept {
  asm volatile("" ::: "memory");
}

void check(std::size_t offset, std::size_t bytes, std::size_t size) {
  if (offset > size || bytes > size - offset) throw std::out_of_range("floor");
}

/// The target's part, mapped here, and an origin.
struct Mapped {
  Mapped(const Stand& stand, const Task& task)
      : window(Window<std::byte>::allocate_shared(stand.world(), part_bytes(task))),
        part(window.shared_span(Rank(stand.target()))),
        origin(stand.job, part_bytes(task)) {}
  [[nodiscard]] std::byte* at(std::size_t offset, std::size_t bytes) const {
    check(offset, bytes, part.size());
    return part.data() + offset;
  }
  template <class T>
  [[nodiscard]] std::atomic_ref<T> word() const {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(at(0, sizeof(T))));
  }
  Window<std::byte> window;
  std::span<std::byte> part;
  Buffer<std::byte> origin;
};

/// Where a rank's memory lies, for process_vm_*.
struct Elsewhere {
  Elsewhere(const Stand& stand, const Task& task)
      : bytes(part_bytes(task)), own(bytes), origin(stand.job, bytes) {
    std::array<std::uint64_t, 2> place = {static_cast<std::uint64_t>(::getpid()),
                                          reinterpret_cast<std::uintptr_t>(own.data())};
    MPI_Bcast(place.data(), 2, MPI_UINT64_T, stand.target(), MPI_COMM_WORLD);
    process = static_cast<pid_t>(place[0]);
    remote = place[1];
  }
  ~Elsewhere() { MPI_Barrier(MPI_COMM_WORLD); }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;
  template <class Call>
  void move(Call call, std::size_t size) const {
    check(0, size, bytes);
    const iovec here = {origin.span().data(), size};
    const iovec there = {reinterpret_cast<void*>(remote), size};
    if (call(process, &here, 1UL, &there, 1UL, 0UL) != static_cast<ssize_t>(size))
      throw std::runtime_error("process_vm_* of the floor failed");
  }
  std::size_t bytes;
  std::vector<std::byte> own;
  Buffer<std::byte> origin;
  pid_t process = 0;
  std::uint64_t remote = 0;
};

Subject copy_elsewhere(const Stand& stand, const Task& task, bool is_put) {
  const auto place = std::make_shared<Elsewhere>(stand, task);
  if (is_put) return repeat([=] { place->move(::process_vm_writev, task.size); });
  return repeat([=] { place->move(::process_vm_readv, task.size); });
}

Subject copy_mapped(const Stand& stand, const Task& task, bool is_put) {
  const auto place = std::make_shared<Mapped>(stand, task);
  return repeat([=, size = task.size] {
    std::byte* const there = place->at(0, size);
    std::byte* const here = place->origin.span().data();
    std::memcpy(is_put ? there : here, is_put ? here : there, size);
    touch_memory();
  });
}

Subject copy_strided(const Stand& stand, const Task& task) {
  const auto place = std::make_shared<Mapped>(stand, task);
  return repeat([=, size = task.size] {
    std::byte* const there = place->at(0, 2 * size);
    const std::byte* const here = place->origin.span().data();
    for (std::size_t at = 0; at < 2 * size; at += 2 * kStridedBlock) {
      std::memcpy(there + at, here + at, kStridedBlock);
    }
    touch_memory();
  });
}

/// A bare vectorised addition: not atomic.
Subject add(const Stand& stand, const Task& task) {
  const auto place = std::make_shared<Mapped>(stand, task);
  return repeat([=, count = task.size / sizeof(double)] {
    auto* const there = reinterpret_cast<double*>(place->at(0, count * sizeof(double)));
    const auto* const here = reinterpret_cast<const double*>(place->origin.span().data());
    for (std::size_t i = 0; i < count; ++i) there[i] += here[i];
    touch_memory();
  });
}

Subject fetch_add(const Stand& stand, const Task& task) {
  const auto place = std::make_shared<Mapped>(stand, task);
  return repeat([=] { place->word<std::int64_t>().fetch_add(1); });
}

Subject compare_and_swap(const Stand& stand, const Task& task) {
  const auto place = std::make_shared<Mapped>(stand, task);
  return repeat([=, known = std::int64_t{0}]() mutable {
    if (place->word<std::int64_t>().compare_exchange_strong(known, known + 1)) ++known;
  });
}

}  // namespace

Subject make_memory_floor(const Stand& stand, const Task& task) {
  const bool is_mapped = task.window == WindowKind::allocated || task.window == WindowKind::shared;
  switch (task.operation) {
    case Operation::put:
    case Operation::put_rate:
    case Operation::put_bw:
      return is_mapped ? copy_mapped(stand, task, true) : copy_elsewhere(stand, task, true);
    case Operation::get:
    case Operation::get_rate:
    case Operation::get_bw:
      return is_mapped ? copy_mapped(stand, task, false) : copy_elsewhere(stand, task, false);
    case Operation::strided:
      return is_mapped ? copy_strided(stand, task) : Subject();
    case Operation::accumulate:
      return add(stand, task);
    case Operation::fetch_add:
    case Operation::fetch_add_rate:
      return fetch_add(stand, task);
    case Operation::cas:
      return compare_and_swap(stand, task);
    default:
      return {};
  }
}

Subject make_floor(const Stand& stand, const Task& task) {
  return stand.path == Path::memory ? make_memory_floor(stand, task)
                                    : make_verbs_floor(stand, task);
}

}  // namespace oriel::bench
