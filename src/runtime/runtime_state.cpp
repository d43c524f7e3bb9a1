// The start of a process: identities are exchanged, paths chosen, transports started, teams made.
// Each step that can fail on one rank alone is agreed upon, so that all ranks start or all throw.

#include "runtime/runtime_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <random>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <oriel/version.hpp>

#include "base/log.hpp"
#include "base/throw_error.hpp"
#include "bootstrap/exchange.hpp"
#include "topology/memory_binding.hpp"
#include "topology/placement.hpp"
#include "topology/process_cpus.hpp"
#include "transport/shm/shm_transport.hpp"
#include "transport/verbs/device_inventory.hpp"
#include "transport/verbs/verbs_transport.hpp"
#include "window/window_state.hpp"

namespace oriel::runtime {
namespace {

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace

RuntimeState::RuntimeState(std::unique_ptr<bootstrap::Bootstrap> group,
                           const std::vector<std::string>& environment)
    : group_(std::move(group)),
      rank_(group_->rank()),
      exceptions_at_start_(std::uncaught_exceptions()),
      host_(base::this_host()) {
  base::set_log_rank(rank_);
  std::exception_ptr mine;
  StartRecord record;
  try {
    record = make_record(environment);
  } catch (const std::exception& error) {
    mine = std::current_exception();
    set_text(record.failure, error.what());
  }
  const auto records = bootstrap::allgather_records(*group_, record);
  if (mine) std::rethrow_exception(mine);
  check_start(records);
  plan(records);
  bootstrap::agree(*group_, "Runtime", [&] { start_shm(records); });
  if (paths_.needs_verbs) start_verbs(records);
  progress_.emplace(std::vector<transport::Lane*>(transports_.begin(), transports_.end()),
                    &shm_->doorbell(), oversubscribed(records));
  if (verbs_) {
    lanes_.emplace(
        static_cast<std::size_t>(options_.lanes - 1), [this] { return verbs_->make_lane(); },
        oversubscribed(records));
  }
  make_teams();
  if (base::log_enabled(base::LogLevel::info)) base::log(base::LogLevel::info, "{}", describe());
}

StartRecord RuntimeState::make_record(const std::vector<std::string>& environment) {
  StartRecord record;
  set_text(record.version, ORIEL_VERSION_STRING);
  set_text(record.host, host_.name);
  record.host_id = host_.id;
  record.nonce = random_number();
  record.pid = ::getpid();

  options_ = base::parse_options(environment);
  base::set_log_level(options_.log);
  set_text(record.fabric, base::to_string(options_.fabric));
  set_text(record.visibility, base::to_string(options_.visibility));
  record.fake_nodes = options_.fake_nodes;

  const auto cpus = topology::process_cpus();
  record.usable_pus = cpus.count();
  record.cpus_hash = std::hash<std::string>{}(cpus.to_string());

  shm_ = std::make_unique<shm::ShmTransport>(rank_, health_);
  record.shm_address = shm_->address();
  return record;
}

void RuntimeState::plan(std::span<const StartRecord> records) {
  std::vector<Locality> localities;
  std::vector<std::string> hosts;
  for (const StartRecord& record : records) {
    localities.push_back({record.host_id, std::string(text_of(record.host))});
    hosts.emplace_back(text_of(record.host));
  }
  paths_ = plan_paths(localities, rank_, options_.fabric, options_.fake_nodes);
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    job_.ranks.push_back({.host = hosts[rank], .node = paths_.node[rank], .transport = nullptr});
  }
  health_.set_hosts(std::move(hosts));
}

std::vector<transport::Peer> RuntimeState::peers(std::span<const StartRecord> records) const {
  std::vector<transport::Peer> list;
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    list.push_back(
        {.rank = static_cast<int>(rank),
         .host = job_.ranks[rank].host,
         .pid = records[rank].pid,
         .same_machine = paths_.node[rank] == paths_.node[static_cast<std::size_t>(rank_)]});
  }
  return list;
}

void RuntimeState::start_shm(std::span<const StartRecord> records) {
  auto list = peers(records);
  for (transport::Peer& peer : list) {
    peer.address = records[static_cast<std::size_t>(peer.rank)].shm_address;
  }
  shm_->meet(list);
  transports_.push_back(shm_.get());
  if (paths_.needs_verbs) return;  // then the device has a say in the placement
  if (topology::has_several_numa_nodes()) choose_placement({}, 0);
}

/// Looks at the whole machine, which takes longer than all else here: not done where nobody
/// chooses.
topology::Placement RuntimeState::choose_placement(std::span<const std::string> devices,
                                                   unsigned turn) {
  topology_ = topology::Topology::discover();
  auto placement = topology::choose_placement(
      *topology_, topology_->usable_cpus(), topology::device_localities(*topology_, devices), turn);
  numa_node_ = placement.numa_node;
  placement_ = placement.reason;
  return placement;
}

void RuntimeState::start_verbs(std::span<const StartRecord> records) {
  const auto addresses = bootstrap::allgather_agreed(*group_, "Runtime", [&] {
    std::vector<std::string> names;
    for (const verbs::DeviceInfo& device : verbs::inventory()) names.push_back(device.name);
    const auto turn =
        std::ranges::count(std::span(paths_.node).first(static_cast<std::size_t>(rank_)),
                           paths_.node[static_cast<std::size_t>(rank_)]);
    const auto placement = choose_placement(names, static_cast<unsigned>(turn));
    verbs_ = std::make_unique<verbs::VerbsTransport>(options_, placement.device.value_or(""), rank_,
                                                     records[0].nonce, health_);
    return verbs_->address();
  });
  bootstrap::agree(*group_, "Runtime", [&] {
    auto list = peers(records);
    for (transport::Peer& peer : list)
      peer.address = addresses[static_cast<std::size_t>(peer.rank)];
    verbs_->meet(list);
    transports_.push_back(verbs_.get());
  });
}

// More ranks than CPUs on this machine, or among the ranks that are bound to just the CPUs this one
// is bound to.
bool RuntimeState::oversubscribed(std::span<const StartRecord> records) const {
  const StartRecord& mine = records[static_cast<std::size_t>(rank_)];
  std::uint32_t sharing = 0;
  for (const StartRecord& record : records) {
    if (record.host_id == mine.host_id && record.cpus_hash == mine.cpus_hash) ++sharing;
  }
  return sharing > mine.usable_pus;
}

void RuntimeState::make_teams() {
  for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
    transport::Transport* const far = verbs_.get();
    job_.ranks[rank].transport = paths_.path[rank] == Path::shm ? shm_.get() : far;
  }
  job_.world_rank = rank_;
  job_.shm = shm_.get();
  job_.verbs = verbs_.get();
  job_.buffers = &buffers_;
  job_.requests = &requests_.emplace(*progress_);
  job_.progress = &*progress_;
  job_.lanes = lanes_ ? &*lanes_ : nullptr;
  job_.health = &health_;
  job_.place_memory = [this](std::span<std::byte> memory) { place(memory); };

  world_ = make_team(std::nullopt);
  node_ = make_team(paths_.node[static_cast<std::size_t>(rank_)]);
}

/// Of the ranks of one node, or of all. Every rank knows who is where, so these teams need no
/// split(): a job on several machines connects nobody before there is something to send.
Team RuntimeState::make_team(std::optional<int> node) {
  std::vector<window::Candidate> candidates;
  for (std::size_t rank = 0; rank < paths_.node.size(); ++rank) {
    const auto number = static_cast<int>(rank);
    if (!node || paths_.node[rank] == *node) candidates.push_back({number, number});
  }
  return Team(window::make_team(job_, *group_, "Runtime", candidates));
}

// With several NUMA nodes, pages go where the rank computes, whoever touches them first; with one
// there is nothing to choose.
void RuntimeState::place(std::span<std::byte> memory) const {
  if (!numa_node_ || topology_->numa_nodes().size() < 2 || memory.empty()) return;
  const auto binding = topology::bind_memory(*topology_, memory.data(), memory.size(), *numa_node_);
  if (binding.bound) return;
  base::log(base::LogLevel::debug, "{} bytes not bound to NUMA node {}: {}", memory.size(),
            *numa_node_, binding.reason);
  constexpr std::size_t kPage = 4096;
  for (std::size_t at = 0; at < memory.size(); at += kPage) memory[at] = std::byte{0};
}

RuntimeState::~RuntimeState() {
  window::release_all(job_);
  leave();
  for (window::TeamState* const team : job_.teams) team->release();
}

/// A rank on its way out by an exception, or with a peer lost, must not wait for the others, nor
/// MPI for it; others that wait for it in any team are told.
void RuntimeState::leave() noexcept {
  const bool orderly =
      health_.deaths() == 0 && !job_.broken && std::uncaught_exceptions() <= exceptions_at_start_;
  if (orderly) {
    try {
      return wait_for_all();
    } catch (const std::exception& error) {
      base::log(base::LogLevel::error, "leaving the job: {}", error.what());
    }
  }
  group_->abandon();
  world_->state()->give_up();
  for (window::TeamState* const team : job_.teams) team->give_up();
}

/// The first barrier is passed when all have ended their work, and whoever fails before is an
/// error. But a rank that has passed it and takes its transports away, or ends, looks dead to one
/// that still waits in it. Hence the second: nobody passes that before all have passed the first,
/// and to find somebody gone in it says just this.
void RuntimeState::wait_for_all() {
  world_->state()->barrier("Runtime");
  try {
    world_->state()->barrier("Runtime");
  } catch (const Error& error) {
    base::log(base::LogLevel::debug, "the job has ended: {}", error.what());
  }
}

std::string RuntimeState::describe() const {
  std::string text = fmt::format("Oriel {}: rank {} of {} on {} (process {})\n{}  paths: {}\n",
                                 ORIEL_VERSION_STRING, rank_, job_.ranks.size(), host_.name,
                                 ::getpid(), describe_machine(), paths_.reason);
  for (const transport::Transport* transport : transports_) {
    text += fmt::format("  {}\n", transport->describe());
  }
  return text;
}

// Where the start has not looked at the machine, whoever wants to read of it makes up for that.
std::string RuntimeState::describe_machine() const {
  constexpr const char* kText = "  machine: {}\n  placement: {}\n";
  if (topology_) return fmt::format(kText, topology_->describe(), placement_);
  try {
    const auto topology = topology::Topology::discover();
    return fmt::format(kText, topology.describe(),
                       topology::choose_placement(topology, topology.usable_cpus(), {}, 0).reason);
  } catch (const std::runtime_error& error) {
    return fmt::format("  machine: {}\n", error.what());
  }
}

}  // namespace oriel::runtime
