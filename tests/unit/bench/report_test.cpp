#include "launcher/bench/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace oriel::bench {
namespace {

using ::testing::HasSubstr;

Row put_row() {
  return {.task = {Operation::put, 65536, WindowKind::allocated},
          .samples = 50,
          .times = 10,
          .oriel = {12.5, 20},
          .floor = Compared{{12.0, 18}, {1.04, 1.01, 1.08}},
          .mpi = {}};
}

TEST(BenchReport, TheTableSaysWhatIsMissing) {
  const std::string line = table_line(put_row());
  EXPECT_THAT(line, HasSubstr("put"));
  EXPECT_THAT(line, HasSubstr("64 Ki"));
  EXPECT_THAT(line, HasSubstr("12.5"));
  EXPECT_THAT(line, HasSubstr("1.040 (1.010-1.080)"));
  EXPECT_THAT(line, HasSubstr(" -\n"));
}

TEST(BenchReport, JsonHasAllFieldsInAnyCase) {
  const Setting setting{4, "verbs", "created"};
  const auto json = nlohmann::json::parse(json_line(put_row(), setting));
  EXPECT_EQ(json["op"], "put");
  EXPECT_EQ(json["size"], 65536);
  EXPECT_EQ(json["ranks"], 4);
  EXPECT_EQ(json["fabric"], "verbs");
  EXPECT_EQ(json["window"], "created");
  EXPECT_EQ(json["oriel"]["median"], 12.5);
  EXPECT_EQ(json["oriel"]["p99"], 20);
  EXPECT_EQ(json["floor"]["unit"], "us");
  EXPECT_TRUE(json["mpi"].is_null());
  EXPECT_EQ(json["ratio_floor"]["median"], 1.04);
  EXPECT_TRUE(json["ratio_mpi"].is_null());
  EXPECT_EQ(json["samples"], 50);
}

TEST(BenchReport, SizesAreShort) {
  EXPECT_EQ(size_text(8), "8");
  EXPECT_EQ(size_text(4096), "4 Ki");
  EXPECT_EQ(size_text(5000), "5000");
  EXPECT_EQ(size_text(1U << 20U), "1 Mi");
}

TEST(BenchReport, NothingToDrawIsSaid) {
  Row fence = put_row();
  fence.task.operation = Operation::fence;
  const std::vector<Row> rows = {fence};
  EXPECT_THROW(plot(rows, {}, "/nonexistent/x.svg"), std::runtime_error);
}

}  // namespace
}  // namespace oriel::bench
