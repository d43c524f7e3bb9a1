#include "runtime/start_record.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/throw_error.hpp"

namespace oriel::runtime {
namespace {

void check_option(std::span<const StartRecord> records, std::string_view name, auto value_of) {
  for (std::size_t rank = 1; rank < records.size(); ++rank) {
    const std::string first = value_of(records[0]);
    const std::string here = value_of(records[rank]);
    if (here == first) continue;
    base::throw_error(
        ErrorCode::option_mismatch,
        {.operation = "Runtime",
         .problem = fmt::format("{} is {} on rank 0 ({}) and {} on rank {} ({})", name, first,
                                text_of(records[0].host), here, rank, text_of(records[rank].host)),
         .target = static_cast<int>(rank),
         .hint =
             "export the same ORIEL_* variables to all ranks: oriel-run does, or mpirun -x NAME"});
  }
}

}  // namespace

void set_text(std::span<char> field, std::string_view text) noexcept {
  const std::size_t length = std::min(text.size(), field.size() - 1);
  std::ranges::fill(field, '\0');
  std::copy_n(text.data(), length, field.data());
}

std::string_view text_of(std::span<const char> field) noexcept {
  return {field.data(), static_cast<std::size_t>(std::ranges::find(field, '\0') - field.begin())};
}

void check_start(std::span<const StartRecord> records) {
  const StartRecord& first = records[0];
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    const StartRecord& record = records[rank];
    if (record.magic == StartRecord::kMagic && record.protocol == first.protocol &&
        text_of(record.version) == text_of(first.version)) {
      continue;
    }
    base::throw_error(
        ErrorCode::version_mismatch,
        {.operation = "Runtime",
         .problem = fmt::format(
             "rank 0 ({}) runs Oriel {} (protocol {}), rank {} ({}) runs {} (protocol {})",
             text_of(first.host), text_of(first.version), first.protocol, rank,
             text_of(record.host), text_of(record.version), record.protocol),
         .target = static_cast<int>(rank),
         .hint = "install one version on all machines; check LD_LIBRARY_PATH there"});
  }
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    const std::string_view why = text_of(records[rank].failure);
    if (why.empty()) continue;
    base::throw_error(ErrorCode::peer_failed,
                      {.operation = "Runtime",
                       .problem = fmt::format("rank {} says: {}", rank, why),
                       .target = static_cast<int>(rank),
                       .target_host = std::string(text_of(records[rank].host))});
  }
  check_option(records, "ORIEL_FABRIC",
               [](const StartRecord& r) { return std::string(text_of(r.fabric)); });
  check_option(records, "ORIEL_VISIBILITY",
               [](const StartRecord& r) { return std::string(text_of(r.visibility)); });
  check_option(records, "ORIEL_FAKE_NODES",
               [](const StartRecord& r) { return std::to_string(r.fake_nodes); });
}

}  // namespace oriel::runtime
