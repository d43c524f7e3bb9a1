#include <algorithm>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <string>

#include "fabric_state.hpp"

namespace oriel::fake_verbs {
namespace {

constexpr auto kInjectable = std::to_array<std::string_view>({"event:addr_error",
                                                              "event:connect_error",
                                                              "event:lost",
                                                              "event:rejected",
                                                              "event:route_error",
                                                              "event:unreachable",
                                                              "ibv_alloc_pd",
                                                              "ibv_close_device",
                                                              "ibv_create_comp_channel",
                                                              "ibv_create_cq",
                                                              "ibv_create_cq_ex",
                                                              "ibv_create_qp",
                                                              "ibv_create_qp_ex",
                                                              "ibv_dealloc_pd",
                                                              "ibv_dereg_mr",
                                                              "ibv_destroy_comp_channel",
                                                              "ibv_destroy_cq",
                                                              "ibv_destroy_qp",
                                                              "ibv_fork_init",
                                                              "ibv_get_async_event",
                                                              "ibv_get_cq_event",
                                                              "ibv_get_device_list",
                                                              "ibv_modify_qp",
                                                              "ibv_open_device",
                                                              "ibv_poll_cq",
                                                              "ibv_post_recv",
                                                              "ibv_post_send",
                                                              "ibv_qp_to_qp_ex",
                                                              "ibv_query_device",
                                                              "ibv_query_device_ex",
                                                              "ibv_query_gid",
                                                              "ibv_query_gid_ex",
                                                              "ibv_query_gid_table",
                                                              "ibv_query_port",
                                                              "ibv_query_qp",
                                                              "ibv_reg_mr",
                                                              "ibv_req_notify_cq",
                                                              "ibv_resize_cq",
                                                              "ibv_wr_complete",
                                                              "rdma_accept",
                                                              "rdma_ack_cm_event",
                                                              "rdma_bind_addr",
                                                              "rdma_connect",
                                                              "rdma_create_event_channel",
                                                              "rdma_create_id",
                                                              "rdma_create_qp",
                                                              "rdma_create_qp_ex",
                                                              "rdma_destroy_id",
                                                              "rdma_disconnect",
                                                              "rdma_establish",
                                                              "rdma_get_cm_event",
                                                              "rdma_get_devices",
                                                              "rdma_getaddrinfo",
                                                              "rdma_init_qp_attr",
                                                              "rdma_listen",
                                                              "rdma_migrate_id",
                                                              "rdma_reject",
                                                              "rdma_resolve_addr",
                                                              "rdma_resolve_route",
                                                              "rdma_set_option"});

struct Plan {
  std::string call;
  int error = 0;
  std::uint64_t after = 0;
  std::uint64_t times = 0;
};

/// Its own lock: calls check for injections both with and without the fabric's.
struct Plans {
  std::mutex mutex;
  std::vector<Plan> plans;
  std::atomic<std::size_t> armed{0};
};

Plans& plans() {
  static Plans instance;
  return instance;
}

constexpr std::string_view kCompletion = "completion";

void arm(Plan plan) {
  if (plan.times == 0) return;
  const std::lock_guard guard(plans().mutex);
  plans().plans.push_back(std::move(plan));
  plans().armed = plans().plans.size();
}

int take_error(std::string_view call) {
  const std::lock_guard guard(plans().mutex);
  auto& all = plans().plans;
  const auto plan = std::find_if(all.begin(), all.end(), [&](auto& p) { return p.call == call; });
  if (plan == all.end()) return 0;
  if (plan->after > 0) {
    --plan->after;
    return 0;
  }
  const int error = plan->error;
  if (plan->times != kForever && --plan->times == 0) {
    all.erase(plan);
    plans().armed = all.size();
  }
  return error;
}

}  // namespace

void fail(std::string_view call, int error, std::uint64_t after, std::uint64_t times) {
  if (std::find(kInjectable.begin(), kInjectable.end(), call) == kInjectable.end()) {
    throw std::invalid_argument("fake_verbs::fail: no such call: " + std::string(call));
  }
  if (error == 0) throw std::invalid_argument("fake_verbs::fail: error 0 is no failure");
  arm({std::string(call), error, after, times});
}

void fail_completion(ibv_wc_status status, std::uint64_t after, std::uint64_t times) {
  arm({std::string(kCompletion), static_cast<int>(status), after, times});
}

int injected(std::string_view call) {
  if (plans().armed.load(std::memory_order_relaxed) == 0) [[likely]] {
    return 0;
  }
  return take_error(call);
}

bool injected_errno(std::string_view call) {
  const int error = injected(call);
  if (error != 0) errno = error;
  return error != 0;
}

ibv_wc_status injected_completion() {
  return static_cast<ibv_wc_status>(injected(kCompletion));
}

void clear_injections() {
  const std::lock_guard guard(plans().mutex);
  plans().plans.clear();
  plans().armed = 0;
}

void break_connection(std::uint32_t qp_num) {
  const auto lock = lock_state();
  if (Qp* qp = state().find_qp(qp_num)) qp->broken = true;
}

void break_connections(std::string_view device) {
  const auto lock = lock_state();
  state().qps.for_each([&](Qp& qp) {
    const auto& config = device_of(qp.qp_base.context).config;
    if (device.empty() || config.name == device) qp.broken = true;
  });
}

}  // namespace oriel::fake_verbs
