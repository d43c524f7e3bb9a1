#include <cstdarg>
#include <optional>
#include <string>
#include <vector>

#include "objects_test.hpp"

namespace oriel::mpi {
namespace {

struct Heard {
  MPI_Win window = MPI_WIN_NULL;
  int code = MPI_SUCCESS;
};
std::vector<Heard> heard;

extern "C" void hear(MPI_Win* window, int* code, ...) {
  heard.push_back({*window, *code});
}

MPI_Errhandler make_handler(MPI_Win_errhandler_function* function = hear) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  EXPECT_EQ(MPI_Win_create_errhandler(function, &handler), MPI_SUCCESS);
  return handler;
}

int provoke(const Win& window) {
  return MPI_Win_set_attr(window.handle(), MPI_KEYVAL_INVALID, nullptr);
}

class WindowErrors : public ::testing::Test {
 protected:
  WindowErrors() { heard.clear(); }
  const std::unique_ptr<Win> window_ = make_window();
};

TEST_F(WindowErrors, AreFatalUnlessToldOtherwise) {
  const Win window(WindowBytes::allocate(job().world(), 8), MPI_COMM_WORLD,
                   MPI_WIN_FLAVOR_ALLOCATE);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  EXPECT_EQ(MPI_Win_get_errhandler(window.handle(), &handler), MPI_SUCCESS);
  EXPECT_EQ(handler, MPI_ERRORS_ARE_FATAL);
  EXPECT_EQ(MPI_Errhandler_free(&handler), MPI_SUCCESS);
  EXPECT_EQ(handler, MPI_ERRHANDLER_NULL);
}

TEST_F(WindowErrors, AreReturned) {
  EXPECT_EQ(provoke(*window_), MPI_ERR_KEYVAL);
  EXPECT_EQ(MPI_Win_call_errhandler(window_->handle(), MPI_ERR_OTHER), MPI_SUCCESS);
}

TEST_F(WindowErrors, AreToldToTheProgram) {
  MPI_Errhandler handler = make_handler();
  EXPECT_EQ(MPI_Win_set_errhandler(window_->handle(), handler), MPI_SUCCESS);
  EXPECT_EQ(provoke(*window_), MPI_ERR_KEYVAL);
  EXPECT_EQ(MPI_Win_call_errhandler(window_->handle(), 4711), MPI_SUCCESS);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0].window, window_->handle());
  EXPECT_EQ(heard[0].code, MPI_ERR_KEYVAL);
  EXPECT_EQ(heard[1].code, 4711);
  EXPECT_EQ(MPI_Errhandler_free(&handler), MPI_SUCCESS);
}

TEST_F(WindowErrors, HandlersLiveAsLongAsAWindowHasThem) {
  MPI_Errhandler handler = make_handler();
  const MPI_Errhandler made = handler;
  MPI_Win_set_errhandler(window_->handle(), handler);
  MPI_Errhandler_free(&handler);
  EXPECT_EQ(handler, MPI_ERRHANDLER_NULL);
  provoke(*window_);
  EXPECT_EQ(heard.size(), 1U);
  MPI_Errhandler again = MPI_ERRHANDLER_NULL;
  EXPECT_EQ(MPI_Win_get_errhandler(window_->handle(), &again), MPI_SUCCESS);
  EXPECT_EQ(again, made);
  MPI_Win_set_errhandler(window_->handle(), MPI_ERRORS_RETURN);
  const auto other = make_window();
  EXPECT_EQ(MPI_Win_set_errhandler(other->handle(), again), MPI_SUCCESS);
  EXPECT_EQ(MPI_Errhandler_free(&again), MPI_SUCCESS);
  provoke(*other);
  EXPECT_EQ(heard.size(), 2U);
  MPI_Win_set_errhandler(other->handle(), MPI_ERRORS_RETURN);
  EXPECT_FALSE(retain_error_handler(made));
}

TEST_F(WindowErrors, HandlersGoWithTheWindow) {
  MPI_Errhandler handler = make_handler();
  const MPI_Errhandler made = handler;
  {
    const auto other = make_window();
    MPI_Win_set_errhandler(other->handle(), handler);
    MPI_Win_set_errhandler(other->handle(), handler);
    MPI_Errhandler_free(&handler);
  }
  EXPECT_FALSE(retain_error_handler(made));
}

extern "C" void hear_once(MPI_Win* window, int* code, ...) {
  heard.push_back({*window, *code});
  MPI_Win_set_errhandler(*window, MPI_ERRORS_RETURN);
}

TEST_F(WindowErrors, AHandlerMaySetAnother) {
  MPI_Errhandler handler = make_handler(hear_once);
  MPI_Win_set_errhandler(window_->handle(), handler);
  MPI_Errhandler_free(&handler);
  provoke(*window_);
  provoke(*window_);
  EXPECT_EQ(heard.size(), 1U);
}

struct Thrown {};

extern "C" void throw_it(MPI_Win* /*window*/, int* /*code*/, ...) {
  throw Thrown();
}

TEST_F(WindowErrors, AHandlerMayThrow) {
  MPI_Errhandler handler = make_handler(throw_it);
  const MPI_Errhandler made = handler;
  MPI_Win_set_errhandler(window_->handle(), handler);
  MPI_Errhandler_free(&handler);
  EXPECT_THROW(provoke(*window_), Thrown);
  MPI_Win_set_errhandler(window_->handle(), MPI_ERRORS_RETURN);
  EXPECT_FALSE(retain_error_handler(made));
}

extern "C" void of_communicators(MPI_Comm* /*comm*/, int* /*code*/, ...) {}

TEST_F(WindowErrors, HandlersOfCommunicatorsAreNone) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(of_communicators, &handler);
  EXPECT_EQ(MPI_Win_set_errhandler(window_->handle(), handler), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Win_set_errhandler(window_->handle(), MPI_ERRHANDLER_NULL), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Errhandler_free(&handler), MPI_SUCCESS);
  EXPECT_EQ(handler, MPI_ERRHANDLER_NULL);
}

TEST_F(WindowErrors, HandlersOfNativeWindowsAreKnown) {
  MPI_Win native = MPI_WIN_NULL;
  PMPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &native);
  MPI_Errhandler handler = make_handler();
  EXPECT_EQ(MPI_Win_set_errhandler(native, handler), MPI_SUCCESS);
  EXPECT_EQ(MPI_Errhandler_free(&handler), MPI_SUCCESS);
  MPI_Errhandler again = MPI_ERRHANDLER_NULL;
  EXPECT_EQ(MPI_Win_get_errhandler(native, &again), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_set_errhandler(window_->handle(), again), MPI_SUCCESS);
  EXPECT_EQ(MPI_Errhandler_free(&again), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_call_errhandler(native, MPI_ERR_OTHER), MPI_SUCCESS);
  provoke(*window_);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0].window, native);
  EXPECT_EQ(heard[1].window, window_->handle());
  PMPI_Win_free(&native);
}

std::optional<MPI_Fint> fortran_window;
MPI_Fint fortran_code = 0;

void fortran_hear(MPI_Fint* window, MPI_Fint* code) {
  fortran_window = *window;
  fortran_code = *code;
}

TEST_F(WindowErrors, AreToldToFortran) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Win_create_errhandler(hear, &handler);  // in place of Fortran's binding
  register_fortran_error_handler(handler, fortran_hear);
  MPI_Win_set_errhandler(window_->handle(), handler);
  MPI_Errhandler_free(&handler);
  provoke(*window_);
  EXPECT_EQ(fortran_window, window_->fortran());
  EXPECT_EQ(fortran_code, MPI_ERR_KEYVAL);
}

TEST_F(WindowErrors, OfCreationAreTheCommunicators) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  EXPECT_EQ(guarded(comm, "MPI_Win_create", [] { fail(MPI_ERR_SIZE, "too little"); }),
            MPI_ERR_SIZE);
  MPI_Comm_free(&comm);
}

TEST(WindowErrorsDeathTest, FatalOnesSayWhatHappened) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto window = make_window();
  MPI_Win_set_name(window->handle(), "halo");
  MPI_Win_set_errhandler(window->handle(), MPI_ERRORS_ARE_FATAL);
  EXPECT_DEATH(provoke(*window),
               "oriel: \\[rank 0\\] MPI_Win_set_attr on window \"halo\", rank 0 of 1: -1 is no "
               "keyval that MPI_Win_create_keyval made: MPI_ERR_KEYVAL.*\n"
               "oriel: \\[rank 0\\] The window's error handler is MPI_ERRORS_ARE_FATAL: the job "
               "ends.");
  EXPECT_DEATH(MPI_Win_call_errhandler(window->handle(), 4711), "rank 0 of 1: error code 4711");
  EXPECT_DEATH((void)guarded(MPI_COMM_WORLD, "MPI_Win_create",
                             [] { fail(MPI_ERR_SIZE, "a size of -1 bytes"); }),
               "MPI_Win_create on communicator \"MPI_COMM_WORLD\", rank 0 of 1: a size of -1 "
               "bytes: MPI_ERR_SIZE");
}

}  // namespace
}  // namespace oriel::mpi
