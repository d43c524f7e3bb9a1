#pragma once
/// What oriel-bench measures.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace oriel::bench {

enum class Operation : std::uint8_t {
  put,
  get,
  fetch_add,
  cas,
  accumulate,
  put_rate,
  get_rate,
  fetch_add_rate,
  put_bw,
  get_bw,
  strided,
  fence,
  barrier,
  lock_shared,
  lock_exclusive,
  lock_all,
  pscw,
  notify,
  create_free,
};

enum class Unit : std::uint8_t {
  microseconds,  ///< for one operation
  operations,    ///< millions in a second
  megabytes,     ///< 10^6 bytes in a second
};

struct OperationInfo {
  Operation operation;
  std::string_view name;
  std::string_view text;  ///< what one of them is
  Unit unit = Unit::microseconds;
  bool has_sizes = false;      ///< whether bytes are moved; if not, --sizes says nothing to it
  bool is_collective = false;  ///< all ranks take part; if not, rank 0 works on the last rank
};

[[nodiscard]] std::span<const OperationInfo> operations() noexcept;
[[nodiscard]] const OperationInfo& info(Operation operation) noexcept;
/// Null: there is none of this name.
[[nodiscard]] const OperationInfo* find_operation(std::string_view name) noexcept;

[[nodiscard]] std::string_view to_string(Unit unit) noexcept;
/// What one operation in `seconds` is in that unit.
[[nodiscard]] double in_unit(Unit unit, double seconds, std::size_t bytes) noexcept;

}  // namespace oriel::bench
