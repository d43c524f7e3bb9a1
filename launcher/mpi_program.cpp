#include "launcher/mpi_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace oriel::launcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDropInName = "liboriel_mpi.so";

/// MPI itself, by whatever implementation: libmpi.so.40, libmpi_mpifh.so.40, libmpich.so.12,
/// libmpicxx.so.12, ...
bool is_mpi(std::string_view library) {
  return library.starts_with("libmpi");
}

/// The part of MPI that has its C functions, whose name tells implementation and version.
bool is_core_of_mpi(std::string_view library) {
  return library.starts_with("libmpi.so") || library.starts_with("libmpich.so");
}

/// MPI_Put, PMPI_Put; mpi_put_, mpi_put_f08_ and the other spellings of Fortran compilers. The
/// constants of Open MPI's Fortran, such as mpi_fortran_bottom_, are no calls.
bool is_call(std::string_view symbol) {
  for (const std::string_view prefix : {"MPI_", "PMPI_", "mpi_", "pmpi_"}) {
    if (symbol.starts_with(prefix)) return !symbol.starts_with("mpi_fortran_");
  }
  return false;
}

/// The symbol that decides who carries a call out: its own, but Open MPI's module mpi_f08 hands
/// mpi_put_f08_ and pmpi_put_f08_ on to ompi_put_f.
std::string deciding_symbol(const std::string& call) {
  constexpr std::string_view kSuffix = "_f08_";
  const std::size_t prefix = call.starts_with("p") ? 5 : 4;
  if (!call.ends_with(kSuffix) || call.size() <= prefix + kSuffix.size()) return call;
  return fmt::format("ompi_{}_f", call.substr(prefix, call.size() - prefix - kSuffix.size()));
}

std::string name_of(const LoadedFiles::File& file) {
  return file.elf.soname.empty() ? file.path.filename().string() : file.elf.soname;
}

/// Its libraries and those of its libraries, less what only MPI brings along.
std::string linked_mpi(const LoadedFiles& loaded) {
  for (const LoadedFiles::File& file : loaded.files) {
    if (is_core_of_mpi(name_of(file))) return name_of(file);
  }
  const auto missing = std::ranges::find_if(loaded.not_found, is_core_of_mpi);
  return missing == loaded.not_found.end() ? "" : *missing;
}

MpiLink link_of(const MpiProgram& program, const DropIn& drop_in) {
  const ElfFile& elf = program.loaded.files.front().elf;
  const bool is_library = !elf.soname.empty() || !elf.needed.empty();
  if (!elf.has_interpreter && !is_library) return MpiLink::not_loaded;
  if (program.mpi.empty()) return MpiLink::none;
  return program.mpi == drop_in.mpi() ? MpiLink::same : MpiLink::other;
}

void sort_out_calls(MpiProgram& program, const DropIn& drop_in) {
  const std::set<std::string> offered(drop_in.elf.defined.begin(), drop_in.elf.defined.end());
  std::set<std::string> calls;
  std::set<std::string> own;
  for (const LoadedFiles::File& file : program.loaded.files) {
    if (is_mpi(name_of(file))) continue;
    if (std::ranges::any_of(file.elf.undefined, is_call)) program.callers.push_back(file.path);
    std::ranges::copy_if(file.elf.undefined, std::inserter(calls, calls.end()), is_call);
    std::ranges::copy_if(file.elf.defined, std::inserter(own, own.end()), is_call);
  }
  for (const std::string& call : calls) {
    if (own.contains(call)) continue;  // of one of its own libraries
    (offered.contains(deciding_symbol(call)) ? program.taken : program.left).push_back(call);
  }
}

}  // namespace

std::string DropIn::mpi() const {
  const auto found = std::ranges::find_if(elf.needed, is_core_of_mpi);
  return found == elf.needed.end() ? "" : *found;
}

std::vector<fs::path> drop_in_places(const fs::path& launcher_folder) {
  std::vector<fs::path> places;
  for (const char* const to_libraries : {ORIEL_BIN_TO_LIB, "../lib"}) {
    const fs::path place = (launcher_folder / to_libraries / kDropInName).lexically_normal();
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  return places;
}

fs::path own_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

std::optional<DropIn> find_drop_in(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    if (auto elf = read_elf(place)) return DropIn{place, std::move(*elf)};
  }
  return std::nullopt;
}

std::string no_drop_in_text(const std::vector<fs::path>& places) {
  std::string list;
  for (const fs::path& place : places) list += (list.empty() ? "" : ", ") + place.string();
  return fmt::format(
      "there is no {} (looked for {}); hint: build and install Oriel as a whole: the library is "
      "found from this program's own place",
      kDropInName, list);
}

MpiProgram look_at_program(const fs::path& path, const DropIn& drop_in,
                           const std::vector<fs::path>& folders, ElfParts parts) {
  MpiProgram program;
  auto elf = read_elf(path, parts);
  if (!elf) return program;
  program.loaded = loaded_files(path, std::move(*elf), folders, parts);
  program.mpi = linked_mpi(program.loaded);
  program.link = link_of(program, drop_in);
  sort_out_calls(program, drop_in);
  return program;
}

std::string link_text(MpiLink link, const std::string& mpi, const std::string& wanted) {
  switch (link) {
    case MpiLink::same:
    case MpiLink::script:
      return "";
    case MpiLink::other:
      return fmt::format(
          "is linked against {}, another MPI than {} that Oriel was built with; hint: build it "
          "with the mpicc, mpicxx or mpifort of that Open MPI",
          mpi, wanted);
    case MpiLink::none:
      return "is not linked against MPI; what it loads while it runs, as Python does, cannot be "
             "seen before";
    case MpiLink::not_loaded:
      return "is statically linked, so that no library can be put before its MPI; hint: link it "
             "without -static";
  }
  return "";
}

}  // namespace oriel::launcher
