#include "launcher/mpi_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace oriel::launcher {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 100;

std::string calls_text(std::string_view title, const std::vector<std::string>& calls) {
  std::string text = fmt::format("\n{} ({})\n", title, calls.size());
  std::size_t column = 0;
  for (const std::string& call : calls) {
    if (column > 0 && column + 1 + call.size() > kWidth) {
      text += '\n';
      column = 0;
    }
    text += column == 0 ? "  " : " ";
    text += call;
    column += (column == 0 ? 2 : 1) + call.size();
  }
  return text + (calls.empty() ? "  none\n" : "\n");
}

std::vector<std::string> names(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(path.string());
  return texts;
}

std::vector<std::string> looked_at(const MpiProgram& program) {
  std::vector<std::string> texts;
  for (const LoadedFiles::File& file : program.loaded.files) texts.push_back(file.path.string());
  return texts;
}

std::string_view link_name(MpiLink link) {
  switch (link) {
    case MpiLink::same:
      return "same";
    case MpiLink::other:
      return "other";
    case MpiLink::none:
      return "none";
    case MpiLink::not_loaded:
      return "static";
    case MpiLink::script:
      return "script";
  }
  return "";
}

std::string problem(const MpiProgram& program, const DropIn& drop_in) {
  return program.link == MpiLink::script
             ? "is no program of this machine's kind but, for example, a script"
             : link_text(program.link, program.mpi, drop_in.mpi());
}

}  // namespace

std::string mpi_text(const std::filesystem::path& path, const MpiProgram& program,
                     const DropIn& drop_in) {
  std::string text = fmt::format("{}\n  MPI      {}\n  drop-in  {}\n", path.string(),
                                 program.mpi.empty() ? "none" : program.mpi, drop_in.path.string());
  if (const std::string what = problem(program, drop_in); !what.empty()) {
    text += fmt::format("\n{} {}\n", path.filename().string(), what);
  }
  if (program.link == MpiLink::script) return text;
  text += calls_text("Oriel takes over, for windows that it carries", program.taken);
  text += calls_text("Stay with MPI", program.left);
  text += fmt::format("\nLooked at {} files", program.loaded.files.size());
  if (!program.callers.empty()) {
    text += fmt::format("; these call MPI: {}", fmt::join(names(program.callers), ", "));
  }
  text += '\n';
  if (!program.loaded.not_found.empty()) {
    text += fmt::format("Not found: {}\n", fmt::join(program.loaded.not_found, ", "));
  }
  return text;
}

std::string mpi_json(const std::filesystem::path& path, const MpiProgram& program,
                     const DropIn& drop_in) {
  const Json json = {{"program", path.string()},
                     {"drop_in", drop_in.path.string()},
                     {"mpi", program.mpi.empty() ? Json(nullptr) : Json(program.mpi)},
                     {"link", link_name(program.link)},
                     {"problem", problem(program, drop_in)},
                     {"taken_over", program.taken},
                     {"stay_with_mpi", program.left},
                     {"looked_at", looked_at(program)},
                     {"callers", names(program.callers)},
                     {"not_found", program.loaded.not_found}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace oriel::launcher
