#include "launcher/shell_words.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace oriel::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ShellQuote, LeavesHarmlessWordsBare) {
  EXPECT_EQ(shell_quote("--np=4,/usr/bin/x_y@z:1%+"), "--np=4,/usr/bin/x_y@z:1%+");
}

TEST(ShellQuote, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("^ucx"), "'^ucx'");
  EXPECT_EQ(shell_quote("a b;$c"), "'a b;$c'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
}

TEST(ShellLine, JoinsByBlanks) {
  EXPECT_EQ(shell_line({"echo", "a b", "c"}), "echo 'a b' c");
}

TEST(SplitWords, SplitsAndUnquotes) {
  EXPECT_THAT(split_words("  --mca btl '^a b'\t--x \"y \\\"z\\\" \\n\" a\\ b "),
              ElementsAre("--mca", "btl", "^a b", "--x", "y \"z\" \\n", "a b"));
  EXPECT_THAT(split_words("a'b'\"c\" ''"), ElementsAre("abc", ""));
  EXPECT_THAT(split_words(" \n"), IsEmpty());
}

TEST(SplitWords, UndoesShellLine) {
  const std::vector<std::string> words = {"it's", "", "a\\b", "\"q\"", "two words", "^x"};
  EXPECT_EQ(split_words(shell_line(words)), words);
}

TEST(SplitWords, RefusesOpenQuotes) {
  EXPECT_THROW(std::ignore = split_words("a 'b"), std::invalid_argument);
  EXPECT_THROW(std::ignore = split_words("a \"b\\\""), std::invalid_argument);
  EXPECT_THROW(std::ignore = split_words("a\\"), std::invalid_argument);
}

}  // namespace
}  // namespace oriel::launcher
