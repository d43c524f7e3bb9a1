#include "stencil/picture.hpp"

#include <fmt/core.h>
#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <tuple>

namespace stencil {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;
constexpr std::array<unsigned char, 8> kPngMagic{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

std::vector<unsigned char> read_file(const std::string& path) {
  namespace fs = std::filesystem;
  const auto require_success = [](const std::error_code& error) {
    if (error) throw std::runtime_error("cannot be opened: " + error.message());
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  require_success(error);
  // Of a pipe each rank would get a part, and a device may have no end.
  if (!fs::is_regular_file(status)) throw std::runtime_error("is no regular file");
  const auto size = fs::file_size(path, error);
  require_success(error);
  if (size > kMaxFileBytes) throw std::runtime_error("is larger than 1 GiB");

  std::ifstream stream(path, std::ios::binary);
  if (!stream) require_success({errno, std::generic_category()});
  std::vector<unsigned char> bytes(size);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!stream) throw std::runtime_error("cannot be read to its end");
  return bytes;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::ignore = std::fclose(file); }
};

Picture decode(std::span<const unsigned char> file) {
  if (file.empty()) throw std::runtime_error("is empty");
  if (file.size() >= kPngMagic.size() &&
      std::equal(kPngMagic.begin(), kPngMagic.end(), file.begin())) {
    return decode_png(file);
  }
  if (file.size() >= 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '7') {
    return decode_pgm(file);
  }
  throw std::runtime_error("is neither a PNG nor a PGM picture");
}

}  // namespace

void require_sane_size(std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) {
    throw std::runtime_error(fmt::format("has no pixels ({} x {})", width, height));
  }
  if (width > kMaxPixels / height) {
    throw std::runtime_error(fmt::format("is too large: {} x {} pixels, at most {} in all are read",
                                         width, height, kMaxPixels));
  }
}

Picture read_picture(const std::string& path) {
  try {
    return decode(read_file(path));
  } catch (const std::runtime_error& error) {
    throw InputError(fmt::format("picture '{}' {}", path, error.what()));
  }
}

void write_png(const std::string& path, std::size_t width, std::size_t height,
               std::span<const Colour> pixels) {
  static_assert(sizeof(Colour) == 3, "libpng reads the pixels as packed bytes");
  constexpr std::size_t kMaxSide = PNG_UINT_31_MAX / sizeof(Colour);
  if (width == 0 || height == 0 || width > kMaxSide || height > kMaxSide ||
      pixels.size() != width * height) {
    throw InputError(
        fmt::format("picture '{}': {} x {} pixels cannot be written", path, width, height));
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  // Not png_image_write_to_file: when it fails, it removes the file, be it a device or a link.
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("picture '{}' cannot be written: {}", path, why));
  };
  if (file == nullptr) refuse(std::generic_category().message(errno));
  if (png_image_write_to_stdio(&image, file.get(), 0, pixels.data(), 0, nullptr) == 0) {
    refuse(image.message);
  }
  if (std::fflush(file.get()) != 0) refuse(std::generic_category().message(errno));
}

void require_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path parent = fs::path(path).parent_path();
  const fs::path folder = parent.empty() ? fs::path(".") : parent;
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("picture '{}' cannot be written: {}", path, why));
  };
  if (!fs::is_directory(folder, error)) refuse(fmt::format("no folder '{}'", folder.string()));
  if (fs::is_directory(path, error)) refuse("is a directory");
  const bool exists = fs::exists(path, error);
  if (::access(exists ? path.c_str() : folder.c_str(), W_OK) != 0) {
    refuse(std::generic_category().message(errno));
  }
}

}  // namespace stencil
