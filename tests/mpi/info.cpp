// Info and names of windows [MPI-3.1, 11.2.1, 11.2.7, 6.8].

#include <string>

#include "support.hpp"

namespace {

std::string value_of(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int flag = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &flag);
  return flag != 0 ? value.data() : "";
}

MPI_Info info_with(std::initializer_list<std::pair<const char*, const char*>> pairs) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : pairs) MPI_Info_set(info, key, value);
  return info;
}

/// The window does what windows do.
void use(MPI_Win win, int* base) {
  *base = -1;
  const int value = 40 + test.rank;
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_INT(40 + left_rank(), *base);
  MPI_Barrier(MPI_COMM_WORLD);
  const int one = 1;
  CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, MPI_SUM, win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK_INT(41 + left_rank(), *base);
}

/// Every key of the standard, with each value it may have, and one that nobody knows.
void at_creation() {
  const std::initializer_list<std::pair<const char*, const char*>> hints[] = {
      {},
      {{"no_locks", "true"}},
      {{"no_locks", "false"}},
      {{"accumulate_ordering", "none"}},
      {{"accumulate_ordering", "rar,waw"}},
      {{"accumulate_ordering", "rar,raw,war,waw"}},
      {{"accumulate_ops", "same_op"}},
      {{"accumulate_ops", "same_op_no_op"}},
      {{"same_size", "true"}, {"same_disp_unit", "true"}},
      {{"same_size", "false"}, {"same_disp_unit", "false"}},
      {{"alloc_shared_noncontig", "true"}},
      {{"alloc_shared_noncontig", "false"}},
      {{"mpi_minimum_memory_alignment", "4096"}},
      {{"a_key_that_nobody_knows", "and its value"}, {"same_size", "true"}},
  };
  for (const auto& pairs : hints) {
    MPI_Info info = info_with(pairs);
    MPI_Win win = MPI_WIN_NULL;
    int memory = 0;
    int* base = nullptr;
    CHECK_OK(MPI_Win_create(&memory, sizeof(int), 4, info, MPI_COMM_WORLD, &win));
    use(win, &memory);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_allocate(sizeof(int), 4, info, MPI_COMM_WORLD, &base, &win));
    use(win, base);
    // The window took what it needs: the info is the program's to free.
    MPI_Info_free(&info);
    use(win, base);
    CHECK_OK(MPI_Win_free(&win));
  }
}

void alignment() {
  MPI_Info info = info_with({{"mpi_minimum_memory_alignment", "4096"}});
  char* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate(100, 1, info, MPI_COMM_WORLD, &base, &win));
  CHECK(base != nullptr);
  CHECK_OK(MPI_Win_free(&win));
  MPI_Info_free(&info);
}

/// Parts of a shared window need not lie side by side if one says so; otherwise they do.
void shared() {
  MPI_Comm comm = shared_comm();
  for (const char* const apart : {"false", "true"}) {
    MPI_Info info = info_with({{"alloc_shared_noncontig", apart}});
    int* base = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    CHECK_OK(MPI_Win_allocate_shared(3 * sizeof(int), sizeof(int), info, comm, &base, &win));
    MPI_Info_free(&info);
    for (int i = 0; i < 3; ++i) base[i] = 10 * comm_rank(comm) + i;
    CHECK_OK(MPI_Win_fence(0, win));
    int* before = nullptr;
    for (int rank = 0; rank < comm_size(comm); ++rank) {
      MPI_Aint bytes = 0;
      int unit = 0;
      int* part = nullptr;
      CHECK_OK(MPI_Win_shared_query(win, rank, &bytes, &unit, &part));
      CHECK_INT(3 * sizeof(int), bytes);
      CHECK_INT(sizeof(int), unit);
      for (int i = 0; i < 3; ++i) CHECK_INT(10 * rank + i, part[i]);
      if (*apart == 'f' && rank > 0) CHECK(part == before + 3);
      before = part;
    }
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
  }
  MPI_Comm_free(&comm);
}

void get_and_set() {
  int memory = 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Info info = info_with({{"no_locks", "true"}, {"nobody_knows", "1"}});
  CHECK_OK(MPI_Win_create(&memory, sizeof(int), 4, info, MPI_COMM_WORLD, &win));
  MPI_Info_free(&info);
  MPI_Info used = MPI_INFO_NULL;
  CHECK_OK(MPI_Win_get_info(win, &used));
  CHECK(used != MPI_INFO_NULL);  // "a new info object", with nothing in it maybe
  // A hint that is told is what the window goes by: the given value, or the default if it ignores
  // it.
  const std::string no_locks = value_of(used, "no_locks");
  CHECK(no_locks.empty() || no_locks == "true" || no_locks == "false");
  CHECK_OK(MPI_Info_free(&used));

  info = info_with({{"accumulate_ordering", "rar,raw,war,waw"}, {"nobody_knows", "2"}});
  CHECK_OK(MPI_Win_set_info(win, info));
  MPI_Info_free(&info);
  CHECK_OK(MPI_Win_get_info(win, &used));
  const std::string ordering = value_of(used, "accumulate_ordering");
  CHECK(ordering.empty() || ordering == "rar,raw,war,waw");
  // What comes out may go in again, and is nothing that the window keeps hold of.
  MPI_Info_set(used, "nobody_knows", "3");
  CHECK_OK(MPI_Win_set_info(win, used));
  CHECK_OK(MPI_Info_free(&used));
  use(win, &memory);
  CHECK_OK(MPI_Win_free(&win));

  CHECK_OK(MPI_Win_create(&memory, sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_OK(MPI_Win_get_info(win, &used));
  CHECK(used != MPI_INFO_NULL);
  CHECK_OK(MPI_Info_free(&used));
  use(win, &memory);
  CHECK_OK(MPI_Win_free(&win));

  CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK_OK(MPI_Win_get_info(win, &used));
  CHECK_OK(MPI_Info_free(&used));
  CHECK_OK(MPI_Win_free(&win));
}

void check_name(MPI_Win win, const std::string& expected) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  name.fill('x');
  int length = -1;
  CHECK_OK(MPI_Win_get_name(win, name.data(), &length));
  CHECK_INT(expected.size(), length);
  CHECK(expected == name.data());
}

void names() {
  int* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win other = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  CHECK_OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &other));
  check_name(win, "");
  std::string name = "halo";
  CHECK_OK(MPI_Win_set_name(win, name.c_str()));
  name = "else";
  check_name(win, "halo");
  check_name(other, "");
  CHECK_OK(MPI_Win_set_name(win, "a name with blanks"));
  check_name(win, "a name with blanks");
  CHECK_OK(MPI_Win_set_name(win, ""));
  check_name(win, "");
  const std::string longest(MPI_MAX_OBJECT_NAME - 1, 'n');
  CHECK_OK(MPI_Win_set_name(win, longest.c_str()));
  check_name(win, longest);
  // What is too long is cut.
  const std::string longer(2 * MPI_MAX_OBJECT_NAME, 'm');
  CHECK_OK(MPI_Win_set_name(win, longer.c_str()));
  check_name(win, longer.substr(0, MPI_MAX_OBJECT_NAME - 1));
  CHECK_OK(MPI_Win_free(&win));
  CHECK_OK(MPI_Win_free(&other));
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_info", &argc, &argv);
  test_section("hints at creation");
  at_creation();
  test_section("alignment");
  alignment();
  test_section("shared windows that lie apart");
  shared();
  test_section("MPI_Win_get_info, MPI_Win_set_info");
  get_and_set();
  test_section("names");
  names();
  return test_end();
}
