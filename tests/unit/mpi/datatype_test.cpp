// Derived datatypes, flattened, against what MPI itself packs of memory by them.

#include "mpi/datatype.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include "mpi/call.hpp"
#include "unit/mpi/random_types.hpp"

namespace oriel::mpi {
namespace {

using Bytes = std::vector<char>;
using Make = std::function<void(MPI_Datatype*)>;

MPI_Datatype made_by(const Make& make) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  make(&type);
  return type;
}

/// Random bytes for some instances of a type, with the address that goes with it.
class Memory {
 public:
  Memory(MPI_Datatype type, int count, std::mt19937_64& random) {
    int size = 0;
    MPI_Type_size(type, &size);
    if (size == 0) return;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Aint lowest = 0;
    MPI_Aint true_extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &lowest, &true_extent);
    const MPI_Aint last = extent * (count - 1);
    const MPI_Aint begin = std::min({MPI_Aint{0}, lowest, lowest + last});
    const MPI_Aint end = std::max({MPI_Aint{0}, lowest + true_extent, lowest + last + true_extent});
    bytes_.resize(static_cast<std::size_t>(end - begin) + 16);
    for (char& byte : bytes_) byte = static_cast<char>(random());
    address_ = bytes_.data() - begin;
  }
  [[nodiscard]] const char* address() const { return address_; }

 private:
  Bytes bytes_;
  char* address_ = nullptr;
};

Bytes packed(const char* address, int count, MPI_Datatype type) {
  int room = 0;
  MPI_Pack_size(count, type, MPI_COMM_SELF, &room);
  Bytes bytes(static_cast<std::size_t>(room) + 1);
  int position = 0;
  MPI_Pack(address, count, type, bytes.data(), room, &position, MPI_COMM_SELF);
  bytes.resize(static_cast<std::size_t>(position));
  return bytes;
}

/// By numbers, as the address may be none: MPI_BOTTOM.
Bytes gathered(const char* address, int count, const FlatType& flat) {
  Bytes bytes;
  auto base = std::bit_cast<MPI_Aint>(address);
  for (int i = 0; i < count; ++i, base += flat.extent) {
    for (const Run& run : flat.data) {
      const auto* const from = std::bit_cast<const char*>(base + run.offset);
      bytes.insert(bytes.end(), from, from + run.bytes);
    }
  }
  return bytes;
}

std::size_t bytes_of(const std::vector<Run>& runs) {
  return std::accumulate(runs.begin(), runs.end(), std::size_t{0},
                         [](std::size_t sum, const Run& run) { return sum + run.bytes; });
}

void expect_bounds(const FlatType& flat, MPI_Datatype type) {
  int size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_size(type, &size);
  EXPECT_EQ(flat.size, static_cast<std::size_t>(size));
  EXPECT_EQ(flat.size, bytes_of(flat.data));
  MPI_Type_get_extent(type, &lower, &extent);
  EXPECT_EQ(flat.lower_bound, lower);
  EXPECT_EQ(flat.extent, extent);
  if (size == 0) return;
  MPI_Type_get_true_extent(type, &lower, &extent);
  EXPECT_EQ(flat.true_lower, lower);
  EXPECT_EQ(flat.true_upper, lower + extent);
}

void expect_whole_elements(const FlatType& flat) {
  if (flat.size == 0 || !flat.is_uniform) return;
  const FlatType& basic = *find_predefined(flat.basic);
  EXPECT_EQ(bytes_of(flat.elements()) / flat.element.bytes, flat.size / basic.size);
  for (const Run& run : flat.elements()) EXPECT_EQ(run.bytes % flat.element.bytes, 0U);
}

void expect_as_packed(MPI_Datatype type) {
  const std::shared_ptr<const FlatType> flat = flatten(type);
  std::mt19937_64 random(1);
  expect_bounds(*flat, type);
  expect_whole_elements(*flat);
  for (const int count : {1, 3}) {
    const Memory memory(type, count, random);
    EXPECT_EQ(gathered(memory.address(), count, *flat), packed(memory.address(), count, type));
  }
  for (std::size_t i = 1; i < flat->data.size(); ++i) {  // adjacent ones are one
    const Run& before = flat->data[i - 1];
    EXPECT_NE(before.offset + static_cast<MPI_Aint>(before.bytes), flat->data[i].offset);
  }
}

void expect_runs(const Make& make, const std::vector<std::pair<MPI_Aint, std::size_t>>& wanted) {
  const TypeHandle type(made_by(make));
  const auto flat = flatten(type.get());
  std::vector<std::pair<MPI_Aint, std::size_t>> found;
  for (const Run& run : flat->data) found.emplace_back(run.offset, run.bytes);
  EXPECT_EQ(found, wanted);
  expect_as_packed(type.get());
}

int error_of(MPI_Datatype type) {
  try {
    (void)flatten(type);
    return MPI_SUCCESS;
  } catch (const Failure& failure) {
    return failure.error_class();
  }
}

TEST(Flatten, RunsAreInTheOrderOfTheTypeMapAndMergedWhereAdjacent) {
  using Type = MPI_Datatype*;
  expect_runs([](Type t) { MPI_Type_contiguous(1000000, MPI_INT, t); }, {{0, 4000000}});
  expect_runs([](Type t) { MPI_Type_vector(3, 2, 2, MPI_INT, t); }, {{0, 24}});
  expect_runs([](Type t) { MPI_Type_vector(3, 1, -2, MPI_INT, t); }, {{0, 4}, {-8, 4}, {-16, 4}});
  expect_runs([](Type t) { MPI_Type_vector(2, 1, 3, MPI_DOUBLE_INT, t); }, {{0, 12}, {48, 12}});
  expect_runs([](Type t) { MPI_Type_contiguous(2, MPI_SHORT_INT, t); },
              {{0, 2}, {4, 4 + 2}, {12, 4}});
  const int lengths[] = {1, 0, 2};
  const int places[] = {5, 9, 3};
  expect_runs([&](Type t) { MPI_Type_indexed(3, lengths, places, MPI_CHAR, t); }, {{5, 1}, {3, 2}});
  expect_runs([](Type t) { MPI_Type_contiguous(0, MPI_INT, t); }, {});
}

TEST(Flatten, AbsoluteAddressesAreOffsetsFromBottom) {
  std::array<int, 3> first = {1, 2, 3};
  double second = 4;
  MPI_Aint places[2];
  MPI_Get_address(first.data(), &places[0]);
  MPI_Get_address(&second, &places[1]);
  const int lengths[] = {3, 1};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  const TypeHandle type(
      made_by([&](MPI_Datatype* t) { MPI_Type_create_struct(2, lengths, places, types, t); }));
  const auto flat = flatten(type.get());
  ASSERT_EQ(flat->data.size(), 2U);
  EXPECT_EQ(flat->data[0].offset, places[0]);
  EXPECT_EQ(flat->data[1].offset, places[1]);
  EXPECT_FALSE(flat->is_uniform);
  EXPECT_EQ(gathered(static_cast<const char*>(MPI_BOTTOM), 1, *flat),
            packed(static_cast<const char*>(MPI_BOTTOM), 1, type.get()));
}

TEST(Flatten, TypesMadeAtRandomGatherWhatMpiPacks) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random(seed);
    const MPI_Datatype basic = seed % 3 == 0 ? MPI_SHORT_INT : MPI_DATATYPE_NULL;
    const RandomType made = make_random_type(random, 1 + static_cast<int>(seed % 4), basic);
    SCOPED_TRACE(made.text + " by seed " + std::to_string(seed));
    const TypeHandle type(made.type);
    expect_as_packed(type.get());
    EXPECT_TRUE(basic == MPI_DATATYPE_NULL || flatten(type.get())->is_uniform);
    if (HasFailure()) return;
  }
}

TEST(Flatten, ElementsOfPairsHaveTheirGaps) {
  const TypeHandle type(
      made_by([](MPI_Datatype* t) { MPI_Type_vector(2, 3, 4, MPI_SHORT_INT, t); }));
  const auto flat = flatten(type.get());
  ASSERT_EQ(flat->elements().size(), 2U);
  EXPECT_EQ(flat->elements()[0].bytes, 24U);
  EXPECT_EQ(flat->elements()[1].offset, 32);
  EXPECT_EQ(flat->basic, MPI_SHORT_INT);
  EXPECT_EQ(flat->element, element_type<ValueIndex<short>>());
}

TEST(Flatten, KindsThatDifferAreNotUniform) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 8};
  const auto is_uniform = [&](MPI_Datatype first, MPI_Datatype second) {
    const MPI_Datatype types[] = {first, second};
    const TypeHandle type(
        made_by([&](MPI_Datatype* t) { MPI_Type_create_struct(2, lengths, places, types, t); }));
    return flatten(type.get())->is_uniform;
  };
  EXPECT_TRUE(is_uniform(MPI_INT, MPI_INT));
  EXPECT_TRUE(is_uniform(MPI_INT, MPI_INT32_T));
  EXPECT_FALSE(is_uniform(MPI_INT, MPI_UNSIGNED));
  EXPECT_FALSE(is_uniform(MPI_INT, MPI_FLOAT));
}

TEST(Flatten, WhatIsNotCommittedOrNullIsRefused) {
  EXPECT_EQ(error_of(MPI_DATATYPE_NULL), MPI_ERR_TYPE);
  MPI_Datatype type = made_by([](MPI_Datatype* t) { MPI_Type_contiguous(2, MPI_INT, t); });
  EXPECT_EQ(error_of(type), MPI_ERR_TYPE);
  const TypeHandle around(made_by([&](MPI_Datatype* t) { MPI_Type_contiguous(2, type, t); }));
  EXPECT_EQ(error_of(around.get()), MPI_SUCCESS);  // its part need not be
  EXPECT_EQ(error_of(type), MPI_ERR_TYPE);
  MPI_Type_commit(&type);
  EXPECT_EQ(error_of(type), MPI_SUCCESS);
  MPI_Type_free(&type);
}

TEST(Flatten, IsDoneOnceAndForgottenWithTheType) {
  TypeHandle type(made_by([](MPI_Datatype* t) { MPI_Type_vector(3, 1, 2, MPI_INT, t); }));
  const std::weak_ptr<const FlatType> watched = flatten(type.get());
  EXPECT_EQ(flatten(type.get()), watched.lock());
  TypeHandle copy(made_by([&](MPI_Datatype* t) { MPI_Type_dup(type.get(), t); }));
  EXPECT_NE(flatten(copy.get()), watched.lock());
  copy.free();
  type.free();
  EXPECT_TRUE(watched.expired());
}

// A handle of a part that MPI gave us and we did not give back would keep the part.
TEST(Flatten, PartsAreGivenBack) {
  int deleted = 0;
  int keyval = MPI_KEYVAL_INVALID;
  const auto count = [](MPI_Datatype, int, void* value, void*) {
    ++*static_cast<int*>(value);
    return MPI_SUCCESS;
  };
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count, &keyval, nullptr);
  TypeHandle part(made_by([](MPI_Datatype* t) { MPI_Type_vector(3, 1, 2, MPI_INT, t); }));
  MPI_Type_set_attr(part.get(), keyval, &deleted);
  TypeHandle whole(made_by([&](MPI_Datatype* t) { MPI_Type_contiguous(3, part.get(), t); }));
  (void)flatten(whole.get());
  EXPECT_EQ(deleted, 0);
  part.free();
  whole.free();
  EXPECT_EQ(deleted, 1);
  MPI_Type_free_keyval(&keyval);
}

TEST(Flatten, ThreadsThatMeetGetTheSame) {
  for (int round = 0; round < 50; ++round) {
    const TypeHandle type(made_by([](MPI_Datatype* t) { MPI_Type_vector(100, 1, 2, MPI_INT, t); }));
    std::array<std::shared_ptr<const FlatType>, 4> found;
    std::vector<std::thread> threads;
    for (auto& one : found) threads.emplace_back([&] { one = flatten(type.get()); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& one : found) EXPECT_EQ(one, found[0]);
  }
}

}  // namespace
}  // namespace oriel::mpi
