#pragma once
/// What the predefined operations are to do, from the standard's tables [MPI-3.1, 5.9.2]: the
/// oracle of the accumulates.

#include <complex>
#include <type_traits>

#include "support.hpp"

enum class Kind { integer, floating, complex, logical, byte, character };

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

struct Operation {
  MPI_Op op;
  const char* name;
  bool integer, floating, complex, logical, byte;
};

inline const std::array<Operation, 12>& operations() {
  static const std::array<Operation, 12> all = {{
      {MPI_MAX, "MPI_MAX", true, true, false, false, false},
      {MPI_MIN, "MPI_MIN", true, true, false, false, false},
      {MPI_SUM, "MPI_SUM", true, true, true, false, false},
      {MPI_PROD, "MPI_PROD", true, true, true, false, false},
      {MPI_LAND, "MPI_LAND", true, false, false, true, false},
      {MPI_LOR, "MPI_LOR", true, false, false, true, false},
      {MPI_LXOR, "MPI_LXOR", true, false, false, true, false},
      {MPI_BAND, "MPI_BAND", true, false, false, false, true},
      {MPI_BOR, "MPI_BOR", true, false, false, false, true},
      {MPI_BXOR, "MPI_BXOR", true, false, false, false, true},
      {MPI_REPLACE, "MPI_REPLACE", true, true, true, true, true},
      {MPI_NO_OP, "MPI_NO_OP", true, true, true, true, true},
  }};
  return all;
}

inline bool has_meaning(const Operation& operation, Kind kind) {
  switch (kind) {
    case Kind::integer:
      return operation.integer;
    case Kind::floating:
      return operation.floating;
    case Kind::complex:
      return operation.complex;
    case Kind::logical:
      return operation.logical;
    case Kind::byte:
      return operation.byte;
    case Kind::character:
      return operation.op == MPI_REPLACE || operation.op == MPI_NO_OP;
  }
  return false;
}

template <class T>
T combined(MPI_Op op, T target, T origin) {
  if (op == MPI_REPLACE) return origin;
  if (op == MPI_NO_OP) return target;
  if constexpr (!std::is_same_v<T, bool>) {
    if (op == MPI_SUM) return static_cast<T>(target + origin);
    if (op == MPI_PROD) return static_cast<T>(target * origin);
  }
  if constexpr (!kIsComplex<T>) {
    if (op == MPI_MAX) return target < origin ? origin : target;
    if (op == MPI_MIN) return origin < target ? origin : target;
    const bool left = target != T{};
    const bool right = origin != T{};
    if (op == MPI_LAND) return static_cast<T>(left && right);
    if (op == MPI_LOR) return static_cast<T>(left || right);
    if (op == MPI_LXOR) return static_cast<T>(left != right);
    if constexpr (std::is_integral_v<T>) {
      if (op == MPI_BAND) return static_cast<T>(target & origin);
      if (op == MPI_BOR) return static_cast<T>(target | origin);
      if (op == MPI_BXOR) return static_cast<T>(target ^ origin);
    }
  }
  CHECK(!"an operation that the oracle does not know");
  return T{};
}

/// Some value, the same for the same `seed`; small, so that sums and products are exact.
template <class T>
T some_value(Kind kind, int seed) {
  if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(seed % 7 - 3), static_cast<Part>(seed % 5));
  } else {
    if (kind == Kind::logical) return static_cast<T>(seed % 3 == 0);
    if (kind == Kind::floating) return static_cast<T>(seed % 11 - 5) / static_cast<T>(4);
    return static_cast<T>(seed % 12 - (std::is_signed_v<T> ? 5 : 0));
  }
}

/// What a test does for each predefined type. `visit(MPI_Datatype, name, Kind, T of zero)`.
template <class Visit>
void for_each_type(Visit&& visit) {
#define ORIEL_VISIT(type, kind, c_type) visit(type, #type, Kind::kind, static_cast<c_type>(0))
  ORIEL_VISIT(MPI_SIGNED_CHAR, integer, signed char);
  ORIEL_VISIT(MPI_UNSIGNED_CHAR, integer, unsigned char);
  ORIEL_VISIT(MPI_SHORT, integer, short);
  ORIEL_VISIT(MPI_UNSIGNED_SHORT, integer, unsigned short);
  ORIEL_VISIT(MPI_INT, integer, int);
  ORIEL_VISIT(MPI_UNSIGNED, integer, unsigned);
  ORIEL_VISIT(MPI_LONG, integer, long);
  ORIEL_VISIT(MPI_UNSIGNED_LONG, integer, unsigned long);
  ORIEL_VISIT(MPI_LONG_LONG_INT, integer, long long);
  ORIEL_VISIT(MPI_LONG_LONG, integer, long long);
  ORIEL_VISIT(MPI_UNSIGNED_LONG_LONG, integer, unsigned long long);
  ORIEL_VISIT(MPI_INT8_T, integer, std::int8_t);
  ORIEL_VISIT(MPI_INT16_T, integer, std::int16_t);
  ORIEL_VISIT(MPI_INT32_T, integer, std::int32_t);
  ORIEL_VISIT(MPI_INT64_T, integer, std::int64_t);
  ORIEL_VISIT(MPI_UINT8_T, integer, std::uint8_t);
  ORIEL_VISIT(MPI_UINT16_T, integer, std::uint16_t);
  ORIEL_VISIT(MPI_UINT32_T, integer, std::uint32_t);
  ORIEL_VISIT(MPI_UINT64_T, integer, std::uint64_t);
  ORIEL_VISIT(MPI_FLOAT, floating, float);
  ORIEL_VISIT(MPI_DOUBLE, floating, double);
  ORIEL_VISIT(MPI_LONG_DOUBLE, floating, long double);
  ORIEL_VISIT(MPI_C_BOOL, logical, bool);
  ORIEL_VISIT(MPI_CXX_BOOL, logical, bool);
  ORIEL_VISIT(MPI_C_COMPLEX, complex, std::complex<float>);
  ORIEL_VISIT(MPI_C_FLOAT_COMPLEX, complex, std::complex<float>);
  ORIEL_VISIT(MPI_C_DOUBLE_COMPLEX, complex, std::complex<double>);
  ORIEL_VISIT(MPI_C_LONG_DOUBLE_COMPLEX, complex, std::complex<long double>);
  ORIEL_VISIT(MPI_CXX_FLOAT_COMPLEX, complex, std::complex<float>);
  ORIEL_VISIT(MPI_CXX_DOUBLE_COMPLEX, complex, std::complex<double>);
  ORIEL_VISIT(MPI_CXX_LONG_DOUBLE_COMPLEX, complex, std::complex<long double>);
  ORIEL_VISIT(MPI_BYTE, byte, unsigned char);
  ORIEL_VISIT(MPI_CHAR, character, char);
  ORIEL_VISIT(MPI_WCHAR, character, wchar_t);
  ORIEL_VISIT(MPI_AINT, integer, MPI_Aint);
  ORIEL_VISIT(MPI_OFFSET, integer, MPI_Offset);
  ORIEL_VISIT(MPI_COUNT, integer, MPI_Count);
  ORIEL_VISIT(MPI_INTEGER, integer, int);
  ORIEL_VISIT(MPI_REAL, floating, float);
  ORIEL_VISIT(MPI_DOUBLE_PRECISION, floating, double);
  ORIEL_VISIT(MPI_LOGICAL, logical, int);
  ORIEL_VISIT(MPI_COMPLEX, complex, std::complex<float>);
  ORIEL_VISIT(MPI_CHARACTER, character, char);
#undef ORIEL_VISIT
}
