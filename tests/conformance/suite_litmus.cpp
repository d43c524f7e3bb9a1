// The litmus tests, on every kind of window.

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <regex>

#include "conformance/litmus.hpp"
#include "conformance/suite.hpp"

namespace oriel::conformance {
namespace {

constexpr double kShare = 0.3;  // of the budget

Window<Words::Word> make_words(const Stand& stand, std::span<Words::Word> own, std::size_t count) {
  const Team& team = stand.world;
  switch (stand.kind) {
    case WindowKind::allocated:
      return Window<Words::Word>::allocate(team, count);
    case WindowKind::shared:
      return Window<Words::Word>::allocate_shared(team, count);
    case WindowKind::created:
      return Window<Words::Word>::create(team, own);
    case WindowKind::dynamic:
      break;
  }
  return Window<Words::Word>::dynamic(team);
}

struct Entry {
  std::string_view name;
  Litmus run;
  bool every_kind = true;
};
constexpr std::array<Entry, 13> kEntries = {{
    {"message_by_flag", message_by_flag},
    {"message_by_notification", message_by_notification},
    {"message_behind_reads", message_behind_reads},
    {"message_by_fence", message_by_fence},
    {"message_by_pscw", message_by_pscw},
    {"message_by_lock", message_by_lock},
    {"store_buffering", store_buffering},
    {"atomics_on_one_word", atomics_on_one_word},
    {"election", election},
    {"exclusive_lock", exclusive_lock},
    {"untorn_pairs", untorn_pairs},
    {"changing_groups", changing_groups},
    {"two_windows", two_windows, false},
}};

constexpr std::array<WindowKind, 4> kKinds = {WindowKind::allocated, WindowKind::created,
                                              WindowKind::dynamic, WindowKind::shared};

bool is_possible(const Suite& suite, const Entry& entry, WindowKind kind) {
  if (!entry.every_kind) return kind == WindowKind::created;
  return kind != WindowKind::shared || suite.setting.has_shared_windows();
}

}  // namespace

Words::Words(const Stand& stand, std::size_t count)
    : own_(count), window_(make_words(stand, own_, count)), bases_(stand.job.nodes().size()) {
  mine_ = own_;
  if (stand.kind == WindowKind::dynamic) {
    bases_ = stand.job.gather(window_.attach(own_));
  } else if (stand.kind != WindowKind::created) {
    mine_ = window_.local();
  }
  window_.fence();
}

std::vector<Words::Word> gather_words(const Stand& stand, std::span<const Words::Word> mine) {
  const std::span<const std::byte> bytes = std::as_bytes(mine);
  const std::vector<std::byte> all = stand.job.gather_all({bytes.begin(), bytes.end()});
  std::vector<Words::Word> words(all.size() / sizeof(Words::Word));
  if (!all.empty()) std::memcpy(words.data(), all.data(), all.size());
  return words;
}

void run_litmus(Suite& suite, const Team& world) {
  const std::regex only(suite.options.only);
  suite.begin_family(kShare);
  std::size_t done = 0;
  for (const WindowKind kind : kKinds) {
    for (const Entry& entry : kEntries) {
      ++done;
      if (!is_possible(suite, entry, kind)) continue;
      const std::string name = fmt::format("litmus/{}/{}", entry.name, to_string(kind));
      const Row row{fmt::format("litmus {}", entry.name), std::string(to_string(kind)), "mixed"};
      if (!std::regex_search(name, only)) continue;
      if (suite.lists()) {
        suite.say(name + "\n");
      } else if (!suite.may_go_on()) {
        suite.report.skipped(row, "the budget of time was used up");
      } else {
        suite.job.now_at(name);
        suite.tell_progress(name, done, kKinds.size() * kEntries.size());
        const Stand stand{suite.job, world, kind, suite.options.full};
        const std::string wrong = caught([&] { return entry.run(stand); });
        suite.conclude(row, name, wrong, suite.options.seed);
      }
    }
  }
}

}  // namespace oriel::conformance
