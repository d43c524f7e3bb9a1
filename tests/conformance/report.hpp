#pragma once
/// The report: what was run, what failed, what was skipped and why.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace oriel::conformance {

/// A line of the table.
struct Row {
  std::string family;     ///< the operation, "program" or "litmus …"
  std::string window;     ///< its kind
  std::string placement;  ///< where targets are
  auto operator<=>(const Row&) const = default;
};

class Report {
 public:
  void passed(const Row& row) { ++counts_[row].run; }
  void failed(const Row& row) {
    ++counts_[row].run;
    ++counts_[row].failed;
  }
  void skipped(const Row& row, const std::string& why, std::size_t how_many = 1);

  [[nodiscard]] std::size_t run() const;
  [[nodiscard]] std::size_t failed() const;
  [[nodiscard]] bool is_good() const { return failed() == 0 && run() != 0; }
  [[nodiscard]] std::string table() const;

 private:
  struct Counts {
    std::size_t run = 0;
    std::size_t failed = 0;
    std::size_t skipped = 0;
  };
  std::map<Row, Counts> counts_;
  std::map<std::string, std::size_t> reasons_;
};

}  // namespace oriel::conformance
