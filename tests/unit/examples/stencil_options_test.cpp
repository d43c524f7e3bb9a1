#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stencil/options.hpp"

namespace stencil {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::variant<Options, Help> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "stencil");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string refusal(const std::vector<const char*>& arguments) {
  try {
    (void)parse(arguments);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(StencilOptions, Defaults) {
  const auto options = std::get<Options>(parse({}));
  EXPECT_FALSE(options.nx || options.ny || options.grid || options.init || options.image);
  EXPECT_EQ(options.steps, 200U);
  EXPECT_EQ(options.sync, Sync::fence);
  EXPECT_FALSE(options.check || options.quiet);
}

TEST(StencilOptions, AllGiven) {
  const auto options = std::get<Options>(
      parse({"--nx", "512", "--ny=384", "--steps", "0", "--grid", "4x2", "--init", "a b.png",
             "--image", "out.png", "--sync", "pscw", "--check", "--quiet"}));
  EXPECT_EQ(options.nx, 512U);
  EXPECT_EQ(options.ny, 384U);
  EXPECT_EQ(options.steps, 0U);
  EXPECT_EQ(options.grid, (RankGrid{4, 2}));
  EXPECT_EQ(options.init, "a b.png");
  EXPECT_EQ(options.image, "out.png");
  EXPECT_EQ(options.sync, Sync::pscw);
  EXPECT_TRUE(options.check && options.quiet);
}

TEST(StencilOptions, EveryWayToSynchroniseHasItsName) {
  for (const Sync sync : {Sync::fence, Sync::pscw, Sync::notify, Sync::lock}) {
    const std::string name{to_string(sync)};
    EXPECT_EQ(std::get<Options>(parse({"--sync", name.c_str()})).sync, sync);
  }
}

TEST(StencilOptions, AutoIsTheDefaultGrid) {
  EXPECT_EQ(std::get<Options>(parse({"--grid", "auto"})).grid, std::nullopt);
}

TEST(StencilOptions, AnEmptyFileNameIsNotNoFile) {
  try {
    EXPECT_TRUE(std::get<Options>(parse({"--init", ""})).init.has_value());
  } catch (const InputError&) {
    SUCCEED();
  }
}

TEST(StencilOptions, HelpShowsAnExampleAndTheStatus) {
  const auto help = std::get<Help>(parse({"--help", "--nx", "7"}));
  EXPECT_THAT(help.text,
              AllOf(HasSubstr("mpirun -n 4 stencil --nx 512"), HasSubstr("--image FILE"),
                    HasSubstr("--sync fence|pscw|notify|lock"), HasSubstr("Exit status")));
}

TEST(StencilOptions, RefusalsAreOneLineAndNameTheOption) {
  const auto expect = [](const std::vector<const char*>& arguments, const char* named) {
    EXPECT_THAT(refusal(arguments), AllOf(Not("accepted"), HasSubstr(named), Not(HasSubstr("\n"))));
  };
  expect({"--nx", "0"}, "--nx");
  expect({"--nx", "-5"}, "--nx");
  expect({"--ny", "many"}, "--ny");
  expect({"--ny", "1000001"}, "--ny");
  expect({"--nx", "3.5"}, "--nx");
  expect({"--nx"}, "--nx");
  expect({"--steps", "-1"}, "--steps");
  expect({"--steps", "99999999999999999999999"}, "--steps");
  expect({"--grid", "4by2"}, "'4by2'");
  expect({"--sync", "barrier"}, "'barrier'");
  expect({"--chekc"}, "--chekc");
  expect({"picture.png"}, "picture.png");
}

}  // namespace
}  // namespace stencil
