// Each operation, in each kind of epoch that it may be in, on each flavor of window: what is at the
// target afterwards, what was fetched, and that no neighbour changed.

#include "support.hpp"

namespace {

enum class Call {
  put,
  get,
  accumulate,
  get_accumulate,
  fetch_and_op,
  compare_and_swap,
  rput,
  rget,
  raccumulate,
  rget_accumulate
};
constexpr std::array kCalls = {
    Call::put,  Call::get,  Call::accumulate,  Call::get_accumulate,  Call::fetch_and_op,
    Call::rput, Call::rget, Call::raccumulate, Call::rget_accumulate, Call::compare_and_swap};

bool has_request(Call call) {
  return call >= Call::rput;
}

/// Slots 1 and 2 of three are what the calls are about; single elements: slot 1 alone.
struct Expected {
  std::array<long, 2> at_target;
  std::array<long, 2> fetched;
};

constexpr long kUnfetched = -77;

Expected expected(Call call, long before, long value) {
  const std::array<long, 2> old = {before, before + 1};
  const std::array<long, 2> none = {kUnfetched, kUnfetched};
  switch (call) {
    case Call::put:
    case Call::rput:
      return {{value, value + 1}, none};
    case Call::get:
    case Call::rget:
      return {old, old};
    case Call::accumulate:
    case Call::raccumulate:
      return {{before + value, before + value + 2}, none};
    case Call::get_accumulate:
    case Call::rget_accumulate:
      return {{before + value, before + value + 2}, old};
    case Call::fetch_and_op:
      return {{before + value, before + 1}, {before, kUnfetched}};
    case Call::compare_and_swap:
      return {{value, before + 1}, {before, kUnfetched}};
  }
  return {};
}

void carry_out(Call call, const Area<long>& area, const long* origin, const long* compare,
               long* result) {
  const int target = right_rank();
  const MPI_Aint at = area.at(target, 1);
  const MPI_Datatype type = MPI_LONG;
  MPI_Win const win = area.win;
  MPI_Request request = MPI_REQUEST_NULL;
  switch (call) {
    case Call::put:
      CHECK_OK(MPI_Put(origin, 2, type, target, at, 2, type, win));
      break;
    case Call::get:
      CHECK_OK(MPI_Get(result, 2, type, target, at, 2, type, win));
      break;
    case Call::accumulate:
      CHECK_OK(MPI_Accumulate(origin, 2, type, target, at, 2, type, MPI_SUM, win));
      break;
    case Call::get_accumulate:
      CHECK_OK(
          MPI_Get_accumulate(origin, 2, type, result, 2, type, target, at, 2, type, MPI_SUM, win));
      break;
    case Call::fetch_and_op:
      CHECK_OK(MPI_Fetch_and_op(origin, result, type, target, at, MPI_SUM, win));
      break;
    case Call::compare_and_swap:
      CHECK_OK(MPI_Compare_and_swap(origin, compare, result, type, target, at, win));
      break;
    case Call::rput:
      CHECK_OK(MPI_Rput(origin, 2, type, target, at, 2, type, win, &request));
      break;
    case Call::rget:
      CHECK_OK(MPI_Rget(result, 2, type, target, at, 2, type, win, &request));
      break;
    case Call::raccumulate:
      CHECK_OK(MPI_Raccumulate(origin, 2, type, target, at, 2, type, MPI_SUM, win, &request));
      break;
    case Call::rget_accumulate:
      CHECK_OK(MPI_Rget_accumulate(origin, 2, type, result, 2, type, target, at, 2, type, MPI_SUM,
                                   win, &request));
      break;
  }
  if (has_request(call)) CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

void check(Call call, Epoch epoch, Area<long>& area) {
  const auto before_of = [](int rank) { return 1000L + 10 * rank; };
  const auto value_of = [](int rank) { return 5L + 100 * rank; };
  area.base[0] = area.base[3] = -1;
  area.base[1] = before_of(test.rank);
  area.base[2] = before_of(test.rank) + 1;
  const std::array<long, 2> origin = {value_of(test.rank), value_of(test.rank) + 1};
  const long compare = before_of(right_rank());
  std::array<long, 2> result = {kUnfetched, kUnfetched};
  MPI_Barrier(MPI_COMM_WORLD);
  in_epoch(epoch, area.win, right_rank(),
           [&] { carry_out(call, area, origin.data(), &compare, result.data()); });
  const Expected here = expected(call, before_of(test.rank), value_of(left_rank()));
  const Expected mine = expected(call, before_of(right_rank()), value_of(test.rank));
  CHECK_INT(-1, area.base[0]);
  CHECK_INT(here.at_target[0], area.base[1]);
  CHECK_INT(here.at_target[1], area.base[2]);
  CHECK_INT(-1, area.base[3]);
  CHECK_INT(mine.fetched[0], result[0]);
  CHECK_INT(mine.fetched[1], result[1]);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Epochs of all kinds follow each other in one window, towards targets near and far, and what is
/// there is seen under a lock.
void in_turn(Flavor flavor) {
  test_section("epochs in turn");
  Area<long> area(flavor, 1);
  unsigned random = 12345;
  const long one = 1;
  long expected = 0;
  for (int round = 0; round < test_scaled(60); ++round) {
    random = random * 1664525U + 1013904223U;
    const int target = right_rank(static_cast<int>((random >> 10U) % 3U));
    in_epoch(kEpochs[(random >> 20U) % kEpochs.size()], area.win, target, [&] {
      for (int i = 0; i < 3; ++i)
        CHECK_OK(MPI_Accumulate(&one, 1, MPI_LONG, target, area.at(target, 0), 1, MPI_LONG, MPI_SUM,
                                area.win));
    });
    expected += 3;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, test.rank, 0, area.win));
    CHECK_INT(expected, area.base[0]);
    CHECK_OK(MPI_Win_unlock(test.rank, area.win));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  test_begin("mpi_operations_in_epochs", &argc, &argv);
  const bool shares = world_shares_memory();
  for (const Flavor flavor : kFlavors) {
    if (flavor == Flavor::shared && !shares) continue;
    in_turn(flavor);
    Area<long> area(flavor, 4);
    for (const Epoch epoch : kEpochs)
      for (const Call call : kCalls) {
        static std::array<char, 64> section{};
        snprintf(section.data(), section.size(), "call %d in epoch %d, flavor %d",
                 static_cast<int>(call), static_cast<int>(epoch), static_cast<int>(flavor));
        test_section(section.data());
        if (!has_request(call) || is_passive(epoch)) check(call, epoch, area);
      }
  }
  return test_end();
}
