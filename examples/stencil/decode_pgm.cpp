#include <fmt/core.h>

#include <stdexcept>

#include "stencil/picture.hpp"

namespace stencil {
namespace {

constexpr std::size_t kMaxNumber = 1'000'000'000;

bool is_space(unsigned char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(unsigned char c) {
  return c >= '0' && c <= '9';
}

/// Walks through a PGM file: numbers in text, with white space and # comments between them.
class Scanner {
 public:
  explicit Scanner(std::span<const unsigned char> file) : rest_(file) {}

  void skip(std::size_t bytes) { rest_ = rest_.subspan(bytes); }
  [[nodiscard]] std::span<const unsigned char> rest() const { return rest_; }

  std::size_t number(const char* what) {
    skip_blanks();
    if (rest_.empty()) throw std::runtime_error(fmt::format("is cut off before its {}", what));
    if (!is_digit(rest_[0])) {
      throw std::runtime_error(fmt::format("is a damaged PGM: its {} is no number", what));
    }
    std::size_t value = 0;
    for (; !rest_.empty() && is_digit(rest_[0]); skip(1)) {
      value = value * 10 + static_cast<std::size_t>(rest_[0] - '0');
      if (value > kMaxNumber) {
        throw std::runtime_error(fmt::format("is a damaged PGM: its {} is absurdly large", what));
      }
    }
    return value;
  }

 private:
  void skip_blanks() {
    bool in_comment = false;
    for (; !rest_.empty(); skip(1)) {
      if (in_comment) {
        in_comment = rest_[0] != '\n' && rest_[0] != '\r';
      } else if (rest_[0] == '#') {
        in_comment = true;
      } else if (!is_space(rest_[0])) {
        return;
      }
    }
  }

  std::span<const unsigned char> rest_;
};

float to_grey(std::size_t sample, std::size_t largest) {
  if (sample > largest) {
    throw std::runtime_error(
        fmt::format("is a damaged PGM: sample {} exceeds its maximum {}", sample, largest));
  }
  return static_cast<float>(static_cast<double>(sample) / static_cast<double>(largest));
}

/// Before memory is taken: a file of this size cannot hold the pixels it claims to have.
void require_bytes(std::size_t have, std::size_t need) {
  if (have < need) {
    throw std::runtime_error(
        fmt::format("is cut off: {} bytes of pixels, at least {} needed", have, need));
  }
}

void read_text(Scanner& scanner, std::size_t largest, Picture& picture) {
  const std::size_t pixels = picture.width * picture.height;
  require_bytes(scanner.rest().size(), 2 * pixels);  // a blank and a digit each
  picture.grey.reserve(pixels);
  while (picture.grey.size() < pixels) {
    picture.grey.push_back(to_grey(scanner.number("next pixel"), largest));
  }
}

void read_binary(Scanner& scanner, std::size_t largest, Picture& picture) {
  if (scanner.rest().empty() || !is_space(scanner.rest()[0])) {
    throw std::runtime_error("is a damaged PGM: no blank between header and pixels");
  }
  scanner.skip(1);  // exactly one: the next byte may look like a blank and be a pixel
  const std::size_t pixels = picture.width * picture.height;
  const std::size_t sample_bytes = largest < 256 ? 1 : 2;
  const auto bytes = scanner.rest();
  require_bytes(bytes.size(), pixels * sample_bytes);
  picture.grey.reserve(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::size_t sample =
        sample_bytes == 1 ? bytes[i]
                          : static_cast<std::size_t>(bytes[2 * i] * 256 + bytes[2 * i + 1]);
    picture.grey.push_back(to_grey(sample, largest));
  }
}

}  // namespace

Picture decode_pgm(std::span<const unsigned char> file) {
  const unsigned char kind = file.size() < 2 ? '?' : file[1];
  if (kind != '2' && kind != '5') {
    throw std::runtime_error(
        fmt::format("is a P{} picture; of the PNM family only grey PGM (P2, P5) is read",
                    static_cast<char>(kind)));
  }
  Scanner scanner(file.subspan(2));
  Picture picture;
  picture.width = scanner.number("width");
  picture.height = scanner.number("height");
  require_sane_size(picture.width, picture.height);
  const std::size_t largest = scanner.number("maximum");
  if (largest < 1 || largest > 65535) {
    throw std::runtime_error(
        fmt::format("is a damaged PGM: maximum {} is not in 1 ... 65535", largest));
  }
  if (kind == '2') {
    read_text(scanner, largest, picture);
  } else {
    read_binary(scanner, largest, picture);
  }
  return picture;
}

}  // namespace stencil
