// What the device can do: the same work requests, by hand.

#include <memory>

#include "launcher/bench/bare_queue_pair.hpp"
#include "launcher/bench/subject.hpp"

namespace oriel::bench {
namespace {

constexpr BareQueuePair::Manner kOneByOne = {1, 1};
constexpr BareQueuePair::Manner kMany = {32, 256};
constexpr BareQueuePair::Manner kLarge = {1, 32};

Subject requests(const Stand& stand, const Task& task, ibv_wr_opcode opcode,
                 BareQueuePair::Manner manner) {
  const auto pair = std::make_shared<BareQueuePair>(stand, part_bytes(task));
  return [=, size = task.size](std::size_t times) { pair->run(opcode, size, times, manner); };
}

/// Each time a chain of writes, as a layout of blocks takes.
Subject chains(const Stand& stand, const Task& task) {
  const auto blocks = static_cast<std::uint32_t>(task.size / kStridedBlock);
  const auto pair = std::make_shared<BareQueuePair>(stand, part_bytes(task));
  return repeat([=] { pair->run(IBV_WR_RDMA_WRITE, kStridedBlock, blocks, {64, 256}); });
}

}  // namespace

Subject make_verbs_floor(const Stand& stand, const Task& task) {
  switch (task.operation) {
    case Operation::put:
      return requests(stand, task, IBV_WR_RDMA_WRITE, kOneByOne);
    case Operation::put_rate:
      return requests(stand, task, IBV_WR_RDMA_WRITE, kMany);
    case Operation::put_bw:
      return requests(stand, task, IBV_WR_RDMA_WRITE, kLarge);
    case Operation::get:
      return requests(stand, task, IBV_WR_RDMA_READ, kOneByOne);
    case Operation::get_rate:
      return requests(stand, task, IBV_WR_RDMA_READ, kMany);
    case Operation::get_bw:
      return requests(stand, task, IBV_WR_RDMA_READ, kLarge);
    case Operation::fetch_add:
      return requests(stand, task, IBV_WR_ATOMIC_FETCH_AND_ADD, kOneByOne);
    case Operation::fetch_add_rate:
      return requests(stand, task, IBV_WR_ATOMIC_FETCH_AND_ADD, kMany);
    case Operation::cas:
      return requests(stand, task, IBV_WR_ATOMIC_CMP_AND_SWP, kOneByOne);
    case Operation::strided:
      return chains(stand, task);
    default:
      return {};
  }
}

}  // namespace oriel::bench
