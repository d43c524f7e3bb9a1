#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oriel::launcher {

/// `word` so that a POSIX shell reads exactly it: bare if harmless, else in single quotes.
[[nodiscard]] std::string shell_quote(std::string_view word);

/// The words quoted and joined by blanks: a line to paste.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

/// Splits as a shell does: blanks separate, '…', "…" and \ quote; nothing is expanded.
/// Errors: std::invalid_argument for an open quote.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

}  // namespace oriel::launcher
