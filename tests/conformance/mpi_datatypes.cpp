#include "conformance/mpi_datatypes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "conformance/oracle.hpp"

namespace oriel::conformance::mpi {
namespace {

/// Numbers that follow from a choice, one after the other.
class Choice {
 public:
  explicit Choice(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] std::size_t below(std::size_t limit) { return mix(seed_, ++drawn_) % limit; }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

/// Neighbouring elements; in elements.
struct Piece {
  std::size_t start;
  std::size_t length;
};

int small(std::size_t number) {
  return static_cast<int>(number);
}

MPI_Aint wide(std::size_t number) {
  return static_cast<MPI_Aint>(number);
}

MPI_Aint extent_of(const Datatype& type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type.get(), &lower, &extent);
  return extent;
}

Datatype duplicate(const Datatype& type) {
  return Datatype::made(fmt::format("dup({})", type.text()), [&](MPI_Datatype* made) {
    check(MPI_Type_dup(type.get(), made), "MPI_Type_dup");
  });
}

Datatype contiguous_type(std::size_t count, const Datatype& inner) {
  return Datatype::made(
      fmt::format("contiguous({}, {})", count, inner.text()), [&](MPI_Datatype* made) {
        check(MPI_Type_contiguous(small(count), inner.get(), made), "MPI_Type_contiguous");
      });
}

/// Strides in the extents of `inner`.
Datatype vector_type(std::size_t count, std::size_t block, std::size_t stride,
                     const Datatype& inner) {
  return Datatype::made(
      fmt::format("vector({}, {}, {}, {})", count, block, stride, inner.text()),
      [&](MPI_Datatype* made) {
        check(MPI_Type_vector(small(count), small(block), small(stride), inner.get(), made),
              "MPI_Type_vector");
      });
}

/// Strides in bytes.
Datatype hvector_type(std::size_t count, std::size_t block, MPI_Aint stride,
                      const Datatype& inner) {
  return Datatype::made(
      fmt::format("hvector({}, {}, {}, {})", count, block, stride, inner.text()),
      [&](MPI_Datatype* made) {
        check(MPI_Type_create_hvector(small(count), small(block), stride, inner.get(), made),
              "MPI_Type_create_hvector");
      });
}

Datatype resized_type(const Datatype& inner, MPI_Aint lower, MPI_Aint extent) {
  return Datatype::made(
      fmt::format("resized({}, {}, {})", inner.text(), lower, extent), [&](MPI_Datatype* made) {
        check(MPI_Type_create_resized(inner.get(), lower, extent, made), "MPI_Type_create_resized");
      });
}

/// The parts one behind the other in the type map, each at its displacement.
Datatype struct_type(const std::vector<const Datatype*>& parts,
                     const std::vector<MPI_Aint>& places) {
  std::string text = "struct(";
  std::vector<MPI_Datatype> types;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    types.push_back(parts[i]->get());
    if (i < 4) text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", places[i], parts[i]->text());
  }
  const std::vector<int> lengths(parts.size(), 1);
  return Datatype::made(text + ")", [&](MPI_Datatype* made) {
    check(MPI_Type_create_struct(small(parts.size()), lengths.data(), places.data(), types.data(),
                                 made),
          "MPI_Type_create_struct");
  });
}

/// `block` elements of every `stride`, `count` times, cut out of an array of rows that begins
/// before the data and is moved back.
Datatype subarray_type(std::size_t count, std::size_t block, std::size_t stride,
                       const Datatype& element, Choice& choice) {
  std::array<int, 2> sizes = {small(count) + 2, small(stride)};
  std::array<int, 2> parts = {small(count), small(block)};
  std::array<int, 2> starts = {1, small(choice.below(stride - block + 1))};
  const MPI_Aint back = -(MPI_Aint{sizes[1]} + starts[1]) * extent_of(element);
  const int order = choice.below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  if (order == MPI_ORDER_FORTRAN) {
    for (std::array<int, 2>* one : {&sizes, &parts, &starts}) std::swap((*one)[0], (*one)[1]);
  }
  const Datatype array =
      Datatype::made(fmt::format("subarray({}, {}, {}, {}, {})", sizes, parts, starts,
                                 order == MPI_ORDER_C ? "C" : "Fortran", element.text()),
                     [&](MPI_Datatype* made) {
                       check(MPI_Type_create_subarray(2, sizes.data(), parts.data(), starts.data(),
                                                      order, element.get(), made),
                             "MPI_Type_create_subarray");
                     });
  return struct_type({&array}, {back});
}

/// Pieces of one length, in their order.
Datatype block_type(const std::vector<Piece>& pieces, const Datatype& element, bool in_bytes) {
  std::vector<int> places;
  std::vector<MPI_Aint> addresses;
  for (const Piece& piece : pieces) {
    places.push_back(small(piece.start));
    addresses.push_back(wide(piece.start) * extent_of(element));
  }
  const int length = small(pieces.front().length);
  return Datatype::made(
      fmt::format("{}indexed_block({} of {}, {})", in_bytes ? "h" : "", pieces.size(), length,
                  element.text()),
      [&](MPI_Datatype* made) {
        if (in_bytes) {
          check(MPI_Type_create_hindexed_block(small(pieces.size()), length, addresses.data(),
                                               element.get(), made),
                "MPI_Type_create_hindexed_block");
        } else {
          check(MPI_Type_create_indexed_block(small(pieces.size()), length, places.data(),
                                              element.get(), made),
                "MPI_Type_create_indexed_block");
        }
      });
}

/// Pieces of any lengths, in their order.
Datatype indexed_type(const std::vector<Piece>& pieces, const Datatype& element, bool in_bytes) {
  std::vector<int> lengths;
  std::vector<int> places;
  std::vector<MPI_Aint> addresses;
  for (const Piece& piece : pieces) {
    lengths.push_back(small(piece.length));
    places.push_back(small(piece.start));
    addresses.push_back(wide(piece.start) * extent_of(element));
  }
  return Datatype::made(
      fmt::format("{}indexed({}, {})", in_bytes ? "h" : "", pieces.size(), element.text()),
      [&](MPI_Datatype* made) {
        if (in_bytes) {
          check(MPI_Type_create_hindexed(small(pieces.size()), lengths.data(), addresses.data(),
                                         element.get(), made),
                "MPI_Type_create_hindexed");
        } else {
          check(MPI_Type_indexed(small(pieces.size()), lengths.data(), places.data(), element.get(),
                                 made),
                "MPI_Type_indexed");
        }
      });
}

std::vector<Piece> pieces_of(const Shape& shape) {
  std::vector<Piece> pieces;
  for (const std::size_t at : shape.places()) {
    if (!pieces.empty() && pieces.back().start + pieces.back().length == at) {
      ++pieces.back().length;
    } else {
      pieces.push_back({at, 1});
    }
  }
  return pieces;
}

/// Pieces, named one by one, or some of them within others.
Datatype scattered_type(const std::vector<Piece>& pieces, const Datatype& element, Choice& choice) {
  const bool alike = std::ranges::all_of(
      pieces, [&](const Piece& piece) { return piece.length == pieces.front().length; });
  const bool in_bytes = choice.below(2) == 0;
  switch (choice.below(4)) {
    case 0:
      if (alike) return block_type(pieces, element, in_bytes);
      [[fallthrough]];
    case 1:
      return indexed_type(pieces, element, in_bytes);
    case 2: {
      if (pieces.size() < 2) return indexed_type(pieces, element, in_bytes);
      const auto half =
          pieces.begin() + static_cast<std::ptrdiff_t>(1 + choice.below(pieces.size() - 1));
      const Datatype first = scattered_type({pieces.begin(), half}, element, choice);
      const Datatype second = scattered_type({half, pieces.end()}, element, choice);
      return struct_type({&first, &second}, {0, 0});
    }
    default: {
      std::vector<Datatype> parts;
      std::vector<MPI_Aint> places;
      for (const Piece& piece : pieces) {
        parts.push_back(contiguous_type(piece.length, element));
        places.push_back(wide(piece.start) * extent_of(element));
      }
      std::vector<const Datatype*> all;
      for (const Datatype& part : parts) all.push_back(&part);
      return struct_type(all, places);
    }
  }
}

/// The fastest dimension of a shape, and the elements that lie together.
Datatype row_type(const Dimension& dimension, std::size_t block, const Datatype& element,
                  Choice& choice) {
  const MPI_Aint stride = wide(dimension.stride) * extent_of(element);
  switch (choice.below(dimension.stride < block ? 3 : 4)) {
    case 0:
      return vector_type(dimension.count, block, dimension.stride, element);
    case 1:
      return hvector_type(dimension.count, block, stride, element);
    case 2:
      return contiguous_type(dimension.count,
                             resized_type(contiguous_type(block, element), 0, stride));
    default:
      return subarray_type(dimension.count, block, dimension.stride, element, choice);
  }
}

/// Dimension by dimension, the slower ones around the faster.
Datatype nested_type(const Shape& shape, const Datatype& element, Choice& choice) {
  Datatype type = row_type(shape.dimensions.back(), shape.block, element, choice);
  for (std::size_t d = shape.dimensions.size() - 1; d-- > 0;) {
    const Dimension& dimension = shape.dimensions[d];
    const MPI_Aint stride = wide(dimension.stride) * extent_of(element);
    type = choice.below(2) == 0 ? hvector_type(dimension.count, 1, stride, type)
                                : contiguous_type(dimension.count, resized_type(type, 0, stride));
  }
  return type;
}

/// What lies together.
Described describe_run(std::size_t count, const Datatype& element, Choice& choice) {
  std::size_t block = 1 + choice.below(std::min<std::size_t>(count, 16));
  while (count % block != 0) --block;
  switch (choice.below(5)) {
    case 0:
      return {contiguous_type(count, element), 1};
    case 1:
      return {contiguous_type(block, element), small(count / block)};
    case 2:
      return {vector_type(count / block, block, block, element), 1};
    case 3:
      return {subarray_type(1, count, count + 1 + choice.below(3), element, choice), 1};
    default:
      return {duplicate(element), small(count)};
  }
}

/// Bounds that do not lie where the data is matter to nothing if there is one.
Datatype disguised(Datatype type, const Datatype& element, Choice& choice) {
  const MPI_Aint extent = extent_of(element);
  switch (choice.below(6)) {
    case 0:
      return resized_type(type, -3 * extent, 2 * extent);
    case 1:
      return contiguous_type(1, type);
    case 2:
      return duplicate(type);
    default:
      return type;
  }
}

}  // namespace

Datatype::~Datatype() {
  if (owned_) MPI_Type_free(&type_);
}

void Datatype::commit() {
  if (owned_) check(MPI_Type_commit(&type_), "MPI_Type_commit");
}

Described describe(const Shape& shape, const Datatype& element, std::uint64_t seed) {
  Choice choice(seed);
  const bool is_run = shape.kind == ShapeKind::contiguous;
  Described result{element.alias(), small(shape.count())};
  if (result.count == 0 || (is_run && choice.below(2) == 0)) return result;
  if (is_run && choice.below(4) != 0) {
    result = describe_run(shape.count(), element, choice);
  } else if (shape.kind == ShapeKind::indexed || is_run || choice.below(4) == 0) {
    result = {scattered_type(pieces_of(shape), element, choice), 1};
  } else if (choice.below(3) == 0) {  // the slowest dimension by the count
    Shape inner = shape;
    inner.dimensions.front().count = 1;
    const MPI_Aint stride = wide(shape.dimensions.front().stride) * extent_of(element);
    result = {resized_type(nested_type(inner, element, choice), 0, stride),
              small(shape.dimensions.front().count)};
  } else {
    result = {nested_type(shape, element, choice), 1};
  }
  if (result.count == 1) result.type = disguised(std::move(result.type), element, choice);
  result.type.commit();
  return result;
}

}  // namespace oriel::conformance::mpi
