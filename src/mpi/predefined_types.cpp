// The predefined datatypes: what their elements are, and a quick way to them.

#include "mpi/predefined_types.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "mpi/call.hpp"

namespace oriel::mpi {
namespace {

/// What a type is; MPI tells of how many bytes.
enum class Family {
  signed_integer,
  unsigned_integer,
  logical,  ///< an integer that only logical operations combine
  real,
  long_double,
  complex,
  complex_long_double,
  opaque,
};

struct Member {
  MPI_Datatype type;
  Family family;
};

// Those that this MPI may not have are asked for by the preprocessor.
const Member kMembers[] = {
    {MPI_CHAR, std::is_signed_v<char> ? Family::signed_integer : Family::unsigned_integer},
    {MPI_SIGNED_CHAR, Family::signed_integer},
    {MPI_UNSIGNED_CHAR, Family::unsigned_integer},
    {MPI_BYTE, Family::unsigned_integer},
    {MPI_SHORT, Family::signed_integer},
    {MPI_UNSIGNED_SHORT, Family::unsigned_integer},
    {MPI_INT, Family::signed_integer},
    {MPI_UNSIGNED, Family::unsigned_integer},
    {MPI_LONG, Family::signed_integer},
    {MPI_UNSIGNED_LONG, Family::unsigned_integer},
    {MPI_LONG_LONG, Family::signed_integer},
    {MPI_UNSIGNED_LONG_LONG, Family::unsigned_integer},
    {MPI_FLOAT, Family::real},
    {MPI_DOUBLE, Family::real},
    {MPI_LONG_DOUBLE, Family::long_double},
    {MPI_WCHAR, Family::opaque},
    {MPI_PACKED, Family::opaque},
    {MPI_INT8_T, Family::signed_integer},
    {MPI_UINT8_T, Family::unsigned_integer},
    {MPI_INT16_T, Family::signed_integer},
    {MPI_UINT16_T, Family::unsigned_integer},
    {MPI_INT32_T, Family::signed_integer},
    {MPI_UINT32_T, Family::unsigned_integer},
    {MPI_INT64_T, Family::signed_integer},
    {MPI_UINT64_T, Family::unsigned_integer},
    {MPI_AINT, Family::signed_integer},
    {MPI_OFFSET, Family::signed_integer},
    {MPI_COUNT, Family::signed_integer},
    {MPI_C_BOOL, Family::logical},
    {MPI_C_FLOAT_COMPLEX, Family::complex},
    {MPI_C_DOUBLE_COMPLEX, Family::complex},
    {MPI_C_LONG_DOUBLE_COMPLEX, Family::complex_long_double},
    {MPI_CXX_BOOL, Family::logical},
    {MPI_CXX_FLOAT_COMPLEX, Family::complex},
    {MPI_CXX_DOUBLE_COMPLEX, Family::complex},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, Family::complex_long_double},
    {MPI_CHARACTER, Family::unsigned_integer},
    {MPI_LOGICAL, Family::logical},
    {MPI_INTEGER, Family::signed_integer},
    {MPI_REAL, Family::real},
    {MPI_DOUBLE_PRECISION, Family::real},
    {MPI_COMPLEX, Family::complex},
    {MPI_DOUBLE_COMPLEX, Family::complex},
    {MPI_2COMPLEX, Family::opaque},
    {MPI_2DOUBLE_COMPLEX, Family::opaque},
#ifdef MPI_LOGICAL1
    {MPI_LOGICAL1, Family::logical},
#endif
#ifdef MPI_LOGICAL2
    {MPI_LOGICAL2, Family::logical},
#endif
#ifdef MPI_LOGICAL4
    {MPI_LOGICAL4, Family::logical},
#endif
#ifdef MPI_LOGICAL8
    {MPI_LOGICAL8, Family::logical},
#endif
#ifdef MPI_INTEGER1
    {MPI_INTEGER1, Family::signed_integer},
#endif
#ifdef MPI_INTEGER2
    {MPI_INTEGER2, Family::signed_integer},
#endif
#ifdef MPI_INTEGER4
    {MPI_INTEGER4, Family::signed_integer},
#endif
#ifdef MPI_INTEGER8
    {MPI_INTEGER8, Family::signed_integer},
#endif
#ifdef MPI_INTEGER16
    {MPI_INTEGER16, Family::opaque},
#endif
#ifdef MPI_REAL2
    {MPI_REAL2, Family::opaque},
#endif
#ifdef MPI_REAL4
    {MPI_REAL4, Family::real},
#endif
#ifdef MPI_REAL8
    {MPI_REAL8, Family::real},
#endif
#ifdef MPI_REAL16
    {MPI_REAL16, Family::real},
#endif
#ifdef MPI_COMPLEX8
    {MPI_COMPLEX8, Family::complex},
#endif
#ifdef MPI_COMPLEX16
    {MPI_COMPLEX16, Family::complex},
#endif
#ifdef MPI_COMPLEX32
    {MPI_COMPLEX32, Family::complex},
#endif
};

ElementKind integer_kind(ElementKind of_one_byte, std::size_t bytes) noexcept {
  const auto power = static_cast<unsigned>(std::countr_zero(bytes));
  return std::has_single_bit(bytes) && bytes <= 8 ? detail::nth(of_one_byte, power)
                                                  : ElementKind::opaque;
}

/// Of the sizes 4, 8 and 16.
ElementKind kind_by_size(std::size_t bytes, ElementKind of_4, ElementKind of_8,
                         ElementKind of_16) noexcept {
  return bytes == 4 ? of_4 : bytes == 8 ? of_8 : bytes == 16 ? of_16 : ElementKind::opaque;
}

ElementKind kind_of(Family family, std::size_t bytes) noexcept {
  using enum ElementKind;
  switch (family) {
    case Family::signed_integer:
      return integer_kind(signed8, bytes);
    case Family::unsigned_integer:
    case Family::logical:
      return integer_kind(unsigned8, bytes);
    case Family::real:
      return kind_by_size(bytes, float32, float64, float128);
    case Family::long_double:
      return bytes == sizeof(long double) ? ElementKind::long_double : opaque;
    case Family::complex:
      return kind_by_size(bytes / 2, complex32x2, complex64x2, complex128x2);
    case Family::complex_long_double:
      return bytes == 2 * sizeof(long double) ? ElementKind::complex_long_double : opaque;
    case Family::opaque:
      break;
  }
  return opaque;
}

Operations operations_on(Family family, ElementKind kind) {
  Operations operations;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const auto code = static_cast<OpCode>(i);
    const bool is_wanted = family != Family::logical || code >= OpCode::land;
    operations[i] = is_wanted && has_meaning(kind, code);
  }
  return operations;
}

FlatType flatten_element(MPI_Datatype type, ElementType element, std::size_t bytes) {
  FlatType flat;
  flat.size = bytes;
  check(PMPI_Type_get_extent(type, &flat.lower_bound, &flat.extent), "MPI_Type_get_extent");
  if (bytes == 0) return flat;
  flat.data = {{0, bytes}};
  flat.true_upper = static_cast<MPI_Aint>(bytes);
  flat.element = element;
  flat.basic = type;
  flat.operations = operations_on(Family::opaque, element.kind);
  return flat;
}

FlatType flatten_member(MPI_Datatype type, Family family, std::size_t bytes) {
  const ElementKind kind = kind_of(family, bytes);
  FlatType flat = flatten_element(type, {kind, static_cast<std::uint32_t>(bytes)}, bytes);
  flat.operations = operations_on(family, kind);
  return flat;
}

/// A value and its index: the bytes between them and behind them are no data.
template <class V, class I>
FlatType flatten_pair(MPI_Datatype type) {
  using Pair = ValueIndex<V, I>;
  FlatType flat = flatten_element(type, element_type<Pair>(), sizeof(V) + sizeof(I));
  constexpr std::size_t kIndex = offsetof(Pair, index);
  flat.true_upper = kIndex + sizeof(I);
  if (kIndex != sizeof(V)) {
    flat.data = {{0, sizeof(V)}, {kIndex, sizeof(I)}};
  }
  if (flat.size != sizeof(Pair)) flat.padded = {{0, sizeof(Pair)}};
  return flat;
}

/// Found by the handle; written but once, before anybody looks.
class Table {
 public:
  void add(MPI_Datatype type, FlatType&& flat) {
    if (find(type) != nullptr || flat.size == 0) return;  // another name of the same; not there
    FlatType* const kept = &flats_[count_++];
    *kept = std::move(flat);
    kept->summarize();
    std::size_t at = home_of(type);
    while (slots_[at].flat != nullptr) at = after(at);
    slots_[at] = {type, kept};
  }
  [[nodiscard]] const FlatType* find(MPI_Datatype type) const noexcept {
    std::size_t at = home_of(type);
    while (slots_[at].type != type) {
      if (slots_[at].flat == nullptr) return nullptr;
      at = after(at);
    }
    return slots_[at].flat;
  }

 private:
  static constexpr std::size_t kSlots = 256;
  static constexpr std::size_t kMost = kSlots / 2;
  struct Slot {
    MPI_Datatype type = nullptr;
    const FlatType* flat = nullptr;
  };
  static std::size_t home_of(MPI_Datatype type) noexcept {
    return (std::bit_cast<std::uintptr_t>(type) * 0x9E3779B97F4A7C15U) >> 56U;
  }
  static std::size_t after(std::size_t slot) noexcept { return (slot + 1) % kSlots; }

  std::array<Slot, kSlots> slots_{};
  std::array<FlatType, kMost> flats_{};
  std::size_t count_ = 0;
};

Table table;

}  // namespace

const FlatType* find_predefined(MPI_Datatype type) noexcept {
  return table.find(type);
}

void prepare_predefined_types() {
  for (const auto& [type, family] : kMembers) {
    int bytes = 0;
    if (type == MPI_DATATYPE_NULL) continue;
    check(PMPI_Type_size(type, &bytes), "MPI_Type_size");
    if (bytes > 0) table.add(type, flatten_member(type, family, static_cast<std::size_t>(bytes)));
  }
  table.add(MPI_2INT, flatten_pair<int, int>(MPI_2INT));
  table.add(MPI_SHORT_INT, flatten_pair<short, int>(MPI_SHORT_INT));
  table.add(MPI_LONG_INT, flatten_pair<long, int>(MPI_LONG_INT));
  table.add(MPI_FLOAT_INT, flatten_pair<float, int>(MPI_FLOAT_INT));
  table.add(MPI_DOUBLE_INT, flatten_pair<double, int>(MPI_DOUBLE_INT));
  table.add(MPI_LONG_DOUBLE_INT, flatten_pair<long double, int>(MPI_LONG_DOUBLE_INT));
  table.add(MPI_2INTEGER, flatten_pair<int, int>(MPI_2INTEGER));
  table.add(MPI_2REAL, flatten_pair<float, float>(MPI_2REAL));
  table.add(MPI_2DOUBLE_PRECISION, flatten_pair<double, double>(MPI_2DOUBLE_PRECISION));
}

FlatType flatten_unknown(MPI_Datatype type, std::size_t bytes) {
  return flatten_element(type, {ElementKind::opaque, static_cast<std::uint32_t>(bytes)}, bytes);
}

FlatType flatten_f90(MPI_Datatype type, int combiner, std::span<const int> arguments,
                     std::size_t bytes) {
  // Of 16 bytes there are two formats; the one of fewer digits is preferred where it has enough.
  const bool is_long = bytes >= 16 && arguments[0] <= std::numeric_limits<long double>::digits10;
  switch (combiner) {
    case MPI_COMBINER_F90_REAL:
      return flatten_member(type, is_long ? Family::long_double : Family::real, bytes);
    case MPI_COMBINER_F90_COMPLEX:
      return flatten_member(
          type, is_long && bytes == 32 ? Family::complex_long_double : Family::complex, bytes);
    default:
      return flatten_member(type, Family::signed_integer, bytes);
  }
}

}  // namespace oriel::mpi
