#pragma once
/// Datatypes beside what they mean: each constructor is carried out a second time on lists of
/// bytes, as the standard defines type maps [MPI-3.1, 4.1]. The oracle of all tests with derived
/// types.

#include <algorithm>
#include <numeric>
#include <utility>

#include "support.hpp"

struct Layout {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool owned = false;
  std::vector<std::pair<MPI_Aint, int>> map;  // where, and how many bytes of a basic element
  MPI_Aint lower = 0;
  MPI_Aint upper = 0;

  [[nodiscard]] MPI_Aint extent() const { return upper - lower; }
};

inline Layout basic(MPI_Datatype type, int size) {
  return {type, false, {{0, size}}, 0, size};
}

/// For MPI to use, and checked against what MPI says of it.
inline void commit(Layout& layout) {
  CHECK_OK(MPI_Type_commit(&layout.type));
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  int size = 0;
  MPI_Type_get_extent(layout.type, &lower, &extent);
  MPI_Type_size(layout.type, &size);
  int expected = 0;
  for (const auto& element : layout.map) expected += element.second;
  CHECK_INT(expected, size);
  CHECK_INT(layout.lower, lower);
  CHECK_INT(layout.extent(), extent);
}

inline void free_layout(Layout& layout) {
  if (layout.owned) MPI_Type_free(&layout.type);
}

/// `old`, at these byte displacements, one after the other: what every constructor comes down to.
inline Layout placed(const Layout& old, const std::vector<MPI_Aint>& places) {
  Layout made;
  made.owned = true;
  bool first = true;
  for (const MPI_Aint place : places) {
    for (const auto& [at, size] : old.map) made.map.emplace_back(place + at, size);
    made.lower = first ? place + old.lower : std::min(made.lower, place + old.lower);
    made.upper = first ? place + old.upper : std::max(made.upper, place + old.upper);
    first = false;
  }
  return made;
}

inline Layout contiguous(int count, const Layout& old) {
  std::vector<MPI_Aint> places;
  for (int i = 0; i < count; ++i) places.push_back(i * old.extent());
  Layout made = placed(old, places);
  CHECK_OK(MPI_Type_contiguous(count, old.type, &made.type));
  return made;
}

inline Layout hvector(int count, int block, MPI_Aint stride, const Layout& old) {
  std::vector<MPI_Aint> places;
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < block; ++k) places.push_back(i * stride + k * old.extent());
  Layout made = placed(old, places);
  CHECK_OK(MPI_Type_create_hvector(count, block, stride, old.type, &made.type));
  return made;
}

inline Layout vector(int count, int block, int stride, const Layout& old) {
  std::vector<MPI_Aint> places;
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < block; ++k) places.push_back((i * stride + k) * old.extent());
  Layout made = placed(old, places);
  CHECK_OK(MPI_Type_vector(count, block, stride, old.type, &made.type));
  return made;
}

inline std::vector<MPI_Aint> block_places(const std::vector<int>& blocks,
                                          const std::vector<MPI_Aint>& starts, MPI_Aint extent) {
  std::vector<MPI_Aint> places;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (int k = 0; k < blocks[i]; ++k) places.push_back(starts[i] + k * extent);
  return places;
}

inline Layout indexed(const std::vector<int>& blocks, const std::vector<int>& starts,
                      const Layout& old) {
  std::vector<MPI_Aint> bytes;
  for (const int start : starts) bytes.push_back(start * old.extent());
  Layout made = placed(old, block_places(blocks, bytes, old.extent()));
  CHECK_OK(MPI_Type_indexed(static_cast<int>(blocks.size()), blocks.data(), starts.data(), old.type,
                            &made.type));
  return made;
}

inline Layout hindexed(const std::vector<int>& blocks, const std::vector<MPI_Aint>& starts,
                       const Layout& old) {
  Layout made = placed(old, block_places(blocks, starts, old.extent()));
  CHECK_OK(MPI_Type_create_hindexed(static_cast<int>(blocks.size()), blocks.data(), starts.data(),
                                    old.type, &made.type));
  return made;
}

inline Layout indexed_block(int block, const std::vector<int>& starts, const Layout& old) {
  std::vector<MPI_Aint> bytes;
  for (const int start : starts) bytes.push_back(start * old.extent());
  const std::vector<int> blocks(starts.size(), block);
  Layout made = placed(old, block_places(blocks, bytes, old.extent()));
  CHECK_OK(MPI_Type_create_indexed_block(static_cast<int>(starts.size()), block, starts.data(),
                                         old.type, &made.type));
  return made;
}

inline Layout hindexed_block(int block, const std::vector<MPI_Aint>& starts, const Layout& old) {
  const std::vector<int> blocks(starts.size(), block);
  Layout made = placed(old, block_places(blocks, starts, old.extent()));
  CHECK_OK(MPI_Type_create_hindexed_block(static_cast<int>(starts.size()), block, starts.data(),
                                          old.type, &made.type));
  return made;
}

inline Layout resized(MPI_Aint lower, MPI_Aint extent, const Layout& old) {
  Layout made = old;
  made.owned = true;
  made.lower = lower;
  made.upper = lower + extent;
  CHECK_OK(MPI_Type_create_resized(old.type, lower, extent, &made.type));
  return made;
}

inline Layout duplicate(const Layout& old) {
  Layout made = old;
  made.owned = true;
  CHECK_OK(MPI_Type_dup(old.type, &made.type));
  return made;
}

/// Always resized to `extent` by those who use it: what MPI adds for alignment is its own affair.
inline Layout structure(const std::vector<int>& blocks, const std::vector<MPI_Aint>& starts,
                        const std::vector<Layout>& parts, MPI_Aint extent) {
  Layout made;
  std::vector<MPI_Datatype> types;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Layout some = placed(parts[i], block_places({blocks[i]}, {starts[i]}, parts[i].extent()));
    made.map.insert(made.map.end(), some.map.begin(), some.map.end());
    types.push_back(parts[i].type);
  }
  MPI_Datatype plain = MPI_DATATYPE_NULL;
  CHECK_OK(MPI_Type_create_struct(static_cast<int>(parts.size()), blocks.data(), starts.data(),
                                  types.data(), &plain));
  made.type = plain;
  Layout sized = resized(0, extent, made);
  MPI_Type_free(&plain);
  return sized;
}

/// The elements of an array for which `takes(index of each dimension)` holds, in the array's order.
template <class Takes>
std::vector<MPI_Aint> array_places(const std::vector<int>& sizes, int order, MPI_Aint extent,
                                   Takes&& takes) {
  const std::size_t dims = sizes.size();
  MPI_Aint total = 1;
  for (const int size : sizes) total *= size;
  std::vector<MPI_Aint> places;
  std::vector<int> index(dims);
  for (MPI_Aint linear = 0; linear < total; ++linear) {
    MPI_Aint rest = linear;
    for (std::size_t i = 0; i < dims; ++i) {
      const std::size_t dim = order == MPI_ORDER_C ? dims - 1 - i : i;
      index[dim] = static_cast<int>(rest % sizes[dim]);
      rest /= sizes[dim];
    }
    if (takes(index)) places.push_back(linear * extent);
  }
  return places;
}

inline MPI_Aint whole_array(const std::vector<int>& sizes, MPI_Aint extent) {
  return std::accumulate(sizes.begin(), sizes.end(), extent, std::multiplies<>());
}

inline Layout subarray(const std::vector<int>& sizes, const std::vector<int>& parts,
                       const std::vector<int>& starts, int order, const Layout& old) {
  Layout made = placed(old, array_places(sizes, order, old.extent(), [&](const auto& index) {
                         for (std::size_t i = 0; i < sizes.size(); ++i)
                           if (index[i] < starts[i] || index[i] >= starts[i] + parts[i])
                             return false;
                         return true;
                       }));
  made.lower = 0;
  made.upper = whole_array(sizes, old.extent());
  CHECK_OK(MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), parts.data(),
                                    starts.data(), order, old.type, &made.type));
  return made;
}

/// Block-cyclic parts of an array: `blocks[i]` is the size of a block of dimension i, dealt out to
/// `grid[i]` processes. The processes' grid is in row-major order whatever the array's.
inline Layout darray(int rank, const std::vector<int>& sizes, const std::vector<int>& distributions,
                     const std::vector<int>& arguments, const std::vector<int>& grid, int order,
                     const Layout& old) {
  const std::size_t dims = sizes.size();
  std::vector<int> place(dims);
  int processes = 1;
  for (const int many : grid) processes *= many;
  int rest = rank;
  for (std::size_t i = dims; i-- > 0;) {
    place[i] = rest % grid[i];
    rest /= grid[i];
  }
  Layout made = placed(old, array_places(sizes, order, old.extent(), [&](const auto& index) {
                         for (std::size_t i = 0; i < dims; ++i) {
                           if (distributions[i] == MPI_DISTRIBUTE_NONE) continue;
                           int block = arguments[i];
                           if (block == MPI_DISTRIBUTE_DFLT_DARG)
                             block = distributions[i] == MPI_DISTRIBUTE_BLOCK
                                         ? (sizes[i] + grid[i] - 1) / grid[i]
                                         : 1;
                           if (index[i] / block % grid[i] != place[i]) return false;
                         }
                         return true;
                       }));
  made.lower = 0;
  made.upper = whole_array(sizes, old.extent());
  CHECK_OK(MPI_Type_create_darray(processes, rank, static_cast<int>(dims), sizes.data(),
                                  distributions.data(), arguments.data(), grid.data(), order,
                                  old.type, &made.type));
  return made;
}

/// Where the elements of `count` instances are.
inline std::vector<std::pair<MPI_Aint, int>> elements(const Layout& layout, int count) {
  std::vector<std::pair<MPI_Aint, int>> all;
  all.reserve(layout.map.size() * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    for (const auto& [at, size] : layout.map) all.emplace_back(at + i * layout.extent(), size);
  return all;
}

/// The lowest byte and one past the highest, of `count` instances.
inline std::pair<MPI_Aint, MPI_Aint> span_of(const Layout& layout, int count) {
  std::pair<MPI_Aint, MPI_Aint> span{0, 0};
  bool first = true;
  for (const auto& [at, size] : elements(layout, count)) {
    span.first = first ? at : std::min(span.first, at);
    span.second = first ? at + size : std::max(span.second, at + size);
    first = false;
  }
  return span;
}

/// Whether no byte is there twice: then it may be written to.
inline bool is_disjoint(const Layout& layout, int count) {
  auto all = elements(layout, count);
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i - 1].first + all[i - 1].second > all[i].first) return false;
  return true;
}
