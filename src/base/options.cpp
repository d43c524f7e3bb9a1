#include "base/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/throw_error.hpp"

namespace oriel::base {
namespace {

constexpr std::string_view kPrefix = "ORIEL_";
constexpr int kMaxFakeNodes = 1024;
constexpr int kMaxTimeoutSeconds = 3600;
constexpr int kMaxLanes = 64;

template <class Value>
using Names = std::vector<std::pair<std::string_view, Value>>;

template <class Value>
bool assign(const Names<Value>& names, std::string_view text, Value& value) {
  const auto found = std::ranges::find(names, text, &std::pair<std::string_view, Value>::first);
  if (found == names.end()) return false;
  value = found->second;
  return true;
}

std::optional<int> number(std::string_view text, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return std::nullopt;
  }
  return value;
}

bool assign_number(std::string_view text, int low, int high, int& value) {
  const auto parsed = number(text, low, high);
  if (parsed) value = *parsed;
  return parsed.has_value();
}

const Names<Fabric> kFabrics = {
    {"auto", Fabric::automatic}, {"shm", Fabric::shm}, {"verbs", Fabric::verbs}};
const Names<Visibility> kVisibilities = {
    {"auto", Visibility::automatic}, {"ordered", Visibility::ordered}, {"read", Visibility::read}};
const Names<bool> kCarriers = {{"oriel", true}, {"native", false}};
const Names<bool> kSwitch = {{"0", false}, {"1", true}};
const Names<LogLevel> kLevels = {{"debug", LogLevel::debug},
                                 {"info", LogLevel::info},
                                 {"warning", LogLevel::warning},
                                 {"error", LogLevel::error},
                                 {"off", LogLevel::off}};

struct Entry {
  OptionDescription description;
  bool (*set)(Options&, std::string_view);
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> table = {
      {{"ORIEL_FABRIC", "auto|shm|verbs", "auto",
        "path to the peers: auto takes shared memory on one machine and verbs between machines; "
        "verbs forces the RDMA device for every peer"},
       [](Options& o, std::string_view v) { return assign(kFabrics, v, o.fabric); }},
      {{"ORIEL_DEVICE", "NAME or NAME:PORT", "chosen", "RDMA device and port, such as mlx5_0:1"},
       [](Options& o, std::string_view v) {
         o.device = v;
         const auto colon = v.find(':');
         return !v.empty() && colon != 0 &&
                (colon == std::string_view::npos || number(v.substr(colon + 1), 1, 255));
       }},
      {{"ORIEL_GID_INDEX", "0..65535", "chosen", "entry of the port's GID table"},
       [](Options& o, std::string_view v) {
         o.gid_index = number(v, 0, 65535);
         return o.gid_index.has_value();
       }},
      {{"ORIEL_VISIBILITY", "auto|ordered|read", "auto",
        "what ends a flush over verbs: the completions alone (ordered) or a read behind them"},
       [](Options& o, std::string_view v) { return assign(kVisibilities, v, o.visibility); }},
      {{"ORIEL_PEER_TIMEOUT", "1..3600", "5", "seconds until an unreachable peer counts as dead"},
       [](Options& o, std::string_view v) {
         return assign_number(v, 1, kMaxTimeoutSeconds, o.peer_timeout_seconds);
       }},
      {{"ORIEL_LANES", "1..64", "4",
        "threads of a rank that may put and get over verbs at the same time, each by connections "
        "of "
        "its own; further ones share them"},
       [](Options& o, std::string_view v) { return assign_number(v, 1, kMaxLanes, o.lanes); }},
      {{"ORIEL_FAKE_NODES", "1..1024", "1", "makes one machine look like that many, for tests"},
       [](Options& o, std::string_view v) {
         return assign_number(v, 1, kMaxFakeNodes, o.fake_nodes);
       }},
      {{"ORIEL_MPI", "oriel|native", "oriel",
        "who carries the windows of an MPI program under the drop-in; native: MPI itself, as "
        "without it"},
       [](Options& o, std::string_view v) { return assign(kCarriers, v, o.carries_mpi_windows); }},
      {{"ORIEL_STATS", "0|1", "0",
        "1: the drop-in says at the end what each rank's windows have carried"},
       [](Options& o, std::string_view v) { return assign(kSwitch, v, o.stats); }},
      {{"ORIEL_LOG", "debug|info|warning|error|off", "warning",
        "what is logged on standard error; info tells the choices made at start-up"},
       [](Options& o, std::string_view v) { return assign(kLevels, v, o.log); }},
  };
  return table;
}

template <class Value>
std::string_view name_of(const Names<Value>& names, Value value) noexcept {
  for (const auto& [name, candidate] : names) {
    if (candidate == value) return name;
  }
  return "?";
}

void apply(Options& options, std::string_view name, std::string_view value) {
  for (const Entry& entry : entries()) {
    if (entry.description.name != name) continue;
    if (entry.set(options, value)) return;
    throw_error(ErrorCode::invalid_option,
                {.operation = "environment",
                 .problem = fmt::format("{}=\"{}\"", name, value),
                 .hint = fmt::format("allowed: {}", entry.description.values)});
  }
  std::string known;
  for (const Entry& entry : entries()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.description.name);
  }
  throw_error(ErrorCode::invalid_option,
              {.operation = "environment",
               .problem = fmt::format("no option is called {}", name),
               .hint = fmt::format("unset it, or use one of {}", known)});
}

}  // namespace

std::string_view to_string(Fabric fabric) noexcept {
  return name_of(kFabrics, fabric);
}
std::string_view to_string(Visibility visibility) noexcept {
  return name_of(kVisibilities, visibility);
}

const std::vector<OptionDescription>& option_descriptions() {
  static const std::vector<OptionDescription> descriptions = [] {
    std::vector<OptionDescription> list;
    for (const Entry& entry : entries()) list.push_back(entry.description);
    return list;
  }();
  return descriptions;
}

Options parse_options(const std::vector<std::string>& environment) {
  Options options;
  for (const std::string_view line : environment) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || !line.starts_with(kPrefix)) continue;
    const std::string_view name = line.substr(0, equals);
    if (name.starts_with("ORIEL_LAB_") || name.starts_with("ORIEL_TEST_")) continue;
    apply(options, name, line.substr(equals + 1));
  }
  return options;
}

std::vector<std::string> environment_lines() {
  std::vector<std::string> lines;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line)
    lines.emplace_back(*line);
  return lines;
}

}  // namespace oriel::base
