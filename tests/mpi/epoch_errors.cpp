// Calls in a forbidden order: MPI_ERR_RMA_SYNC, nothing is changed, and the epoch that is open goes
// on as it was [MPI-3.1, 11.5, 11.6.2].

#include <functional>

#include "support.hpp"

namespace {

MPI_Win win = MPI_WIN_NULL;
int* base = nullptr;
MPI_Group everybody = MPI_GROUP_NULL;
MPI_Group myself = MPI_GROUP_NULL;

#define CHECK_FORBIDDEN(call) CHECK_CLASS(MPI_ERR_RMA_SYNC, call)

/// What is sent must not arrive, what is fetched must stay.
void check_operations_forbidden(int target) {
  const int value = 1000;
  int found = -3;
  CHECK_FORBIDDEN(MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win));
  CHECK_FORBIDDEN(MPI_Get(&found, 1, MPI_INT, target, 0, 1, MPI_INT, win));
  CHECK_FORBIDDEN(MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win));
  CHECK_FORBIDDEN(MPI_Get_accumulate(&value, 1, MPI_INT, &found, 1, MPI_INT, target, 0, 1, MPI_INT,
                                     MPI_SUM, win));
  CHECK_FORBIDDEN(MPI_Fetch_and_op(&value, &found, MPI_INT, target, 0, MPI_SUM, win));
  CHECK_FORBIDDEN(MPI_Compare_and_swap(&value, base, &found, MPI_INT, target, 0, win));
  CHECK_INT(-3, found);
}

void check_request_forms_forbidden(int target) {
  const int value = 1000;
  int found = -3;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_FORBIDDEN(MPI_Rput(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request));
  CHECK_FORBIDDEN(MPI_Rget(&found, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request));
  CHECK_FORBIDDEN(
      MPI_Raccumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win, &request));
  CHECK_FORBIDDEN(MPI_Rget_accumulate(&value, 1, MPI_INT, &found, 1, MPI_INT, target, 0, 1, MPI_INT,
                                      MPI_SUM, win, &request));
  CHECK_INT(-3, found);
}

void check_flushes_forbidden(int target) {
  CHECK_FORBIDDEN(MPI_Win_flush(target, win));
  CHECK_FORBIDDEN(MPI_Win_flush_local(target, win));
  CHECK_FORBIDDEN(MPI_Win_flush_all(win));
  CHECK_FORBIDDEN(MPI_Win_flush_local_all(win));
}

void check_ends_forbidden(bool lock_of_me, bool lock_all, bool start, bool post) {
  int flag = 1;
  if (!lock_of_me) CHECK_FORBIDDEN(MPI_Win_unlock(test.rank, win));
  if (!lock_all) CHECK_FORBIDDEN(MPI_Win_unlock_all(win));
  if (!start) CHECK_FORBIDDEN(MPI_Win_complete(win));
  if (!post) {
    CHECK_FORBIDDEN(MPI_Win_wait(win));
    CHECK_FORBIDDEN(MPI_Win_test(win, &flag));
  }
}

/// What must not begin while an access epoch of a lock or a start is open.
void check_begins_forbidden() {
  CHECK_FORBIDDEN(MPI_Win_lock_all(0, win));
  CHECK_FORBIDDEN(MPI_Win_start(myself, MPI_MODE_NOCHECK, win));
  CHECK_FORBIDDEN(MPI_Win_fence(0, win));
  MPI_Win copy = win;
  CHECK_FORBIDDEN(MPI_Win_free(&copy));
  CHECK(copy == win);
}

void no_epoch() {
  check_operations_forbidden(right_rank());
  check_operations_forbidden(test.rank);
  check_request_forms_forbidden(right_rank());
  check_flushes_forbidden(right_rank());
  check_ends_forbidden(false, false, false, false);
}

void locked() {
  for (const int type : {MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE}) {
    CHECK_OK(MPI_Win_lock(type, test.rank, 0, win));
    CHECK_FORBIDDEN(MPI_Win_lock(MPI_LOCK_SHARED, test.rank, 0, win));
    CHECK_FORBIDDEN(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, test.rank, 0, win));
    check_begins_forbidden();
    check_ends_forbidden(true, false, false, false);
    if (test.ranks > 1) {
      check_operations_forbidden(right_rank());
      check_request_forms_forbidden(right_rank());
      CHECK_FORBIDDEN(MPI_Win_flush(right_rank(), win));
      CHECK_FORBIDDEN(MPI_Win_unlock(right_rank(), win));
    }
    int found = -1;
    CHECK_OK(MPI_Get(&found, 1, MPI_INT, test.rank, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_flush(test.rank, win));
    CHECK_INT(test.rank, found);
    CHECK_OK(MPI_Win_unlock(test.rank, win));
    check_operations_forbidden(test.rank);
    check_flushes_forbidden(test.rank);
    check_ends_forbidden(false, false, false, false);
  }
}

void several_locks() {
  for (int rank = 0; rank < test.ranks; ++rank)
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
  for (int rank = 0; rank < test.ranks; ++rank) {
    CHECK_FORBIDDEN(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    int found = -1;
    CHECK_OK(MPI_Get(&found, 1, MPI_INT, rank, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_INT(rank, found);
    CHECK_FORBIDDEN(MPI_Win_unlock(rank, win));
    check_operations_forbidden(rank);
  }
}

void locked_all() {
  CHECK_OK(MPI_Win_lock_all(0, win));
  CHECK_FORBIDDEN(MPI_Win_lock(MPI_LOCK_SHARED, right_rank(), 0, win));
  CHECK_FORBIDDEN(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, test.rank, 0, win));
  check_begins_forbidden();
  check_ends_forbidden(false, true, false, false);
  CHECK_FORBIDDEN(MPI_Win_unlock(right_rank(), win));
  int found = -1;
  CHECK_OK(MPI_Get(&found, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_unlock_all(win));
  CHECK_INT(right_rank(), found);
  check_ends_forbidden(false, false, false, false);
}

void started() {
  CHECK_OK(MPI_Win_post(myself, 0, win));
  CHECK_OK(MPI_Win_start(myself, 0, win));
  CHECK_FORBIDDEN(MPI_Win_lock(MPI_LOCK_SHARED, test.rank, 0, win));
  check_begins_forbidden();
  check_ends_forbidden(false, false, true, true);
  if (test.ranks > 1) check_operations_forbidden(right_rank());
  check_request_forms_forbidden(test.rank);
  check_flushes_forbidden(test.rank);
  int found = -1;
  CHECK_OK(MPI_Get(&found, 1, MPI_INT, test.rank, 0, 1, MPI_INT, win));
  CHECK_OK(MPI_Win_complete(win));
  CHECK_INT(test.rank, found);
  check_operations_forbidden(test.rank);
  CHECK_OK(MPI_Win_wait(win));
  check_ends_forbidden(false, false, false, false);
}

void posted() {
  CHECK_OK(MPI_Win_post(everybody, 0, win));
  CHECK_FORBIDDEN(MPI_Win_post(everybody, 0, win));
  CHECK_FORBIDDEN(MPI_Win_fence(0, win));
  MPI_Win copy = win;
  CHECK_FORBIDDEN(MPI_Win_free(&copy));
  check_operations_forbidden(test.rank);  // an exposure epoch gives no access
  check_ends_forbidden(false, false, false, true);
  CHECK_OK(MPI_Win_start(everybody, 0, win));
  CHECK_OK(MPI_Win_complete(win));
  CHECK_OK(MPI_Win_wait(win));
  check_ends_forbidden(false, false, false, false);
}

void fenced() {
  int found = -1;
  CHECK_OK(MPI_Win_fence(0, win));
  check_request_forms_forbidden(right_rank());
  check_flushes_forbidden(right_rank());
  check_ends_forbidden(false, false, false, false);
  CHECK_OK(MPI_Get(&found, 1, MPI_INT, right_rank(), 0, 1, MPI_INT, win));
  // Now the epoch of the fence is open.
  CHECK_FORBIDDEN(MPI_Win_lock(MPI_LOCK_SHARED, test.rank, 0, win));
  CHECK_FORBIDDEN(MPI_Win_lock_all(0, win));
  CHECK_FORBIDDEN(MPI_Win_start(myself, MPI_MODE_NOCHECK, win));
  check_ends_forbidden(false, false, false, false);
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_INT(right_rank(), found);
  // Nothing was done since: a fence is no more than a barrier then, and locks may follow.
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, test.rank, 0, win));
  CHECK_OK(MPI_Win_unlock(test.rank, win));
  CHECK_OK(MPI_Win_lock_all(0, win));
  CHECK_OK(MPI_Win_unlock_all(win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  check_operations_forbidden(right_rank());
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, right_rank(), 0, win));
  CHECK_OK(MPI_Win_unlock(right_rank(), win));
}

/// In one window an epoch is open, in another none.
void of_another_window() {
  int* other_base = nullptr;
  MPI_Win other = MPI_WIN_NULL;
  CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &other_base,
                            &other));
  CHECK_OK(MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Win_lock_all(0, other));
  no_epoch();
  CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, test.rank, 0, win));
  CHECK_OK(MPI_Win_unlock(test.rank, win));
  CHECK_OK(MPI_Win_unlock_all(other));
  CHECK_OK(MPI_Win_free(&other));
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_epoch_errors", &argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
  CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Win_get_group(win, &everybody));
  MPI_Group_incl(everybody, 1, &test.rank, &myself);
  *base = test.rank;
  MPI_Barrier(MPI_COMM_WORLD);
  const std::pair<const char*, std::function<void()>> cases[] = {
      {"no epoch", no_epoch},
      {"a lock", locked},
      {"several locks", several_locks},
      {"lock_all", locked_all},
      {"start", started},
      {"post", posted},
      {"fences", fenced},
      {"another window", of_another_window},
      {"no epoch again", no_epoch}};
  for (const auto& [name, run] : cases) {
    test_section(name);
    run();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_INT(test.rank, *base);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  test_section("the end");
  MPI_Group_free(&everybody);
  MPI_Group_free(&myself);
  CHECK_OK(MPI_Win_free(&win));
  return test_end();
}
