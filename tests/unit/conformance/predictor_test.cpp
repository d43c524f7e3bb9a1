// The predictor, on programs short enough to be worked out by hand.

#include "conformance/predictor.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "conformance/oracle.hpp"

namespace oriel::conformance {
namespace {

Program two_ranks(std::string_view element) {
  Program program{.ranks = 2};
  program.memories.push_back({.element = &element_named(element), .bytes = {64, 64}});
  program.windows.push_back({.bytes = {64, 64}});
  return program;
}

Operation one_element(int origin, int target, Call call, OpCode op, std::size_t offset) {
  return {.origin = origin,
          .target = target,
          .call = call,
          .op = op,
          .offset = offset,
          .to = contiguous(1),
          .from = contiguous(1),
          .into = contiguous(1),
          .values = 1};
}

std::int64_t value_of(const Program& program, const Operation& operation) {
  std::int64_t value = 0;
  make_value(*program.memories[0].element, operation.op, operation.values, 0,
             reinterpret_cast<std::byte*>(&value));
  return value;
}

std::int64_t word(Predictor& predictor, int rank, std::size_t index) {
  std::int64_t value = 0;
  std::memcpy(&value, predictor.part(0, rank).data() + 8 * index, 8);
  return value;
}

TEST(Predictor, OperationsFollowEachOther) {
  const Program program = two_ranks("int64");
  Predictor predictor(program);
  Phase phase{.epochs = {{}}};
  phase.epochs[0].operations = {one_element(0, 1, Call::put, OpCode::replace, 2),
                                one_element(0, 1, Call::fetch_and_op, OpCode::sum, 2),
                                one_element(0, 1, Call::get, OpCode::replace, 2)};
  const std::int64_t put = value_of(program, phase.epochs[0].operations[0]);
  const std::int64_t added = value_of(program, phase.epochs[0].operations[1]);
  const Forecast forecast = predictor.run(phase, 0);
  EXPECT_EQ(word(predictor, 1, 2), put + added);
  EXPECT_EQ(word(predictor, 0, 2), 0);
  std::int64_t old = 0;
  std::memcpy(&old, forecast.operations[1].old.data(), 8);
  EXPECT_EQ(old, put);
  std::memcpy(&old, forecast.operations[2].old.data(), 8);
  EXPECT_EQ(old, put + added);
  EXPECT_TRUE(forecast.contested.empty());
}

TEST(Predictor, SwapsMatchOrDoNot) {
  const Program program = two_ranks("int64");
  Predictor predictor(program);
  Operation match = one_element(1, 0, Call::compare_and_swap, OpCode::replace, 0);
  Operation miss = match;
  miss.offset = 1;
  miss.matches = false;
  Phase phase{.epochs = {{}}};
  phase.epochs[0].operations = {match, miss};
  const Forecast forecast = predictor.run(phase, 1);
  EXPECT_EQ(word(predictor, 0, 0), value_of(program, match));
  EXPECT_EQ(word(predictor, 0, 1), 0);
  EXPECT_NE(forecast.operations[0].compare, forecast.operations[1].compare);
  EXPECT_EQ(forecast.operations[0].compare, forecast.operations[0].old);
}

TEST(Predictor, ElementsOfSeveralOriginsAreContested) {
  const Program program = two_ranks("int64");
  Predictor predictor(program);
  Phase phase{.epochs = {{}}};
  phase.epochs[0].operations = {one_element(0, 0, Call::fetch_and_op, OpCode::sum, 3),
                                one_element(1, 0, Call::fetch_and_op, OpCode::sum, 3),
                                one_element(1, 0, Call::fetch_and_op, OpCode::sum, 4),
                                one_element(0, 0, Call::fetch_and_op, OpCode::no_op, 5),
                                one_element(1, 0, Call::fetch_and_op, OpCode::no_op, 5)};
  const Forecast forecast = predictor.run(phase, 1);
  const ContestedPart& part = forecast.contested.at({0, 0});
  EXPECT_TRUE(part.is_contested(3));
  EXPECT_FALSE(part.is_contested(4));
  EXPECT_FALSE(part.is_contested(5));  // nobody changes it
  EXPECT_TRUE(forecast.operations[1].contested.at(0));
  EXPECT_FALSE(forecast.operations[2].contested.at(0));
  EXPECT_TRUE(forecast.operations[0].old.empty());  // another rank's
}

TEST(Predictor, WindowsOverOneMemoryShareIt) {
  Program program = two_ranks("int64");
  program.windows.push_back({.memory = 0, .first_byte = 16, .bytes = {48, 48}});
  Predictor predictor(program);
  Phase phase{.epochs = {{}}};
  phase.epochs[0].window = 1;
  phase.epochs[0].operations = {one_element(0, 1, Call::put, OpCode::replace, 1)};
  static_cast<void>(predictor.run(phase, 0));
  EXPECT_EQ(word(predictor, 1, 3), value_of(program, phase.epochs[0].operations[0]));
}

}  // namespace
}  // namespace oriel::conformance
