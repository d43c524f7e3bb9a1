#include "launcher/bench/bench_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oriel::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Outcome {
  std::optional<int> status;
  BenchOptions options;
  std::string error;
};

Outcome parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "oriel-bench");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Outcome outcome;
  ::testing::internal::CaptureStderr();
  outcome.status = parse(static_cast<int>(words.size()), argv.data(), true, outcome.options);
  outcome.error = ::testing::internal::GetCapturedStderr();
  return outcome;
}

std::vector<std::size_t> sizes(const BenchOptions& options) {
  std::vector<std::size_t> all;
  for (const Task& task : options.tasks()) all.push_back(task.size);
  return all;
}

TEST(BenchOptions, WithoutAnyEverythingIsMeasured) {
  const Outcome outcome = parsed({});
  ASSERT_FALSE(outcome.status) << outcome.error;
  EXPECT_EQ(outcome.options.operations.size(), operations().size());
  EXPECT_TRUE(outcome.options.plan.floor);
  EXPECT_TRUE(outcome.options.plan.mpi);
  EXPECT_GE(outcome.options.tasks().size(), operations().size());
}

TEST(BenchOptions, ListsAreSplitAtCommasOrNot) {
  for (const auto& words : {std::vector<std::string>{"--ops", "put,fence", "--sizes", "8,4K,1M"},
                            {"--ops", "put", "fence", "--sizes", "8", "4K", "1M"}}) {
    const Outcome outcome = parsed(words);
    ASSERT_FALSE(outcome.status) << outcome.error;
    EXPECT_THAT(outcome.options.operations, ElementsAre(Operation::put, Operation::fence));
    EXPECT_THAT(sizes(outcome.options), ElementsAre(8, 4096, 1U << 20U, 8))
        << "a fence has no size";
  }
}

TEST(BenchOptions, SizesAreThoseThatAnOperationCanHave) {
  const Outcome outcome = parsed({"--ops", "accumulate,strided", "--sizes", "1,12,100"});
  ASSERT_FALSE(outcome.status) << outcome.error;
  EXPECT_THAT(sizes(outcome.options), ElementsAre(8, 96, 64)) << "whole doubles, whole blocks";
}

TEST(BenchOptions, PeersAndWindow) {
  Outcome outcome = parsed({"--peers", "floor", "--window", "created"});
  ASSERT_FALSE(outcome.status) << outcome.error;
  EXPECT_TRUE(outcome.options.plan.floor);
  EXPECT_FALSE(outcome.options.plan.mpi);
  EXPECT_EQ(outcome.options.window, WindowKind::created);
  outcome = parsed({"--peers", "none"});
  EXPECT_FALSE(outcome.options.plan.floor);
  EXPECT_FALSE(outcome.options.plan.mpi);
}

TEST(BenchOptions, MistakesAreNamed) {
  const auto expect = [](const std::vector<std::string>& words, const std::string& text) {
    const Outcome outcome = parsed(words);
    EXPECT_EQ(outcome.status, 2) << text;
    EXPECT_THAT(outcome.error, HasSubstr(text));
    EXPECT_THAT(outcome.error, HasSubstr("hint: oriel-bench --help"));
  };
  expect({"--ops", "puts"}, "there is no operation puts");
  expect({"--sizes", "8Q"}, "8Q is no size");
  expect({"--sizes", "-8"}, "-8 is no size");
  expect({"--sizes", "0"}, "0 is no size");
  expect({"--sizes", "2G"}, "2G is no size");
  expect({"--peers", "others"}, "others: floor, mpi or none");
  expect({"--window", "shared"}, "shared");
  expect({"--seconds", "0"}, "--seconds");
  expect({"--fast"}, "--fast");
}

}  // namespace
}  // namespace oriel::bench
