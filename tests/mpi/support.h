#ifndef ORIEL_TESTS_MPI_SUPPORT_H
#define ORIEL_TESTS_MPI_SUPPORT_H
/* What the test programs share: checks that are counted, a verdict that all ranks agree upon, and a
 * watchdog against hangs. Plain MPI, for C and C++: the programs know nothing of what carries out
 * their windows.
 *
 *   int main(int argc, char** argv) {
 *     test_begin("mpi_theme", &argc, &argv);
 *     test_section("what comes now");
 *     CHECK_OK(MPI_Win_fence(0, win));
 *     CHECK_INT(7, value);
 *     return test_end();
 *   }
 *
 * ORIEL_TEST_SCALE   a fraction: how much of the long loops is run (1)
 * ORIEL_TEST_LIMIT   seconds until a program that still runs is ended (100)
 */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TEST_SHOWN_FAILURES = 20, TEST_HUNG = 124 };

struct test_state {
  const char* name;
  const char* section;
  long checks;
  long failures;
  int rank;
  int ranks;
};

/* One program, one file that includes this. */
static struct test_state test;

static inline void test_hung(int signal_number) {
  char text[256];
  int length = 0;
  (void)signal_number;
  length = snprintf(text, sizeof(text), "watchdog: %s: rank %d of %d hangs in: %s\n", test.name,
                    test.rank, test.ranks, test.section);
  if (length > 0 && write(2, text, (size_t)length) < 0) _exit(TEST_HUNG + 1);
  _exit(TEST_HUNG);
}

static inline double test_scale(void) {
  const char* const scale = getenv("ORIEL_TEST_SCALE");
  return scale == NULL ? 1.0 : atof(scale);
}

/* `rounds`, or the part of it that the scale asks for, but one at least. */
static inline int test_scaled(int rounds) {
  const int scaled = (int)(rounds * test_scale());
  return scaled < 1 ? 1 : scaled;
}

static inline void test_section(const char* section) {
  test.section = section;
}

static inline void test_begin_threads(const char* name, int* argc, char*** argv, int required) {
  const char* const limit = getenv("ORIEL_TEST_LIMIT");
  int provided = 0;
  test.name = name;
  test.section = "MPI_Init";
  signal(SIGALRM, test_hung);
  alarm(limit == NULL ? 100U : (unsigned)atoi(limit));
  MPI_Init_thread(argc, argv, required, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &test.ranks);
  if (provided < required) {
    fprintf(stderr, "%s: this MPI has not the level of threads\n", name);
    MPI_Abort(MPI_COMM_WORLD, 77);
  }
}

static inline void test_begin(const char* name, int* argc, char*** argv) {
  test_begin_threads(name, argc, argv, MPI_THREAD_SINGLE);
}

/* The verdict: the same on all ranks. To be returned by main(). */
static inline int test_end(void) {
  long mine[2];
  long all[2] = {0, 0};
  test.section = "the verdict";
  mine[0] = test.checks;
  mine[1] = test.failures;
  MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (test.rank == 0) {
    if (all[1] == 0)
      printf("PASS %s (%ld checks)\n", test.name, all[0]);
    else
      printf("FAIL %s (%ld of %ld checks)\n", test.name, all[1], all[0]);
    fflush(stdout);
  }
  test.section = "MPI_Finalize";
  MPI_Finalize();
  return all[1] == 0 ? 0 : 1;
}

/* Counts a check; whether its failure is to be shown. Any thread. */
static inline int test_count(int holds) {
  __atomic_fetch_add(&test.checks, 1, __ATOMIC_RELAXED);
  if (holds) return 0;
  return __atomic_fetch_add(&test.failures, 1, __ATOMIC_RELAXED) < TEST_SHOWN_FAILURES;
}

static inline void test_show(const char* file, int line, const char* text) {
  fprintf(stderr, "%s:%d: rank %d of %d, %s: %s\n", file, line, test.rank, test.ranks, test.section,
          text);
}

static inline int test_check(int holds, const char* file, int line, const char* text) {
  if (test_count(holds)) test_show(file, line, text);
  return holds;
}

static inline int test_check_int(long long expected, long long found, const char* file, int line,
                                 const char* text) {
  if (test_count(expected == found)) {
    char shown[512];
    snprintf(shown, sizeof(shown), "%s: expected %lld, found %lld", text, expected, found);
    test_show(file, line, shown);
  }
  return expected == found;
}

static inline int test_check_real(double expected, double found, const char* file, int line,
                                  const char* text) {
  const int equal = memcmp(&expected, &found, sizeof(found)) == 0;
  if (test_count(equal)) {
    char shown[512];
    snprintf(shown, sizeof(shown), "%s: expected %g, found %g", text, expected, found);
    test_show(file, line, shown);
  }
  return equal;
}

static inline int test_class(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

/* The class of `code` is `one` or `other`. */
static inline int test_check_class(int one, int other, int code, const char* file, int line,
                                   const char* text) {
  const int found = test_class(code);
  const int holds = found == one || found == other;
  if (test_count(holds)) {
    char expected[MPI_MAX_ERROR_STRING] = "";
    char string[MPI_MAX_ERROR_STRING] = "";
    char shown[3 * MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(one, expected, &length);
    MPI_Error_string(code, string, &length);
    snprintf(shown, sizeof(shown), "%s: expected class %d (%s), found %d (%s)", text, one, expected,
             found, string);
    test_show(file, line, shown);
  }
  return holds;
}

#define CHECK(condition) test_check(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_INT(expected, found) \
  test_check_int((long long)(expected), (long long)(found), __FILE__, __LINE__, #found)
#define CHECK_REAL(expected, found) test_check_real(expected, found, __FILE__, __LINE__, #found)
#define CHECK_OK(call) test_check_class(MPI_SUCCESS, MPI_SUCCESS, call, __FILE__, __LINE__, #call)
/* The call returns an error of the class. The error handler must be MPI_ERRORS_RETURN. */
#define CHECK_CLASS(error_class, call) \
  test_check_class(error_class, error_class, call, __FILE__, __LINE__, #call)
#define CHECK_CLASS2(one, other, call) test_check_class(one, other, call, __FILE__, __LINE__, #call)

#ifdef __cplusplus
}
#endif

#endif
