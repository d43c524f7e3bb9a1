/// oriel-info: what Oriel finds on this machine, and what it would do with it. See --help.

#include <fmt/format.h>
#include <oriel/version.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>

#include "launcher/info_report.hpp"

namespace {

constexpr int kUsageStatus = 2;

constexpr const char* kManual = R"(Examples:
  oriel-info                                     everything, for reading
  oriel-info --options                           the ORIEL_* variables and their values
  oriel-info --json | jq .fabric                 everything, for programs; with the variables

Fabrics are judged as if the other machine were like this one. Status 0, also without a device;
2 for an unknown option.
)";

int run(int argc, char** argv) {
  CLI::App app(
      "Shows devices, ports, GIDs, limits and NUMA distances of this machine, which fabric\n"
      "ranks would take and why, and what to do if there is no device.",
      "oriel-info");
  bool json = false;
  bool options = false;
  app.set_version_flag("--version", "oriel-info " ORIEL_VERSION_STRING);
  app.footer(kManual);
  app.add_flag("--json", json, "everything as JSON");
  app.add_flag("--options", options, "the ORIEL_* variables");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answer) {
    return app.exit(answer);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "oriel-info: {}; hint: oriel-info --help\n", error.what());
    return kUsageStatus;
  }
  using namespace oriel::launcher;
  const InfoReport report = collect_info();
  fmt::print("{}", json ? info_json(report) : options ? options_text(report) : info_text(report));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "oriel-info: {}\n", error.what());
    return 1;
  }
}
