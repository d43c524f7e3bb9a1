#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launcher/elf_file.hpp"
#include "launcher/library_search.hpp"

namespace oriel::launcher {

/// The library that is put before an MPI program's own MPI (src/mpi).
struct DropIn {
  std::filesystem::path path;
  ElfFile elf;  ///< its `defined` symbols are the calls that it takes over

  /// The MPI that it calls itself, such as "libmpi.so.40": programs must be linked against the
  /// same.
  [[nodiscard]] std::string mpi() const;
};

/// Where the drop-in is, seen from the folder of this program: installed, and in a build tree.
[[nodiscard]] std::vector<std::filesystem::path> drop_in_places(
    const std::filesystem::path& launcher_folder);

/// The folder of the program that is running.
[[nodiscard]] std::filesystem::path own_folder();

/// The first of `places` that holds a library.
[[nodiscard]] std::optional<DropIn> find_drop_in(const std::vector<std::filesystem::path>& places);

/// What to say when there is none.
[[nodiscard]] std::string no_drop_in_text(const std::vector<std::filesystem::path>& places);

/// How a program is bound to MPI, which decides whether the drop-in can do anything for it.
enum class MpiLink : std::uint8_t {
  same,        ///< the one of the drop-in
  other,       ///< another implementation or version
  none,        ///< by none of its libraries: it may still load MPI while it runs, as Python does
  not_loaded,  ///< statically linked: nothing can be put before it
  script       ///< no ELF file: what it starts is not known
};

/// An MPI program, or a library that calls MPI, beside the drop-in.
struct MpiProgram {
  LoadedFiles loaded{};  ///< what was looked at
  MpiLink link = MpiLink::script;
  std::string mpi{};                             ///< the MPI it is linked against; "" if none
  std::vector<std::string> taken{};              ///< calls that the drop-in carries out, sorted
  std::vector<std::string> left{};               ///< calls that stay with MPI, sorted
  std::vector<std::filesystem::path> callers{};  ///< the files that make calls
};

/// Reads the program and its libraries, and runs nothing.
/// @param folders  where its libraries are looked for
/// @param parts  without_symbols: the link alone; who makes which calls is left empty
[[nodiscard]] MpiProgram look_at_program(const std::filesystem::path& path, const DropIn& drop_in,
                                         const std::vector<std::filesystem::path>& folders,
                                         ElfParts parts = ElfParts::all);

/// What a user has to know about the link, as the rest of a sentence that begins with the program's
/// name; "" if all is well. @param mpi, wanted  the program's MPI and the drop-in's
[[nodiscard]] std::string link_text(MpiLink link, const std::string& mpi,
                                    const std::string& wanted);

}  // namespace oriel::launcher
