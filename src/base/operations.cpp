#include <oriel/operations.hpp>

#include <array>
#include <string>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel {
namespace {

struct KindFacts {
  std::string_view name;
  std::uint32_t bytes;  // 0: any
};

// By ElementKind. Bytes of pairs are those of the C++ type, padding included.
constexpr std::array<KindFacts, 30> kKinds = {{
    {"opaque", 0},
    {"signed8", 1},
    {"signed16", 2},
    {"signed32", 4},
    {"signed64", 8},
    {"unsigned8", 1},
    {"unsigned16", 2},
    {"unsigned32", 4},
    {"unsigned64", 8},
    {"float32", 4},
    {"float64", 8},
    {"long_double", sizeof(long double)},
    {"float128", 16},
    {"complex32x2", 8},
    {"complex64x2", 16},
    {"complex_long_double", 2 * sizeof(long double)},
    {"complex128x2", 32},
    {"signed16_index32", sizeof(ValueIndex<std::int16_t, std::int32_t>)},
    {"signed32_index32", sizeof(ValueIndex<std::int32_t, std::int32_t>)},
    {"signed64_index32", sizeof(ValueIndex<std::int64_t, std::int32_t>)},
    {"float32_index32", sizeof(ValueIndex<float, std::int32_t>)},
    {"float64_index32", sizeof(ValueIndex<double, std::int32_t>)},
    {"signed16_index64", sizeof(ValueIndex<std::int16_t, std::int64_t>)},
    {"signed32_index64", sizeof(ValueIndex<std::int32_t, std::int64_t>)},
    {"signed64_index64", sizeof(ValueIndex<std::int64_t, std::int64_t>)},
    {"float32_index64", sizeof(ValueIndex<float, std::int64_t>)},
    {"float64_index64", sizeof(ValueIndex<double, std::int64_t>)},
    {"long_double_index32", sizeof(ValueIndex<long double, std::int32_t>)},
    {"float32_float32", sizeof(ValueIndex<float, float>)},
    {"float64_float64", sizeof(ValueIndex<double, double>)},
}};

constexpr std::array<std::string_view, 14> kCodes = {"sum",     "prod",  "min",    "max",   "band",
                                                     "bor",     "bxor",  "land",   "lor",   "lxor",
                                                     "replace", "no_op", "minloc", "maxloc"};

}  // namespace

std::string_view to_string(OpCode code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  return index < kCodes.size() ? kCodes[index] : "unknown";
}

std::string_view to_string(ElementKind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < kKinds.size() ? kKinds[index].name : "unknown";
}

namespace {

/// By ElementKind: a bit for each OpCode that has a meaning.
constexpr auto kMeanings = [] {
  std::array<std::uint16_t, kKinds.size()> meanings{};
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    for (std::size_t code = 0; code < kCodes.size(); ++code) {
      if (has_meaning(static_cast<ElementKind>(kind), static_cast<OpCode>(code)))
        meanings[kind] = static_cast<std::uint16_t>(meanings[kind] | 1U << code);
    }
  }
  return meanings;
}();

[[nodiscard]] bool is_of_its_kind(ElementType type) noexcept {
  const auto index = static_cast<std::size_t>(type.kind);
  if (index >= kKinds.size() || type.bytes == 0) return false;
  return kKinds[index].bytes == 0 || kKinds[index].bytes == type.bytes;
}
[[nodiscard]] bool has_its_meaning(ElementKind kind, OpCode code) noexcept {
  const auto bit = static_cast<std::size_t>(code);
  return bit < kCodes.size() &&
         (std::uint32_t{kMeanings[static_cast<std::size_t>(kind)]} >> bit & 1U) != 0;
}

[[noreturn]] void refuse(std::string_view operation, ElementType type, OpCode code) {
  if (!is_of_its_kind(type)) {
    base::throw_error(
        ErrorCode::invalid_argument,
        {.operation = std::string(operation),
         .problem = fmt::format("no element of kind {} ({}) has {} bytes", to_string(type.kind),
                                static_cast<std::size_t>(type.kind), type.bytes),
         .hint = "element_type<T>() makes the ElementType of a type"});
  }
  base::throw_error(
      ErrorCode::unsupported,
      {.operation = std::string(operation),
       .problem = fmt::format("{} has no meaning for elements of kind {}", to_string(code),
                              to_string(type.kind)),
       .hint =
           "sum, prod: numbers; min, max: integers, floating point; bitwise, logical: integers; "
           "minloc, maxloc: ValueIndex; replace, no_op: any"});
}

}  // namespace

void check_supported(std::string_view operation, ElementType type, OpCode code) {
  if (is_of_its_kind(type) && has_its_meaning(type.kind, code)) [[likely]]
    return;
  refuse(operation, type, code);
}

}  // namespace oriel
