#include "launcher/mpi_program.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "launcher/mpi_report.hpp"

namespace oriel::launcher {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

fs::path built(const char* name) {
  return fs::path(ORIEL_TEST_PROGRAMS) / name;
}

DropIn drop_in() {
  return find_drop_in({built("liboriel_mpi.so")}).value();
}

MpiProgram look_at(const fs::path& path) {
  return look_at_program(path, drop_in(), library_folders());
}

TEST(DropInLibrary, IsLookedForFromTheLaunchersOwnPlace) {
  EXPECT_THAT(drop_in_places("/opt/oriel/bin"), Contains("/opt/oriel/lib/liboriel_mpi.so"));
  EXPECT_FALSE(find_drop_in({}));
  EXPECT_FALSE(find_drop_in({built("missing.so")}));
  EXPECT_EQ(find_drop_in({built("missing.so"), built("liboriel_mpi.so")})->path,
            built("liboriel_mpi.so"));
  EXPECT_THAT(no_drop_in_text({"/a/b.so", "/c/d.so"}),
              AllOf(HasSubstr("looked for /a/b.so, /c/d.so"), HasSubstr("hint: ")));
  EXPECT_TRUE(fs::is_directory(own_folder()));
}

TEST(DropInLibrary, KnowsItsMpi) {
  EXPECT_EQ(drop_in().mpi(), "libmpi.so.40");
}

TEST(MpiProgram, CallsAreSortedByWhatTheDropInOffers) {
  const MpiProgram program = look_at(built("open_mpi_user"));
  EXPECT_EQ(program.link, MpiLink::same);
  EXPECT_EQ(program.mpi, "libmpi.so.40");
  // MPI_Get is called by the library of the program alone.
  EXPECT_THAT(program.taken, ElementsAre("MPI_Get", "MPI_Put", "mpi_put_", "mpi_win_fence_f08_"));
  EXPECT_THAT(program.left, ElementsAre("MPI_Init", "MPI_Send", "PMPI_Put", "mpi_send_f08_"));
  EXPECT_THAT(program.callers, ElementsAre(built("open_mpi_user"), built("libuser.so")));
}

TEST(MpiProgram, ALibraryMayBeLookedAtToo) {
  const MpiProgram library = look_at(built("libuser.so"));
  EXPECT_EQ(library.link, MpiLink::same);
  EXPECT_THAT(library.taken, ElementsAre("MPI_Get"));
}

TEST(MpiProgram, TheLinkDecidesWhetherAnythingCanBeDone) {
  EXPECT_EQ(look_at(built("mpich_user")).link, MpiLink::other);
  EXPECT_EQ(look_at(built("mpich_user")).mpi, "libmpich.so.12");
  EXPECT_EQ(look_at(built("plain_user")).link, MpiLink::none);
  EXPECT_EQ(look_at("/etc/passwd").link, MpiLink::script);
#ifdef ORIEL_TEST_STATIC
  EXPECT_EQ(look_at(built("static_user")).link, MpiLink::not_loaded);
#endif
}

TEST(MpiProgram, TheLinkIsTheSameWithoutALookAtSymbols) {
  for (const char* const name : {"open_mpi_user", "libuser.so", "mpich_user", "plain_user"}) {
    const MpiProgram whole = look_at(built(name));
    const MpiProgram link =
        look_at_program(built(name), drop_in(), library_folders(), ElfParts::without_symbols);
    EXPECT_EQ(link.link, whole.link) << name;
    EXPECT_EQ(link.mpi, whole.mpi) << name;
    EXPECT_TRUE(link.taken.empty() && link.left.empty()) << name;
  }
}

TEST(LibrarySearch, WhatIsNotFoundIsNamed) {
  const ElfFile elf{.has_interpreter = true, .needed = {"libmpi.so.12"}};
  const LoadedFiles loaded = loaded_files("/nowhere/program", elf, {});
  EXPECT_THAT(loaded.not_found, ElementsAre("libmpi.so.12"));
}

TEST(MpiProgram, LinkTextsSayWhatToDo) {
  EXPECT_EQ(link_text(MpiLink::same, "libmpi.so.40", "libmpi.so.40"), "");
  EXPECT_EQ(link_text(MpiLink::script, "", "libmpi.so.40"), "");
  EXPECT_THAT(link_text(MpiLink::other, "libmpich.so.12", "libmpi.so.40"),
              AllOf(HasSubstr("libmpich.so.12"), HasSubstr("libmpi.so.40"), HasSubstr("hint: ")));
  EXPECT_THAT(link_text(MpiLink::not_loaded, "", "x"), HasSubstr("statically"));
  EXPECT_THAT(link_text(MpiLink::none, "", "x"), HasSubstr("Python"));
}

TEST(LibrarySearch, OwnFoldersOfAProgramComeFirstAndMayBeRelativeToIt) {
  const ElfFile elf{.search_path = {"$ORIGIN/nowhere", "${ORIGIN}"}};
  const fs::path user = built("open_mpi_user");
  const auto found = find_library("libuser.so", elf, user, {"/usr/lib"});
  ASSERT_TRUE(found);
  EXPECT_TRUE(fs::equivalent(*found, built("libuser.so")));
  EXPECT_FALSE(find_library("libuser.so", {}, user, {}));
  EXPECT_TRUE(find_library("libuser.so", {}, user, {built("")}));
  EXPECT_EQ(find_library(built("libuser.so").string(), {}, user, {}), built("libuser.so"));
  EXPECT_FALSE(find_library("/nowhere/libuser.so", {}, user, {}));
}

TEST(LibrarySearch, FindsTheLibrariesOfTheSystem) {
  EXPECT_TRUE(find_library("libc.so.6", {}, "/bin/true", library_folders()));
}

TEST(MpiReport, AsText) {
  const std::string text = mpi_text("/x/user", look_at(built("open_mpi_user")), drop_in());
  EXPECT_THAT(text, HasSubstr("(4)\n  MPI_Get MPI_Put mpi_put_ mpi_win_fence_f08_\n"));
  EXPECT_THAT(text, HasSubstr("Stay with MPI (4)\n  MPI_Init MPI_Send PMPI_Put"));
  EXPECT_THAT(text, HasSubstr("libuser.so"));
  EXPECT_THAT(mpi_text("/x/user", look_at(built("mpich_user")), drop_in()),
              HasSubstr("\nuser is linked against libmpich.so.12"));
  EXPECT_THAT(mpi_text("/x/run.py", look_at("/etc/passwd"), drop_in()), HasSubstr("script"));
}

TEST(MpiReport, AsJson) {
  const auto json =
      nlohmann::json::parse(mpi_json("/x/user", look_at(built("open_mpi_user")), drop_in()));
  EXPECT_EQ(json["program"], "/x/user");
  EXPECT_EQ(json["drop_in"], built("liboriel_mpi.so").string());
  EXPECT_EQ(json["mpi"], "libmpi.so.40");
  EXPECT_EQ(json["link"], "same");
  EXPECT_EQ(json["problem"], "");
  EXPECT_THAT(json["taken_over"],
              ElementsAre("MPI_Get", "MPI_Put", "mpi_put_", "mpi_win_fence_f08_"));
  EXPECT_THAT(json["stay_with_mpi"], Contains("MPI_Send"));
  EXPECT_THAT(json["looked_at"], Contains(EndsWith("libuser.so")));
  EXPECT_THAT(json["callers"], Not(Contains(EndsWith("libmpi.so.40"))));
  EXPECT_THAT(json["not_found"], IsEmpty());
  EXPECT_EQ(nlohmann::json::parse(mpi_json("x", look_at(built("plain_user")), drop_in()))["mpi"],
            nullptr);
}

}  // namespace
}  // namespace oriel::launcher
