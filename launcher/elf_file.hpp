#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace oriel::launcher {

/// What the dynamic linker is told by a 64-bit ELF program or library.
struct ElfFile {
  bool has_interpreter = false;            ///< a program that the dynamic linker starts
  std::string soname{};                    ///< "" for programs
  std::vector<std::string> needed{};       ///< libraries [DT_NEEDED]
  std::vector<std::string> search_path{};  ///< [DT_RUNPATH, DT_RPATH], with $ORIGIN as it stands
  std::vector<std::string> undefined{};    ///< symbols that it takes from others
  std::vector<std::string> defined{};      ///< symbols that it offers

  friend bool operator==(const ElfFile&, const ElfFile&) = default;
};

/// How much of it to look for: large libraries have thousands of symbols.
enum class ElfParts : std::uint8_t { without_symbols, all };

/// Empty if the bytes are no ELF file of this machine's word size and byte order, or a damaged one.
/// Pure. Tables are found by the section headers, which stripping leaves alone.
[[nodiscard]] std::optional<ElfFile> parse_elf(std::span<const std::byte> bytes,
                                               ElfParts parts = ElfParts::all);

/// Empty also if there is no such file, or no right to read it.
[[nodiscard]] std::optional<ElfFile> read_elf(const std::filesystem::path& path,
                                              ElfParts parts = ElfParts::all);

}  // namespace oriel::launcher
