#include "transport/verbs/completion_status.hpp"

namespace oriel::verbs {

StatusText status_text(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_SUCCESS:
      return {"success", ""};
    case IBV_WC_LOC_LEN_ERR:
      return {"local length error", "longer than the device's message limit: please report"};
    case IBV_WC_LOC_QP_OP_ERR:
      return {"local queue pair operation error",
              "the origin's memory is not registered (window or buffer destroyed while in use?)"};
    case IBV_WC_LOC_PROT_ERR:
      return {"local protection error",
              "the origin's memory was unmapped or deregistered while in use"};
    case IBV_WC_WR_FLUSH_ERR:
      return {"flushed",
              "the queue pair left its ready state before this request; the kernel's log may say "
              "why (dmesg)"};
    case IBV_WC_BAD_RESP_ERR:
      return {"bad response", "the peer's device answered out of protocol: check firmware"};
    case IBV_WC_LOC_ACCESS_ERR:
      return {"local access error", "the origin's memory may not be written by the device"};
    case IBV_WC_REM_INV_REQ_ERR:
      return {"remote invalid request",
              "length or alignment that the peer's device refuses (atomics: multiples of 8)"};
    case IBV_WC_REM_ACCESS_ERR:
      return {"remote access error",
              "the target's window was freed, or the access leaves what it exposed"};
    case IBV_WC_REM_OP_ERR:
      return {"remote operation error", "the peer's device failed: see the kernel's log there"};
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
      return {"the peer does not answer (retries exceeded)",
              "its process or machine died, or the link or route is lost; a slow but sound fabric "
              "needs a larger ORIEL_PEER_TIMEOUT"};
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return {"receiver not ready", "Oriel posts no receives and needs none: please report"};
    case IBV_WC_REM_ABORT_ERR:
      return {"remote aborted", "the peer's side of the connection was torn down"};
    case IBV_WC_FATAL_ERR:
      return {"fatal device error", "the device must be reset: see the kernel's log (dmesg)"};
    case IBV_WC_LOC_EEC_OP_ERR:
    case IBV_WC_MW_BIND_ERR:
    case IBV_WC_LOC_RDD_VIOL_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
    case IBV_WC_INV_EECN_ERR:
    case IBV_WC_INV_EEC_STATE_ERR:
    case IBV_WC_GENERAL_ERR:
    case IBV_WC_TM_ERR:
    case IBV_WC_TM_RNDV_INCOMPLETE:
      break;
  }
  return {"unexpected status", "see the kernel's log (dmesg) and please report"};
}

}  // namespace oriel::verbs
