#include "base/options.hpp"

#include <gmock/gmock.h>

#include <oriel/error.hpp>

namespace oriel::base {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& line) {
  try {
    [[maybe_unused]] const auto options = parse_options({line});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_option);
    return error.what();
  }
  ADD_FAILURE() << line << " was accepted";
  return {};
}

TEST(Options, AreDefaultsWithoutVariables) {
  const Options options = parse_options({"HOME=/root", "ORIELX=1", "PATH="});
  EXPECT_EQ(options.fabric, Fabric::automatic);
  EXPECT_EQ(options.fake_nodes, 1);
  EXPECT_EQ(options.visibility, Visibility::automatic);
  EXPECT_EQ(options.log, LogLevel::warning);
  EXPECT_FALSE(options.gid_index);
}

TEST(Options, ReadEveryVariable) {
  const Options options = parse_options(
      {"ORIEL_FABRIC=verbs", "ORIEL_DEVICE=mlx5_0:2", "ORIEL_GID_INDEX=3", "ORIEL_VISIBILITY=read",
       "ORIEL_PEER_TIMEOUT=9", "ORIEL_FAKE_NODES=4", "ORIEL_LOG=debug"});
  EXPECT_EQ(options.fabric, Fabric::verbs);
  EXPECT_EQ(options.device, "mlx5_0:2");
  EXPECT_EQ(options.gid_index, 3);
  EXPECT_EQ(options.visibility, Visibility::read);
  EXPECT_EQ(options.peer_timeout_seconds, 9);
  EXPECT_EQ(options.fake_nodes, 4);
  EXPECT_EQ(options.log, LogLevel::debug);
}

TEST(Options, NameVariableValueAndWhatIsAllowed) {
  const std::string text = refusal("ORIEL_FABRIC=infiniband");
  EXPECT_THAT(text, HasSubstr("ORIEL_FABRIC=\"infiniband\""));
  EXPECT_THAT(text, HasSubstr("auto|shm|verbs"));
}

TEST(Options, RefuseWhatIsNoNumberOrOutOfRange) {
  for (const char* line :
       {"ORIEL_FAKE_NODES=0", "ORIEL_FAKE_NODES=", "ORIEL_FAKE_NODES=2x", "ORIEL_FAKE_NODES=-1",
        "ORIEL_GID_INDEX=70000", "ORIEL_PEER_TIMEOUT=99999999999",
        "ORIEL_DEVICE=", "ORIEL_DEVICE=:1", "ORIEL_DEVICE=mlx5_0:x", "ORIEL_LOG=INFO"}) {
    refusal(line);
  }
}

TEST(Options, NameAnUnknownVariableAndTheKnownOnes) {
  const std::string text = refusal("ORIEL_FABRICS=shm");
  EXPECT_THAT(text, HasSubstr("no option is called ORIEL_FABRICS"));
  for (const OptionDescription& option : option_descriptions()) {
    EXPECT_THAT(text, HasSubstr(std::string(option.name)));
  }
}

TEST(Options, LeaveTheVariablesOfLabAndTestsAlone) {
  EXPECT_EQ(parse_options({"ORIEL_LAB_NODE=1", "ORIEL_TEST_FABRIC=nonsense"}).fabric,
            Fabric::automatic);
}

}  // namespace
}  // namespace oriel::base
