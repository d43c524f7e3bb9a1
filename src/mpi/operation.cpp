// Which operation of Oriel an MPI_Op is.

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "mpi/call.hpp"
#include "mpi/datatype.hpp"

namespace oriel::mpi {
namespace {

// Most used first.
const std::pair<MPI_Op, OpCode> kOperations[] = {
    {MPI_SUM, OpCode::sum},       {MPI_REPLACE, OpCode::replace}, {MPI_NO_OP, OpCode::no_op},
    {MPI_MAX, OpCode::max},       {MPI_MIN, OpCode::min},         {MPI_PROD, OpCode::prod},
    {MPI_BOR, OpCode::bor},       {MPI_BAND, OpCode::band},       {MPI_BXOR, OpCode::bxor},
    {MPI_LOR, OpCode::lor},       {MPI_LAND, OpCode::land},       {MPI_LXOR, OpCode::lxor},
    {MPI_MINLOC, OpCode::minloc}, {MPI_MAXLOC, OpCode::maxloc},
};

[[noreturn]] void refuse_unknown() {
  fail(MPI_ERR_OP, "accumulates take predefined operations alone");
}

}  // namespace

void check_predefined(MPI_Op op) {
  if (std::ranges::find(kOperations, op, &std::pair<MPI_Op, OpCode>::first) ==
      std::end(kOperations))
    refuse_unknown();
}

OpCode operation_code(MPI_Op op, const FlatType& type) {
  for (const auto& [known, code] : kOperations) {
    if (known != op) continue;
    if (type.size == 0) return OpCode::no_op;
    if (!type.is_uniform)
      fail(MPI_ERR_TYPE, "an accumulate by a type whose elements are of several kinds");
    if (type.operations[static_cast<std::size_t>(code)]) return code;
    fail(MPI_ERR_OP,
         fmt::format("{} has no meaning for the elements of the datatype ({} of {} bytes)",
                     to_string(code), to_string(type.element.kind), type.element.bytes));
  }
  refuse_unknown();
}

}  // namespace oriel::mpi
