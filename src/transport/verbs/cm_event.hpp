#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "transport/verbs/verbs_handles.hpp"

namespace oriel::verbs {

/// A copy of a connection manager's event, already acknowledged: whoever handles it may destroy the
/// id (which otherwise would wait for the acknowledgement for ever).
struct CmEvent {
  rdma_cm_id* id = nullptr;
  rdma_cm_event_type type = RDMA_CM_EVENT_DEVICE_REMOVAL;
  int status = 0;
  std::uint8_t responder_resources = 0;
  std::array<std::byte, 256> data{};
  std::size_t data_bytes = 0;  ///< at least what the sender gave: some fabrics pad

  /// The private data as a T, if there is as much.
  template <class T>
  [[nodiscard]] std::optional<T> data_as() const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    if (data_bytes < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, data.data(), sizeof value);
    return value;
  }
};

/// A channel of the connection manager that never blocks.
class CmChannel {
 public:
  CmChannel();
  [[nodiscard]] rdma_event_channel* get() const noexcept { return channel_.get(); }
  /// Readable when next() has something.
  [[nodiscard]] int fd() const noexcept { return channel_->fd; }
  /// Nothing when there is no event now.
  [[nodiscard]] std::optional<CmEvent> next() noexcept;

 private:
  CmChannelHandle channel_;
};

/// A new id on the channel; `context` comes back in the events' id->context.
[[nodiscard]] CmIdHandle make_cm_id(CmChannel& channel, void* context);

}  // namespace oriel::verbs
