// Which cases are run.

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "conformance/cases.hpp"
#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

constexpr int kCandidates = 24;

constexpr Axis axis(std::size_t index) {
  return static_cast<Axis>(index);
}

/// Which pairs of values have been together in a case.
class Pairs {
 public:
  Pairs() {
    std::size_t bits = 0;
    for (std::size_t a = 0; a < kAxes; ++a) {
      for (std::size_t b = a + 1; b < kAxes; ++b) {
        starts_[a][b] = bits;
        bits += size_of(axis(a)) * size_of(axis(b));
      }
    }
    covered_.resize(bits);
  }

  [[nodiscard]] std::size_t index(std::size_t a, std::size_t x, std::size_t b,
                                  std::size_t y) const {
    return starts_[a][b] + x * size_of(axis(b)) + y;
  }
  [[nodiscard]] bool is_covered(std::size_t index) const { return covered_[index]; }
  void cover(std::size_t index) { covered_[index] = true; }

  template <class Visit>
  void for_each(const Case& one, Visit&& visit) const {
    for (std::size_t a = 0; a < kAxes; ++a) {
      for (std::size_t b = a + 1; b < kAxes; ++b) visit(index(a, one.point[a], b, one.point[b]));
    }
  }
  [[nodiscard]] std::size_t gain(const Case& one) const {
    std::size_t gained = 0;
    for_each(one, [&](std::size_t pair) { gained += covered_[pair] ? 0U : 1U; });
    return gained;
  }

 private:
  std::array<std::array<std::size_t, kAxes>, kAxes> starts_{};
  std::vector<bool> covered_;
};

struct Wanted {
  std::size_t a, x, b, y;
};

std::vector<Wanted> all_pairs() {
  std::vector<Wanted> all;
  for (std::size_t a = 0; a < kAxes; ++a) {
    for (std::size_t b = a + 1; b < kAxes; ++b) {
      for (std::size_t x = 0; x < size_of(axis(a)); ++x) {
        for (std::size_t y = 0; y < size_of(axis(b)); ++y) all.push_back({a, x, b, y});
      }
    }
  }
  return all;
}

bool is_possible(const Case& one, const Setting& setting) {
  return setting.has(one.placement()) &&
         (one.window() != WindowKind::shared || setting.has_shared_windows());
}

/// A random legal case with the pair in it, the one of several with the most pairs that are new.
std::optional<Case> best_with(const Wanted& wanted, const Setting& setting, const Pairs& pairs,
                              std::uint64_t seed) {
  std::optional<Case> best;
  std::size_t most = 0;
  int found = 0;
  for (std::uint64_t attempt = 0; attempt < 400 && found < kCandidates; ++attempt) {
    Case one;
    for (std::size_t a = 0; a < kAxes; ++a) {
      one.set(axis(a), mix(seed, attempt * kAxes + a) % size_of(axis(a)));
    }
    const bool atomic = mix(seed, attempt) % 2 == 0;
    if (!facts(one.call()).accumulates || (atomic && is_swap(one.call()))) {
      one.set(Axis::op, static_cast<std::size_t>(OpCode::replace));
    }
    one.set(axis(wanted.a), wanted.x);
    one.set(axis(wanted.b), wanted.y);
    const std::optional<Case> legal = made_legal(one);
    if (!legal || legal->point[wanted.a] != wanted.x || legal->point[wanted.b] != wanted.y) {
      continue;
    }
    if (!is_possible(*legal, setting)) continue;
    ++found;
    const std::size_t gained = pairs.gain(*legal);
    if (gained <= most) continue;
    most = gained;
    best = legal;
  }
  return best;
}

}  // namespace

std::vector<Case> pairwise_cases(const Setting& setting, std::uint64_t seed) {
  std::vector<Case> cases;
  Pairs pairs;
  std::vector<Wanted> wanted = all_pairs();
  for (std::size_t i = wanted.size(); i > 1; --i) {
    std::swap(wanted[i - 1], wanted[mix(seed, i) % i]);
  }
  std::uint64_t round = seed;
  for (const Wanted& pair : wanted) {
    if (pairs.is_covered(pairs.index(pair.a, pair.x, pair.b, pair.y))) continue;
    const std::optional<Case> one = best_with(pair, setting, pairs, mix(++round, 7));
    if (!one) continue;  // not legal together
    pairs.for_each(*one, [&](std::size_t index) { pairs.cover(index); });
    cases.push_back(*one);
  }
  return cases;
}

FullCases::FullCases(const Setting& setting, std::uint64_t seed) : seed_(seed) {
  for (std::size_t call = 0; call < size_of(Axis::call); ++call) {
    for (std::size_t element = 0; element < size_of(Axis::element); ++element) {
      for (std::size_t op = 0; op < size_of(Axis::op); ++op) {
        Case one;
        one.set(Axis::call, call);
        one.set(Axis::element, element);
        one.set(Axis::op, op);
        if (made_legal(one)) forms_.push_back(one);
      }
    }
  }
  for (std::size_t kind = 0; kind < size_of(Axis::window); ++kind) {
    for (std::size_t placement = 0; placement < kPlacements; ++placement) {
      Case one;
      one.set(Axis::window, kind);
      one.set(Axis::placement, placement);
      if (is_possible(one, setting)) scenes_.push_back({one.window(), one.placement()});
    }
  }
  if (setting.by_device) {
    counts_ = counts_by_threshold();
  } else {
    for (std::size_t level = 0; level < size_of(Axis::count); ++level) counts_.push_back({level});
  }
}

Case FullCases::at(std::size_t index) const {
  // Forms run fastest, so that a run that is cut short has seen all of them.
  const std::size_t form = index % forms_.size();
  const std::size_t count = index / forms_.size();
  const std::vector<std::size_t>& levels = counts_[count];
  const Scene& scene = scenes_[(form + count + seed_) % scenes_.size()];
  Case one = forms_[form];
  one.set(Axis::count, levels[(form + seed_) % levels.size()]);
  one.set(Axis::window, static_cast<std::size_t>(scene.window));
  one.set(Axis::placement, static_cast<std::size_t>(scene.placement));
  for (const Axis free : {Axis::origin_shape, Axis::target_shape, Axis::epoch, Axis::crowd,
                          Axis::after, Axis::registered}) {
    one.set(free, mix(seed_ + static_cast<std::uint64_t>(free), index) % size_of(free));
  }
  return *made_legal(one);
}

}  // namespace oriel::conformance
