// Names, info and group.
#include <array>
#include <map>
#include <string>

#include "objects_test.hpp"

namespace oriel::mpi {
namespace {

using Hints = std::map<std::string, std::string>;

Hints read(MPI_Info info) {
  Hints hints;
  int count = 0;
  MPI_Info_get_nkeys(info, &count);
  for (int at = 0; at < count; ++at) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int is_found = 0;
    MPI_Info_get_nthkey(info, at, key.data());
    MPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &is_found);
    hints[key.data()] = value.data();
  }
  return hints;
}

Hints hints_of(const Win& window) {
  MPI_Info info = MPI_INFO_NULL;
  EXPECT_EQ(MPI_Win_get_info(window.handle(), &info), MPI_SUCCESS);
  Hints hints = read(info);
  EXPECT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
  return hints;
}

/// What a window is told about `given`.
Hints known(const Hints& given, int flavor) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : given) MPI_Info_set(info, key.c_str(), value.c_str());
  MPI_Info made = known_hints(info, flavor);
  MPI_Info_free(&info);
  Hints hints = read(made);
  MPI_Info_free(&made);
  return hints;
}

void change(const Win& window, const Hints& given) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : given) MPI_Info_set(info, key.c_str(), value.c_str());
  EXPECT_EQ(MPI_Win_set_info(window.handle(), info), MPI_SUCCESS);
  MPI_Info_free(&info);
}

const Hints kDefaults{{"no_locks", "false"},
                      {"accumulate_ordering", "rar,raw,war,waw"},
                      {"accumulate_ops", "same_op_no_op"},
                      {"same_size", "false"},
                      {"same_disp_unit", "false"}};

Hints with(Hints hints, const std::string& key, const std::string& value) {
  hints[key] = value;
  return hints;
}

TEST(WindowInfo, SaysWhatHoldsWithoutHints) {
  EXPECT_EQ(known({}, MPI_WIN_FLAVOR_CREATE), kDefaults);
  EXPECT_EQ(known({}, MPI_WIN_FLAVOR_SHARED), with(kDefaults, "alloc_shared_noncontig", "false"));
  EXPECT_EQ(hints_of(*make_window()), kDefaults);
}

TEST(WindowInfo, KeepsTheHintsThatMpiHas) {
  const auto flavor = MPI_WIN_FLAVOR_CREATE;
  EXPECT_EQ(known({{"no_locks", "true"}, {"color", "blue"}}, flavor),
            with(kDefaults, "no_locks", "true"));
  for (const char* ordering : {"none", "rar", "waw,rar", "war,raw,waw"})
    EXPECT_EQ(known({{"accumulate_ordering", ordering}}, flavor),
              with(kDefaults, "accumulate_ordering", ordering));
  EXPECT_EQ(known({{"accumulate_ops", "same_op"}}, flavor),
            with(kDefaults, "accumulate_ops", "same_op"));
}

TEST(WindowInfo, IgnoresWhatIsNoValue) {
  EXPECT_EQ(known({{"no_locks", "maybe"}, {"accumulate_ops", "any"}}, MPI_WIN_FLAVOR_CREATE),
            kDefaults);
  for (const char* ordering : {"rar,", ",rar", "rar,none", "all", "rar;raw"})
    EXPECT_EQ(known({{"accumulate_ordering", ordering}}, MPI_WIN_FLAVOR_CREATE), kDefaults);
  EXPECT_EQ(known({{"mpi_minimum_memory_alignment", "-64"}}, MPI_WIN_FLAVOR_ALLOCATE), kDefaults);
}

TEST(WindowInfo, HintsAreForFlavors) {
  const Hints given{{"alloc_shared_noncontig", "true"}, {"mpi_minimum_memory_alignment", "64"}};
  EXPECT_EQ(known(given, MPI_WIN_FLAVOR_CREATE), kDefaults);
  EXPECT_EQ(known(given, MPI_WIN_FLAVOR_DYNAMIC), kDefaults);
  EXPECT_EQ(known(given, MPI_WIN_FLAVOR_ALLOCATE),
            with(kDefaults, "mpi_minimum_memory_alignment", "64"));
  Hints all = given;
  all.insert(kDefaults.begin(), kDefaults.end());
  EXPECT_EQ(known(given, MPI_WIN_FLAVOR_SHARED), all);
}

TEST(WindowInfo, ChangesWithWhatIsGivenLater) {
  const auto window = make_window(MPI_WIN_FLAVOR_SHARED);
  const Hints before = hints_of(*window);
  change(*window, {{"no_locks", "true"}, {"unknown", "true"}, {"alloc_shared_noncontig", "true"}});
  EXPECT_EQ(hints_of(*window), with(before, "no_locks", "true"));
  EXPECT_EQ(MPI_Win_set_info(window->handle(), MPI_INFO_NULL), MPI_SUCCESS);
  change(*window, {{"same_size", "true"}});
  EXPECT_EQ(hints_of(*window), with(with(before, "no_locks", "true"), "same_size", "true"));
}

TEST(WindowName, IsSetAndRead) {
  const auto window = make_window();
  std::array<char, MPI_MAX_OBJECT_NAME> name{"something"};
  int length = -1;
  EXPECT_EQ(MPI_Win_get_name(window->handle(), name.data(), &length), MPI_SUCCESS);
  EXPECT_STREQ(name.data(), "");
  EXPECT_EQ(length, 0);
  EXPECT_EQ(MPI_Win_set_name(window->handle(), "halo"), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_get_name(window->handle(), name.data(), &length), MPI_SUCCESS);
  EXPECT_STREQ(name.data(), "halo");
  EXPECT_EQ(length, 4);
  EXPECT_EQ(MPI_Win_set_name(window->handle(), nullptr), MPI_ERR_ARG);
}

TEST(WindowName, IsCutWhereMpiCutsIt) {
  const auto window = make_window();
  const std::string given(3 * MPI_MAX_OBJECT_NAME, 'x');
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  MPI_Win_set_name(window->handle(), given.c_str());
  MPI_Win_get_name(window->handle(), name.data(), &length);
  EXPECT_EQ(length, MPI_MAX_OBJECT_NAME - 1);
  EXPECT_EQ(name.data(), given.substr(0, MPI_MAX_OBJECT_NAME - 1));
}

TEST(WindowGroup, IsTheCallersToFree) {
  const auto window = make_window();
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Group group = MPI_GROUP_NULL;
    EXPECT_EQ(MPI_Win_get_group(window->handle(), &group), MPI_SUCCESS);
    int comparison = MPI_UNEQUAL;
    MPI_Group_compare(group, world, &comparison);
    EXPECT_EQ(comparison, MPI_IDENT);
    EXPECT_EQ(MPI_Group_free(&group), MPI_SUCCESS);
  }
  MPI_Group_free(&world);
}

}  // namespace
}  // namespace oriel::mpi
