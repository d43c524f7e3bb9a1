#include <mpi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>

#include "mpi/call.hpp"
#include "mpi/objects.hpp"

namespace oriel::mpi {
namespace {

bool is_truth(std::string_view value) {
  return value == "true" || value == "false";
}

bool is_number(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](unsigned char character) {
    return std::isdigit(character) != 0;
  });
}

bool is_ops(std::string_view value) {
  return value == "same_op" || value == "same_op_no_op";
}

bool is_ordering(std::string_view value) {
  if (value == "none") return true;
  while (true) {
    const std::string_view pair = value.substr(0, value.find(','));
    if (pair != "rar" && pair != "raw" && pair != "war" && pair != "waw") return false;
    if (pair.size() == value.size()) return true;
    value.remove_prefix(pair.size() + 1);
  }
}

bool is_allocated(int flavor) {
  return flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED;
}
bool is_shared(int flavor) {
  return flavor == MPI_WIN_FLAVOR_SHARED;
}
bool is_any(int /*flavor*/) {
  return true;
}

/// A hint that MPI has [MPI-3.1, 11.2.1 and 11.2.3; MPI-4.0, 12.2.3].
struct Hint {
  const char* key;
  const char* otherwise;  ///< what holds without it; null: nothing in particular
  bool (*is_valid)(std::string_view);
  bool (*is_for)(int flavor);
  bool at_creation_only;
};

constexpr std::array kHints{
    Hint{"no_locks", "false", is_truth, is_any, false},
    Hint{"accumulate_ordering", "rar,raw,war,waw", is_ordering, is_any, false},
    Hint{"accumulate_ops", "same_op_no_op", is_ops, is_any, false},
    Hint{"same_size", "false", is_truth, is_any, false},
    Hint{"same_disp_unit", "false", is_truth, is_any, false},
    Hint{"alloc_shared_noncontig", "false", is_truth, is_shared, true},
    Hint{"mpi_minimum_memory_alignment", nullptr, is_number, is_allocated, true},
};

/// What is no value of the hint counts as not given.
std::optional<std::string> find(MPI_Info info, const Hint& hint) {
  if (info == MPI_INFO_NULL) return std::nullopt;
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int is_found = 0;
  check(PMPI_Info_get(info, hint.key, MPI_MAX_INFO_VAL, value.data(), &is_found), "MPI_Info_get");
  if (is_found == 0 || !hint.is_valid(value.data())) return std::nullopt;
  return value.data();
}

void set(MPI_Info info, const Hint& hint, const std::string& value) {
  check(PMPI_Info_set(info, hint.key, value.c_str()), "MPI_Info_set");
}

}  // namespace

MPI_Info known_hints(MPI_Info given, int flavor) {
  MPI_Info known = MPI_INFO_NULL;
  check(PMPI_Info_create(&known), "MPI_Info_create");
  for (const Hint& hint : kHints) {
    if (!hint.is_for(flavor)) continue;
    if (const auto value = find(given, hint)) {
      set(known, hint, *value);
    } else if (hint.otherwise != nullptr) {
      set(known, hint, hint.otherwise);
    }
  }
  return known;
}

bool is_true_hint(MPI_Info given, std::string_view key) {
  const auto* const hint = std::ranges::find(kHints, key, &Hint::key);
  return hint != kHints.end() && find(given, *hint) == "true";
}

void change_hints(MPI_Info known, MPI_Info given, int flavor) {
  for (const Hint& hint : kHints) {
    if (hint.at_creation_only || !hint.is_for(flavor)) continue;
    if (const auto value = find(given, hint)) set(known, hint, *value);
  }
}

}  // namespace oriel::mpi
