#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sync/partner.hpp"
#include "sync/vigil.hpp"
#include "transport/progress.hpp"
#include "window/target.hpp"
#include "window/team_memory.hpp"

namespace oriel::window {

/// The regions of one rank, in its control area, where peers read them. Changed by their owner's
/// CPU alone.
///
/// Invariant: `version` is odd while the owner changes the rest. Who reads an even version, then
/// the regions, then the same version again has a table as it was at one moment. A detach is
/// complete, version included, before the memory stops being exposed: who reads the version before
/// an operation, and finds it unchanged, uses only what was attached then. What the program must
/// still see to, as in MPI: nobody operates on a region while it is being detached. Model:
/// tests/model/attach.pml.
struct RegionTable {
  std::uint64_t version;
  std::uint64_t count;
  // Behind it: WindowOptions::most_regions of MemoryRecord, of which the first `count` are
  // attached.

  [[nodiscard]] MemoryRecord& region(std::size_t index) noexcept {
    return reinterpret_cast<MemoryRecord*>(this + 1)[index];
  }
  [[nodiscard]] static constexpr std::size_t bytes(std::size_t most_regions) noexcept {
    return sizeof(RegionTable) + most_regions * sizeof(MemoryRecord);
  }
};
static_assert(sizeof(RegionTable) % alignof(MemoryRecord) == 0);

/// This rank's side: attaches and detaches.
class RegionOwner {
 public:
  RegionOwner(RegionTable& table, std::size_t most_regions, const JobContext& job,
              const TeamPaths& paths, std::uint64_t window)
      : table_(table), most_(most_regions), job_(job), paths_(paths), window_(window) {}

  /// Errors: invalid_argument (overlap), out_of_memory (table full); as TeamMemory::expose.
  void attach(std::span<std::byte> memory);
  /// Errors: invalid_argument (not attached so).
  void detach(std::span<std::byte> memory);

 private:
  struct Attached {
    std::span<std::byte> memory;
    std::unique_ptr<TeamMemory> exposed;
  };
  void check_new(std::span<std::byte> memory) const;
  [[noreturn]] void refuse(std::string_view operation, std::span<std::byte> memory,
                           std::string problem, std::string hint) const;

  template <class Change>
  void publish(Change&& change) {
    std::atomic_ref version(table_.version);
    version.fetch_add(1);  // sequentially consistent: before any change
    change();
    version.fetch_add(1);
  }

  RegionTable& table_;
  std::size_t most_;
  const JobContext& job_;
  TeamPaths paths_;
  std::uint64_t window_;
  std::vector<Attached> attached_;  // in the order of the table
};

/// A peer's regions as last read.
class RegionDirectory {
 public:
  /// The way to a region, and what it takes to keep it.
  using Reach = std::function<std::unique_ptr<TeamMemory>(const MemoryRecord& region, Target& way)>;

  /// The target of the region that holds the bytes, and where it begins; null if there is none. To
  /// be copied before anything waits: the next find may forget it.
  /// Reads the version word, and the table if that has changed: through `endpoint`, from `table`.
  /// Errors: those of the endpoint; peer_lost, peer_failed.
  [[nodiscard]] Target* find(transport::Progress& progress, const sync::Vigil& vigil,
                             const sync::Place& table, const Reach& reach, std::uint64_t address,
                             std::size_t bytes, std::uint64_t& begin);

 private:
  struct Known {
    std::uint64_t begin = 0;
    Target target{};
    std::unique_ptr<TeamMemory> attached{};
  };
  [[nodiscard]] bool read_again(transport::Progress& progress, const sync::Place& table,
                                const Reach& reach);

  std::uint64_t version_ = 0;  // of known_; an empty table has version 0
  std::vector<Known> known_;   // in the order of addresses
};

}  // namespace oriel::window
