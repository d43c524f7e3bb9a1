#pragma once
/// PNG files of any colour type in memory, to be read back.

#include <png.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace stencil::test {

struct PngSpec {
  png_uint_32 width = 1;
  png_uint_32 height = 1;
  int bit_depth = 8;
  int colour_type = PNG_COLOR_TYPE_GRAY;
  int interlace = PNG_INTERLACE_NONE;
  std::vector<png_color> palette{};
  std::vector<png_byte> palette_alpha{};
};

/// `rows`: packed bytes of all rows as PNG stores them.
inline std::vector<unsigned char> make_png(const PngSpec& spec, std::vector<unsigned char> bytes) {
  std::vector<unsigned char> file;
  png_structp png = png_create_write_struct(
      PNG_LIBPNG_VER_STRING, nullptr,
      [](png_structp, png_const_charp message) { throw std::runtime_error(message); }, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp writer, png_bytep data, std::size_t count) {
        auto& out = *static_cast<std::vector<unsigned char>*>(png_get_io_ptr(writer));
        out.insert(out.end(), data, data + count);
      },
      nullptr);
  png_set_IHDR(png, info, spec.width, spec.height, spec.bit_depth, spec.colour_type, spec.interlace,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!spec.palette.empty()) {
    png_set_PLTE(png, info, spec.palette.data(), static_cast<int>(spec.palette.size()));
  }
  if (!spec.palette_alpha.empty()) {
    png_set_tRNS(png, info, spec.palette_alpha.data(), static_cast<int>(spec.palette_alpha.size()),
                 nullptr);
  }
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  for (png_uint_32 y = 0; y < spec.height; ++y) {
    rows.push_back(bytes.data() + y * png_get_rowbytes(png, info));
  }
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

}  // namespace stencil::test
