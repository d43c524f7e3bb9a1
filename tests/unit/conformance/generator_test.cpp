// Generated programs are legal: checked here access by access, by other means than the generator's.

#include "conformance/generator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "conformance/predictor.hpp"

namespace oriel::conformance {
namespace {

/// One access to one element within a phase.
struct Access {
  int origin;
  std::size_t window;
  Call call;
  OpCode op;
  std::size_t step;  ///< in the order of the origin's calls
  bool complete;     ///< remotely, on return
};

/// When an origin has flushed a target through a window: steps.
using Flushes = std::map<std::tuple<int, std::size_t, int>, std::set<std::size_t>>;

bool is_read(const Access& access) {
  return !facts(access.call).sends;
}

/// Whether two accesses of different origins to one element may be under way at once.
bool may_race(const Access& a, const Access& b) {
  if (is_read(a) && is_read(b)) return true;
  if (!facts(a.call).accumulates || !facts(b.call).accumulates) return false;
  if (is_swap(a.call) || is_swap(b.call)) return false;
  if (a.window != b.window) return false;
  const bool same = a.op == b.op || a.op == OpCode::no_op || b.op == OpCode::no_op;
  return same && a.op != OpCode::replace && b.op != OpCode::replace;
}

/// Whether two accesses of one origin to one element have a defined order, or need none.
bool is_ordered(const Access& a, const Access& b, int target, const Flushes& flushes) {
  if (is_read(a) && is_read(b)) return true;
  if (facts(a.call).accumulates && facts(b.call).accumulates && a.window == b.window) return true;
  if (a.complete) return true;
  const auto found = flushes.find({a.origin, a.window, target});
  if (found == flushes.end()) return false;
  const auto flush = found->second.lower_bound(a.step);
  return flush != found->second.end() && *flush < b.step;
}

bool completes_on_return(const Operation& operation) {
  const CallFacts& call = facts(operation.call);
  if (operation.after == After::wait_remote) return true;
  if (call.now && !call.accumulates) return true;
  return !call.sends && (operation.after == After::wait || operation.after == After::flush_local);
}

struct PhaseAccesses {
  std::map<std::tuple<std::size_t, int, std::size_t>, std::vector<Access>> elements;
  Flushes flushes;
};

/// An atomic that is complete is so behind the origin's earlier ones on the same element.
void add(std::vector<Access>& accesses, const Access& access) {
  for (Access& earlier : accesses) {
    if (access.complete && facts(access.call).accumulates && facts(earlier.call).accumulates &&
        earlier.origin == access.origin && earlier.window == access.window) {
      earlier.complete = true;
    }
  }
  accesses.push_back(access);
}

PhaseAccesses accesses_of(const Program& program, const Phase& phase) {
  PhaseAccesses all;
  std::size_t step = 0;
  for (const Epoch& epoch : phase.epochs) {
    for (const Operation& operation : epoch.operations) {
      const Place place = place_of(program, epoch, operation);
      for (const std::size_t at : operation.to.places()) {
        add(all.elements[{place.memory, operation.target, place.first + at}],
            {operation.origin, epoch.window, operation.call, operation.op, step,
             completes_on_return(operation)});
      }
      for (int target = 0; target < program.ranks; ++target) {
        const bool flushed = operation.after == After::flush_all ||
                             (operation.after == After::flush && target == operation.target);
        if (flushed) all.flushes[{operation.origin, epoch.window, target}].insert(step);
      }
      ++step;
    }
    if (epoch.kind == EpochKind::notify || epoch.kind == EpochKind::pscw) continue;
    for (int origin = 0; origin < program.ranks; ++origin) {  // the epoch's end flushes
      for (int target = 0; target < program.ranks; ++target) {
        all.flushes[{origin, epoch.window, target}].insert(step);
      }
    }
    ++step;
  }
  return all;
}

void expect_no_conflicts(const Program& program, const Phase& phase) {
  const PhaseAccesses all = accesses_of(program, phase);
  for (const auto& [element, accesses] : all.elements) {
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      for (std::size_t j = i + 1; j < accesses.size(); ++j) {
        const Access& a = accesses[i];
        const Access& b = accesses[j];
        const bool legal = a.origin == b.origin
                               ? is_ordered(a, b, std::get<1>(element), all.flushes)
                               : may_race(a, b);
        ASSERT_TRUE(legal) << "element " << std::get<2>(element) << " of rank "
                           << std::get<1>(element) << ": " << facts(a.call).name << " and "
                           << facts(b.call).name << "\n"
                           << to_text(program);
      }
    }
  }
}

void expect_well_formed(const Program& program, const Phase& phase, std::size_t number) {
  std::multiset<std::size_t> notified;
  for (const Epoch& epoch : phase.epochs) {
    const WindowPlan& window = program.windows[epoch.window];
    EXPECT_TRUE(window.born <= number && number <= window.dies);
    if (epoch.kind == EpochKind::notify) notified.insert(epoch.window);
    const Element& element = *program.memory_of(epoch.window).element;
    EXPECT_EQ(window.first_byte % element.bytes(), 0U);
    for (const Operation& operation : epoch.operations) {
      const CallFacts& call = facts(operation.call);
      EXPECT_LE((operation.offset + operation.to.extent()) * element.bytes(),
                window.bytes[static_cast<std::size_t>(operation.target)]);
      if (call.sends) {
        EXPECT_EQ(operation.from.count(), operation.to.count());
      }
      if (call.fetches) {
        EXPECT_EQ(operation.into.count(), operation.to.count());
      }
      if (call.notifies) {
        EXPECT_EQ(epoch.kind, EpochKind::notify);
      }
      if (call.accumulates) {
        EXPECT_TRUE(has_meaning(element.type.kind, operation.op));
      }
      EXPECT_EQ(call.requests, operation.after >= After::wait);
    }
  }
  for (const std::size_t window : notified) EXPECT_EQ(notified.count(window), 1U);
}

/// What MPI allows, said again: the rules by which the program was made are not asked.
void expect_legal_for_mpi(const Program& program, const Phase& phase) {
  for (const Epoch& epoch : phase.epochs) {
    const bool is_active = epoch.kind == EpochKind::fence || epoch.kind == EpochKind::pscw;
    const Element& element = *program.memory_of(epoch.window).element;
    EXPECT_FALSE(element.name.ends_with("_int64")) << element.name;
    for (const Operation& operation : epoch.operations) {
      const Call call = operation.call;
      if (is_active) {  // no flush, no request
        EXPECT_EQ(operation.after, After::nothing) << to_text(program, epoch, operation);
        EXPECT_TRUE(call == Call::put || call == Call::get || call == Call::accumulate ||
                    call == Call::get_accumulate || call == Call::fetch_and_op ||
                    call == Call::compare_and_swap)
            << to_text(program, epoch, operation);
      }
      if (is_swap(call)) {
        EXPECT_NE(call, Call::rcompare_and_swap);
        EXPECT_TRUE(element.name.starts_with("int") || element.name.starts_with("uint"));
        EXPECT_EQ(element.family, Family::number);
      }
      if (call == Call::accumulate || call == Call::raccumulate ||
          call == Call::accumulate_notify) {
        EXPECT_NE(operation.op, OpCode::no_op);
      }
      if (facts(call).single) {
        EXPECT_NE(element.family, Family::opaque);
      }
    }
  }
}

class Programs : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static Setting setting() {
    Setting made;
    for (int rank = 0; rank < GetParam(); ++rank) made.nodes.push_back(rank / 3);
    return made;
  }
};

TEST_P(Programs, AreLegal) {
  std::size_t operations = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Program program = make_program(seed, setting());
    for (std::size_t p = 0; p < program.phases.size(); ++p) {
      expect_well_formed(program, program.phases[p], p);
      expect_no_conflicts(program, program.phases[p]);
      if (HasFatalFailure()) return;
    }
    operations += program.operations();
  }
  EXPECT_GT(operations, 150U * 5U);
}

TEST_P(Programs, KeepToTheRulesOfMpi) {
  Setting by_mpi = setting();
  by_mpi.by_mpi = true;
  std::set<Call> calls;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Program program = make_program(seed, by_mpi);
    for (std::size_t p = 0; p < program.phases.size(); ++p) {
      expect_well_formed(program, program.phases[p], p);
      expect_no_conflicts(program, program.phases[p]);
      expect_legal_for_mpi(program, program.phases[p]);
      if (HasFailure()) return;
      for (const Epoch& epoch : program.phases[p].epochs) {
        for (const Operation& operation : epoch.operations) calls.insert(operation.call);
      }
    }
  }
  EXPECT_EQ(calls.size(), kCalls - 1);  // but for rcompare_and_swap
}

TEST_P(Programs, DependOnTheSeedAlone) {
  EXPECT_EQ(to_text(make_program(9, setting())), to_text(make_program(9, setting())));
  EXPECT_NE(to_text(make_program(9, setting())), to_text(make_program(10, setting())));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Programs, testing::Values(1, 2, 4, 7));

// Everything that a program can have comes up.
TEST(ProgramVariety, AllCallsEpochsAndKindsOccur) {
  std::set<Call> calls;
  std::set<EpochKind> epochs;
  std::set<WindowKind> kinds;
  std::set<std::string_view> elements_seen;
  std::size_t overlapping = 0;
  std::size_t contested = 0;
  const Setting setting{{0, 0, 0, 0}};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Program program = make_program(seed, setting);
    overlapping += program.windows.size() - program.memories.size();
    for (const WindowPlan& window : program.windows) kinds.insert(window.kind);
    Predictor predictor(program);
    for (const Phase& phase : program.phases) {
      for (const auto& [key, part] : predictor.run(phase, 0).contested) {
        for (std::size_t i = 0; i < part.elements.size(); ++i) {
          contested += part.is_contested(i) ? 1U : 0U;
        }
      }
      for (const Epoch& epoch : phase.epochs) {
        epochs.insert(epoch.kind);
        elements_seen.insert(program.memory_of(epoch.window).element->name);
        for (const Operation& operation : epoch.operations) calls.insert(operation.call);
      }
    }
  }
  EXPECT_EQ(calls.size(), kCalls);
  EXPECT_EQ(epochs.size(), kEpochKinds);
  EXPECT_EQ(kinds.size(), 4U);
  EXPECT_EQ(elements_seen.size(), elements().size());
  EXPECT_GT(overlapping, 10U);
  EXPECT_GT(contested, 100U);
}

}  // namespace
}  // namespace oriel::conformance
