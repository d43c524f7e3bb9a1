#pragma once
/// Grey pictures from PNG and PGM files, and colour pictures to PNG files.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stencil/rank_grid.hpp"

namespace stencil {

/// More pixels than this are refused before any memory is taken for them.
inline constexpr std::size_t kMaxPixels = std::size_t{1} << 26;

/// Grey values from 0 (black) to 1 (white), rows from top to bottom.
struct Picture {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<float> grey;
  [[nodiscard]] float at(std::size_t x, std::size_t y) const noexcept {
    return grey[y * width + x];
  }
};

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  bool operator==(const Colour&) const = default;
};

/// Reads a picture; what the file holds decides the format, not its name. PNG: any colour type and
/// depth, colours turned to grey, transparent pixels blended with black. PGM: P2 and P5, up to 16
/// bits. Throws InputError that names the file.
[[nodiscard]] Picture read_picture(const std::string& path);

/// The two formats, from bytes already in memory; errors as std::runtime_error without a file name.
[[nodiscard]] Picture decode_png(std::span<const unsigned char> file);
[[nodiscard]] Picture decode_pgm(std::span<const unsigned char> file);

/// Throws std::runtime_error unless the size is positive and at most kMaxPixels.
void require_sane_size(std::size_t width, std::size_t height);

/// Writes pixels, rows from top to bottom. Throws InputError that names the file.
void write_png(const std::string& path, std::size_t width, std::size_t height,
               std::span<const Colour> pixels);

/// Throws InputError if a file of this name can obviously not be written: better before a long run
/// than after it.
void require_writable(const std::string& path);

}  // namespace stencil
