// Runtime and Buffer on ready-made state: all of the public classes that needs no MPI.

#include <oriel/buffer.hpp>
#include <oriel/runtime.hpp>

#include <utility>

#include "runtime/runtime_state.hpp"
#include "transport/buffer.hpp"

namespace oriel {

Runtime::Runtime(std::unique_ptr<runtime::RuntimeState> state) noexcept
    : state_(std::move(state)) {}
Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

const Team& Runtime::world() const noexcept {
  return state_->world();
}
const Team& Runtime::node() const noexcept {
  return state_->node();
}
void Runtime::while_waiting(void (*beside)()) noexcept {
  state_->job().progress->while_waiting(beside);
}
std::string Runtime::describe() const {
  return state_->describe();
}

BufferBytes::BufferBytes(const Runtime& job, std::size_t bytes)
    : buffer_(std::make_unique<transport::Buffer>(*job.state().job().buffers,
                                                  job.state().job().verbs, bytes,
                                                  job.state().job().place_memory)) {}
BufferBytes::~BufferBytes() = default;
BufferBytes::BufferBytes(BufferBytes&&) noexcept = default;
BufferBytes& BufferBytes::operator=(BufferBytes&&) noexcept = default;
std::span<std::byte> BufferBytes::bytes() const noexcept {
  return buffer_->bytes();
}

}  // namespace oriel
