#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// A fake of libibverbs and librdmacm that lives in one process: link `oriel_fake_verbs` instead
/// of the two libraries, describe the devices with a Fabric, run ranks as threads.
///
/// Where real stacks differ, the fake follows Soft-RoCE, or is the stricter of the two. All
/// functions here may be called by any thread; reset() only while no thread is inside a verbs or CM
/// call.
namespace oriel::fake_verbs {

// ---- what the machine looks like ----------------------------------------------------------------

struct Gid {
  std::string address;  ///< IPv6 text; an IPv4 address is written "::ffff:10.77.0.1"
  ibv_gid_type type = IBV_GID_TYPE_ROCE_V2;
};

struct Port {
  ibv_port_state state = IBV_PORT_ACTIVE;
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  ibv_mtu active_mtu = IBV_MTU_4096;
  ibv_mtu max_mtu = IBV_MTU_4096;
  std::uint32_t max_message_bytes = 8U << 20U;
  std::uint16_t lid = 0;
  std::vector<Gid> gids = {{"fe80::5054:ff:fe12:3456"}, {"::ffff:10.77.0.1"}};
};

struct Device {
  std::string name = "fake0";
  std::vector<Port> ports = {Port{}};
  int max_qp = 1024;
  int max_qp_wr = 16384;
  int max_sge = 32;
  int max_cq = 1024;
  int max_cqe = 32767;
  int max_mr = 8192;
  int max_qp_rd_atom = 128;
  ibv_atomic_cap atomic_cap = IBV_ATOMIC_HCA;
  std::uint64_t max_mr_bytes = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t max_inline_bytes = 512;
  /// Operations of ibv_wr_*; 0: ibv_create_qp_ex with IBV_QP_INIT_ATTR_SEND_OPS_FLAGS is refused.
  std::uint64_t send_ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                           IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
                           IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                           IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
  /// Grant queues of 2^n - 1 entries, as Soft-RoCE does. Exact queues find more mistakes.
  bool round_up_queues = false;
  /// ibv_wr_set_inline_data without IBV_SEND_INLINE completes with LOC_PROT_ERR (Soft-RoCE).
  bool inline_needs_flag = true;
  /// Completions of a destroyed queue pair stay in the completion queue (Soft-RoCE).
  bool stale_completions = true;
  ibv_wc_status bad_lkey_status = IBV_WC_LOC_QP_OP_ERR;
  std::uint32_t vendor_error = 0x81;  ///< vendor_err of every completion in error
};

/// When a posted request is carried out. Flushes of a broken queue pair never wait.
enum class Delivery : std::uint8_t {
  immediate,  ///< by the posting call; its completion is there at once
  on_poll,    ///< by the next poll of the send completion queue
  manual      ///< by deliver() alone
};

struct Fabric {
  std::vector<Device> devices = {Device{}};
  Delivery delivery = Delivery::immediate;
  /// Bytes that may be registered at one time (the locked-memory limit); more is ENOMEM.
  std::uint64_t lockable_bytes = std::numeric_limits<std::uint64_t>::max();
  /// After DISCONNECTED both sides also get TIMEWAIT_EXIT, as real ones do some time later.
  bool timewait_exit = false;
};

/// Frees whatever is left of the previous fabric, forgets injections and statistics.
void reset(Fabric fabric = {});

void set_delivery(Delivery delivery);

/// Carries out up to `count` posted requests, oldest first; returns how many are done. A request
/// that fails takes those behind it along: their flushes do not wait, and count here.
std::size_t deliver(std::size_t count = std::numeric_limits<std::size_t>::max());

/// Changes the state and raises PORT_ACTIVE or PORT_ERR; requests over a port that is not active
/// complete with RETRY_EXC_ERR.
void set_port_state(std::string_view device, std::uint8_t port, ibv_port_state state);

/// Raises an event without an element (port number instead) on every open context of the device.
void raise_async_event(std::string_view device, ibv_event_type type, std::uint8_t port = 1);

// ---- making things fail -------------------------------------------------------------------------

inline constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();

/// Makes `call` fail with `error` (an errno) `times` times, after `after` further good calls.
/// `call` is the name of a verbs or CM function as the caller writes it ("ibv_reg_mr",
/// "ibv_wr_complete", "rdma_connect"), or an asynchronous outcome whose status is `error`:
/// "event:addr_error", "event:route_error", "event:unreachable", "event:connect_error",
/// "event:rejected", "event:lost" (a connection request that is never answered).
/// Throws std::invalid_argument for a name that nothing checks, and for error 0.
void fail(std::string_view call, int error, std::uint64_t after = 0, std::uint64_t times = 1);

/// Makes the requests that are carried out next complete with `status`, on any queue pair.
void fail_completion(ibv_wc_status status, std::uint64_t after = 0, std::uint64_t times = 1);

/// From now on requests of this queue pair complete with RETRY_EXC_ERR, until it is reset.
void break_connection(std::uint32_t qp_num);

/// The same for every queue pair of a device that exists now; an empty name means all devices.
void break_connections(std::string_view device = {});

/// The listener on this port (host order) no longer answers: later connects are REJECTED with 8.
/// Returns false if there is none.
bool kill_listener(std::uint16_t port);

// ---- what happened ------------------------------------------------------------------------------

struct Statistics {
  std::array<std::uint64_t, 16> requests{};  ///< posted send requests by ibv_wr_opcode
  std::uint64_t receives = 0;
  std::uint64_t doorbells = 0;  ///< each ibv_post_send or ibv_wr_complete that posted something
  std::uint64_t inline_requests = 0;
  std::uint64_t inline_bytes = 0;
  std::uint64_t signalled = 0;
  std::uint64_t bytes_out = 0;  ///< carried by writes and sends
  std::uint64_t bytes_in = 0;   ///< carried by reads and atomics
  std::uint64_t completions = 0;
  std::uint64_t error_completions = 0;
  std::uint64_t cq_overruns = 0;
  std::uint64_t registrations = 0;
  std::uint64_t registered_bytes = 0;  ///< sum over all registrations so far
  std::uint64_t queue_pairs = 0;       ///< created so far

  [[nodiscard]] std::uint64_t posted(ibv_wr_opcode opcode) const { return requests.at(opcode); }
  [[nodiscard]] std::uint64_t posted() const;
};

[[nodiscard]] Statistics statistics();
void reset_statistics();

/// One rdma_connect that reached a listener, and what came of it.
struct Connection {
  enum class Outcome : std::uint8_t { pending, accepted, rejected };
  Outcome outcome = Outcome::pending;
  rdma_conn_param connect{};  ///< pointers inside are null; the data is below
  rdma_conn_param accept{};
  std::vector<std::byte> connect_data;  ///< as passed, before padding
  std::vector<std::byte> reply_data;    ///< of rdma_accept or rdma_reject
  std::uint16_t listen_port = 0;
  int ack_timeout = -1;  ///< RDMA_OPTION_ID_ACK_TIMEOUT of the connecting id; -1: never set
};

[[nodiscard]] std::vector<Connection> connections();

/// Objects that exist now by type ("ibv_mr", "rdma_cm_id", ...); types without any are left out, so
/// a test that destroyed everything sees an empty map. The CM's own device contexts do not count.
[[nodiscard]] std::map<std::string, std::size_t> live_objects();

}  // namespace oriel::fake_verbs
