#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"

namespace oriel::base {

enum class Fabric : std::uint8_t { automatic, shm, verbs };

/// How flush makes sure that written bytes are visible, not merely acknowledged.
enum class Visibility : std::uint8_t {
  automatic,  ///< by what is known of the device
  ordered,    ///< the completion of a write is enough
  read,       ///< every flush ends with an 8-byte read behind the writes
};

/// What the ORIEL_* variables say, validated. The table in options.cpp is the one list of them:
/// README and oriel-info print it.
struct Options {
  Fabric fabric = Fabric::automatic;
  int fake_nodes = 1;
  Visibility visibility = Visibility::automatic;
  LogLevel log = LogLevel::warning;
  std::string device{};             ///< "" or "rxe0" or "rxe0:1"
  std::optional<int> gid_index{};   ///< empty: chosen by rule
  int peer_timeout_seconds = 5;     ///< an unreachable peer is dead after about this long
  int lanes = 4;                    ///< threads of a rank that put and get at the same time
  bool carries_mpi_windows = true;  ///< the drop-in: else they are left to MPI
  bool stats = false;               ///< the drop-in: tells at the end what was carried
};

struct OptionDescription {
  std::string_view name;      ///< ORIEL_FABRIC
  std::string_view values;    ///< auto|shm|verbs
  std::string_view fallback;  ///< auto
  std::string_view meaning;
};

[[nodiscard]] std::string_view to_string(Fabric fabric) noexcept;
[[nodiscard]] std::string_view to_string(Visibility visibility) noexcept;

/// Every variable there is, in the order of the README's table.
[[nodiscard]] const std::vector<OptionDescription>& option_descriptions();

/// One "NAME=value" per entry, as in environ. Errors: invalid_option, naming variable, value and
/// what is allowed; an unknown ORIEL_* name is an error too, as a misspelt option would otherwise
/// be a silent one. ORIEL_LAB_* and ORIEL_TEST_* are other people's.
[[nodiscard]] Options parse_options(const std::vector<std::string>& environment);

/// This process's environment, in that form.
[[nodiscard]] std::vector<std::string> environment_lines();

}  // namespace oriel::base
