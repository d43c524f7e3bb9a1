#include "launcher/machine_facts.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "launcher/cross_memory_probe.hpp"
#include "launcher/process_limits.hpp"

namespace oriel::launcher {
namespace {

namespace fs = std::filesystem;

class ProgramStateTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "launcher-test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ / "plain") << "text";
    std::ofstream(folder_ / "tool") << "#!/bin/sh\n";
    fs::permissions(folder_ / "tool", fs::perms::owner_all);
    fs::create_directory(folder_ / "folder");
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(ProgramStateTest, ByPath) {
  EXPECT_EQ(program_state(folder_ / "tool", ""), ProgramState::ready);
  EXPECT_EQ(program_state(folder_ / "plain", ""), ProgramState::not_executable);
  EXPECT_EQ(program_state(folder_ / "folder", ""), ProgramState::directory);
  EXPECT_EQ(program_state(folder_ / "none", ""), ProgramState::missing);
}

TEST_F(ProgramStateTest, BySearchOnlyExecutablesCount) {
  const std::string path = "/nowhere:" + folder_.string();
  EXPECT_EQ(program_state("tool", path), ProgramState::ready);
  EXPECT_EQ(program_state("plain", path), ProgramState::missing);
  EXPECT_EQ(program_state("folder", path), ProgramState::missing);
  EXPECT_EQ(program_state("tool", "/nowhere"), ProgramState::missing);
}

TEST(BytesText, TakesTheLargestExactUnit) {
  EXPECT_EQ(bytes_text(std::nullopt), "no limit");
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(1000), "1000 bytes");
  EXPECT_EQ(bytes_text(65536), "64 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{1} << 40), "1024 GiB");
}

TEST(CrossMemoryProbe, TellsWhatItTried) {
  EXPECT_THAT(probe_cross_memory().reason, testing::HasSubstr("process_vm_readv"));
}

}  // namespace
}  // namespace oriel::launcher
