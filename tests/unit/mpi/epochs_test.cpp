// Every call in every state, against a table that says where it leads.
#include "mpi/epochs.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "mpi/call.hpp"

namespace oriel::mpi {
namespace {

using Call = std::function<void(Epochs&)>;

const std::map<std::string, Call>& calls() {
  static constexpr std::array kGroup{1};
  static const std::map<std::string, Call> all{
      {"op0", [](Epochs& epochs) { epochs.check_access(0); }},
      {"op1", [](Epochs& epochs) { epochs.check_access(1); }},
      {"flush0", [](Epochs& epochs) { epochs.check_passive(0); }},
      {"flush1", [](Epochs& epochs) { epochs.check_passive(1); }},
      {"flush_all", [](Epochs& epochs) { epochs.check_passive(-1); }},
      {"fence", [](Epochs& epochs) { epochs.fence(false); }},
      {"last_fence", [](Epochs& epochs) { epochs.fence(true); }},
      {"start1", [](Epochs& epochs) { epochs.start(kGroup); }},
      {"complete", [](Epochs& epochs) { epochs.complete(); }},
      {"post", [](Epochs& epochs) { epochs.post(); }},
      {"wait", [](Epochs& epochs) { epochs.wait(); }},
      {"test", [](Epochs& epochs) { epochs.check_exposed(); }},
      {"lock0", [](Epochs& epochs) { epochs.lock(0); }},
      {"lock1", [](Epochs& epochs) { epochs.lock(1); }},
      {"unlock0", [](Epochs& epochs) { epochs.unlock(0); }},
      {"unlock1", [](Epochs& epochs) { epochs.unlock(1); }},
      {"lock_all", [](Epochs& epochs) { epochs.lock_all(); }},
      {"unlock_all", [](Epochs& epochs) { epochs.unlock_all(); }},
      {"free", [](Epochs& epochs) { epochs.check_none(); }},
  };
  return all;
}

// N: no epoch. M: after a fence, the next epoch may begin. F: it has begun. S: start, of rank 1.
// L0, L1, L01: these ranks are locked. A: lock_all. f before S, L, A: after a fence. + behind: and
// posted. A cell is the state after the call; `-` forbids it.
constexpr const char* kTable = R"(
state op0  op1  flush0 flush1 flush_all fence last_fence start1 complete post wait test lock0 lock1 unlock0 unlock1 lock_all unlock_all free
N     -    -    -      -      -         M     N          S      -        N+    -   -    L0    L1    -       -       A        -          N
M     F    F    -      -      -         M     N          fS     -        M+    -   -    fL0   fL1   -       -       fA       -          M
F     F    F    -      -      -         M     N          -      -        -     -   -    -     -     -       -       -        -          F
S     -    S    -      -      -         -     -          -      N        S+    -   -    -     -     -       -       -        -          -
L0    L0   -    L0     -      L0        -     -          -      -        L0+   -   -    -     L01   N       -       -        -          -
L1    -    L1   -      L1     L1        -     -          -      -        L1+   -   -    L01   -     -       N       -        -          -
L01   L01  L01  L01    L01    L01       -     -          -      -        L01+  -   -    -     -     L1      L0      -        -          -
A     A    A    A      A      A         -     -          -      -        A+    -   -    -     -     -       -       -        N          -
fS    -    fS   -      -      -         -     -          -      M        fS+   -   -    -     -     -       -       -        -          -
fL0   fL0  -    fL0    -      fL0       -     -          -      -        fL0+  -   -    -     fL01  M       -       -        -          -
fL1   -    fL1  -      fL1    fL1       -     -          -      -        fL1+  -   -    fL01  -     -       M       -        -          -
fL01  fL01 fL01 fL01   fL01   fL01      -     -          -      -        fL01+ -   -    -     -     fL1     fL0     -        -          -
fA    fA   fA   fA     fA     fA        -     -          -      -        fA+   -   -    -     -     -       -       -        M          -
N+    -    -    -      -      -         -     -          S+     -        -     N   N+   L0+   L1+   -       -       A+       -          -
M+    -    -    -      -      -         -     -          fS+    -        -     M   M+   fL0+  fL1+  -       -       fA+      -          -
S+    -    S+   -      -      -         -     -          -      N+       -     S   S+   -     -     -       -       -        -          -
L0+   L0+  -    L0+    -      L0+       -     -          -      -        -     L0  L0+  -     L01+  N+      -       -        -          -
L1+   -    L1+  -      L1+    L1+       -     -          -      -        -     L1  L1+  L01+  -     -       N+      -        -          -
L01+  L01+ L01+ L01+   L01+   L01+      -     -          -      -        -     L01 L01+ -     -     L1+     L0+     -        -          -
A+    A+   A+   A+     A+     A+        -     -          -      -        -     A   A+   -     -     -       -       -        N+         -
fS+   -    fS+  -      -      -         -     -          -      M+       -     fS  fS+  -     -     -       -       -        -          -
fL0+  fL0+ -    fL0+   -      fL0+      -     -          -      -        -     fL0 fL0+ -     fL01+ M+      -       -        -          -
fL1+  -    fL1+ -      fL1+   fL1+      -     -          -      -        -     fL1 fL1+ fL01+ -     -       M+      -        -          -
fL01+ fL01+ fL01+ fL01+ fL01+ fL01+     -     -          -      -        -     fL01 fL01+ -   -     fL1+    fL0+    -        -          -
fA+   fA+  fA+  fA+    fA+    fA+       -     -          -      -        -     fA  fA+  -     -     -       -       -        M+         -
)";

using Row = std::map<std::string, std::string>;  // by call: the state after it

std::map<std::string, Row> read_table() {
  std::map<std::string, Row> table;
  std::vector<std::string> names;
  std::istringstream text{kTable};
  for (std::string line; std::getline(text, line);) {
    std::istringstream cells{line};
    std::string state;
    if (!(cells >> state)) continue;
    const bool is_heading = names.empty();
    for (std::string cell; cells >> cell;) {
      if (is_heading) {
        names.push_back(cell);
      } else {
        Row& row = table[state];
        row[names.at(row.size())] = cell;
      }
    }
  }
  return table;
}

/// The calls that lead into a state, spelled by its name.
std::vector<std::string> way_to(const std::string& state) {
  static const std::map<std::string, std::vector<std::string>> ends{
      {"N", {}},         {"M", {"fence"}},  {"F", {"fence", "op0"}},     {"S", {"start1"}},
      {"L0", {"lock0"}}, {"L1", {"lock1"}}, {"L01", {"lock0", "lock1"}}, {"A", {"lock_all"}},
  };
  std::string name = state;
  std::vector<std::string> way;
  if (name.front() == 'f') {
    way.push_back("fence");
    name.erase(0, 1);
  }
  const bool is_posted = name.back() == '+';
  if (is_posted) name.pop_back();
  const auto& end = ends.at(name);
  way.insert(way.end(), end.begin(), end.end());
  if (is_posted) way.push_back("post");
  return way;
}

/// Whether it was allowed.
bool is_allowed(Epochs& epochs, const std::string& call) {
  try {
    calls().at(call)(epochs);
    return true;
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error_class(), MPI_ERR_RMA_SYNC) << call;
    EXPECT_STRNE(failure.what(), "") << call;
    return false;
  }
}

class EpochsTable : public ::testing::Test {
 protected:
  /// What the state allows, one call each, on objects that have gone the same way.
  void expect_behaviour(const std::vector<std::string>& way, const std::string& state) {
    for (const auto& [call, after] : table_.at(state)) {
      Epochs epochs(2);
      for (const std::string& step : way) is_allowed(epochs, step);
      EXPECT_EQ(is_allowed(epochs, call), after != "-")
          << call << " in " << state << " reached by " << ::testing::PrintToString(way);
    }
  }
  const std::map<std::string, Row> table_ = read_table();
};

TEST_F(EpochsTable, IsComplete) {
  EXPECT_EQ(table_.size(), 25U);
  for (const auto& [state, row] : table_) {
    EXPECT_EQ(row.size(), calls().size()) << state;
    for (const auto& [call, after] : row) {
      EXPECT_TRUE(calls().contains(call)) << call;
      EXPECT_TRUE(after == "-" || table_.contains(after)) << state << ' ' << call << ' ' << after;
    }
  }
}

TEST_F(EpochsTable, EveryCallInEveryState) {
  for (const auto& [state, row] : table_) expect_behaviour(way_to(state), state);
}

// One that is forbidden leaves everything as it was.
TEST_F(EpochsTable, EveryCallLeadsWhereTheTableSays) {
  for (const auto& [state, row] : table_) {
    for (const auto& [call, after] : row) {
      std::vector<std::string> way = way_to(state);
      way.push_back(call);
      expect_behaviour(way, after == "-" ? state : after);
    }
  }
}

TEST(Epochs, KnowsWhatIsLocked) {
  Epochs epochs(3);
  EXPECT_FALSE(epochs.is_locked(1));
  epochs.lock(1);
  EXPECT_TRUE(epochs.is_locked(1));
  EXPECT_FALSE(epochs.is_locked(2));
  epochs.unlock(1);
  EXPECT_FALSE(epochs.is_locked(1));
  epochs.lock_all();
  EXPECT_TRUE(epochs.is_locked(2));
  epochs.unlock_all();
  epochs.start(std::array{1});
  EXPECT_FALSE(epochs.is_locked(1));
}

TEST(Epochs, AStartOfNobodyIsAnEpoch) {
  Epochs epochs(2);
  epochs.start({});
  EXPECT_FALSE(is_allowed(epochs, "op1"));
  EXPECT_FALSE(is_allowed(epochs, "lock1"));
  epochs.complete();
  EXPECT_TRUE(is_allowed(epochs, "lock1"));
}

TEST(Epochs, ThreadsLockEachItsTargets) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 2000;
  Epochs epochs(kThreads + 1);
  epochs.lock(kThreads);  // so that the epoch of locks is open all along
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&epochs, thread] {
      for (int turn = 0; turn < kTurns; ++turn) {
        epochs.lock(thread);
        epochs.check_access(thread);
        epochs.check_passive(thread);
        epochs.unlock(thread);
      }
    });
  }
  threads.clear();
  epochs.unlock(kThreads);
  epochs.check_none();
}

// Of all threads' first operations after a fence one opens the epoch, for all.
TEST(Epochs, ThreadsOpenTheEpochOfAFenceTogether) {
  for (int turn = 0; turn < 200; ++turn) {
    Epochs epochs(2);
    epochs.fence(false);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&epochs] { epochs.check_access(1); });
    threads.clear();
    EXPECT_FALSE(is_allowed(epochs, "lock1"));
  }
}

}  // namespace
}  // namespace oriel::mpi
