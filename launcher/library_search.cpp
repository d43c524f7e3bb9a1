#include "launcher/library_search.hpp"

#include <glob.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace oriel::launcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfiguration = "/etc/ld.so.conf";
// The linker's own, last; those of Debian's multiarch are in the configuration too.
constexpr const char* kOwnFolders[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
constexpr int kMaxIncludeDepth = 4;

void add_configured(std::vector<fs::path>& folders, const fs::path& file, int depth);

void add_included(std::vector<fs::path>& folders, const std::string& pattern, int depth) {
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      add_configured(folders, found.gl_pathv[i], depth);
    }
  }
  ::globfree(&found);
}

void add_configured(std::vector<fs::path>& folders, const fs::path& file, int depth) {
  if (depth > kMaxIncludeDepth) return;
  std::ifstream configuration(file);
  for (std::string line; std::getline(configuration, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    if (word != "include") {
      folders.emplace_back(word);
    } else {
      while (words >> word) {
        add_included(folders, (file.parent_path() / word).string(), depth + 1);
      }
    }
  }
}

std::string with_origin(std::string folder, const fs::path& user_path) {
  std::error_code ignored;
  const std::string origin = fs::weakly_canonical(user_path, ignored).parent_path().string();
  for (const std::string_view name : {"${ORIGIN}", "$ORIGIN"}) {
    for (auto at = folder.find(name); at != std::string::npos; at = folder.find(name)) {
      folder.replace(at, name.size(), origin);
    }
  }
  return folder;
}

}  // namespace

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
  if (const char* const list = std::getenv("LD_LIBRARY_PATH")) {
    std::istringstream words(list);
    for (std::string folder; std::getline(words, folder, ':');) folders.emplace_back(folder);
  }
  add_configured(folders, kConfiguration, 0);
  folders.insert(folders.end(), std::begin(kOwnFolders), std::end(kOwnFolders));
  return folders;
}

std::optional<fs::path> find_library(const std::string& name, const ElfFile& user,
                                     const fs::path& user_path,
                                     const std::vector<fs::path>& folders) {
  std::error_code ignored;
  if (name.find('/') != std::string::npos) {
    return fs::exists(name, ignored) ? std::optional<fs::path>(name) : std::nullopt;
  }
  for (const std::string& folder : user.search_path) {
    const fs::path candidate = fs::path(with_origin(folder, user_path)) / name;
    if (fs::exists(candidate, ignored)) return candidate.lexically_normal();
  }
  for (const fs::path& folder : folders) {
    const fs::path candidate = folder / name;
    if (fs::exists(candidate, ignored)) return candidate;
  }
  return std::nullopt;
}

LoadedFiles loaded_files(const fs::path& path, ElfFile elf, const std::vector<fs::path>& folders,
                         ElfParts parts) {
  LoadedFiles loaded;
  std::set<std::string> met;
  loaded.files.push_back({path, std::move(elf)});
  for (std::size_t i = 0; i < loaded.files.size(); ++i) {
    const std::vector<std::string> needed = loaded.files[i].elf.needed;
    for (const std::string& name : needed) {
      if (!met.insert(name).second) continue;
      const LoadedFiles::File& user = loaded.files[i];  // the list grows below
      const auto found = find_library(name, user.elf, user.path, folders);
      auto library = found ? read_elf(*found, parts) : std::nullopt;
      if (library) {
        loaded.files.push_back({*found, std::move(*library)});
      } else {
        loaded.not_found.push_back(name);
      }
    }
  }
  return loaded;
}

}  // namespace oriel::launcher
