#include "launcher/bench/operation.hpp"

#include <algorithm>
#include <array>

namespace oriel::bench {
namespace {

constexpr std::array<OperationInfo, 19> kOperations = {{
    {Operation::put, "put", "put and flush", Unit::microseconds, true, false},
    {Operation::get, "get", "get and flush", Unit::microseconds, true, false},
    {Operation::fetch_add, "fetch_add", "fetch_add of 64 bits", Unit::microseconds, false, false},
    {Operation::cas, "cas", "compare_and_swap of 64 bits", Unit::microseconds, false, false},
    {Operation::accumulate, "accumulate", "sum of doubles, and flush", Unit::microseconds, true,
     false},
    {Operation::put_rate, "put_rate", "puts, one flush at the end", Unit::operations, true, false},
    {Operation::get_rate, "get_rate", "gets, one flush at the end", Unit::operations, true, false},
    {Operation::fetch_add_rate, "fetch_add_rate", "fetch_adds, one flush at the end",
     Unit::operations, false, false},
    {Operation::put_bw, "put_bw", "puts, one flush at the end", Unit::megabytes, true, false},
    {Operation::get_bw, "get_bw", "gets, one flush at the end", Unit::megabytes, true, false},
    {Operation::strided, "strided", "put of every other 64 bytes, and flush", Unit::microseconds,
     true, false},
    {Operation::fence, "fence", "fence, nothing outstanding", Unit::microseconds, false, true},
    {Operation::barrier, "barrier", "barrier", Unit::microseconds, false, true},
    {Operation::lock_shared, "lock_shared", "lock and unlock, shared", Unit::microseconds, false,
     false},
    {Operation::lock_exclusive, "lock_exclusive", "lock and unlock, exclusive", Unit::microseconds,
     false, false},
    {Operation::lock_all, "lock_all", "lock_all and unlock_all", Unit::microseconds, false, false},
    {Operation::pscw, "pscw", "post, start, complete, wait with both neighbours",
     Unit::microseconds, false, true},
    {Operation::notify, "notify", "put_notify round the ranks, there and back", Unit::microseconds,
     true, true},
    {Operation::create_free, "create_free", "a window of 64 bytes made and freed",
     Unit::microseconds, false, true},
}};

}  // namespace

std::span<const OperationInfo> operations() noexcept {
  return kOperations;
}

const OperationInfo& info(Operation operation) noexcept {
  return kOperations[static_cast<std::size_t>(operation)];
}

const OperationInfo* find_operation(std::string_view name) noexcept {
  const auto found = std::ranges::find(kOperations, name, &OperationInfo::name);
  return found == kOperations.end() ? nullptr : &*found;
}

std::string_view to_string(Unit unit) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"us", "Mop/s", "MB/s"};
  return kNames[static_cast<std::size_t>(unit)];
}

double in_unit(Unit unit, double seconds, std::size_t bytes) noexcept {
  switch (unit) {
    case Unit::microseconds:
      return seconds * 1e6;
    case Unit::operations:
      return 1e-6 / seconds;
    case Unit::megabytes:
      break;
  }
  return static_cast<double>(bytes) * 1e-6 / seconds;
}

}  // namespace oriel::bench
