#include "sync/flush.hpp"

namespace oriel::sync {
namespace {

void throw_failure(const transport::Completion& done) {
  if (done.failure != nullptr) throw Error(*done.failure);
}

}  // namespace

void wait_local(transport::Progress& progress, transport::Completion& done) {
  progress.wait([&]() noexcept { return done.local_pending == 0; });
  throw_failure(done);
}

void wait_remote(transport::Progress& progress, transport::Completion& done) {
  progress.wait([&]() noexcept { return done.remote_pending == 0; });
  throw_failure(done);
}

}  // namespace oriel::sync
