// The predefined datatypes: all of them, and what they are.

#include <gtest/gtest.h>

#include <complex>

#include "mpi/datatype.hpp"
#include "unit/mpi/predefined.hpp"
#include "unit/mpi/random_types.hpp"

namespace oriel::mpi {
namespace {

TEST(PredefinedTypes, AreAllInTheTable) {
  const std::vector<MPI_Datatype> all = predefined_types();
  EXPECT_GE(all.size(), 50U);
  for (const MPI_Datatype type : all) {
    SCOPED_TRACE(name_of(type));
    const FlatType* const flat = find_predefined(type);
    ASSERT_NE(flat, nullptr);
    EXPECT_EQ(flat->basic, type);
    EXPECT_TRUE(flat->is_uniform);
    EXPECT_EQ(flatten(type).get(), flat);
    int size = 0;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_size(type, &size);
    EXPECT_EQ(flat->size, static_cast<std::size_t>(size));
    MPI_Type_get_extent(type, &lower, &extent);
    EXPECT_EQ(flat->extent, extent);
    EXPECT_EQ(flat->element.bytes, static_cast<std::size_t>(extent));
  }
}

TEST(PredefinedTypes, OthersAreNot) {
  EXPECT_EQ(find_predefined(MPI_DATATYPE_NULL), nullptr);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, MPI_INT, &type);
  const TypeHandle derived(type);
  EXPECT_EQ(find_predefined(derived.get()), nullptr);
}

TEST(PredefinedTypes, AreTheElementsOfTheLanguage) {
  const auto element = [](MPI_Datatype type) { return find_predefined(type)->element; };
  EXPECT_EQ(element(MPI_CHAR), element_type<char>());
  EXPECT_EQ(element(MPI_BYTE), element_type<std::byte>());
  EXPECT_EQ(element(MPI_UNSIGNED_SHORT), element_type<unsigned short>());
  EXPECT_EQ(element(MPI_LONG), element_type<long>());
  EXPECT_EQ(element(MPI_UINT64_T), element_type<std::uint64_t>());
  EXPECT_EQ(element(MPI_AINT), element_type<MPI_Aint>());
  EXPECT_EQ(element(MPI_CXX_BOOL), element_type<bool>());
  EXPECT_EQ(element(MPI_LONG_DOUBLE), element_type<long double>());
  EXPECT_EQ(element(MPI_C_LONG_DOUBLE_COMPLEX), element_type<std::complex<long double>>());
  EXPECT_EQ(element(MPI_DOUBLE_COMPLEX), element_type<std::complex<double>>());
  EXPECT_EQ(element(MPI_INTEGER), element_type<int>());
  EXPECT_EQ(element(MPI_REAL8), element_type<double>());
  EXPECT_EQ(element(MPI_LONG_INT), (element_type<ValueIndex<long, int>>()));
  EXPECT_EQ(element(MPI_LONG_DOUBLE_INT), (element_type<ValueIndex<long double, int>>()));
  EXPECT_EQ(element(MPI_2REAL), (element_type<ValueIndex<float, float>>()));
  EXPECT_EQ(element(MPI_2DOUBLE_PRECISION), (element_type<ValueIndex<double, double>>()));
  EXPECT_EQ(element(MPI_PACKED), (ElementType{ElementKind::opaque, 1}));
#ifdef MPI_REAL16
  EXPECT_EQ(element(MPI_REAL16), (ElementType{ElementKind::float128, 16}));
#endif
}

TEST(PredefinedTypes, ByPrecisionAreThoseOfTheSameBytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const auto element = [&] { return flatten(type)->element; };
  MPI_Type_create_f90_real(6, 30, &type);
  EXPECT_EQ(element(), element_type<float>());
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &type);
  EXPECT_EQ(element(), element_type<double>());
  EXPECT_EQ(flatten(type), flatten(type));
  MPI_Type_create_f90_real(18, MPI_UNDEFINED, &type);
  EXPECT_EQ(element(), element_type<long double>());
  MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &type);
  EXPECT_EQ(element(), element_type<std::complex<double>>());
  MPI_Type_create_f90_complex(18, MPI_UNDEFINED, &type);
  EXPECT_EQ(element(), element_type<std::complex<long double>>());
  MPI_Type_create_f90_integer(9, &type);
  EXPECT_EQ(element(), element_type<int>());
  MPI_Type_create_f90_integer(18, &type);
  EXPECT_EQ(element(), element_type<long>());

  MPI_Datatype around = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, type, &around);
  const TypeHandle derived(around);
  EXPECT_EQ(flatten(derived.get())->element, element_type<long>());
  EXPECT_EQ(flatten(derived.get())->data.size(), 2U);
}

}  // namespace
}  // namespace oriel::mpi
