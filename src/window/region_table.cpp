#include "window/region_table.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/throw_error.hpp"
#include "sync/flush.hpp"

namespace oriel::window {
namespace {

bool overlap(std::span<std::byte> a, std::span<std::byte> b) noexcept {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

bool same(std::span<std::byte> a, std::span<std::byte> b) noexcept {
  return a.data() == b.data() && a.size() == b.size();
}

/// Reads records at `from` and waits for them.
template <class Record, std::size_t Count>
void read(transport::Progress& progress, std::span<Record, Count> records,
          const sync::Place& from) {
  transport::Completion done;
  const auto bytes = std::as_writable_bytes(records);
  sync::post_all(progress, bytes.size(), [&](std::size_t asked) noexcept {
    return from.endpoint->get(bytes.data() + asked, bytes.size() - asked, from.address.plus(asked),
                              done);
  });
  sync::flush_local(progress, *from.endpoint, done);
}
template <std::size_t Count>
void read(transport::Progress& progress, std::array<std::uint64_t, Count>& words,
          const sync::Place& from) {
  read(progress, std::span(words), from);
}

}  // namespace

void RegionOwner::refuse(std::string_view operation, std::span<std::byte> memory,
                         std::string problem, std::string hint) const {
  base::throw_error(ErrorCode::invalid_argument, {.operation = std::string(operation),
                                                  .problem = std::move(problem),
                                                  .origin = job_.world_rank,
                                                  .window = window_,
                                                  .length_bytes = memory.size(),
                                                  .hint = std::move(hint)});
}

void RegionOwner::check_new(std::span<std::byte> memory) const {
  constexpr std::string_view kOperation = "Window::attach";
  if (memory.empty()) refuse(kOperation, memory, "no bytes", "attach memory that can be accessed");
  for (const Attached& other : attached_) {
    if (!overlap(memory, other.memory)) continue;
    refuse(kOperation, memory,
           fmt::format("the memory at {} overlaps the {} bytes at {} that are attached already",
                       fmt::ptr(memory.data()), other.memory.size(), fmt::ptr(other.memory.data())),
           "detach those first");
  }
  if (attached_.size() < most_) return;
  base::throw_error(ErrorCode::out_of_memory,
                    {.operation = std::string(kOperation),
                     .problem = fmt::format("{} regions are attached already", most_),
                     .origin = job_.world_rank,
                     .window = window_,
                     .hint = "attach fewer and larger regions, or make the window with more "
                             "WindowOptions::most_regions"});
}

void RegionOwner::attach(std::span<std::byte> memory) {
  check_new(memory);
  auto exposed = std::make_unique<TeamMemory>(job_, paths_);
  const MemoryRecord record = exposed->expose({memory, nullptr});
  attached_.push_back({memory, std::move(exposed)});
  publish([&] { table_.region(table_.count++) = record; });
}

void RegionOwner::detach(std::span<std::byte> memory) {
  const auto found = std::ranges::find_if(
      attached_, [&](const Attached& one) { return same(one.memory, memory); });
  if (found == attached_.end()) {
    refuse(
        "Window::detach", memory,
        fmt::format("the memory at {} was not attached with this length", fmt::ptr(memory.data())),
        "detach what attach() was given, as a whole and once");
  }
  const auto index = static_cast<std::size_t>(found - attached_.begin());
  publish([&] {
    std::swap(table_.region(index), table_.region(table_.count - 1));
    --table_.count;
  });
  std::swap(*found, attached_.back());
  attached_.pop_back();  // no longer exposed
}

/// False: the owner is changing the table, and it has to be read once more.
bool RegionDirectory::read_again(transport::Progress& progress, const sync::Place& table,
                                 const Reach& reach) {
  std::array<std::uint64_t, 2> before{};  // version, count
  read(progress, before, table);
  const auto [version, count] = before;
  if (version == version_) return true;
  if (version % 2 != 0) return false;
  std::vector<MemoryRecord> pieces(count);
  read(progress, std::span(pieces), table.plus(sizeof(RegionTable)));
  std::array<std::uint64_t, 1> after{};
  read(progress, after, table);
  if (after[0] != version) return false;
  known_.clear();
  for (const MemoryRecord& piece : pieces) {
    Known& known = known_.emplace_back();
    known.attached = reach(piece, known.target);
    known.begin = std::max(piece.shm.address, piece.verbs.address);  // equal, or one is not there
  }
  std::ranges::sort(known_, {}, &Known::begin);
  version_ = version;
  return true;
}

Target* RegionDirectory::find(transport::Progress& progress, const sync::Vigil& vigil,
                              const sync::Place& table, const Reach& reach, std::uint64_t address,
                              std::size_t bytes, std::uint64_t& begin) {
  while (!read_again(progress, table, reach)) {
    bool waited = false;  // for a moment: changing a table takes less
    progress.wait([&]() noexcept { return std::exchange(waited, true); },
                  vigil.watch("region table", table.endpoint));
    vigil.check("region table");
  }
  // Regions do not overlap: only the last one that begins at or before the address can hold it.
  const auto behind = std::ranges::upper_bound(known_, address, {}, &Known::begin);
  if (behind == known_.begin()) return nullptr;
  Known& known = *std::prev(behind);
  const std::uint64_t offset = address - known.begin;
  if (offset > known.target.bytes || bytes > known.target.bytes - offset) return nullptr;
  begin = known.begin;
  return &known.target;
}

}  // namespace oriel::window
