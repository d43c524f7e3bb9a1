#pragma once
/// The predictor: all memory of all ranks, taken serially through a program by the oracle.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "conformance/program.hpp"

namespace oriel::conformance {

/// What one operation of this rank sends and finds, element by element.
struct Expectation {
  std::vector<std::byte> old{};      ///< what it fetches
  std::vector<bool> contested{};     ///< elements of which `old` is just one possibility; or empty
  std::vector<std::byte> compare{};  ///< what a compare-and-swap compares with
};

/// An element on which several ranks accumulate in one phase.
struct Contest {
  int first_origin = -1;
  bool several = false;      ///< origins
  bool changes = false;      ///< something else than no_op
  std::uint32_t silent = 0;  ///< changes whose old values nobody fetched
  OpCode op = OpCode::no_op;
  double added = 0;  ///< by all sums together, taken as unsigned numbers that do not wrap
};

/// The elements of one rank's part of one memory, from its start.
struct ContestedPart {
  std::vector<Contest> elements{};
  std::vector<std::byte> before{};  ///< as the phase finds it
  [[nodiscard]] bool is_contested(std::size_t element) const {
    return element < elements.size() && elements[element].several && elements[element].changes;
  }
};

/// By memory and rank.
using ContestedParts = std::map<std::pair<std::size_t, int>, ContestedPart>;

struct Forecast {
  /// By the operation's number in the phase; of this rank's operations alone.
  std::vector<Expectation> operations{};
  ContestedParts contested{};
};

/// Where an operation's elements lie in the memory behind its window.
struct Place {
  std::size_t memory = 0;
  std::size_t first = 0;  ///< element
};
[[nodiscard]] Place place_of(const Program& program, const Epoch& epoch,
                             const Operation& operation);

class Predictor {
 public:
  /// All memory is zero. @param program  outlives the predictor, and may have phases added
  explicit Predictor(const Program& program);

  void refill(const Refill& refill);
  /// Takes all memory through a phase, and says what `rank` finds on the way.
  [[nodiscard]] Forecast run(const Phase& phase, int rank);
  [[nodiscard]] std::span<std::byte> part(std::size_t memory, int rank);

 private:
  [[nodiscard]] ContestedParts find_contests(const Phase& phase);
  void run(const Epoch& epoch, const Operation& operation, bool wanted, Forecast& forecast,
           Expectation& expectation);

  const Program& program_;
  std::vector<std::vector<std::vector<std::byte>>> memories_;  // by memory and rank
};

/// Fills elements with the values of a refill.
void fill(const Refill& refill, std::span<std::byte> part, int rank);

}  // namespace oriel::conformance
