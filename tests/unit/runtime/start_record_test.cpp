#include "runtime/start_record.hpp"

#include <gmock/gmock.h>

#include <oriel/error.hpp>

namespace oriel::runtime {
namespace {

using testing::HasSubstr;

std::vector<StartRecord> three() {
  std::vector<StartRecord> records(3);
  for (StartRecord& record : records) {
    set_text(record.version, "0.1.0");
    set_text(record.host, "node1");
    set_text(record.fabric, "auto");
    set_text(record.visibility, "auto");
  }
  set_text(records[2].host, "node2");
  return records;
}

std::string refusal(const std::vector<StartRecord>& records, ErrorCode code) {
  try {
    check_start(records);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "was accepted";
  return {};
}

TEST(StartRecord, EqualRanksFitTogether) {
  EXPECT_NO_THROW(check_start(three()));
}

TEST(StartRecord, AnotherVersionIsNamedWithRankAndHost) {
  auto records = three();
  set_text(records[2].version, "0.2.0");
  const std::string text = refusal(records, ErrorCode::version_mismatch);
  EXPECT_THAT(text, HasSubstr("rank 0 (node1) runs Oriel 0.1.0"));
  EXPECT_THAT(text, HasSubstr("rank 2 (node2) runs 0.2.0"));
}

TEST(StartRecord, AnotherProtocolOrARecordOfSomethingElseIsAVersionMismatch) {
  auto records = three();
  records[1].protocol += 1;
  refusal(records, ErrorCode::version_mismatch);
  records = three();
  records[0].magic = 1;
  refusal(records, ErrorCode::version_mismatch);
}

TEST(StartRecord, DifferentOptionsAreNamedWithBothValues) {
  auto records = three();
  set_text(records[1].fabric, "verbs");
  const std::string text = refusal(records, ErrorCode::option_mismatch);
  EXPECT_THAT(text,
              HasSubstr("ORIEL_FABRIC is auto on rank 0 (node1) and verbs on rank 1 (node1)"));
  records = three();
  records[2].fake_nodes = 2;
  EXPECT_THAT(refusal(records, ErrorCode::option_mismatch), HasSubstr("ORIEL_FAKE_NODES"));
}

TEST(StartRecord, ARankThatCannotStartSaysWhyToAll) {
  auto records = three();
  set_text(records[1].failure, "environment: invalid option: ORIEL_LOG=\"loud\"");
  EXPECT_THAT(refusal(records, ErrorCode::peer_failed),
              HasSubstr("rank 1 says: environment: invalid option"));
}

TEST(StartRecord, TextIsCutToWhatFits) {
  std::array<char, 8> field{};
  set_text(field, "0123456789");
  EXPECT_EQ(text_of(field), "0123456");
}

}  // namespace
}  // namespace oriel::runtime
