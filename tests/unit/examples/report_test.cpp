#include "stencil/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

namespace stencil {
namespace {

using testing::HasSubstr;

TEST(Report, NumbersGetAFittingUnit) {
  EXPECT_EQ(format_seconds(0), "0.00 ns");
  EXPECT_EQ(format_seconds(12.34e-6), "12.3 us");
  EXPECT_EQ(format_seconds(0.250), "250 ms");
  EXPECT_EQ(format_seconds(7200), "7200 s");
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(6144), "6.00 KiB");
  EXPECT_EQ(format_count(1.25e9), "1.25 G");
}

TEST(Report, FabricsAreCounted) {
  EXPECT_EQ(summarise_fabrics({"shm", "verbs", "shm", "shm", "verbs"}),
            "shm: 3 peers, verbs: 2 peers");
  EXPECT_EQ(summarise_fabrics({"verbs"}), "verbs: 1 peer");
  EXPECT_EQ(summarise_fabrics({}), "none needed (one rank)");
}

TEST(Report, BarFillsUp) {
  EXPECT_EQ(bar_line(0), "[" + std::string(40, '.') + "]   0 %");
  EXPECT_EQ(bar_line(50), "[" + std::string(20, '#') + std::string(20, '.') + "]  50 %");
  EXPECT_EQ(bar_line(100), "[" + std::string(40, '#') + "] 100 %");
}

TEST(Report, MedianIgnoresASlowStep) {
  using std::chrono::milliseconds;
  StepTimes times(3);
  times.add(milliseconds(1), milliseconds(2));
  times.add(milliseconds(1), milliseconds(1000));
  times.add(milliseconds(1), milliseconds(3));
  EXPECT_FLOAT_EQ(static_cast<float>(times.median()), 0.003F);
  EXPECT_NEAR(times.total(), 1.005, 1e-12);
  EXPECT_NEAR(times.exchange_total(), 0.003, 1e-12);
}

TEST(Report, TableIsAlignedAndComplete) {
  using std::chrono::milliseconds;
  StepTimes times(2);
  times.add(milliseconds(1), milliseconds(4));
  times.add(milliseconds(1), milliseconds(4));
  const std::string table =
      format_summary({{100, 50}, {2, 2}, Sync::notify, {"shm", "shm", "verbs"}, times});
  EXPECT_THAT(table, HasSubstr("100 x 50 cells, 2 steps\n"));
  EXPECT_THAT(table, HasSubstr("4 (2 x 2)\n"));
  EXPECT_THAT(table, HasSubstr("shm: 2 peers, verbs: 1 peer\n"));
  EXPECT_THAT(table, HasSubstr("notify\n"));
  EXPECT_THAT(table, HasSubstr("4.00 ms median; mean: exchange 1.00 ms, compute 3.00 ms\n"));
  EXPECT_THAT(table, HasSubstr("2.34 KiB per step"));  // 8 * 2 * (50 + 100) bytes
  EXPECT_THAT(table, HasSubstr("1.25 M cells/s\n"));   // 5000 cells in 4 ms
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line[13], ' ') << line;
    EXPECT_NE(line[14], ' ') << line;
  }
}

TEST(Report, NoStepsDivideByNothing) {
  const std::string table = format_summary({{4, 4}, {1, 1}, Sync::fence, {}, StepTimes(0)});
  EXPECT_THAT(table, HasSubstr("0.00 cells/s"));
  EXPECT_THAT(table, testing::Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace stencil
