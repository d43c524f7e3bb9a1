#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>
#include <type_traits>

#include "base/log.hpp"
#include "base/throw_error.hpp"

namespace oriel::verbs {

/// Frees a verbs object. A refusal (usually EBUSY: something still uses the object) is a mistake in
/// the order of our members; it is logged, since nobody could do anything else about it.
template <auto Destroy>
struct Destroyer {
  template <class T>
  void operator()(T* object) const noexcept {
    if constexpr (std::is_void_v<decltype(Destroy(object))>) {
      Destroy(object);
    } else if (const int error = Destroy(object); error != 0) {
      base::log(base::LogLevel::warning, "an RDMA object could not be released: {}",
                base::errno_text(error));
    }
  }
};

/// A CM id goes together with its queue pair: the queue pair first, as the CM would otherwise go on
/// moving it from state to state.
struct CmIdDestroyer {
  void operator()(rdma_cm_id* id) const noexcept {
    if (id->qp != nullptr) rdma_destroy_qp(id);
    Destroyer<rdma_destroy_id>()(id);
  }
};

using DeviceListHandle = std::unique_ptr<ibv_device*, Destroyer<ibv_free_device_list>>;
using ContextHandle = std::unique_ptr<ibv_context, Destroyer<ibv_close_device>>;
using PdHandle = std::unique_ptr<ibv_pd, Destroyer<ibv_dealloc_pd>>;
using MrHandle = std::unique_ptr<ibv_mr, Destroyer<ibv_dereg_mr>>;
using CqHandle = std::unique_ptr<ibv_cq, Destroyer<ibv_destroy_cq>>;
using CmChannelHandle = std::unique_ptr<rdma_event_channel, Destroyer<rdma_destroy_event_channel>>;
using CmIdHandle = std::unique_ptr<rdma_cm_id, CmIdDestroyer>;

}  // namespace oriel::verbs
