// MPI_Accumulate and all that combines or swaps at the target.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "mpi/access.hpp"
#include "mpi/call.hpp"
#include "mpi/job.hpp"
#include "mpi/pieces.hpp"
#include "mpi/requests.hpp"
#include "mpi/win.hpp"

namespace oriel::mpi {
namespace {

/// The arguments of the most general form.
struct Update {
  MPI_Op op;
  const void* operands;
  const Data* origin;  ///< null: there are none (MPI_NO_OP)
  void* results;
  const Data* result;  ///< null: old values are not wanted
  const Data& target;
  /// The basic types differ, which MPI forbids. Open MPI does it where nothing is combined, so that
  /// programs that ran with it may: bytes are moved then, and nobody sees to whole elements.
  bool is_bytes = false;
};

constexpr ElementType kByte = element_type<std::uint8_t>();

/// Elements, or bytes, at a place. Without data, as many bytes side by side: it stands for what is
/// not there.
Cursor cursor_of(const Data* data, std::size_t bytes, const std::vector<Run>& side_by_side,
                 bool is_bytes) {
  if (data == nullptr) return Cursor(side_by_side, static_cast<MPI_Aint>(bytes), 1);
  const FlatType& type = data->type();
  return Cursor(is_bytes ? type.data : type.elements(), type.extent, data->count());
}

/// All that has elements should have the target's, whatever their arrangement. Whether it has.
/// Errors: Failure MPI_ERR_TYPE, where that matters.
bool is_alike(const Data* data, const Update& what, const char* whose) {
  if (data == nullptr || data->bytes() == 0) return true;
  const FlatType& type = data->type();
  if (type.is_uniform && type.element == what.target.type().element) return true;
  if (!type.is_uniform || (what.op != MPI_REPLACE && what.op != MPI_NO_OP))
    fail(MPI_ERR_TYPE, fmt::format("the {} has not the target's basic type", whose));
  return false;
}

/// Elements at one place of a batch, of which each piece has `block`. None if they do not all lie
/// at multiples of an element from the first.
std::optional<Layout> layout_of(const std::vector<std::size_t>& offsets, std::size_t block,
                                std::size_t element, std::vector<std::size_t>& counted) {
  counted.clear();
  for (const std::size_t offset : offsets) {
    if (offset % element != 0) return std::nullopt;
    counted.push_back(offset / element);
  }
  return Layout::indexed(block, counted);
}

/// Null for what is not there.
const void* address(const void* base, const Data* data, MPI_Aint offset) noexcept {
  return data == nullptr ? nullptr : static_cast<const std::byte*>(base) + offset;
}
void* address(void* base, const Data* data, MPI_Aint offset) noexcept {
  return data == nullptr ? nullptr : static_cast<std::byte*>(base) + offset;
}

bool has_adjacent(const Data* data) noexcept {
  return data == nullptr || data->type().has_adjacent_elements;
}

/// All is one run of elements everywhere: no lists of pieces.
bool is_adjacent(const Update& what) noexcept {
  return !what.is_bytes && has_adjacent(what.origin) && has_adjacent(what.result) &&
         has_adjacent(&what.target);
}

/// How many elements: the origin may be shorter than the target.
std::size_t count_of(const Update& what) noexcept {
  std::size_t bytes = what.target.element_bytes();
  if (what.origin != nullptr) bytes = std::min(bytes, what.origin->element_bytes());
  return elements_in(bytes, what.target.type().element);
}

/// Sends an update on its way, whatever the arrangement of its elements; with requests, keeps
/// those.
class Updater {
 public:
  Updater(Win& window, const Place& place, const Update& what, bool with_requests)
      : window_(window),
        place_(place),
        what_(what),
        with_requests_(with_requests),
        type_(what.is_bytes ? kByte : what.target.type().element),
        code_(operation_code(what.op, what.target.type())) {}

  void run(MPI_Aint begin) {
    if (is_adjacent(what_)) {
      const Layout all = Layout::contiguous(count_of(what_));
      return carry_out({type_, code_, address(what_.operands, what_.origin, 0), all,
                        address(what_.results, what_.result, 0), all, all},
                       begin);
    }
    const bool is_bytes = what_.is_bytes;
    const std::size_t bytes = is_bytes ? what_.target.bytes() : what_.target.element_bytes();
    const std::vector<Run> side_by_side{{0, bytes}};
    Cursor operands = cursor_of(what_.origin, bytes, side_by_side, is_bytes);
    Cursor results = cursor_of(what_.result, bytes, side_by_side, is_bytes);
    Cursor there = cursor_of(&what_.target, bytes, side_by_side, is_bytes);
    for_each_batch<3>({&operands, &results, &there},
                      [&](const Batch<3>& batch) { send(begin, batch); });
  }
  [[nodiscard]] std::vector<Request> take_requests() noexcept { return std::move(requests_); }

 private:
  void send(MPI_Aint begin, const Batch<3>& batch) {
    const auto& operands = batch.places[0];
    const auto& results = batch.places[1];
    const auto& there = batch.places[2];
    const std::size_t block = elements_in(batch.bytes, type_);
    const auto from = layout_of(operands.offsets, block, type_.bytes, counted_[0]);
    const auto into = layout_of(results.offsets, block, type_.bytes, counted_[1]);
    const auto at = layout_of(there.offsets, block, type_.bytes, counted_[2]);
    const auto together = [&] {
      carry_out({type_, code_, address(what_.operands, what_.origin, operands.begin), *from,
                 address(what_.results, what_.result, results.begin), *into, *at},
                begin + there.begin);
    };
    const auto apart = [&] {
      const Layout one = Layout::contiguous(block);
      for (std::size_t piece = 0; piece < batch.pieces(); ++piece) {
        const auto offset = [&](const auto& place) {
          return place.begin + static_cast<MPI_Aint>(place.offsets[piece]);
        };
        carry_out({type_, code_, address(what_.operands, what_.origin, offset(operands)), one,
                   address(what_.results, what_.result, offset(results)), one, one},
                  begin + offset(there));
      }
    };
    if (from && into && at)
      over_regions(window_, together, apart);
    else
      apart();
  }

  void carry_out(const Accumulation& what, MPI_Aint offset) {
    const TargetBytes to = target_at(place_, offset);
    if (with_requests_)
      requests_.push_back(window_.window.raccumulate(what, to));
    else
      window_.window.accumulate(what, to);
  }

  Win& window_;
  const Place& place_;
  const Update& what_;
  bool with_requests_;
  ElementType type_;
  OpCode code_;
  std::vector<std::size_t> counted_[3];
  std::vector<Request> requests_;
};

std::nullopt_t nothing_by(MPI_Op op) {
  check_predefined(op);
  return std::nullopt;
}

/// Where the target's elements begin. None: there is nothing to do. Finds out `is_bytes`.
std::optional<MPI_Aint> checked(Win& window, const Place& place, Update& what) {
  if (what.op == MPI_NO_OP && what.result == nullptr)
    fail(MPI_ERR_OP, "MPI_NO_OP is for calls that fetch");
  if (!may_access(window, place)) return nothing_by(what.op);
  count(statistics().accumulates);
  if (!what.target.type().is_uniform && what.target.bytes() != 0)
    fail(MPI_ERR_TYPE, "the target's type is made of several basic types, or of one unknown");
  const MPI_Aint begin = begin_of(window, place, what.target);
  if (what.origin != nullptr) check_fits(*what.origin, what.target);
  if (what.result != nullptr) check_fits(what.target, *what.result);
  if (what.target.bytes() == 0) return nothing_by(what.op);
  what.is_bytes =
      !is_alike(what.origin, what, "origin") || !is_alike(what.result, what, "result buffer");
  return begin;
}

void update(Win& window, const Place& place, Update what) {
  const std::optional<MPI_Aint> begin = checked(window, place, what);
  if (!begin) return;
  if (!is_adjacent(what)) return Updater(window, place, what, false).run(*begin);
  const FlatType& type = what.target.type();
  window.window.accumulate(
      type.element, operation_code(what.op, type), address(what.operands, what.origin, 0),
      address(what.results, what.result, 0), count_of(what), target_at(place, *begin));
}

std::vector<Request> request_update(Win& window, const Place& place, Update what) {
  const std::optional<MPI_Aint> begin = checked(window, place, what);
  if (!begin) return {};
  Updater updater(window, place, what, true);
  updater.run(*begin);
  return updater.take_requests();
}

/// A single element, as MPI_Fetch_and_op and MPI_Compare_and_swap take it. Its predefined type.
const FlatType& single(MPI_Datatype type) {
  const FlatType* const found = find_predefined(type);
  if (found == nullptr || !found->is_uniform)
    fail(MPI_ERR_TYPE, "one element of a predefined type is needed");
  return *found;
}

void fetch_and_op(Win& window, const void* operand, void* result, MPI_Datatype type,
                  const Place& place, MPI_Op op) {
  if (!may_access(window, place)) return check_predefined(op);
  count(statistics().accumulates);
  const FlatType& flat = single(type);
  const MPI_Aint begin = begin_of(window, place, Data(1, type));
  window.window.accumulate(flat.element, operation_code(op, flat),
                           op == MPI_NO_OP ? nullptr : operand, result, 1, target_at(place, begin));
}

constexpr bool is_integer(ElementKind kind) {
  return ElementKind::signed8 <= kind && kind <= ElementKind::unsigned64;
}

void compare_and_swap(Win& window, const void* swap, const void* compare, void* result,
                      MPI_Datatype type, const Place& place) {
  if (!may_access(window, place)) return;
  count(statistics().accumulates);
  const FlatType& flat = single(type);
  if (!is_integer(flat.element.kind))
    fail(MPI_ERR_TYPE, "integers, logicals and bytes are swapped, nothing else");
  const MPI_Aint begin = begin_of(window, place, Data(1, type));
  window.window.compare_and_swap({flat.element, compare, swap, result}, target_at(place, begin));
}

}  // namespace
}  // namespace oriel::mpi

using oriel::mpi::Data;
using oriel::mpi::guarded;
using oriel::mpi::Place;
using oriel::mpi::Win;

extern "C" int MPI_Accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                              int rank, MPI_Aint displacement, int target_count,
                              MPI_Datatype target_type, MPI_Op op, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr)
    return PMPI_Accumulate(origin, origin_count, origin_type, rank, displacement, target_count,
                           target_type, op, handle);
  return guarded(window, "MPI_Accumulate", [&] {
    const Data operands(origin_count, origin_type);
    oriel::mpi::update(*window, Place{"MPI_Accumulate", rank, displacement},
                       {op, origin, &operands, nullptr, nullptr, Data(target_count, target_type)});
  });
}

extern "C" int MPI_Raccumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                               int rank, MPI_Aint displacement, int target_count,
                               MPI_Datatype target_type, MPI_Op op, MPI_Win handle,
                               MPI_Request* request) {
  Win* const window = Win::of(handle);
  if (window == nullptr)
    return PMPI_Raccumulate(origin, origin_count, origin_type, rank, displacement, target_count,
                            target_type, op, handle, request);
  return guarded(window, "MPI_Raccumulate", [&] {
    const Place place{"MPI_Raccumulate", rank, displacement};
    const Data operands(origin_count, origin_type);
    oriel::mpi::check_request(*window, place);
    *request = oriel::mpi::make_request(
        *window, oriel::mpi::request_update(
                     *window, place,
                     {op, origin, &operands, nullptr, nullptr, Data(target_count, target_type)}));
  });
}

extern "C" int MPI_Get_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                  void* result, int result_count, MPI_Datatype result_type,
                                  int rank, MPI_Aint displacement, int target_count,
                                  MPI_Datatype target_type, MPI_Op op, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr)
    return PMPI_Get_accumulate(origin, origin_count, origin_type, result, result_count, result_type,
                               rank, displacement, target_count, target_type, op, handle);
  return guarded(window, "MPI_Get_accumulate", [&] {
    std::optional<Data> operands;  // MPI_NO_OP says nothing of them
    if (op != MPI_NO_OP) operands.emplace(origin_count, origin_type);
    const Data results(result_count, result_type);
    oriel::mpi::update(*window, Place{"MPI_Get_accumulate", rank, displacement},
                       {op, origin, operands ? &*operands : nullptr, result, &results,
                        Data(target_count, target_type)});
  });
}

extern "C" int MPI_Rget_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                   void* result, int result_count, MPI_Datatype result_type,
                                   int rank, MPI_Aint displacement, int target_count,
                                   MPI_Datatype target_type, MPI_Op op, MPI_Win handle,
                                   MPI_Request* request) {
  Win* const window = Win::of(handle);
  if (window == nullptr)
    return PMPI_Rget_accumulate(origin, origin_count, origin_type, result, result_count,
                                result_type, rank, displacement, target_count, target_type, op,
                                handle, request);
  return guarded(window, "MPI_Rget_accumulate", [&] {
    const Place place{"MPI_Rget_accumulate", rank, displacement};
    std::optional<Data> operands;
    if (op != MPI_NO_OP) operands.emplace(origin_count, origin_type);
    const Data results(result_count, result_type);
    oriel::mpi::check_request(*window, place);
    *request = oriel::mpi::make_request(
        *window, oriel::mpi::request_update(*window, place,
                                            {op, origin, operands ? &*operands : nullptr, result,
                                             &results, Data(target_count, target_type)}));
  });
}

extern "C" int MPI_Fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                                MPI_Aint displacement, MPI_Op op, MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr)
    return PMPI_Fetch_and_op(origin, result, type, rank, displacement, op, handle);
  return guarded(window, "MPI_Fetch_and_op", [&] {
    oriel::mpi::fetch_and_op(*window, origin, result, type,
                             Place{"MPI_Fetch_and_op", rank, displacement}, op);
  });
}

extern "C" int MPI_Compare_and_swap(const void* origin, const void* compare, void* result,
                                    MPI_Datatype type, int rank, MPI_Aint displacement,
                                    MPI_Win handle) {
  Win* const window = Win::of(handle);
  if (window == nullptr)
    return PMPI_Compare_and_swap(origin, compare, result, type, rank, displacement, handle);
  return guarded(window, "MPI_Compare_and_swap", [&] {
    oriel::mpi::compare_and_swap(*window, origin, compare, result, type,
                                 Place{"MPI_Compare_and_swap", rank, displacement});
  });
}
