#pragma once
/// The exchange of edges by MPI itself, to compare with.

#include <cstddef>
#include <memory>

#include "stencil/field.hpp"
#include "stencil/rank_grid.hpp"

namespace stencil {

/// Does what Halo does on Blocks, in memory of its own: two blocks of cells with ghost cells, of
/// which step s reads block s % 2. Ranks are those of MPI_COMM_WORLD. Collective to create and
/// destroy.
class MpiExchange {
 public:
  MpiExchange() = default;
  virtual ~MpiExchange() = default;
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;

  [[nodiscard]] virtual BlockView block(std::size_t step) = 0;
  /// As Halo::exchange().
  virtual void exchange(std::size_t step) = 0;
};

/// MPI_Isend, MPI_Irecv, MPI_Waitall.
[[nodiscard]] std::unique_ptr<MpiExchange> make_two_sided(const RankGrid& grid,
                                                          const Extent& extent);
/// MPI_Put between fences, into memory of MPI_Win_allocate.
[[nodiscard]] std::unique_ptr<MpiExchange> make_rma_fence(const RankGrid& grid,
                                                          const Extent& extent);
/// MPI_Put, by MPI_Win_post, start, complete and wait.
[[nodiscard]] std::unique_ptr<MpiExchange> make_rma_pscw(const RankGrid& grid,
                                                         const Extent& extent);

}  // namespace stencil
