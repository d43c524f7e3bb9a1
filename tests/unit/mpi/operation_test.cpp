// Operations: which go with which type, and that they do what MPI itself does.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/reduction.hpp"
#include "mpi/call.hpp"
#include "mpi/datatype.hpp"
#include "support/element_values.hpp"
#include "unit/mpi/predefined.hpp"
#include "unit/mpi/random_types.hpp"

namespace oriel::mpi {
namespace {

const std::pair<MPI_Op, OpCode> kOperations[] = {
    {MPI_MAX, OpCode::max},         {MPI_MIN, OpCode::min},       {MPI_SUM, OpCode::sum},
    {MPI_PROD, OpCode::prod},       {MPI_LAND, OpCode::land},     {MPI_BAND, OpCode::band},
    {MPI_LOR, OpCode::lor},         {MPI_BOR, OpCode::bor},       {MPI_LXOR, OpCode::lxor},
    {MPI_BXOR, OpCode::bxor},       {MPI_MINLOC, OpCode::minloc}, {MPI_MAXLOC, OpCode::maxloc},
    {MPI_REPLACE, OpCode::replace}, {MPI_NO_OP, OpCode::no_op}};

int error_of(MPI_Op op, const FlatType& type) {
  try {
    (void)operation_code(op, type);
    return MPI_SUCCESS;
  } catch (const Failure& failure) {
    return failure.error_class();
  }
}

bool is_logical(MPI_Datatype type) {
  const std::string name = name_of(type);
  return name.find("BOOL") != std::string::npos || name.find("LOGICAL") != std::string::npos;
}

/// What MPI makes of it; empty if it refuses.
std::vector<std::byte> reduced_by_mpi(MPI_Op op, MPI_Datatype type,
                                      const std::vector<std::byte>& operands,
                                      std::vector<std::byte> target, int count) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int status = MPI_Reduce_local(operands.data(), target.data(), count, type, op);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  if (status != MPI_SUCCESS) target.clear();
  return target;
}

/// Element by element: what lies between the members of an element does not count.
void expect_equal(ElementType type, const std::vector<std::byte>& a,
                  const std::vector<std::byte>& b) {
  bool is_known = false;
  test::for_each_type([&]<class T>(std::type_identity<T>) {
    if (element_type<T>() != type) return;
    is_known = true;
    for (std::size_t at = 0; at < a.size(); at += sizeof(T)) {
      T first;
      T second;
      std::memcpy(&first, &a[at], sizeof first);
      std::memcpy(&second, &b[at], sizeof second);
      ASSERT_EQ(first, second) << at / sizeof(T);
    }
  });
  EXPECT_TRUE(is_known || a == b);
}

/// Numbers that every way to combine them agrees on: this MPI's sums of short integers stop at the
/// largest one with some processors, and it takes some unsigned ones for signed.
void fill(MPI_Datatype mpi_type, ElementType type, std::vector<std::byte>& bytes,
          std::mt19937_64& random) {
  test::fill_elements(type, bytes, random);
  if (type.kind > ElementKind::unsigned64) return;
  std::ranges::fill(bytes, std::byte{0});
  for (std::size_t at = 0; at < bytes.size(); at += type.bytes) {
    bytes[at] = static_cast<std::byte>(random() % (is_logical(mpi_type) ? 2 : 10));
  }
}

/// Open MPI 4 takes numbers of 128 bits for long doubles, which have their size.
bool is_misunderstood(ElementType type) {
  return type.kind == ElementKind::float128 || type.kind == ElementKind::complex128x2;
}

TEST(Operation, GoesWithTheTypesThatMpiTakesItForAndDoesTheSame) {
  constexpr int kCount = 50;
  std::mt19937_64 random(5);
  int compared = 0;
  for (const MPI_Datatype type : predefined_types()) {
    const FlatType& flat = *find_predefined(type);
    for (const auto& [op, code] : kOperations) {
      SCOPED_TRACE(name_of(type) + " " + std::string(to_string(code)));
      std::vector<std::byte> target(kCount * flat.element.bytes);
      std::vector<std::byte> operands(target.size());
      fill(type, flat.element, target, random);
      fill(type, flat.element, operands, random);
      const auto wanted = reduced_by_mpi(op, type, operands, target, kCount);
      if (wanted.empty()) continue;
      if (is_logical(type) && code < OpCode::land) {  // some are integers to it, none to MPI
        EXPECT_EQ(error_of(op, flat), MPI_ERR_OP);
        continue;
      }
      ASSERT_EQ(operation_code(op, flat), code);
      if (is_misunderstood(flat.element)) continue;
      base::reduce(flat.element, code, target.data(), operands.data(), kCount);
      expect_equal(flat.element, target, wanted);
      ++compared;
    }
  }
  EXPECT_GE(compared, 350);
}

TEST(Operation, WithoutAMeaningIsRefused) {
  const auto error = [](MPI_Op op, MPI_Datatype type) {
    return error_of(op, *find_predefined(type));
  };
  EXPECT_EQ(error(MPI_BAND, MPI_DOUBLE), MPI_ERR_OP);
  EXPECT_EQ(error(MPI_MAX, MPI_DOUBLE_COMPLEX), MPI_ERR_OP);
  EXPECT_EQ(error(MPI_MINLOC, MPI_INT), MPI_ERR_OP);
  EXPECT_EQ(error(MPI_SUM, MPI_2INT), MPI_ERR_OP);
  EXPECT_EQ(error(MPI_SUM, MPI_C_BOOL), MPI_ERR_OP);
  EXPECT_EQ(error(MPI_SUM, MPI_PACKED), MPI_ERR_OP);
  EXPECT_EQ(error(MPI_OP_NULL, MPI_INT), MPI_ERR_OP);
  EXPECT_EQ(error(MPI_LAND, MPI_LOGICAL), MPI_SUCCESS);
  EXPECT_EQ(error(MPI_BXOR, MPI_BYTE), MPI_SUCCESS);
  MPI_Op own = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &own);
  EXPECT_EQ(error(own, MPI_INT), MPI_ERR_OP);
  MPI_Op_free(&own);
}

TEST(Operation, ReplacesAndReadsElementsOfEveryType) {
  for (const MPI_Datatype type : predefined_types()) {
    EXPECT_EQ(operation_code(MPI_REPLACE, *find_predefined(type)), OpCode::replace);
    EXPECT_EQ(operation_code(MPI_NO_OP, *find_predefined(type)), OpCode::no_op);
  }
}

TEST(Operation, OfDerivedTypesIsThatOfTheirElements) {
  const auto derived = [](MPI_Datatype first, MPI_Datatype second, int length) {
    const int lengths[] = {length, length};
    const MPI_Aint places[] = {0, 64};
    const MPI_Datatype types[] = {first, second};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    return flatten(TypeHandle(type).get());
  };
  EXPECT_EQ(error_of(MPI_BOR, *derived(MPI_INT, MPI_INT, 1)), MPI_SUCCESS);
  EXPECT_EQ(error_of(MPI_BOR, *derived(MPI_FLOAT, MPI_FLOAT, 1)), MPI_ERR_OP);
  EXPECT_EQ(error_of(MPI_SUM, *derived(MPI_UINT8_T, MPI_C_BOOL, 1)), MPI_ERR_OP);
  EXPECT_EQ(error_of(MPI_SUM, *derived(MPI_FLOAT, MPI_INT, 1)), MPI_ERR_TYPE);
  EXPECT_EQ(operation_code(MPI_SUM, *derived(MPI_FLOAT, MPI_INT, 0)), OpCode::no_op);
}

}  // namespace
}  // namespace oriel::mpi
