#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cm_objects.hpp"
#include "objects.hpp"

namespace oriel::fake_verbs {

/// Reports a use of the API that real libraries would answer with corruption or a hang, and aborts.
[[noreturn]] void misuse(std::string_view call, std::string_view what);

/// Owns the living objects of one type.
template <class T>
class Pool {
 public:
  T& make() {
    auto owned = std::make_unique<T>();
    T& object = *owned;
    objects_.emplace(&object, std::move(owned));
    return object;
  }
  void destroy(T& object, std::string_view call) {
    if (objects_.erase(&object) == 0) misuse(call, "the object does not exist (freed twice?)");
  }
  [[nodiscard]] bool contains(const T* object) const { return objects_.count(object) != 0; }
  [[nodiscard]] std::size_t size() const { return objects_.size(); }
  void clear() { objects_.clear(); }

  template <class Visit>
  void for_each(Visit visit) {
    for (auto& [key, object] : objects_) visit(*object);
  }

 private:
  std::unordered_map<const T*, std::unique_ptr<T>> objects_;
};

/// Queue pair numbers and keys start here, so that a zero or an index is never valid by chance.
inline constexpr std::uint32_t kFirstQpNumber = 17;
inline constexpr std::uint16_t kFirstEphemeralPort = 40000;

/// Everything there is, under one lock: it also makes device atomics atomic among each other.
struct State {
  std::mutex mutex;
  std::condition_variable acknowledged;

  Fabric config;
  std::atomic<Delivery> delivery{Delivery::immediate};
  std::vector<std::unique_ptr<DeviceState>> devices;
  Statistics statistics;
  std::uint64_t next_order = 0;
  std::uint64_t locked_bytes = 0;

  Pool<Context> contexts;
  Pool<Pd> pds;
  Pool<Mr> mrs;
  Pool<CompChannel> comp_channels;
  Pool<Cq> cqs;
  Pool<Qp> qps;
  std::vector<Mr*> mr_by_index;  ///< never reused, so a stale key stays invalid
  std::vector<Qp*> qp_by_index;  ///< likewise
  std::unordered_map<const void*, std::vector<ibv_device*>> device_lists;
  std::unordered_map<const void*, std::vector<ibv_context*>> context_lists;

  Pool<EventChannel> channels;
  Pool<CmId> ids;
  Pool<CmEvent> events;
  Pool<AddressInfo> address_infos;
  std::vector<Connection> connections;
  std::uint16_t next_port = kFirstEphemeralPort;

  [[nodiscard]] Qp* find_qp(std::uint32_t number) const {
    const std::uint32_t index = number - kFirstQpNumber;
    return index < qp_by_index.size() ? qp_by_index[index] : nullptr;
  }
  [[nodiscard]] DeviceState* find_device(std::string_view name) const;
};

[[nodiscard]] State& state();
[[nodiscard]] inline std::unique_lock<std::mutex> lock_state() {
  return std::unique_lock(state().mutex);
}

/// Waits until `count` is zero, as destroying calls do for events that were not acknowledged.
/// Gives up with an explanation where the real library would hang for ever.
void wait_acknowledged(std::unique_lock<std::mutex>& lock, const std::uint32_t& count,
                       std::string_view call);

// ---- injection.cpp ----

/// The error that `call` has to fail with now, or 0. Cheap while nothing is armed.
[[nodiscard]] int injected(std::string_view call);
[[nodiscard]] ibv_wc_status injected_completion();
void clear_injections();

/// For functions that return a pointer, or -1: sets errno.
[[nodiscard]] bool injected_errno(std::string_view call);
template <class T>
[[nodiscard]] T fail_with(int error, T result) {
  errno = error;
  return result;
}

// ---- the verbs side, used by the CM and by each other; the caller holds the lock ----

[[nodiscard]] Context& open_context(DeviceState& device, bool owned_by_cm);
/// Null, with errno set, as ibv_create_qp_ex.
[[nodiscard]] Qp* create_qp(ibv_context* context, ibv_qp_init_attr_ex& init);
[[nodiscard]] int modify_qp(Qp& qp, const ibv_qp_attr& attr, int mask);
void destroy_qp(Qp& qp);
/// Discards requests, receives and completions: what a transition to RESET does.
void clear_queues(Qp& qp);

void push_completion(Cq& cq, const Cqe& cqe, bool solicited);
void purge_completions(Cq& cq, std::uint32_t qp_num);

/// Flushes everything outstanding.
void enter_error(Qp& qp);
/// Carries out up to `limit` posted requests; returns how many it did.
std::size_t run(Qp& qp, std::size_t limit);
void run_senders(Cq& cq);

[[nodiscard]] bool port_active(const Qp& qp);

// Operation tables of contexts and queue pairs.
int poll_cq(ibv_cq* cq, int count, ibv_wc* completions);
int request_notification(ibv_cq* cq, int solicited_only);
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* init);
int post_send(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad);
int post_receive(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad);
void install_send_ops(Qp& qp, std::uint64_t ops);

}  // namespace oriel::fake_verbs
