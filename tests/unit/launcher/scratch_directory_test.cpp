#include "launcher/scratch_directory.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace oriel::launcher {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::StartsWith;

fs::path path_of(const ScratchDirectory& scratch) {
  const std::string line = scratch.variables({}).front();
  return line.substr(line.find('=') + 1);
}

TEST(ScratchDirectory, NamesItselfToOpenMpi) {
  const ScratchDirectory scratch;
  EXPECT_THAT(scratch.variables({}),
              ElementsAre(StartsWith("OMPI_MCA_orte_tmpdir_base=/"),
                          StartsWith("OMPI_MCA_btl_vader_backing_directory=/")));
  EXPECT_TRUE(fs::is_directory(path_of(scratch)));
  EXPECT_EQ(fs::status(path_of(scratch)).permissions(), fs::perms::owner_all);
}

TEST(ScratchDirectory, LeavesTheUsersOwnChoiceAlone) {
  const ScratchDirectory scratch;
  EXPECT_THAT(scratch.variables({"OMPI_MCA_orte_tmpdir_base=/elsewhere"}),
              ElementsAre(StartsWith("OMPI_MCA_btl_vader_backing_directory=")));
}

TEST(ScratchDirectory, GoesWithAllThatIsInIt) {
  std::optional<ScratchDirectory> scratch(std::in_place);
  const fs::path path = path_of(*scratch);
  fs::create_directories(path / "a/b");
  std::ofstream(path / "a/file") << "x";
  scratch.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchDirectory, SweepsWhatIsDeadAndSparesWhatIsInUse) {
  const ScratchDirectory used;
  const fs::path dead = path_of(used).parent_path() / "oriel-run.aDeadJob";
  fs::create_directory(dead);
  const ScratchDirectory next;
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(path_of(used)));
}

}  // namespace
}  // namespace oriel::launcher
