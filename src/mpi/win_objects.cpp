// What MPI hangs on windows: names, attributes, error handlers, info, group.

#include <algorithm>
#include <cstring>
#include <string_view>

#include "mpi/call.hpp"
#include "mpi/objects.hpp"
#include "mpi/win.hpp"

using oriel::mpi::guarded;
using oriel::mpi::Win;

namespace {

template <class... Places>
void check_places(const Places*... places) {
  const bool any = ((places == nullptr) || ...);
  if (any) oriel::mpi::fail(MPI_ERR_ARG, "a null pointer where there should be an argument");
}

}  // namespace

extern "C" int MPI_Win_set_name(MPI_Win handle, const char* name) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_set_name(handle, name);
  return guarded(window, "MPI_Win_set_name", [&] {
    check_places(name);
    window->name = std::string_view(name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  });
}

extern "C" int MPI_Win_get_name(MPI_Win handle, char* name, int* length) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_get_name(handle, name, length);
  return guarded(window, "MPI_Win_get_name", [&] {
    check_places(name, length);
    std::memcpy(name, window->name.c_str(), window->name.size() + 1);
    *length = static_cast<int>(window->name.size());
  });
}

extern "C" int MPI_Win_create_keyval(MPI_Win_copy_attr_function* on_copy,
                                     MPI_Win_delete_attr_function* on_delete, int* keyval,
                                     void* extra_state) {
  const int status = PMPI_Win_create_keyval(on_copy, on_delete, keyval, extra_state);
  if (status != MPI_SUCCESS) return status;
  return guarded(MPI_COMM_WORLD, "MPI_Win_create_keyval",
                 [&] { oriel::mpi::register_keyval(*keyval, on_delete, extra_state); });
}

extern "C" int MPI_Win_free_keyval(int* keyval) {
  if (keyval == nullptr || !oriel::mpi::free_keyval(*keyval)) return PMPI_Win_free_keyval(keyval);
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

extern "C" int MPI_Win_set_attr(MPI_Win handle, int keyval, void* value) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_set_attr(handle, keyval, value);
  return guarded(window, "MPI_Win_set_attr",
                 [&] { window->attributes.set(*window, keyval, value); });
}

extern "C" int MPI_Win_get_attr(MPI_Win handle, int keyval, void* value, int* flag) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_get_attr(handle, keyval, value, flag);
  return guarded(window, "MPI_Win_get_attr", [&] {
    check_places(value, flag);
    void* found = nullptr;
    *flag = window->attributes.get(*window, keyval, &found) ? 1 : 0;
    if (*flag != 0) std::memcpy(value, &found, sizeof found);
  });
}

extern "C" int MPI_Win_delete_attr(MPI_Win handle, int keyval) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_delete_attr(handle, keyval);
  return guarded(window, "MPI_Win_delete_attr",
                 [&] { window->attributes.remove(*window, keyval); });
}

extern "C" int MPI_Win_create_errhandler(MPI_Win_errhandler_function* function,
                                         MPI_Errhandler* handler) {
  const int status = PMPI_Win_create_errhandler(function, handler);
  if (status != MPI_SUCCESS) return status;
  return guarded(MPI_COMM_WORLD, "MPI_Win_create_errhandler",
                 [&] { oriel::mpi::register_error_handler(*handler, function); });
}

// One of MPI's own is lent by windows of Oriel's without a reference of MPI's, so none is given
// back.
extern "C" int MPI_Errhandler_free(MPI_Errhandler* handler) {
  if (handler == nullptr ||
      (!oriel::mpi::is_predefined(*handler) && !oriel::mpi::release_error_handler(*handler)))
    return PMPI_Errhandler_free(handler);
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

extern "C" int MPI_Win_set_errhandler(MPI_Win handle, MPI_Errhandler handler) {
  Win* const window = Win::of(handle);
  if (window != nullptr)
    return guarded(window, "MPI_Win_set_errhandler", [&] { window->errors.set(handler); });
  const int status = PMPI_Win_set_errhandler(handle, handler);
  // MPI does not tell when a window of its own lets go of the handler, and may hand it out until
  // then: it stays known for good.
  if (status == MPI_SUCCESS) (void)oriel::mpi::retain_error_handler(handler);
  return status;
}

extern "C" int MPI_Win_get_errhandler(MPI_Win handle, MPI_Errhandler* handler) {
  Win* const window = Win::of(handle);
  if (window != nullptr)
    return guarded(window, "MPI_Win_get_errhandler", [&] {
      check_places(handler);
      *handler = window->errors.get();
    });
  const int status = PMPI_Win_get_errhandler(handle, handler);
  // MPI counted a reference: MPI_Errhandler_free gives back one of those that are counted here.
  if (status == MPI_SUCCESS && oriel::mpi::retain_error_handler(*handler)) {
    MPI_Errhandler counted = *handler;
    return PMPI_Errhandler_free(&counted);
  }
  return status;
}

extern "C" int MPI_Win_call_errhandler(MPI_Win handle, int code) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_call_errhandler(handle, code);
  window->errors.call(*window, code, "MPI_Win_call_errhandler", "");
  return MPI_SUCCESS;
}

extern "C" int MPI_Win_set_info(MPI_Win handle, MPI_Info info) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_set_info(handle, info);
  return guarded(window, "MPI_Win_set_info",
                 [&] { oriel::mpi::change_hints(window->info, info, window->flavor); });
}

extern "C" int MPI_Win_get_info(MPI_Win handle, MPI_Info* info) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_get_info(handle, info);
  return guarded(window, "MPI_Win_get_info", [&] {
    check_places(info);
    oriel::mpi::check(PMPI_Info_dup(window->info, info), "MPI_Info_dup");
  });
}

extern "C" int MPI_Win_get_group(MPI_Win handle, MPI_Group* group) {
  Win* const window = Win::of(handle);
  if (window == nullptr) return PMPI_Win_get_group(handle, group);
  return guarded(window, "MPI_Win_get_group", [&] {
    check_places(group);
    // The same ranks, and a handle that is freed by itself.
    oriel::mpi::check(PMPI_Group_excl(window->group, 0, nullptr, group), "MPI_Group_excl");
  });
}
