// Windows of MPI's.

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "conformance/mpi_interpreter.hpp"
#include "conformance/oracle.hpp"

namespace oriel::conformance::mpi {
namespace {

constexpr MPI_Aint kBufferBytes = MPI_Aint{1} << 20U;

/// Hints are true, and need not be given.
class Info {
 public:
  Info(const WindowPlan& plan, bool same_unit, std::uint64_t choice) {
    if (choice % 2 == 0 && plan.options.contiguous) return;
    check(MPI_Info_create(&info_), "MPI_Info_create");
    if (plan.kind == WindowKind::shared && !plan.options.contiguous) {
      set("alloc_shared_noncontig", "true");
    }
    if (choice % 3 == 0) set("accumulate_ops", "same_op_no_op");
    if (choice % 5 == 0) set("accumulate_ordering", "rar,raw,war,waw");
    if (choice % 7 == 0 && same_unit) set("same_disp_unit", "true");
    if (choice % 11 == 0) set("no_such_hint", "ignored");
  }
  ~Info() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  [[nodiscard]] MPI_Info get() const noexcept { return info_; }

 private:
  void set(const char* key, const char* value) {
    check(MPI_Info_set(info_, key, value), "MPI_Info_set");
  }
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Units of displacement that all offsets are multiples of.
int unit_for(const Element& element, std::uint64_t choice) {
  const std::array<std::size_t, 3> units = {1, element.alignment, element.bytes()};
  return static_cast<int>(units[choice % units.size()]);
}

int flavor_of(WindowKind kind) {
  switch (kind) {
    case WindowKind::allocated:
      return MPI_WIN_FLAVOR_ALLOCATE;
    case WindowKind::created:
      return MPI_WIN_FLAVOR_CREATE;
    case WindowKind::shared:
      return MPI_WIN_FLAVOR_SHARED;
    case WindowKind::dynamic:
      break;
  }
  return MPI_WIN_FLAVOR_DYNAMIC;
}

template <class T>
T attribute(MPI_Win win, int key) {
  T* value = nullptr;
  int found = 0;
  check(MPI_Win_get_attr(win, key, &value, &found), "MPI_Win_get_attr");
  if (found == 0) throw std::runtime_error(fmt::format("the window has no attribute {}", key));
  return *value;
}

}  // namespace

MpiInterpreter::MpiInterpreter(Job& job, const Program& program, Plant plant)
    : Interpreter(job, program, plant), windows_(program.windows.size()) {
  check(MPI_Comm_dup(MPI_COMM_WORLD, &messages_), "MPI_Comm_dup");
  check(MPI_Alloc_mem(kBufferBytes, MPI_INFO_NULL, &buffer_), "MPI_Alloc_mem");
  registered_ = {static_cast<std::byte*>(buffer_), static_cast<std::size_t>(kBufferBytes)};
}

MpiInterpreter::~MpiInterpreter() {
  for (Window& window : windows_) {
    if (window.handle != MPI_WIN_NULL) MPI_Win_free(&window.handle);
  }
  MPI_Free_mem(buffer_);
  MPI_Comm_free(&messages_);
}

/// The world, a duplicate of it, or the world from its other end.
MPI_Comm MpiInterpreter::communicator_of(std::size_t index, Window& window) const {
  const std::uint64_t choice = mix(program_.seed, 500 + index) % 4;
  window.is_reversed = choice == 3;
  MPI_Comm comm = MPI_COMM_WORLD;
  if (choice == 2) check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  if (choice == 3) {
    check(MPI_Comm_split(MPI_COMM_WORLD, 0, -job_.rank(), &comm), "MPI_Comm_split");
  }
  return comm;
}

int MpiInterpreter::rank_in(const Window& window, int rank) const noexcept {
  return window.is_reversed ? program_.ranks - 1 - rank : rank;
}

MPI_Aint MpiInterpreter::displacement(const Work& work) const {
  const Window& win = window(work);
  const auto place = static_cast<MPI_Aint>(place_of(work));
  return place / win.units[static_cast<std::size_t>(work.operation->target)];
}

void MpiInterpreter::create(std::size_t index) {
  const WindowPlan& plan = program_.windows[index];
  const Element& element = *program_.memories[plan.memory].element;
  Window& window = windows_[index];
  const std::uint64_t choice = mix(program_.seed, 600 + index);
  bool same_unit = true;
  for (int rank = 0; rank < program_.ranks; ++rank) {
    // Mostly all have the same.
    const auto salt = choice % 3 == 0 ? static_cast<std::uint64_t>(rank) : 0U;
    const bool has_unit = plan.kind != WindowKind::dynamic;
    window.units.push_back(has_unit ? unit_for(element, mix(choice, salt)) : 1);
    same_unit = same_unit && window.units.back() == window.units.front();
  }
  MPI_Comm comm = communicator_of(index, window);
  const Info info(plan, same_unit, choice / 3);
  make(index, comm, info.get());
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);  // the window has its own
  check(MPI_Win_set_errhandler(window.handle, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  check_attributes(index);
}

void MpiInterpreter::make(std::size_t index, MPI_Comm comm, MPI_Info info) {
  const WindowPlan& plan = program_.windows[index];
  const auto me = static_cast<std::size_t>(job_.rank());
  const auto bytes = static_cast<MPI_Aint>(plan.bytes[me]);
  Memory& memory = memories_[plan.memory];
  MPI_Win* const win = &windows_[index].handle;
  const int unit = windows_[index].units[me];
  void* base = nullptr;
  switch (plan.kind) {
    case WindowKind::allocated:
      check(MPI_Win_allocate(bytes, unit, info, comm, &base, win), "MPI_Win_allocate");
      memory.part = {static_cast<std::byte*>(base), plan.bytes[me]};
      break;
    case WindowKind::shared:
      check(MPI_Win_allocate_shared(bytes, unit, info, comm, &base, win),
            "MPI_Win_allocate_shared");
      memory.part = {static_cast<std::byte*>(base), plan.bytes[me]};
      break;
    case WindowKind::created:
      check(MPI_Win_create(part_of(plan).data(), bytes, unit, info, comm, win), "MPI_Win_create");
      break;
    case WindowKind::dynamic: {
      check(MPI_Win_create_dynamic(info, comm, win), "MPI_Win_create_dynamic");
      if (bytes != 0) check(MPI_Win_attach(*win, part_of(plan).data(), bytes), "MPI_Win_attach");
      MPI_Aint address = 0;
      check(MPI_Get_address(memory.part.data(), &address), "MPI_Get_address");
      memory.addresses = job_.gather(static_cast<std::uint64_t>(address));
      break;
    }
  }
}

/// What MPI says of the window, and whether the rules for unified memory apply.
void MpiInterpreter::check_attributes(std::size_t index) {
  const WindowPlan& plan = program_.windows[index];
  const MPI_Win win = windows_[index].handle;
  const auto me = static_cast<std::size_t>(job_.rank());
  if (attribute<int>(win, MPI_WIN_MODEL) != MPI_WIN_UNIFIED) {
    throw std::runtime_error("the window's memory is not unified, programs rely on that");
  }
  if (attribute<int>(win, MPI_WIN_CREATE_FLAVOR) != flavor_of(plan.kind)) {
    throw std::runtime_error("the window is of another flavor");
  }
  if (plan.kind == WindowKind::dynamic) return;
  if (attribute<int>(win, MPI_WIN_DISP_UNIT) != windows_[index].units[me]) {
    throw std::runtime_error("the window has another unit of displacement");
  }
  if (attribute<MPI_Aint>(win, MPI_WIN_SIZE) != static_cast<MPI_Aint>(plan.bytes[me])) {
    throw std::runtime_error("the window has another size");
  }
}

void MpiInterpreter::free(std::size_t index) {
  const WindowPlan& plan = program_.windows[index];
  attempt("free", [&] {
    if (plan.kind == WindowKind::dynamic && !part_of(plan).empty()) {
      check(MPI_Win_detach(windows_[index].handle, part_of(plan).data()), "MPI_Win_detach");
    }
    check(MPI_Win_free(&windows_[index].handle), "MPI_Win_free");
    if (windows_[index].handle != MPI_WIN_NULL) throw std::runtime_error("the handle is left");
  });
  if (!program_.memories[plan.memory].by_program) memories_[plan.memory].part = {};
}

void MpiInterpreter::sync_passively(const Window& window) {
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window.handle), "MPI_Win_lock_all");
  check(MPI_Win_sync(window.handle), "MPI_Win_sync");
  check(MPI_Win_unlock_all(window.handle), "MPI_Win_unlock_all");
}

void MpiInterpreter::publish(std::size_t index) {
  sync_passively(windows_[index]);
}

}  // namespace oriel::conformance::mpi
