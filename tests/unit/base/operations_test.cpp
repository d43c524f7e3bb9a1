// Which operations go with which types, when the program is compiled and when it runs.

#include <gmock/gmock.h>

#include <array>
#include <complex>

#include <oriel/error.hpp>
#include <oriel/operations.hpp>

#include "support/element_values.hpp"

namespace oriel {
namespace {

using testing::HasSubstr;

template <class T, class... Ops>
constexpr bool accepts = (Accumulable<T, Ops> && ...);
template <class T, class... Ops>
constexpr bool refuses = (!Accumulable<T, Ops> && ...);

static_assert(accepts<int, op::Sum, op::Prod, op::Min, op::Max, op::Band, op::Bor, op::Bxor,
                      op::Land, op::Lor, op::Lxor, op::Replace, op::NoOp>);
static_assert(refuses<int, op::Minloc, op::Maxloc>);
static_assert(accepts<char, op::Sum, op::Max> && accepts<long long, op::Sum, op::Band>);
static_assert(accepts<double, op::Sum, op::Prod, op::Min, op::Max, op::Replace, op::NoOp>);
static_assert(refuses<double, op::Band, op::Bor, op::Bxor, op::Land, op::Lor, op::Lxor, op::Minloc,
                      op::Maxloc>);
static_assert(accepts<std::complex<float>, op::Sum, op::Prod, op::Replace, op::NoOp>);
static_assert(refuses<std::complex<double>, op::Min, op::Max, op::Band, op::Land, op::Minloc>);
static_assert(accepts<bool, op::Land, op::Lor, op::Lxor, op::Replace, op::NoOp>);
static_assert(refuses<bool, op::Sum, op::Min, op::Band, op::Minloc>);
static_assert(accepts<std::byte, op::Band, op::Bor, op::Bxor, op::Replace, op::NoOp>);
static_assert(refuses<std::byte, op::Sum, op::Max, op::Land, op::Maxloc>);
static_assert(accepts<ValueIndex<double>, op::Minloc, op::Maxloc, op::Replace, op::NoOp>);
static_assert(refuses<ValueIndex<double>, op::Sum, op::Min, op::Band, op::Lor>);
static_assert(accepts<std::array<int, 3>, op::Replace, op::NoOp>);
static_assert(refuses<std::array<int, 3>, op::Sum, op::Min, op::Band, op::Land, op::Minloc>);
static_assert(refuses<const int, op::Sum, op::Replace>);
static_assert(accepts<long double, op::Sum, op::Prod, op::Min, op::Max, op::Replace, op::NoOp>);
static_assert(refuses<long double, op::Band, op::Land, op::Minloc>);
static_assert(accepts<std::complex<long double>, op::Sum, op::Prod, op::Replace, op::NoOp>);
static_assert(refuses<std::complex<long double>, op::Min, op::Max, op::Band, op::Minloc>);
static_assert(accepts<ValueIndex<long double>, op::Minloc, op::Maxloc, op::Replace, op::NoOp>);
static_assert(accepts<ValueIndex<double, double>, op::Minloc, op::Maxloc, op::Replace, op::NoOp>);
static_assert(refuses<ValueIndex<float, float>, op::Sum, op::Min, op::Band, op::Lor>);

static_assert(element_type<std::complex<float>>() == ElementType{ElementKind::complex32x2, 8});
static_assert(element_type<std::complex<double>>() == ElementType{ElementKind::complex64x2, 16});
static_assert(element_type<bool>() == ElementType{ElementKind::unsigned8, 1});
static_assert(element_type<std::byte>() == ElementType{ElementKind::unsigned8, 1});
static_assert(element_type<const long>() == ElementType{ElementKind::signed64, 8});
static_assert(element_type<ValueIndex<short>>() == ElementType{ElementKind::signed16_index32, 8});
static_assert(element_type<ValueIndex<double, long>>() ==
              ElementType{ElementKind::float64_index64, 16});
static_assert(element_type<long double>() == ElementType{ElementKind::long_double, 16});
static_assert(element_type<std::complex<long double>>() ==
              ElementType{ElementKind::complex_long_double, 32});
static_assert(element_type<ValueIndex<long double>>() ==
              ElementType{ElementKind::long_double_index32, 32});
static_assert(element_type<ValueIndex<float, float>>() ==
              ElementType{ElementKind::float32_float32, 8});
static_assert(element_type<ValueIndex<double, double>>() ==
              ElementType{ElementKind::float64_float64, 16});
static_assert(element_type<std::array<char, 5>>() == ElementType{ElementKind::opaque, 5});

TEST(Operations, EveryTypeAndOperationHasANameOfItsOwn) {
  std::vector<std::string_view> names;
  for (const OpCode code : test::all_op_codes()) names.push_back(to_string(code));
  for (int kind = 0; kind <= static_cast<int>(ElementKind::float64_float64); ++kind) {
    names.push_back(to_string(static_cast<ElementKind>(kind)));
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_EQ(std::ranges::count(names, "unknown"), 0);
  EXPECT_EQ(to_string(OpCode::band), "band");
  EXPECT_EQ(to_string(ElementKind::float32_index64), "float32_index64");
  EXPECT_EQ(to_string(static_cast<OpCode>(200)), "unknown");
}

TEST(Operations, ACallerOfUnknownTypesIsToldWhatDoesNotGoTogether) {
  test::for_each_type([]<class T>(std::type_identity<T>) {
    check_supported("accumulate", element_type<T>(), OpCode::replace);
  });
  check_supported("accumulate", {ElementKind::opaque, 12345}, OpCode::no_op);
  try {
    check_supported("get_accumulate", element_type<double>(), OpCode::bxor);
    ADD_FAILURE() << "was supported";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("get_accumulate"));
    EXPECT_THAT(error.what(), HasSubstr("bxor has no meaning for elements of kind float64"));
  }
}

TEST(Operations, TypesThatDoNotExistAreRefused) {
  for (const ElementType wrong :
       {ElementType{ElementKind::signed32, 8}, ElementType{ElementKind::opaque, 0},
        ElementType{ElementKind::float64_index32, 12},
        ElementType{static_cast<ElementKind>(99), 1}}) {
    try {
      check_supported("accumulate", wrong, OpCode::replace);
      ADD_FAILURE() << "was supported";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    }
  }
  EXPECT_THROW(check_supported("accumulate", element_type<int>(), static_cast<OpCode>(99)), Error);
}

}  // namespace
}  // namespace oriel
