// Elements and operations as MPI knows them.

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "conformance/mpi_datatypes.hpp"

namespace oriel::conformance::mpi {
namespace {

struct Name {
  std::string_view element;
  MPI_Datatype type;
  const char* text;
};

/// Elements that have predefined types; several for some.
std::span<const Name> names() {
  static const std::array kNames = {
      Name{"int8", MPI_INT8_T, "INT8_T"},
      Name{"int8", MPI_SIGNED_CHAR, "SIGNED_CHAR"},
      Name{"int16", MPI_INT16_T, "INT16_T"},
      Name{"int16", MPI_SHORT, "SHORT"},
      Name{"int32", MPI_INT32_T, "INT32_T"},
      Name{"int32", MPI_INT, "INT"},
      Name{"int64", MPI_INT64_T, "INT64_T"},
      Name{"int64", MPI_LONG, "LONG"},
      Name{"int64", MPI_LONG_LONG, "LONG_LONG"},
      Name{"uint8", MPI_UINT8_T, "UINT8_T"},
      Name{"uint8", MPI_UNSIGNED_CHAR, "UNSIGNED_CHAR"},
      Name{"uint16", MPI_UINT16_T, "UINT16_T"},
      Name{"uint16", MPI_UNSIGNED_SHORT, "UNSIGNED_SHORT"},
      Name{"uint32", MPI_UINT32_T, "UINT32_T"},
      Name{"uint32", MPI_UNSIGNED, "UNSIGNED"},
      Name{"uint64", MPI_UINT64_T, "UINT64_T"},
      Name{"uint64", MPI_UNSIGNED_LONG, "UNSIGNED_LONG"},
      Name{"uint64", MPI_UNSIGNED_LONG_LONG, "UNSIGNED_LONG_LONG"},
      Name{"float", MPI_FLOAT, "FLOAT"},
      Name{"double", MPI_DOUBLE, "DOUBLE"},
      Name{"complex_float", MPI_C_FLOAT_COMPLEX, "C_FLOAT_COMPLEX"},
      Name{"complex_double", MPI_C_DOUBLE_COMPLEX, "C_DOUBLE_COMPLEX"},
      Name{"int16_int32", MPI_SHORT_INT, "SHORT_INT"},
      Name{"int32_int32", MPI_2INT, "2INT"},
      Name{"int64_int32", MPI_LONG_INT, "LONG_INT"},
      Name{"float_int32", MPI_FLOAT_INT, "FLOAT_INT"},
      Name{"double_int32", MPI_DOUBLE_INT, "DOUBLE_INT"},
  };
  return kNames;
}

Datatype bytes_type(std::size_t bytes) {
  const int count = static_cast<int>(bytes);
  return Datatype::made(fmt::format("contiguous({}, BYTE)", count), [&](MPI_Datatype* type) {
    check(MPI_Type_contiguous(count, MPI_BYTE, type), "MPI_Type_contiguous");
  });
}

MPI_Datatype scalar_type(Scalar scalar) {
  static const std::array<MPI_Datatype, 10> kTypes = {
      MPI_INT8_T,   MPI_INT16_T,  MPI_INT32_T,  MPI_INT64_T, MPI_UINT8_T,
      MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_FLOAT,   MPI_DOUBLE};
  return kTypes[static_cast<std::size_t>(scalar)];
}

/// Both parts of a complex number or a pair, without what lies between them.
Datatype parts_type(const Element& element) {
  return Datatype::made("resized(struct(its parts))", [&](MPI_Datatype* type) {
    const std::array<int, 2> lengths = {1, 1};
    const std::array<MPI_Aint, 2> places = {static_cast<MPI_Aint>(element.first.offset),
                                            static_cast<MPI_Aint>(element.second.offset)};
    const std::array<MPI_Datatype, 2> types = {scalar_type(element.first.scalar),
                                               scalar_type(element.second.scalar)};
    MPI_Datatype parts = MPI_DATATYPE_NULL;
    check(MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &parts),
          "MPI_Type_create_struct");
    check(MPI_Type_create_resized(parts, 0, static_cast<MPI_Aint>(element.bytes()), type),
          "MPI_Type_create_resized");
    MPI_Type_free(&parts);
  });
}

}  // namespace

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  throw std::runtime_error(fmt::format("{}: {}", call, text.data()));
}

Datatype basic_type(const Element& element, std::uint64_t choice) {
  std::vector<Name> found;
  for (const Name& name : names()) {
    if (name.element == element.name) found.push_back(name);
  }
  if (found.empty()) return bytes_type(element.bytes());
  const Name& name = found[choice % found.size()];
  return {name.type, name.text};
}

Datatype moved_type(const Element& element, std::uint64_t choice) {
  const bool has_parts = element.family == Family::complex || element.family == Family::pair;
  if (choice % 4 == 0) return bytes_type(element.bytes());
  if (choice % 4 == 1 && has_parts) return parts_type(element);
  return basic_type(element, choice / 4);
}

MPI_Op operation(OpCode code) noexcept {
  static const std::array<MPI_Op, 14> kOperations = {
      MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX,     MPI_BAND,  MPI_BOR,    MPI_BXOR,
      MPI_LAND, MPI_LOR,  MPI_LXOR, MPI_REPLACE, MPI_NO_OP, MPI_MINLOC, MPI_MAXLOC};
  return kOperations[static_cast<std::size_t>(code)];
}

}  // namespace oriel::conformance::mpi
