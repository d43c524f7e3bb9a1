#include "fake_verbs.hpp"

namespace {

struct Name {
  int value;
  const char* text;
};

template <std::size_t N>
const char* find_name(const Name (&names)[N], int value, const char* otherwise) {
  for (const Name& name : names) {
    if (name.value == value) return name.text;
  }
  return otherwise;
}

}  // namespace

const char* ibv_wc_status_str(ibv_wc_status status) {
  static constexpr Name kNames[] = {
      {IBV_WC_SUCCESS, "success"},
      {IBV_WC_LOC_LEN_ERR, "local length error"},
      {IBV_WC_LOC_QP_OP_ERR, "local QP operation error"},
      {IBV_WC_LOC_PROT_ERR, "local protection error"},
      {IBV_WC_WR_FLUSH_ERR, "Work Request Flushed Error"},
      {IBV_WC_BAD_RESP_ERR, "bad response error"},
      {IBV_WC_LOC_ACCESS_ERR, "local access error"},
      {IBV_WC_REM_INV_REQ_ERR, "remote invalid request error"},
      {IBV_WC_REM_ACCESS_ERR, "remote access error"},
      {IBV_WC_REM_OP_ERR, "remote operation error"},
      {IBV_WC_RETRY_EXC_ERR, "transport retry counter exceeded"},
      {IBV_WC_RNR_RETRY_EXC_ERR, "RNR retry counter exceeded"},
      {IBV_WC_REM_ABORT_ERR, "remote abort error"},
      {IBV_WC_FATAL_ERR, "fatal error"},
      {IBV_WC_RESP_TIMEOUT_ERR, "response timeout error"},
      {IBV_WC_GENERAL_ERR, "general error"},
  };
  return find_name(kNames, status, "unknown");
}

const char* ibv_node_type_str(ibv_node_type type) {
  return type == IBV_NODE_CA ? "InfiniBand channel adapter" : "unknown";
}

const char* ibv_port_state_str(ibv_port_state state) {
  static constexpr Name kNames[] = {
      {IBV_PORT_NOP, "no state change (NOP)"},
      {IBV_PORT_DOWN, "down"},
      {IBV_PORT_INIT, "init"},
      {IBV_PORT_ARMED, "armed"},
      {IBV_PORT_ACTIVE, "active"},
      {IBV_PORT_ACTIVE_DEFER, "active defer"},
  };
  return find_name(kNames, state, "invalid state");
}

const char* ibv_event_type_str(ibv_event_type type) {
  static constexpr Name kNames[] = {
      {IBV_EVENT_CQ_ERR, "CQ error"},
      {IBV_EVENT_QP_FATAL, "local work queue catastrophic error"},
      {IBV_EVENT_QP_REQ_ERR, "invalid request local work queue error"},
      {IBV_EVENT_QP_ACCESS_ERR, "local access violation work queue error"},
      {IBV_EVENT_COMM_EST, "communication established"},
      {IBV_EVENT_DEVICE_FATAL, "local catastrophic error"},
      {IBV_EVENT_PORT_ACTIVE, "port active"},
      {IBV_EVENT_PORT_ERR, "port error"},
      {IBV_EVENT_LID_CHANGE, "LID change"},
      {IBV_EVENT_GID_CHANGE, "GID table change"},
  };
  return find_name(kNames, type, "unknown");
}

const char* rdma_event_str(rdma_cm_event_type type) {
  static constexpr Name kNames[] = {
      {RDMA_CM_EVENT_ADDR_RESOLVED, "RDMA_CM_EVENT_ADDR_RESOLVED"},
      {RDMA_CM_EVENT_ADDR_ERROR, "RDMA_CM_EVENT_ADDR_ERROR"},
      {RDMA_CM_EVENT_ROUTE_RESOLVED, "RDMA_CM_EVENT_ROUTE_RESOLVED"},
      {RDMA_CM_EVENT_ROUTE_ERROR, "RDMA_CM_EVENT_ROUTE_ERROR"},
      {RDMA_CM_EVENT_CONNECT_REQUEST, "RDMA_CM_EVENT_CONNECT_REQUEST"},
      {RDMA_CM_EVENT_CONNECT_RESPONSE, "RDMA_CM_EVENT_CONNECT_RESPONSE"},
      {RDMA_CM_EVENT_CONNECT_ERROR, "RDMA_CM_EVENT_CONNECT_ERROR"},
      {RDMA_CM_EVENT_UNREACHABLE, "RDMA_CM_EVENT_UNREACHABLE"},
      {RDMA_CM_EVENT_REJECTED, "RDMA_CM_EVENT_REJECTED"},
      {RDMA_CM_EVENT_ESTABLISHED, "RDMA_CM_EVENT_ESTABLISHED"},
      {RDMA_CM_EVENT_DISCONNECTED, "RDMA_CM_EVENT_DISCONNECTED"},
      {RDMA_CM_EVENT_DEVICE_REMOVAL, "RDMA_CM_EVENT_DEVICE_REMOVAL"},
      {RDMA_CM_EVENT_ADDR_CHANGE, "RDMA_CM_EVENT_ADDR_CHANGE"},
      {RDMA_CM_EVENT_TIMEWAIT_EXIT, "RDMA_CM_EVENT_TIMEWAIT_EXIT"},
  };
  return find_name(kNames, type, "UNKNOWN EVENT");
}
