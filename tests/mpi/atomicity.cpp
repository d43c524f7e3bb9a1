// Accumulates of all ranks at once: exact results whatever the order, the order of one origin's
// updates, and that elements are never torn [MPI-3.1, 11.7.1, 11.7.2].

#include <random>

#include "layout.hpp"

namespace {

/// Everything a rank does is drawn from a sequence that all can repeat: the oracle does so.
struct Draw {
  Draw(int rank, int salt) : random(static_cast<unsigned>(1000 * salt + rank)) {}
  int below(int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); }
  std::mt19937 random;
};

constexpr int kSlots = 64;

struct Update {
  int target, first, stride, blocks, value, call;
};

Update draw_update(Draw& draw, int ranks) {
  Update update{};
  update.target = draw.below(ranks);
  update.stride = 1 + draw.below(4);
  update.blocks = 1 + draw.below(12);
  update.first = draw.below(kSlots - update.stride * (update.blocks - 1));
  update.value = 1 + draw.below(1000);
  update.call = draw.below(4);
  return update;
}

/// Sums, exclusive ors or maxima: their result does not depend on the order.
void against_oracle(Flavor flavor, MPI_Op op) {
  Area<int> area(flavor, kSlots);
  const int rounds = test_scaled(200);
  const int salt = static_cast<int>(flavor);
  std::array<MPI_Datatype, 60> types{};
  for (int stride = 1; stride <= 4; ++stride)
    for (int blocks = 1; blocks <= 12; ++blocks) {
      MPI_Datatype& type = types[static_cast<std::size_t>(stride * 12 + blocks - 1)];
      MPI_Type_vector(blocks, 1, stride, MPI_INT, &type);
      MPI_Type_commit(&type);
    }
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  Draw draw(test.rank, salt);
  for (int round = 0; round < rounds; ++round) {
    const Update u = draw_update(draw, test.ranks);
    std::array<int, 12> values{};
    std::array<int, 12> before{};
    values.fill(u.value);
    MPI_Datatype const strided = types[static_cast<std::size_t>(u.stride * 12 + u.blocks - 1)];
    const auto first = static_cast<std::size_t>(u.first);
    const MPI_Aint at = area.at(u.target, first);
    MPI_Request request = MPI_REQUEST_NULL;
    switch (u.call) {
      case 0:
        CHECK_OK(MPI_Accumulate(values.data(), u.blocks, MPI_INT, u.target, at, 1, strided, op,
                                area.win));
        break;
      case 1:
        CHECK_OK(MPI_Get_accumulate(values.data(), u.blocks, MPI_INT, before.data(), u.blocks,
                                    MPI_INT, u.target, at, 1, strided, op, area.win));
        break;
      case 2:
        CHECK_OK(MPI_Raccumulate(values.data(), u.blocks, MPI_INT, u.target, at, 1, strided, op,
                                 area.win, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
      default:
        for (int i = 0; i < u.blocks; ++i)
          CHECK_OK(MPI_Fetch_and_op(
              &u.value, before.data() + i, MPI_INT, u.target,
              area.at(u.target, first + static_cast<std::size_t>(i * u.stride)), op, area.win));
    }
    CHECK_OK(MPI_Win_flush_local(u.target, area.win));
    for (const int value : before) CHECK(value >= 0);
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Barrier(MPI_COMM_WORLD);
  std::array<int, kSlots> expected{};
  for (int rank = 0; rank < test.ranks; ++rank) {
    Draw again(rank, salt);
    for (int round = 0; round < rounds; ++round) {
      const Update u = draw_update(again, test.ranks);
      if (u.target != test.rank) continue;
      for (int i = 0; i < u.blocks; ++i) {
        int& slot = expected[static_cast<std::size_t>(u.first + i * u.stride)];
        if (op == MPI_SUM) slot += u.value;
        if (op == MPI_BXOR) slot ^= u.value;
        if (op == MPI_MAX) slot = std::max(slot, u.value);
      }
    }
  }
  for (std::size_t i = 0; i < kSlots; ++i) CHECK_INT(expected[i], area.base[i]);
  for (MPI_Datatype& type : types)
    if (type != nullptr) MPI_Type_free(&type);
}

/// One origin's accumulates on one element take place in their order, of whatever sizes and shapes.
void order_of_one_origin() {
  constexpr int n = 3000;
  Area<int> area(Flavor::allocate, n);
  const int target = right_rank();
  std::vector<int> values(n);
  std::vector<int> seen(n);
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (int round = 1; round <= test_scaled(60); ++round) {
    const int count = round % 3 == 0 ? n : 1 + round % 9;
    // waw: all replaced, then a part of it again; raw: what is fetched next is that.
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = 10 * round;
    const int again = 10 * round + 1;
    const int add = 5;
    CHECK_OK(MPI_Accumulate(values.data(), count, MPI_INT, target, 0, count, MPI_INT, MPI_REPLACE,
                            area.win));
    CHECK_OK(MPI_Accumulate(&again, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_REPLACE, area.win));
    CHECK_OK(MPI_Get_accumulate(nullptr, 0, MPI_INT, seen.data(), count, MPI_INT, target, 0, count,
                                MPI_INT, MPI_NO_OP, area.win));
    // war: what was fetched is older than what comes.
    CHECK_OK(MPI_Accumulate(&add, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, area.win));
    CHECK_OK(MPI_Win_flush_local(target, area.win));
    CHECK_INT(again, seen[0]);
    if (count > 1) CHECK_INT(10 * round, seen[static_cast<std::size_t>(count - 1)]);
    CHECK_OK(MPI_Fetch_and_op(nullptr, seen.data(), MPI_INT, target, 0, MPI_NO_OP, area.win));
    CHECK_OK(MPI_Win_flush(target, area.win));
    CHECK_INT(again + add, seen[0]);
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Elements of every size are replaced and read whole, at any alignment that MPI allows.
template <class T>
void never_torn(MPI_Datatype type, const char* name) {
  test_section(name);
  Area<T> area(Flavor::allocate, 3);
  const int rounds = test_scaled(300);
  const auto pattern = [](int i) {
    T value{};
    memset(&value, 0x10 + i % 16, sizeof(value));
    return value;
  };
  area.base[1] = pattern(0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Win_lock_all(0, area.win));
  for (int i = 0; i < rounds; ++i) {
    const T mine = pattern(i + test.rank);
    T seen{};
    CHECK_OK(MPI_Fetch_and_op(&mine, &seen, type, 0, 1, MPI_REPLACE, area.win));
    CHECK_OK(MPI_Win_flush(0, area.win));
    const auto* const bytes = reinterpret_cast<unsigned char*>(&seen);
    for (std::size_t k = 1; k < sizeof(T); ++k) CHECK_INT(bytes[0], bytes[k]);
  }
  CHECK_OK(MPI_Win_unlock_all(area.win));
  MPI_Barrier(MPI_COMM_WORLD);
  if (test.rank == 0) {
    CHECK(area.base[0] == T{});
    CHECK(area.base[2] == T{});
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Sums of doubles that are exact, from many small calls and from few large ones.
void sums_of_doubles() {
  constexpr int n = 1000;
  Area<double> area(Flavor::create, n);
  const int rounds = test_scaled(20);
  const std::vector<double> halves(n, 0.5);
  CHECK_OK(MPI_Win_fence(0, area.win));
  for (int round = 0; round < rounds; ++round)
    for (int target = 0; target < test.ranks; ++target)
      CHECK_OK(MPI_Accumulate(halves.data(), n, MPI_DOUBLE, target, 0, n, MPI_DOUBLE, MPI_SUM,
                              area.win));
  for (int i = 0; i < n; i += 10)
    CHECK_OK(MPI_Accumulate(halves.data(), 1, MPI_DOUBLE, 0, i, 1, MPI_DOUBLE, MPI_SUM, area.win));
  CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, area.win));
  for (int i = 0; i < n; ++i) {
    const int extra = test.rank == 0 && i % 10 == 0 ? 1 : 0;
    CHECK_REAL(0.5 * test.ranks * (rounds + extra), area.base[i]);
  }
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_atomicity", &argc, &argv);
  const bool shares = world_shares_memory();
  for (const Flavor flavor : kFlavors) {
    if (flavor == Flavor::shared && !shares) continue;
    test_section("sums against the oracle");
    against_oracle(flavor, MPI_SUM);
    test_section("exclusive ors against the oracle");
    against_oracle(flavor, MPI_BXOR);
    test_section("maxima against the oracle");
    against_oracle(flavor, MPI_MAX);
  }
  test_section("order");
  order_of_one_origin();
  never_torn<short>(MPI_SHORT, "16 bits whole");
  never_torn<int>(MPI_INT, "32 bits whole");
  never_torn<long>(MPI_LONG, "64 bits whole");
  test_section("sums of doubles");
  sums_of_doubles();
  return test_end();
}
