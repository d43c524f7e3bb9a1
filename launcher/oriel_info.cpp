/// oriel-info: what Oriel finds on this machine, and what it would do with it. See --help.

#include <fmt/format.h>
#include <oriel/version.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "launcher/info_report.hpp"
#include "launcher/library_search.hpp"
#include "launcher/machine_facts.hpp"
#include "launcher/mpi_program.hpp"
#include "launcher/mpi_report.hpp"

namespace {

constexpr int kUsageStatus = 2;

constexpr const char* kManual = R"(Examples:
  oriel-info                                     everything, for reading
  oriel-info --options                           the ORIEL_* variables and their values
  oriel-info --json | jq .fabric                 everything, for programs; with the variables
  oriel-info --mpi ./program                     which MPI calls of a program Oriel would take over

For --mpi PROGRAM may be a library too, such as the one that Python loads as mpi4py. Its own
libraries are looked at; what it loads while it runs cannot be seen.

Fabrics are judged as if the other machine were like this one. Status 0, also without a device;
2 for an unknown option, 1 for a PROGRAM that cannot be found.
)";

/// @param name  as one would start it
std::string mpi_answer(const std::string& name, bool json) {
  using namespace oriel::launcher;
  const auto file = program_file(name, search_path());
  std::error_code ignored;
  if (!file || !std::filesystem::is_regular_file(*file, ignored)) {
    throw std::runtime_error(fmt::format("there is no program {}", name));
  }
  const auto places = drop_in_places(own_folder());
  const auto drop_in = find_drop_in(places);
  if (!drop_in) throw std::runtime_error(no_drop_in_text(places));
  const MpiProgram program = look_at_program(*file, *drop_in, library_folders());
  return json ? mpi_json(*file, program, *drop_in) : mpi_text(*file, program, *drop_in);
}

int run(int argc, char** argv) {
  CLI::App app(
      "Shows devices, ports, GIDs, limits and NUMA distances of this machine, which fabric\n"
      "ranks would take and why, and what to do if there is no device.",
      "oriel-info");
  bool json = false;
  bool options = false;
  std::string program;
  app.set_version_flag("--version", "oriel-info " ORIEL_VERSION_STRING);
  app.footer(kManual);
  app.add_flag("--json", json, "everything as JSON");
  app.add_flag("--options", options, "the ORIEL_* variables");
  app.add_option("--mpi", program, "an MPI program: what Oriel would do for it under LD_PRELOAD")
      ->type_name("PROGRAM");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answer) {
    return app.exit(answer);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "oriel-info: {}; hint: oriel-info --help\n", error.what());
    return kUsageStatus;
  }
  if (!program.empty()) {
    fmt::print("{}", mpi_answer(program, json));
    return 0;
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
