#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <stdexcept>

#include "fabric_state.hpp"

namespace oriel::fake_verbs {
namespace {

/// Long enough for any test under a sanitizer on a busy machine.
constexpr std::chrono::seconds kPatience{60};

void copy_name(char (&target)[IBV_SYSFS_NAME_MAX], std::string_view name) {
  const auto length = std::min(name.size(), sizeof target - 1);
  std::copy_n(name.begin(), length, target);
}

void clear_objects(State& all) {
  all.events.clear();
  all.ids.clear();
  all.channels.clear();
  all.address_infos.clear();
  all.qps.clear();
  all.cqs.clear();
  all.comp_channels.clear();
  all.mrs.clear();
  all.pds.clear();
  all.contexts.clear();
  all.qp_by_index.clear();
  all.mr_by_index.clear();
  all.device_lists.clear();
  all.context_lists.clear();
  all.connections.clear();
  all.devices.clear();
}

void make_devices(State& all) {
  for (std::size_t i = 0; i < all.config.devices.size(); ++i) {
    auto& device = *all.devices.emplace_back(std::make_unique<DeviceState>());
    device.config = all.config.devices[i];
    device.node_type = IBV_NODE_CA;
    device.transport_type = IBV_TRANSPORT_IB;
    copy_name(device.name, device.config.name);
    copy_name(device.dev_name, "uverbs" + std::to_string(i));
  }
}

/// The default fabric exists without a call of reset().
std::unique_ptr<State> first_state() {
  auto all = std::make_unique<State>();
  make_devices(*all);
  return all;
}

DeviceState& require_device(std::string_view name) {
  auto* device = state().find_device(name);
  if (device == nullptr) {
    throw std::invalid_argument("fake_verbs: no device named " + std::string(name));
  }
  return *device;
}

void notify_contexts(DeviceState& device, ibv_event_type type, std::uint8_t port) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = port;
  state().contexts.for_each([&](Context& context) {
    if (context.device == &device) context.async_events.push(event);
  });
}

}  // namespace

State& state() {
  static const auto instance = first_state();
  return *instance;
}

DeviceState* State::find_device(std::string_view name) const {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](auto& device) { return device->config.name == name; });
  return found == devices.end() ? nullptr : found->get();
}

void misuse(std::string_view call, std::string_view what) {
  std::cerr << "fake_verbs: " << call << ": " << what << std::endl;
  std::abort();
}

void wait_acknowledged(std::unique_lock<std::mutex>& lock, const std::uint32_t& count,
                       std::string_view call) {
  if (!state().acknowledged.wait_for(lock, kPatience, [&] { return count == 0; })) {
    misuse(call, "events were got but never acknowledged: the real call would hang for ever");
  }
}

void reset(Fabric fabric) {
  clear_injections();
  const auto lock = lock_state();
  State& all = state();
  clear_objects(all);
  all.config = std::move(fabric);
  all.delivery = all.config.delivery;
  all.statistics = {};
  all.locked_bytes = 0;
  all.next_port = kFirstEphemeralPort;
  make_devices(all);
}

void set_delivery(Delivery delivery) {
  state().delivery = delivery;
}

std::size_t deliver(std::size_t count) {
  const auto lock = lock_state();
  std::size_t done = 0;
  while (done < count) {
    // A queue pair whose oldest request waits for a receive makes no progress: try the next oldest.
    std::vector<Qp*> waiting;
    state().qps.for_each([&](Qp& qp) {
      if (qp.executed != qp.posted) waiting.push_back(&qp);
    });
    std::sort(waiting.begin(), waiting.end(), [](Qp* a, Qp* b) {
      return a->request(a->executed).order < b->request(b->executed).order;
    });
    std::size_t progress = 0;
    for (auto qp = waiting.begin(); qp != waiting.end() && progress == 0; ++qp) {
      progress = run(**qp, 1);
    }
    if (progress == 0) break;
    done += progress;
  }
  return done;
}

void set_port_state(std::string_view device, std::uint8_t port, ibv_port_state port_state) {
  const auto lock = lock_state();
  auto& target = require_device(device);
  target.config.ports.at(port - std::size_t{1}).state = port_state;
  notify_contexts(target,
                  port_state == IBV_PORT_ACTIVE ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, port);
}

void raise_async_event(std::string_view device, ibv_event_type type, std::uint8_t port) {
  const auto lock = lock_state();
  notify_contexts(require_device(device), type, port);
}

std::uint64_t Statistics::posted() const {
  return std::accumulate(requests.begin(), requests.end(), std::uint64_t{0});
}

Statistics statistics() {
  const auto lock = lock_state();
  return state().statistics;
}

void reset_statistics() {
  const auto lock = lock_state();
  state().statistics = {};
}

std::vector<Connection> connections() {
  const auto lock = lock_state();
  return state().connections;
}

std::map<std::string, std::size_t> live_objects() {
  const auto lock = lock_state();
  State& all = state();
  std::size_t cm_contexts = 0;
  all.contexts.for_each([&](Context& context) { cm_contexts += context.owned_by_cm ? 1 : 0; });
  std::map<std::string, std::size_t> live{
      {"ibv_device_list", all.device_lists.size()},
      {"ibv_context", all.contexts.size() - cm_contexts},
      {"ibv_pd", all.pds.size()},
      {"ibv_mr", all.mrs.size()},
      {"ibv_comp_channel", all.comp_channels.size()},
      {"ibv_cq", all.cqs.size()},
      {"ibv_qp", all.qps.size()},
      {"rdma_event_channel", all.channels.size()},
      {"rdma_cm_id", all.ids.size()},
      {"rdma_cm_event", all.events.size()},
      {"rdma_addrinfo", all.address_infos.size()},
      {"rdma_device_list", all.context_lists.size()},
  };
  std::erase_if(live, [](const auto& entry) { return entry.second == 0; });
  return live;
}

}  // namespace oriel::fake_verbs
