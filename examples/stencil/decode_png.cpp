#include <png.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "stencil/picture.hpp"

namespace stencil {
namespace {

/// After the transformations asked for below every pixel is grey and alpha, two bytes each.
constexpr std::size_t kPixelBytes = 4;

struct Source {
  const unsigned char* next;
  std::size_t left;
};

void take_bytes(png_structp png, png_bytep destination, std::size_t count) {
  auto& source = *static_cast<Source*>(png_get_io_ptr(png));
  if (count > source.left) png_error(png, "it ends too early");
  std::memcpy(destination, source.next, count);
  source.next += count;
  source.left -= count;
}

[[noreturn]] void keep_message(png_structp png, png_const_charp message) {
  *static_cast<std::string*>(png_get_error_ptr(png)) = message;
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

class PngReader {
 public:
  explicit PngReader(std::span<const unsigned char> file)
      : source_{file.data(), file.size()},
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, &message_, keep_message,
                                    ignore_warning)) {
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::runtime_error("cannot be read: libpng does not start");
    }
    png_set_read_fn(png_, &source_, take_bytes);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // require_sane_size judges
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(PngReader&&) = delete;
  PngReader& operator=(PngReader&&) = delete;

  void read_header() {
    run([](png_structp png, png_infop info, png_bytepp) {
      png_read_info(png, info);
      png_set_expand(png);                                            // palette, few bits, tRNS
      png_set_rgb_to_gray_fixed(png, PNG_ERROR_ACTION_NONE, -1, -1);  // no-op on grey
      png_set_expand_16(png);
      png_set_add_alpha(png, 0xffff, PNG_FILLER_AFTER);  // no-op if there is one
      png_set_interlace_handling(png);
      png_read_update_info(png, info);
    });
  }
  [[nodiscard]] std::size_t width() const { return png_get_image_width(png_, info_); }
  [[nodiscard]] std::size_t height() const { return png_get_image_height(png_, info_); }
  [[nodiscard]] std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }

  /// `rows` point to row_bytes() each. To the end of the file, so that a cut one is noticed.
  void read_rows(png_bytepp rows) {
    run(
        [](png_structp png, png_infop info, png_bytepp destination) {
          png_read_image(png, destination);
          png_read_end(png, info);
        },
        rows);
  }

 private:
  using Steps = void (*)(png_structp, png_infop, png_bytepp);

  /// libpng reports errors by longjmp. It lands here, and passes only frames of plain C values: no
  /// object with a destructor may live in `steps`.
  void run(Steps steps, png_bytepp rows = nullptr) {
    if (setjmp(png_jmpbuf(png_)) != 0) {  // NOLINT(cert-err52-cpp): libpng has no other way
      throw std::runtime_error("is a damaged PNG: " + message_);
    }
    steps(png_, info_, rows);
  }

  Source source_;
  std::string message_;
  png_structp png_;
  png_infop info_ = nullptr;
};

float grey_over_black(const unsigned char* pixel) {
  const auto word = [&](int at) { return static_cast<double>(pixel[at] * 256 + pixel[at + 1]); };
  return static_cast<float>(word(0) / 65535 * (word(2) / 65535));
}

}  // namespace

Picture decode_png(std::span<const unsigned char> file) {
  PngReader reader(file);
  reader.read_header();
  Picture picture{reader.width(), reader.height(), {}};
  require_sane_size(picture.width, picture.height);
  if (reader.row_bytes() != picture.width * kPixelBytes) {
    throw std::runtime_error("has a pixel format libpng could not turn to grey");
  }

  std::vector<unsigned char> bytes(picture.width * picture.height * kPixelBytes);
  std::vector<png_bytep> rows(picture.height);
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = &bytes[y * reader.row_bytes()];
  reader.read_rows(rows.data());

  picture.grey.resize(picture.width * picture.height);
  for (std::size_t i = 0; i < picture.grey.size(); ++i) {
    picture.grey[i] = grey_over_black(&bytes[i * kPixelBytes]);
  }
  return picture;
}

}  // namespace stencil
