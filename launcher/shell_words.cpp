#include "launcher/shell_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace oriel::launcher {
namespace {

constexpr std::string_view kHarmless =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
constexpr std::string_view kBlanks = " \t\n";

/// Reads one quoted or bare piece from the front of `text` and appends it to `word`.
void take_piece(std::string_view& text, std::string& word) {
  const char first = text.front();
  text.remove_prefix(1);
  if (first == '\\') {
    if (text.empty()) throw std::invalid_argument("a \\ with nothing behind it");
    word += text.front();
    text.remove_prefix(1);
  } else if (first == '\'' || first == '"') {
    for (; !text.empty() && text.front() != first; text.remove_prefix(1)) {
      const bool escaped =
          first == '"' && text.size() > 1 && text[0] == '\\' && (text[1] == '"' || text[1] == '\\');
      if (escaped) text.remove_prefix(1);
      word += text.front();
    }
    if (text.empty()) throw std::invalid_argument(fmt::format("a {} that is never closed", first));
    text.remove_prefix(1);
  } else {
    word += first;
  }
}

}  // namespace

std::string shell_quote(std::string_view word) {
  if (!word.empty() && word.find_first_not_of(kHarmless) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::vector<std::string> quoted(words.size());
  std::ranges::transform(words, quoted.begin(), shell_quote);
  return fmt::format("{}", fmt::join(quoted, " "));
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) return words;
    std::string& word = words.emplace_back();
    while (!text.empty() && kBlanks.find(text.front()) == std::string_view::npos) {
      take_piece(text, word);
    }
  }
}

}  // namespace oriel::launcher
