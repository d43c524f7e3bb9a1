#include "topology/cpu_set.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace oriel::topology {
namespace {

TEST(CpuSet, IsEmptyByDefault) {
  const CpuSet none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.to_string(), "");
  EXPECT_EQ(none, CpuSet::parse(""));
}

TEST(CpuSet, ReadsAndWritesListsInTheShortestForm) {
  const CpuSet cpus = CpuSet::parse("8,0-2,3,130");
  EXPECT_EQ(cpus.to_string(), "0-3,8,130");
  EXPECT_EQ(cpus.count(), 6U);
  EXPECT_TRUE(cpus.contains(130));
  EXPECT_FALSE(cpus.contains(4));
}

TEST(CpuSet, CombinesWithoutChangingItsOperands) {
  const CpuSet low = CpuSet::parse("0-5");
  const CpuSet high = CpuSet::parse("4-7");
  EXPECT_EQ((low & high).to_string(), "4-5");
  EXPECT_EQ((low | high).to_string(), "0-7");
  EXPECT_EQ(low.to_string(), "0-5");
  EXPECT_EQ(high.to_string(), "4-7");
}

TEST(CpuSet, Compares) {
  const CpuSet all = CpuSet::parse("0-3");
  const CpuSet some = CpuSet::parse("1,2");
  EXPECT_TRUE(all.includes(some));
  EXPECT_FALSE(some.includes(all));
  EXPECT_TRUE(some.intersects(all));
  EXPECT_FALSE(some.intersects(CpuSet::parse("0,3")));
  EXPECT_NE(all, some);
}

class MalformedCpuList : public testing::TestWithParam<const char*> {};

TEST_P(MalformedCpuList, IsNamedInTheError) {
  try {
    CpuSet::parse(GetParam());
    FAIL() << "accepted " << GetParam();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam()), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, MalformedCpuList, testing::Values("all", "0x3", "2-", "1;2", " 1"));

}  // namespace
}  // namespace oriel::topology
