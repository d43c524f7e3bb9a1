// Derived datatypes: taken apart by what MPI tells of their making, and kept with the handle.

#include "mpi/datatype.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "mpi/call.hpp"
#include "mpi/predefined_types.hpp"
#include "mpi/type_map.hpp"

namespace oriel::mpi {
namespace {

using Shared = std::shared_ptr<const FlatType>;

// MPI 1 had them for Fortran; MPI 3 took the names away and left the numbers free.
constexpr int kHvectorInteger = MPI_COMBINER_HVECTOR - 1;
constexpr int kHindexedInteger = MPI_COMBINER_HINDEXED - 1;
constexpr int kStructInteger = MPI_COMBINER_STRUCT - 1;

constexpr bool is_f90(int combiner) noexcept {
  return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

/// How a type was made, and of what.
class Contents {
 public:
  explicit Contents(MPI_Datatype type) {
    int counts[3] = {};
    check(PMPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner),
          "MPI_Type_get_envelope");
    if (combiner == MPI_COMBINER_NAMED) return;
    ints.resize(static_cast<std::size_t>(counts[0]));
    addresses.resize(static_cast<std::size_t>(counts[1]));
    types.resize(static_cast<std::size_t>(counts[2]));
    check(PMPI_Type_get_contents(type, counts[0], counts[1], counts[2], ints.data(),
                                 addresses.data(), types.data()),
          "MPI_Type_get_contents");
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  /// The handles of derived types are new ones, and ours to free.
  ~Contents() {
    for (MPI_Datatype& type : types) {
      if (is_derived(type)) PMPI_Type_free(&type);
    }
  }

  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> ints;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

 private:
  static bool is_derived(MPI_Datatype type) noexcept {
    int counts[3] = {};
    int made_by = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &made_by);
    return made_by != MPI_COMBINER_NAMED && !is_f90(made_by);
  }
};

Shared find_or_make(MPI_Datatype type);

void add_struct(TypeMap& map, const Contents& of) {
  for (std::size_t i = 0; i < of.types.size(); ++i) {
    map.add(*find_or_make(of.types[i]), of.addresses[i], of.ints[1 + i]);
  }
}

/// Blocks of one type: block i of ints[first + i * step] instances, at place(i).
template <class Place>
void add_blocks(TypeMap& map, const FlatType& part, const Contents& of, std::size_t step,
                Place&& place) {
  const auto count = static_cast<std::size_t>(of.ints[0]);
  for (std::size_t i = 0; i < count; ++i) map.add(part, place(i), of.ints[1 + i * step]);
}

void add_parts(TypeMap& map, const Contents& of) {
  if (of.combiner == MPI_COMBINER_STRUCT || of.combiner == kStructInteger) {
    return add_struct(map, of);
  }
  if (of.types.empty()) fail(MPI_ERR_TYPE, fmt::format("unknown combiner {}", of.combiner));
  const Shared held = find_or_make(of.types[0]);
  const FlatType& part = *held;
  const auto count = static_cast<std::size_t>(of.ints.empty() ? 0 : of.ints[0]);
  const auto steps = [&](std::size_t i) { return part.extent * of.ints[i]; };
  const auto address = [&](std::size_t i) { return of.addresses[i]; };
  const auto stride = [](MPI_Aint bytes) {
    return [bytes](std::size_t i) { return static_cast<MPI_Aint>(i) * bytes; };
  };
  switch (of.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return map.add(part, 0, 1);
    case MPI_COMBINER_CONTIGUOUS:
      return map.add(part, 0, of.ints[0]);
    case MPI_COMBINER_VECTOR:
      return add_blocks(map, part, of, 0, stride(steps(2)));
    case MPI_COMBINER_HVECTOR:
    case kHvectorInteger:
      return add_blocks(map, part, of, 0, stride(address(0)));
    case MPI_COMBINER_INDEXED:
      return add_blocks(map, part, of, 1, [&](std::size_t i) { return steps(1 + count + i); });
    case MPI_COMBINER_HINDEXED:
    case kHindexedInteger:
      return add_blocks(map, part, of, 1, address);
    case MPI_COMBINER_INDEXED_BLOCK:
      return add_blocks(map, part, of, 0, [&](std::size_t i) { return steps(2 + i); });
    case MPI_COMBINER_HINDEXED_BLOCK:
      return add_blocks(map, part, of, 0, address);
    case MPI_COMBINER_SUBARRAY:
      return add_subarray(map, part, of.ints);
    case MPI_COMBINER_DARRAY:
      return add_darray(map, part, of.ints);
    default:
      fail(MPI_ERR_TYPE, fmt::format("unknown combiner {}", of.combiner));
  }
}

FlatType flatten_any(MPI_Datatype type) {
  const Contents of(type);
  MPI_Count size = 0;
  check(PMPI_Type_size_x(type, &size), "MPI_Type_size_x");
  const auto bytes = static_cast<std::size_t>(size);
  if (of.combiner == MPI_COMBINER_NAMED) return flatten_unknown(type, bytes);
  if (is_f90(of.combiner)) return flatten_f90(type, of.combiner, of.ints, bytes);
  TypeMap map;
  add_parts(map, of);
  FlatType flat = std::move(map).finish();
  check(PMPI_Type_get_extent(type, &flat.lower_bound, &flat.extent), "MPI_Type_get_extent");
  return flat;
}

FlatType make(MPI_Datatype type) {
  FlatType flat = flatten_any(type);
  flat.summarize();
  return flat;
}

/// Counts nothing, and never goes.
Shared borrow(const FlatType* predefined) {
  return {std::shared_ptr<const void>(), predefined};
}

// What is kept with a handle. A dup of the type does not inherit it, as it may be of another
// implementation's making.

struct Kept {
  Shared flat;
};

int keyval = MPI_KEYVAL_INVALID;
MPI_Comm quiet = MPI_COMM_NULL;  // of this process alone; errors on it are returned
std::mutex keeping;

int drop(MPI_Datatype, int, void* kept, void*) {
  delete static_cast<Kept*>(kept);
  return MPI_SUCCESS;
}

Shared find_kept(MPI_Datatype type) {
  void* kept = nullptr;
  int found = 0;
  check(PMPI_Type_get_attr(type, keyval, static_cast<void*>(&kept), &found), "MPI_Type_get_attr");
  return found != 0 ? static_cast<Kept*>(kept)->flat : nullptr;
}

/// The first one stays, until the type is freed: others may be copying it.
Shared keep(MPI_Datatype type, Shared flat) {
  const std::lock_guard lock(keeping);
  if (Shared other = find_kept(type)) return other;
  auto kept = std::make_unique<Kept>(Kept{flat});
  check(PMPI_Type_set_attr(type, keyval, kept.get()), "MPI_Type_set_attr");
  (void)kept.release();  // drop()'s
  return flat;
}

/// A part of a derived type. It is not kept with its handle: that may not be committed, which
/// flatten() asks but once.
Shared find_or_make(MPI_Datatype type) {
  if (const FlatType* const predefined = find_predefined(type)) return borrow(predefined);
  if (Shared kept = find_kept(type)) return kept;
  return std::make_shared<const FlatType>(make(type));
}

/// MPI has no question for it, but does not pack by such a type, not even nothing of it.
void check_committed(MPI_Datatype type) {
  char nothing = 0;
  int position = 0;
  if (PMPI_Pack(&nothing, 0, type, &nothing, 0, &position, quiet) != MPI_SUCCESS) {
    fail(MPI_ERR_TYPE, "the datatype is not committed");
  }
}

}  // namespace

std::shared_ptr<const FlatType> flatten(MPI_Datatype type) {
  if (const FlatType* const predefined = find_predefined(type)) return borrow(predefined);
  if (type == MPI_DATATYPE_NULL) fail(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  if (Shared kept = find_kept(type)) return kept;
  check_committed(type);
  return keep(type, std::make_shared<const FlatType>(make(type)));
}

void prepare_datatypes() {
  prepare_predefined_types();
  check(PMPI_Comm_dup(MPI_COMM_SELF, &quiet), "MPI_Comm_dup");
  check(PMPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, &drop, &keyval, nullptr),
        "MPI_Type_create_keyval");
}

void TypeMap::add(const FlatType& part, MPI_Aint offset, MPI_Aint count) {
  if (part.size == 0 || count == 0) return;
  add_element(part);
  if (!part.padded.empty() && flat_.padded.empty()) flat_.padded = flat_.data;
  const bool has_gaps = !flat_.padded.empty() || !part.padded.empty();
  append(flat_.data, part.data, part, offset, count);
  if (has_gaps) append(flat_.padded, part.elements(), part, offset, count);
}

void TypeMap::append(std::vector<Run>& runs, const std::vector<Run>& more, const FlatType& part,
                     MPI_Aint offset, MPI_Aint count) {
  const auto add = [&](Run run) {
    if (!runs.empty() &&
        runs.back().offset + static_cast<MPI_Aint>(runs.back().bytes) == run.offset) {
      runs.back().bytes += run.bytes;
    } else {
      runs.push_back(run);
    }
  };
  const bool is_one_run = more.size() == 1 && static_cast<MPI_Aint>(more[0].bytes) == part.extent;
  if (is_one_run) {
    return add({offset + more[0].offset, more[0].bytes * static_cast<std::size_t>(count)});
  }
  for (MPI_Aint i = 0; i < count; ++i, offset += part.extent) {
    for (const Run& run : more) add({offset + run.offset, run.bytes});
  }
}

/// The elements of a type are those of its parts, as long as these are alike.
void TypeMap::add_element(const FlatType& part) {
  if (flat_.basic == MPI_DATATYPE_NULL) {
    flat_.element = part.element;
    flat_.basic = part.basic;
    flat_.operations = part.operations;
    flat_.is_uniform = part.is_uniform;
  } else {
    flat_.is_uniform &= part.is_uniform && part.element == flat_.element;
    flat_.operations &= part.operations;
  }
}

void FlatType::summarize() noexcept {
  const auto is_run_of = [this](const std::vector<Run>& runs, std::size_t bytes) {
    return runs.size() == 1 && runs[0].offset == 0 && runs[0].bytes == bytes &&
           static_cast<std::size_t>(extent) == bytes;
  };
  element_bytes = 0;
  for (const Run& run : elements()) element_bytes += run.bytes;
  has_adjacent_elements = is_run_of(elements(), element_bytes);
  is_contiguous = size == 0 || is_run_of(data, size);
}

FlatType TypeMap::finish() && {
  for (const Run& run : flat_.data) {
    const MPI_Aint end = run.offset + static_cast<MPI_Aint>(run.bytes);
    const bool first = flat_.size == 0;
    flat_.true_lower = first ? run.offset : std::min(flat_.true_lower, run.offset);
    flat_.true_upper = first ? end : std::max(flat_.true_upper, end);
    flat_.size += run.bytes;
  }
  return std::move(flat_);
}

}  // namespace oriel::mpi
