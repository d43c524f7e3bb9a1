#pragma once
/// Errors of Oriel.
///
/// Misuse throws oriel::Error at the call and changes nothing. A transport failure throws at the
/// next synchronisation with that peer (flush, fence, a blocking value form, free). Destructors
/// wait, then log, and never throw. what() is one line a stranger can act on; details() has the
/// same facts as data.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <oriel/export.hpp>

namespace oriel {

/// What went wrong, as a class of causes a program can branch on.
enum class ErrorCode : int {
  invalid_argument = 1,  ///< an argument that no state of the job could make right
  out_of_range,          ///< offset or length past the target's size
  invalid_rank,          ///< rank outside the team
  misaligned,        ///< memory of a dynamic window that is not at a multiple of its element's size
  window_freed,      ///< a call on a freed or moved-from window, team or buffer
  request_ended,     ///< a wait for a request that has ended already
  invalid_option,    ///< an ORIEL_* variable or launcher option with an unknown name or value
  version_mismatch,  ///< ranks of one job run different versions of Oriel
  option_mismatch,   ///< ranks of one job were given different options
  no_device,         ///< RDMA wanted or needed, and no usable device
  locked_memory_limit,  ///< RLIMIT_MEMLOCK too low to register memory
  registration_failed,  ///< the device refused to register memory
  out_of_memory,        ///< memory, address space or descriptors exhausted
  connection_failed,    ///< a peer could not be connected
  peer_lost,            ///< a peer died or can no longer be reached
  transport_failed,     ///< the device reported a failed operation
  peer_failed,          ///< another rank threw in a collective call; details name it
  wrong_epoch,          ///< a synchronisation call that does not fit the epoch the window is in
  unsupported,          ///< not available here, with the reason
  internal,             ///< a broken invariant of Oriel: please report
};

/// The category behind ErrorCode; its name() is "oriel".
[[nodiscard]] ORIEL_API const std::error_category& error_category() noexcept;
[[nodiscard]] ORIEL_API std::error_code make_error_code(ErrorCode code) noexcept;

/// The facts of an error. Members that do not apply are empty.
struct ErrorDetails {
  std::string operation{};                ///< "put", "Window::allocate", …
  std::string problem{};                  ///< one clause with the numbers
  std::optional<int> origin{};            ///< world rank that saw it
  std::optional<int> target{};            ///< world rank it was about
  std::string target_host{};              ///< host of `target`
  std::optional<std::uint64_t> window{};  ///< window number, the same on all ranks of its team
  std::optional<std::uint64_t> offset_bytes{};  ///< offset in the target's window
  std::optional<std::uint64_t> length_bytes{};  ///< length of the access
  std::optional<int> system_errno{};            ///< errno of a failed system or verbs call
  std::optional<int> work_completion_status{};  ///< ibv_wc_status of a failed work request
  std::optional<std::uint32_t> vendor_error{};  ///< vendor_err of the same
  std::string device{};                         ///< "mlx5_0 port 1"
  std::string hint{};                           ///< what to do about it
};

/// The one exception type Oriel throws for its own errors. code() compares with ErrorCode values.
/// Copies never throw.
class ORIEL_API Error : public std::system_error {
 public:
  Error(ErrorCode code, ErrorDetails details);
  [[nodiscard]] const char* what() const noexcept override { return facts_->text.c_str(); }
  [[nodiscard]] const ErrorDetails& details() const noexcept { return facts_->details; }

 private:
  struct Facts {
    ErrorDetails details;
    std::string text;
  };
  std::shared_ptr<const Facts> facts_;
};

}  // namespace oriel

template <>
struct std::is_error_code_enum<oriel::ErrorCode> : std::true_type {};
