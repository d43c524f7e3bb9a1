#include "stencil/mpi_exchange.hpp"

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "stencil/blocks.hpp"

namespace stencil {
namespace {

int rank_in_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Cells of an area, as MPI sees them.
class CellType {
 public:
  explicit CellType(const Area& area) {
    const oriel::Dimension rows = area.layout.dimensions().front();
    MPI_Type_vector(static_cast<int>(rows.count), static_cast<int>(area.layout.block()),
                    static_cast<int>(rows.stride), MPI_DOUBLE, &type_);
    MPI_Type_commit(&type_);
  }
  CellType(CellType&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  CellType& operator=(CellType&&) = delete;
  ~CellType() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// What this rank and a neighbour have of each other.
struct Border {
  Border(Side its_side, int its_rank, const Block& mine, const Block& its)
      : side(its_side),
        rank(its_rank),
        edge(line(mine, its_side, 1)),
        ghosts(line(mine, its_side, 0)),
        its_ghosts(line(its, opposite(its_side), 0)),
        its_cells(cells_with_border(its.x.size, its.y.size)),
        edge_type(edge),
        ghosts_type(ghosts),
        its_ghosts_type(its_ghosts) {}
  Side side;
  int rank;
  Area edge, ghosts, its_ghosts;
  std::size_t its_cells;
  CellType edge_type, ghosts_type, its_ghosts_type;
};

class Borders {
 public:
  Borders(const RankGrid& grid, const Extent& extent)
      : mine_(block_of(grid, extent, rank_in_world())) {
    for (const Side side : kSides) {
      if (const auto rank = neighbour(grid, rank_in_world(), side)) {
        all_.emplace_back(side, *rank, mine_, block_of(grid, extent, *rank));
      }
    }
  }
  [[nodiscard]] const std::vector<Border>& all() const noexcept { return all_; }
  [[nodiscard]] std::size_t cells() const noexcept {
    return cells_with_border(mine_.x.size, mine_.y.size);
  }
  [[nodiscard]] BlockView view(double* memory, std::size_t step) const {
    return {{memory + step % 2 * cells(), cells()}, mine_.x.size, mine_.y.size};
  }

 private:
  Block mine_;
  std::vector<Border> all_;
};

class TwoSided final : public MpiExchange {
 public:
  TwoSided(const RankGrid& grid, const Extent& extent)
      : borders_(grid, extent), memory_(2 * borders_.cells()) {}

  BlockView block(std::size_t step) override { return borders_.view(memory_.data(), step); }
  void exchange(std::size_t step) override {
    double* const cells = block(step).cells.data();
    requests_.clear();
    for (const Border& from : borders_.all()) {
      MPI_Irecv(cells + from.ghosts.first, 1, from.ghosts_type.get(), from.rank,
                static_cast<int>(from.side), MPI_COMM_WORLD, &requests_.emplace_back());
    }
    for (const Border& to : borders_.all()) {
      MPI_Isend(cells + to.edge.first, 1, to.edge_type.get(), to.rank,
                static_cast<int>(opposite(to.side)), MPI_COMM_WORLD, &requests_.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  Borders borders_;
  std::vector<double> memory_;
  std::vector<MPI_Request> requests_;
};

/// Memory of MPI_Win_allocate.
class Rma : public MpiExchange {
 public:
  Rma(const RankGrid& grid, const Extent& extent) : borders_(grid, extent) {
    const auto bytes = static_cast<MPI_Aint>(2 * borders_.cells() * sizeof(double));
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory_, &window_);
    std::fill_n(memory_, 2 * borders_.cells(), 0.0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Rma() override { MPI_Win_free(&window_); }
  BlockView block(std::size_t step) override { return borders_.view(memory_, step); }

 protected:
  void put_edges(std::size_t step) {
    for (const Border& to : borders_.all()) {
      MPI_Put(block(step).cells.data() + to.edge.first, 1, to.edge_type.get(), to.rank,
              static_cast<MPI_Aint>(step % 2 * to.its_cells + to.its_ghosts.first), 1,
              to.its_ghosts_type.get(), window_);
    }
  }
  [[nodiscard]] const Borders& borders() const noexcept { return borders_; }
  [[nodiscard]] MPI_Win window() const noexcept { return window_; }

 private:
  Borders borders_;
  double* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

class FencedRma final : public Rma {
 public:
  FencedRma(const RankGrid& grid, const Extent& extent) : Rma(grid, extent) {
    MPI_Win_fence(0, window());
  }
  void exchange(std::size_t step) override {
    put_edges(step);
    MPI_Win_fence(0, window());
  }
};

class PscwRma final : public Rma {
 public:
  PscwRma(const RankGrid& grid, const Extent& extent) : Rma(grid, extent) {
    std::vector<int> ranks;
    for (const Border& border : borders().all()) ranks.push_back(border.rank);
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &neighbours_);
    MPI_Group_free(&world);
  }
  ~PscwRma() override { MPI_Group_free(&neighbours_); }
  void exchange(std::size_t step) override {
    MPI_Win_post(neighbours_, 0, window());
    MPI_Win_start(neighbours_, 0, window());
    put_edges(step);
    MPI_Win_complete(window());
    MPI_Win_wait(window());
  }

 private:
  MPI_Group neighbours_ = MPI_GROUP_NULL;
};

}  // namespace

std::unique_ptr<MpiExchange> make_two_sided(const RankGrid& grid, const Extent& extent) {
  return std::make_unique<TwoSided>(grid, extent);
}
std::unique_ptr<MpiExchange> make_rma_fence(const RankGrid& grid, const Extent& extent) {
  return std::make_unique<FencedRma>(grid, extent);
}
std::unique_ptr<MpiExchange> make_rma_pscw(const RankGrid& grid, const Extent& extent) {
  return std::make_unique<PscwRma>(grid, extent);
}

}  // namespace stencil
