#pragma once
/// Cases: one operation form each, in one setting, as a point in a table of dimensions; which of
/// them are run; and the phase of a program that each becomes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/program.hpp"

namespace oriel::conformance {

/// Where the target is.
enum class Placement : std::uint8_t { self, same_node, other_node };
inline constexpr std::size_t kPlacements = 3;
[[nodiscard]] std::string_view to_string(Placement placement) noexcept;

/// Who goes where at the same time.
enum class Crowd : std::uint8_t {
  ring,     ///< every rank to a target of its own
  apart,    ///< all to one target, to places of their own
  collide,  ///< all to one target, to the same places
};
inline constexpr std::size_t kCrowds = 3;
[[nodiscard]] std::string_view to_string(Crowd crowd) noexcept;

/// What is possible in this job.
struct Setting {
  std::vector<int> nodes{};     ///< every rank's machine
  bool by_device = false;       ///< messages go by a device, which takes a hundred times as long
  bool without_shared = false;  ///< windows
  bool by_mpi = false;          ///< MPI carries programs out: they keep to its rules
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(nodes.size()); }
  [[nodiscard]] bool has(Placement placement) const;
  [[nodiscard]] bool has_shared_windows() const;
};

/// The dimensions, in the order of Case::point.
enum class Axis : std::uint8_t {
  call,
  element,
  op,
  count,  ///< a level: see count_of()
  origin_shape,
  target_shape,
  window,
  epoch,
  placement,
  crowd,
  after,
  registered,
};
inline constexpr std::size_t kAxes = 12;

struct Case {
  std::array<std::uint8_t, kAxes> point{};

  [[nodiscard]] std::size_t at(Axis axis) const { return point[static_cast<std::size_t>(axis)]; }
  void set(Axis axis, std::size_t value) {
    point[static_cast<std::size_t>(axis)] = static_cast<std::uint8_t>(value);
  }
  [[nodiscard]] Call call() const { return static_cast<Call>(at(Axis::call)); }
  [[nodiscard]] const Element& element() const { return elements()[at(Axis::element)]; }
  [[nodiscard]] OpCode op() const { return static_cast<OpCode>(at(Axis::op)); }
  [[nodiscard]] WindowKind window() const { return static_cast<WindowKind>(at(Axis::window)); }
  [[nodiscard]] EpochKind epoch() const { return static_cast<EpochKind>(at(Axis::epoch)); }
  [[nodiscard]] Placement placement() const { return static_cast<Placement>(at(Axis::placement)); }
  [[nodiscard]] Crowd crowd() const { return static_cast<Crowd>(at(Axis::crowd)); }
  [[nodiscard]] After after() const { return static_cast<After>(at(Axis::after)); }
  /// Elements of the operation; for operations of one element, how many of them follow each other.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::string name() const;
  friend bool operator==(const Case&, const Case&) = default;
};

/// Values that a dimension has.
[[nodiscard]] std::size_t size_of(Axis axis);

/// The legal case nearest to this point; none if call, element and operation have no meaning
/// together.
[[nodiscard]] std::optional<Case> made_legal(Case one);

/// Cases that between them have every two values of any two dimensions together, as far as that
/// is legal and possible in the setting. The first ones have the most.
[[nodiscard]] std::vector<Case> pairwise_cases(const Setting& setting, std::uint64_t seed);

/// Every form (call, element, operation) with every count; the other dimensions take turns. So do
/// the scenes, which are a window kind and a placement, such that seeds 1 to scenes() bring every
/// form with every count into every scene. Where messages go by a device counts around one
/// threshold take turns, too: each form has one of them.
/// Walked through, not kept.
class FullCases {
 public:
  FullCases(const Setting& setting, std::uint64_t seed);
  [[nodiscard]] std::size_t size() const { return forms_.size() * counts_.size(); }
  [[nodiscard]] Case at(std::size_t index) const;
  [[nodiscard]] std::size_t scenes() const noexcept { return scenes_.size(); }

 private:
  struct Scene {
    WindowKind window;
    Placement placement;
  };
  std::uint64_t seed_;
  std::vector<Case> forms_;
  std::vector<Scene> scenes_;
  std::vector<std::vector<std::size_t>> counts_;  // levels that take turns
};

/// Levels of Axis::count, by the threshold that they are around.
[[nodiscard]] std::vector<std::vector<std::size_t>> counts_by_threshold();

/// The windows that cases share: every kind in some sizes.
[[nodiscard]] Program case_windows(const Setting& setting);

/// The phase that a case is. The element type of the memory it uses is set in `program`.
[[nodiscard]] Phase case_phase(const Case& one, const Setting& setting, Program& program);

}  // namespace oriel::conformance
