#include "launcher/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "base/shared_segment.hpp"
#include "base/unique_fd.hpp"

namespace oriel::launcher {
namespace {

constexpr unsigned char kByteOrder =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

struct Damaged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Every access to the file's bytes is checked here: offsets in a file may be anything.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) throw Damaged("beyond the end");
    return bytes_.subspan(offset, size);
  }

  template <class T>
  T at(std::uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, part(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }

  template <class T>
  std::vector<T> table(std::uint64_t offset, std::uint64_t size) const {
    const auto from = part(offset, size / sizeof(T) * sizeof(T));
    std::vector<T> values(size / sizeof(T));
    if (!from.empty()) std::memcpy(values.data(), from.data(), from.size());
    return values;
  }

 private:
  std::span<const std::byte> bytes_;
};

class Parser {
 public:
  explicit Parser(std::span<const std::byte> bytes)
      : file_(bytes),
        header_(file_.at<Elf64_Ehdr>(0)),
        sections_(file_.table<Elf64_Shdr>(header_.e_shoff,
                                          std::uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr))) {}

  ElfFile parse(ElfParts parts) {
    const auto segments = file_.table<Elf64_Phdr>(
        header_.e_phoff, std::uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr));
    elf_.has_interpreter = std::ranges::any_of(
        segments, [](const Elf64_Phdr& segment) { return segment.p_type == PT_INTERP; });
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type == SHT_DYNAMIC) read_dynamic(section);
      if (section.sh_type == SHT_DYNSYM && parts == ElfParts::all) read_symbols(section);
    }
    return std::move(elf_);
  }

 private:
  /// The string at `index` of the table that `section` refers to.
  std::string text(const Elf64_Shdr& section, std::uint64_t index) const {
    if (section.sh_link >= sections_.size()) throw Damaged("no such section");
    const Elf64_Shdr& strings = sections_[section.sh_link];
    const auto all = file_.part(strings.sh_offset, strings.sh_size);
    if (index >= all.size()) throw Damaged("beyond the strings");
    const std::string_view rest(reinterpret_cast<const char*>(all.data()) + index,
                                all.size() - index);
    return std::string(rest.substr(0, rest.find('\0')));
  }

  void read_dynamic(const Elf64_Shdr& section) {
    for (const Elf64_Dyn& entry : file_.table<Elf64_Dyn>(section.sh_offset, section.sh_size)) {
      switch (entry.d_tag) {
        case DT_NULL:
          return;
        case DT_NEEDED:
          elf_.needed.push_back(text(section, entry.d_un.d_val));
          break;
        case DT_SONAME:
          elf_.soname = text(section, entry.d_un.d_val);
          break;
        case DT_RUNPATH:
        case DT_RPATH:
          add_search_path(text(section, entry.d_un.d_val));
          break;
      }
    }
  }

  void add_search_path(std::string_view list) {
    while (!list.empty()) {
      const auto colon = std::min(list.find(':'), list.size());
      if (colon > 0) elf_.search_path.emplace_back(list.substr(0, colon));
      list.remove_prefix(std::min(colon + 1, list.size()));
    }
  }

  void read_symbols(const Elf64_Shdr& section) {
    for (const Elf64_Sym& symbol : file_.table<Elf64_Sym>(section.sh_offset, section.sh_size)) {
      if (symbol.st_name == 0 || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
      auto& list = symbol.st_shndx == SHN_UNDEF ? elf_.undefined : elf_.defined;
      list.push_back(text(section, symbol.st_name));
    }
  }

  Reader file_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Shdr> sections_;
  ElfFile elf_;
};

bool is_elf_of_ours(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    return false;
  }
  return std::to_integer<unsigned char>(bytes[EI_CLASS]) == ELFCLASS64 &&
         std::to_integer<unsigned char>(bytes[EI_DATA]) == kByteOrder;
}

}  // namespace

std::optional<ElfFile> parse_elf(std::span<const std::byte> bytes, ElfParts parts) {
  if (!is_elf_of_ours(bytes)) return std::nullopt;
  try {
    return Parser(bytes).parse(parts);
  } catch (const Damaged&) {
    return std::nullopt;
  }
}

/// Mapped, not read: programs may be large, and little of them is looked at.
std::optional<ElfFile> read_elf(const std::filesystem::path& path, ElfParts parts) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts = {};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0)
    return std::nullopt;
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  const base::Mapping bytes(static_cast<std::byte*>(mapped), base::Unmap{size});
  return parse_elf({bytes.get(), size}, parts);
}

}  // namespace oriel::launcher
