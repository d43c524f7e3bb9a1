// Arguments that are wrong: the class of the error, and that nothing was changed
// [MPI-3.1, 11.6.2, 8.4].

#include <functional>

#include "support.hpp"

namespace {

constexpr int kCount = 8;

MPI_Win win = MPI_WIN_NULL;
int* base = nullptr;

struct Arguments {
  int count = 1;
  MPI_Datatype type = MPI_INT;
  int target = 0;
  MPI_Aint disp = 0;
  int target_count = 1;
  MPI_Datatype target_type = MPI_INT;
};

/// All calls that move data, with these arguments.
void check_moves(int one, int other, const Arguments& a) {
  std::array<int, 64> origin{};
  std::array<int, 64> result{};
  origin.fill(900);
  result.fill(-3);
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS2(one, other,
               MPI_Put(origin.data(), a.count, a.type, a.target, a.disp, a.target_count,
                       a.target_type, win));
  CHECK_CLASS2(one, other,
               MPI_Get(result.data(), a.count, a.type, a.target, a.disp, a.target_count,
                       a.target_type, win));
  CHECK_CLASS2(one, other,
               MPI_Rput(origin.data(), a.count, a.type, a.target, a.disp, a.target_count,
                        a.target_type, win, &request));
  CHECK_CLASS2(one, other,
               MPI_Rget(result.data(), a.count, a.type, a.target, a.disp, a.target_count,
                        a.target_type, win, &request));
  CHECK_CLASS2(one, other,
               MPI_Accumulate(origin.data(), a.count, a.type, a.target, a.disp, a.target_count,
                              a.target_type, MPI_SUM, win));
  CHECK_CLASS2(one, other,
               MPI_Raccumulate(origin.data(), a.count, a.type, a.target, a.disp, a.target_count,
                               a.target_type, MPI_SUM, win, &request));
  CHECK_CLASS2(one, other,
               MPI_Get_accumulate(origin.data(), a.count, a.type, result.data(), a.count, a.type,
                                  a.target, a.disp, a.target_count, a.target_type, MPI_SUM, win));
  CHECK_CLASS2(
      one, other,
      MPI_Rget_accumulate(origin.data(), a.count, a.type, result.data(), a.count, a.type, a.target,
                          a.disp, a.target_count, a.target_type, MPI_SUM, win, &request));
  for (const int value : result) CHECK_INT(-3, value);
}

void check_single(int one, int other, int target, MPI_Aint disp) {
  const int value = 900;
  int result = -3;
  CHECK_CLASS2(one, other, MPI_Fetch_and_op(&value, &result, MPI_INT, target, disp, MPI_SUM, win));
  CHECK_CLASS2(one, other, MPI_Compare_and_swap(&value, base, &result, MPI_INT, target, disp, win));
  CHECK_INT(-3, result);
}

void ranks() {
  for (const int target : {-7, test.ranks, test.ranks + 1000, MPI_ANY_SOURCE}) {
    check_moves(MPI_ERR_RANK, MPI_ERR_RANK, {.target = target});
    check_single(MPI_ERR_RANK, MPI_ERR_RANK, target, 0);
    CHECK_CLASS(MPI_ERR_RANK, MPI_Win_flush(target, win));
    CHECK_CLASS(MPI_ERR_RANK, MPI_Win_flush_local(target, win));
  }
}

void counts() {
  check_moves(MPI_ERR_COUNT, MPI_ERR_COUNT, {.count = -1});
  check_moves(MPI_ERR_COUNT, MPI_ERR_COUNT, {.target_count = -1});
}

void types() {
  check_moves(MPI_ERR_TYPE, MPI_ERR_TYPE, {.type = MPI_DATATYPE_NULL});
  check_moves(MPI_ERR_TYPE, MPI_ERR_TYPE, {.target_type = MPI_DATATYPE_NULL});
  MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  check_moves(MPI_ERR_TYPE, MPI_ERR_TYPE, {.type = uncommitted, .target_count = 2});
  check_moves(MPI_ERR_TYPE, MPI_ERR_TYPE, {.count = 2, .target_type = uncommitted});
  MPI_Type_free(&uncommitted);
  // One element of a predefined type.
  const int value = 1;
  int result = -3;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  CHECK_CLASS(MPI_ERR_TYPE, MPI_Fetch_and_op(&value, &result, pair, 0, 0, MPI_SUM, win));
  CHECK_CLASS(MPI_ERR_TYPE, MPI_Compare_and_swap(&value, &value, &result, pair, 0, 0, win));
  CHECK_INT(-3, result);
  MPI_Type_free(&pair);
}

void outside() {
  constexpr int range = MPI_ERR_RMA_RANGE;
  for (const MPI_Aint disp : {MPI_Aint{kCount}, MPI_Aint{kCount} + 100, MPI_Aint{1} << 40}) {
    check_moves(range, MPI_ERR_DISP, {.disp = disp});
    check_single(range, MPI_ERR_DISP, right_rank(), disp);
  }
  check_moves(range, MPI_ERR_DISP,
              {.count = 2, .target = right_rank(), .disp = kCount - 1, .target_count = 2});
  check_moves(range, MPI_ERR_DISP, {.count = kCount + 1, .target_count = kCount + 1});
  check_moves(MPI_ERR_DISP, range, {.disp = -1});
  check_single(MPI_ERR_DISP, range, 0, -1);
  // A displacement whose bytes no longer fit.
  check_moves(range, MPI_ERR_DISP, {.disp = MPI_Aint{1} << 62});
  // The last block of many is outside.
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, kCount, MPI_INT, &wide);
  MPI_Type_commit(&wide);
  check_moves(range, range, {.count = 2, .target_type = wide});
  MPI_Type_free(&wide);
  // The lower end is, by a type that begins before its address.
  const int block = 1;
  const MPI_Aint before = -8;
  MPI_Type_create_hindexed(1, &block, &before, MPI_INT, &wide);
  MPI_Type_commit(&wide);
  check_moves(range, MPI_ERR_DISP, {.disp = 1, .target_type = wide});
  MPI_Type_free(&wide);
}

void user_sum(void*, void*, int*, MPI_Datatype*) {}

void ops() {
  const int value = 900;
  int result = -3;
  MPI_Op own = MPI_OP_NULL;
  MPI_Op_create(user_sum, 1, &own);
  MPI_Request request = MPI_REQUEST_NULL;
  for (const MPI_Op op : {own, MPI_OP_NULL}) {
    CHECK_CLASS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, op, win));
    CHECK_CLASS(MPI_ERR_OP, MPI_Get_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, 0, 0, 1,
                                               MPI_INT, op, win));
    CHECK_CLASS(MPI_ERR_OP, MPI_Fetch_and_op(&value, &result, MPI_INT, 0, 0, op, win));
    CHECK_CLASS(MPI_ERR_OP,
                MPI_Raccumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, op, win, &request));
    CHECK_CLASS(MPI_ERR_OP, MPI_Rget_accumulate(&value, 1, MPI_INT, &result, 1, MPI_INT, 0, 0, 1,
                                                MPI_INT, op, win, &request));
  }
  // Wrong where there is nothing to be done, too.
  for (const MPI_Op op : {own, MPI_OP_NULL}) {
    CHECK_CLASS(MPI_ERR_OP, MPI_Accumulate(&value, 0, MPI_INT, 0, 0, 0, MPI_INT, op, win));
    CHECK_CLASS(MPI_ERR_OP,
                MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, op, win));
    CHECK_CLASS(MPI_ERR_OP, MPI_Fetch_and_op(&value, &result, MPI_INT, MPI_PROC_NULL, 0, op, win));
  }
  MPI_Op_free(&own);
  // For calls that fetch alone.
  CHECK_CLASS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win));
  CHECK_CLASS(MPI_ERR_OP,
              MPI_Raccumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win, &request));
  // Operations without a meaning for the type.
  const float real = 1;
  CHECK_CLASS2(MPI_ERR_OP, MPI_ERR_TYPE,
               MPI_Accumulate(&real, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win));
  CHECK_CLASS2(MPI_ERR_OP, MPI_ERR_TYPE,
               MPI_Accumulate(&real, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MINLOC, win));
  CHECK_INT(-3, result);
}

/// Accumulates need elements of one predefined type, the same on both sides.
void mixed_elements() {
  struct Mixed {
    int number;
    float real;
  };
  const int blocks[2] = {1, 1};
  const MPI_Aint places[2] = {0, 4};
  const MPI_Datatype parts[2] = {MPI_INT, MPI_FLOAT};
  MPI_Datatype mixed = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, blocks, places, parts, &mixed);
  MPI_Type_commit(&mixed);
  const Mixed value{1, 1.0F};
  CHECK_CLASS2(MPI_ERR_TYPE, MPI_ERR_OP,
               MPI_Accumulate(&value, 1, mixed, 0, 0, 1, mixed, MPI_SUM, win));
  MPI_Type_free(&mixed);
}

void locks() {
  CHECK_CLASS(MPI_ERR_LOCKTYPE, MPI_Win_lock(MPI_LOCK_SHARED + MPI_LOCK_EXCLUSIVE + 77, 0, 0, win));
  CHECK_CLASS(MPI_ERR_LOCKTYPE, MPI_Win_lock(-1, 0, 0, win));
  CHECK_CLASS(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, test.ranks, 0, win));
  CHECK_CLASS(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, -9, 0, win));
  CHECK_CLASS(MPI_ERR_RANK, MPI_Win_unlock(test.ranks, win));
}

void assertions() {
  MPI_Group group = MPI_GROUP_NULL;
  CHECK_OK(MPI_Win_get_group(win, &group));
  const int unknown = 1 << 20;
  CHECK_CLASS(MPI_ERR_ASSERT, MPI_Win_fence(unknown, win));
  CHECK_CLASS(MPI_ERR_ASSERT, MPI_Win_post(group, unknown, win));
  CHECK_CLASS(MPI_ERR_ASSERT, MPI_Win_start(group, unknown, win));
  CHECK_CLASS(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, 0, unknown, win));
  CHECK_CLASS(MPI_ERR_ASSERT, MPI_Win_lock_all(unknown, win));
  MPI_Group_free(&group);
}

void groups() {
  CHECK_CLASS(MPI_ERR_GROUP, MPI_Win_start(MPI_GROUP_NULL, 0, win));
  CHECK_CLASS(MPI_ERR_GROUP, MPI_Win_post(MPI_GROUP_NULL, 0, win));
}

/// Every call, on what is no window.
void check_no_window(MPI_Win none) {
  int value = 0;
  int flag = 0;
  void* pointer = nullptr;
  MPI_Aint bytes = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Group group = MPI_GROUP_EMPTY;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Info info = MPI_INFO_NULL;
  char name[MPI_MAX_OBJECT_NAME];
  CHECK_CLASS(MPI_ERR_WIN, MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Get_accumulate(&value, 1, MPI_INT, &flag, 1, MPI_INT, 0, 0, 1,
                                              MPI_INT, MPI_SUM, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Fetch_and_op(&value, &flag, MPI_INT, 0, 0, MPI_SUM, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Compare_and_swap(&value, &value, &flag, MPI_INT, 0, 0, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, none, &request));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Rget(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, none, &request));
  CHECK_CLASS(MPI_ERR_WIN,
              MPI_Raccumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, none, &request));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Rget_accumulate(&value, 1, MPI_INT, &flag, 1, MPI_INT, 0, 0, 1,
                                               MPI_INT, MPI_SUM, none, &request));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_fence(0, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_start(group, 0, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_complete(none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_post(group, 0, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_wait(none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_test(none, &flag));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_unlock(0, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_lock_all(0, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_unlock_all(none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_flush(0, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_flush_all(none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_flush_local(0, none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_flush_local_all(none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_sync(none));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_attach(none, &value, sizeof(value)));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_detach(none, &value));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_shared_query(none, 0, &bytes, &value, &pointer));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_get_group(none, &group));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_set_name(none, "none"));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_get_name(none, name, &value));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_get_attr(none, MPI_WIN_BASE, &pointer, &flag));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_get_info(none, &info));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_set_errhandler(none, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_get_errhandler(none, &handler));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_call_errhandler(none, MPI_ERR_OTHER));
  CHECK_CLASS(MPI_ERR_WIN, MPI_Win_free(&none));
}

void no_window() {
  check_no_window(MPI_WIN_NULL);
  int* memory = nullptr;
  MPI_Win ended = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &ended));
  MPI_Win const kept = ended;
  CHECK_OK(MPI_Win_free(&ended));
  check_no_window(kept);
}

void creation() {
  int value = 0;
  void* memory = nullptr;
  MPI_Win made = MPI_WIN_NULL;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Info info = MPI_INFO_NULL;
  for (const int unit : {0, -4}) {
    CHECK_CLASS(MPI_ERR_DISP, MPI_Win_create(&value, 4, unit, info, comm, &made));
    CHECK_CLASS(MPI_ERR_DISP, MPI_Win_allocate(4, unit, info, comm, &memory, &made));
    CHECK_CLASS(MPI_ERR_DISP, MPI_Win_allocate_shared(4, unit, info, comm, &memory, &made));
  }
  CHECK_CLASS(MPI_ERR_SIZE, MPI_Win_create(&value, -4, 1, info, comm, &made));
  CHECK_CLASS(MPI_ERR_SIZE, MPI_Win_allocate(-4, 1, info, comm, &memory, &made));
  CHECK_CLASS(MPI_ERR_SIZE, MPI_Win_allocate_shared(-4, 1, info, comm, &memory, &made));
  CHECK_CLASS(MPI_ERR_COMM, MPI_Win_create(&value, 4, 1, info, MPI_COMM_NULL, &made));
}

/// Calls for windows of another flavor.
void flavors() {
  int value = 0;
  CHECK_CLASS2(MPI_ERR_RMA_FLAVOR, MPI_ERR_WIN, MPI_Win_attach(win, &value, sizeof(value)));
  CHECK_CLASS2(MPI_ERR_RMA_FLAVOR, MPI_ERR_WIN, MPI_Win_detach(win, &value));
  MPI_Win dynamic = MPI_WIN_NULL;
  MPI_Aint bytes = 0;
  int unit = 0;
  int* part = nullptr;
  CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
  CHECK_OK(MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN));
  CHECK_CLASS2(MPI_ERR_RMA_FLAVOR, MPI_ERR_RMA_SHARED,
               MPI_Win_shared_query(dynamic, 0, &bytes, &unit, &part));
  CHECK_OK(MPI_Win_free(&dynamic));
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_error_classes", &argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Win_allocate(kCount * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                            &win));
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  for (int i = 0; i < kCount; ++i) base[i] = i;
  MPI_Barrier(MPI_COMM_WORLD);
  const std::pair<const char*, std::function<void()>> within_an_epoch[] = {
      {"ranks", ranks}, {"counts", counts},
      {"types", types}, {"outside the window", outside},
      {"ops", ops},     {"mixed elements", mixed_elements}};
  const std::pair<const char*, std::function<void()>> without[] = {
      {"locks", locks},         {"assertions", assertions}, {"groups", groups},
      {"no window", no_window}, {"creation", creation},     {"flavors", flavors}};
  CHECK_OK(MPI_Win_lock_all(0, win));
  for (const auto& [name, run] : within_an_epoch) {
    test_section(name);
    run();
  }
  CHECK_OK(MPI_Win_unlock_all(win));
  for (const auto& [name, run] : without) {
    test_section(name);
    run();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  test_section("after all errors");
  for (int i = 0; i < kCount; ++i) CHECK_INT(i, base[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  const int value = 50 + test.rank;
  in_epoch(Epoch::fence, win, 0, [&] {
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, right_rank(), kCount - 1, 1, MPI_INT, win));
  });
  CHECK_INT(50 + left_rank(), base[kCount - 1]);
  CHECK_OK(MPI_Win_free(&win));
  return test_end();
}
