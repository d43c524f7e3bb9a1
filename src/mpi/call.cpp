#include "mpi/call.hpp"

#include <array>
#include <exception>
#include <new>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"

namespace oriel::mpi {
namespace {

int class_of(const Error& error) noexcept {
  switch (code_of(error)) {
    case ErrorCode::invalid_rank:
      return MPI_ERR_RANK;
    case ErrorCode::out_of_range:
      return MPI_ERR_RMA_RANGE;
    case ErrorCode::wrong_epoch:
      return MPI_ERR_RMA_SYNC;
    case ErrorCode::invalid_argument:
    case ErrorCode::misaligned:
      return MPI_ERR_ARG;
    case ErrorCode::window_freed:
      return MPI_ERR_WIN;
    case ErrorCode::request_ended:
      return MPI_ERR_REQUEST;
    case ErrorCode::out_of_memory:
    case ErrorCode::locked_memory_limit:
    case ErrorCode::registration_failed:
      return MPI_ERR_NO_MEM;
    case ErrorCode::unsupported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case ErrorCode::internal:
      return MPI_ERR_INTERN;
    default:
      return MPI_ERR_OTHER;
  }
}

}  // namespace

void fail(int error_class, std::string text) {
  throw Failure(error_class, text);
}

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  fail(status, fmt::format("{}: {}", call, code_text(status)));
}

std::string code_text(int code) {
  // MPI_Error_string takes a code that nobody has made for an error of its own.
  int* last = nullptr;
  int is_set = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &is_set);
  if (is_set == 0 || code < 0 || code > *last) return fmt::format("error code {}", code);
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  PMPI_Error_string(code, text.data(), &length);
  return text.data();
}

std::vector<int> translated_ranks(MPI_Group from, MPI_Group to) {
  int count = 0;
  check(PMPI_Group_size(from, &count), "MPI_Group_size");
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> there(ranks.size());
  check(PMPI_Group_translate_ranks(from, count, ranks.data(), to, there.data()),
        "MPI_Group_translate_ranks");
  return there;
}

std::pair<int, std::string> current_failure() {
  try {
    throw;
  } catch (const Failure& failure) {
    return {failure.error_class(), failure.what()};
  } catch (const Error& error) {
    return {class_of(error), error.what()};
  } catch (const std::bad_alloc&) {
    return {MPI_ERR_NO_MEM, "out of memory"};
  } catch (const std::exception& error) {
    return {MPI_ERR_INTERN, error.what()};
  }
}

}  // namespace oriel::mpi
