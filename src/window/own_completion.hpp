#pragma once

#include "transport/completion.hpp"
#include "transport/progress.hpp"

namespace oriel::window {

/// What a call waits for itself. However the call is left, nothing is under way afterwards that
/// counts here.
class OwnCompletion {
 public:
  explicit OwnCompletion(transport::Progress& progress, transport::Tally* tally = nullptr) noexcept
      : progress_(progress), done_{.tally = tally} {}
  OwnCompletion(const OwnCompletion&) = delete;
  OwnCompletion& operator=(const OwnCompletion&) = delete;
  ~OwnCompletion() {
    progress_.wait([this]() noexcept { return done_.remote_pending == 0; });
  }
  [[nodiscard]] transport::Completion& operator*() noexcept { return done_; }

 private:
  transport::Progress& progress_;
  transport::Completion done_;
};

}  // namespace oriel::window
