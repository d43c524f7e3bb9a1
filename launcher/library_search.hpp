#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launcher/elf_file.hpp"

namespace oriel::launcher {

/// Where the dynamic linker looks for every program: LD_LIBRARY_PATH, what /etc/ld.so.conf lists,
/// and its own folders. Its cache is not read: it is made from the same list.
[[nodiscard]] std::vector<std::filesystem::path> library_folders();

/// Finds the library `name` that `user`, which lies at `user_path`, needs. Empty: not found.
/// @param folders  to look into after those that `user` names itself
[[nodiscard]] std::optional<std::filesystem::path> find_library(
    const std::string& name, const ElfFile& user, const std::filesystem::path& user_path,
    const std::vector<std::filesystem::path>& folders);

/// A program or library with what it loads, directly and indirectly.
struct LoadedFiles {
  struct File {
    std::filesystem::path path;
    ElfFile elf;
  };
  std::vector<File> files;             ///< the first is the program
  std::vector<std::string> not_found;  ///< names of libraries
};

/// Each library once, in the order in which the dynamic linker searches them for symbols.
[[nodiscard]] LoadedFiles loaded_files(const std::filesystem::path& path, ElfFile elf,
                                       const std::vector<std::filesystem::path>& folders,
                                       ElfParts parts = ElfParts::all);

}  // namespace oriel::launcher
