#include "conformance/oracle.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace oriel::conformance {
namespace {

std::uint64_t combine_integers(OpCode code, bool is_signed, std::uint64_t a, std::uint64_t b) {
  const bool less = is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  switch (code) {
    case OpCode::sum:
      return a + b;
    case OpCode::prod:
      return a * b;
    case OpCode::min:
      return less ? a : b;
    case OpCode::max:
      return less ? b : a;
    case OpCode::band:
      return a & b;
    case OpCode::bor:
      return a | b;
    case OpCode::bxor:
      return a ^ b;
    case OpCode::land:
      return (a != 0 && b != 0) ? 1 : 0;
    case OpCode::lor:
      return (a != 0 || b != 0) ? 1 : 0;
    case OpCode::lxor:
      return ((a != 0) != (b != 0)) ? 1 : 0;
    default:
      return a;
  }
}

double combine_reals(OpCode code, double a, double b) {
  switch (code) {
    case OpCode::sum:
      return a + b;
    case OpCode::prod:
      return a * b;
    case OpCode::min:
      return std::min(a, b);
    case OpCode::max:
      return std::max(a, b);
    default:
      return a;
  }
}

void apply_to_number(const Element& element, OpCode code, std::byte* target,
                     const std::byte* operand) {
  const Part part = element.first;
  if (is_floating(part.scalar)) {
    store_real(part, target,
               combine_reals(code, load_real(part, target), load_real(part, operand)));
  } else {
    store_integer(part, target,
                  combine_integers(code, is_signed(part.scalar), load_integer(part, target),
                                   load_integer(part, operand)));
  }
}

void apply_to_complex(const Element& element, OpCode code, std::byte* target,
                      const std::byte* operand) {
  const double a = load_real(element.first, target);
  const double b = load_real(element.second, target);
  const double c = load_real(element.first, operand);
  const double d = load_real(element.second, operand);
  const bool is_sum = code == OpCode::sum;
  store_real(element.first, target, is_sum ? a + c : a * c - b * d);
  store_real(element.second, target, is_sum ? b + d : a * d + b * c);
}

/// -1, 0, 1: a is less than, equal to, greater than b.
int compare(Part part, const std::byte* a, const std::byte* b) {
  if (is_floating(part.scalar)) {
    const double x = load_real(part, a);
    const double y = load_real(part, b);
    return x < y ? -1 : y < x ? 1 : 0;
  }
  const std::uint64_t x = load_integer(part, a);
  const std::uint64_t y = load_integer(part, b);
  if (x == y) return 0;
  return combine_integers(OpCode::min, is_signed(part.scalar), x, y) == x ? -1 : 1;
}

void apply_to_pair(const Element& element, OpCode code, std::byte* target,
                   const std::byte* operand) {
  int order = compare(element.first, operand, target);
  if (code == OpCode::maxloc) order = -order;
  if (order == 0) order = compare(element.second, operand, target);  // the smaller index wins
  if (order < 0) std::memcpy(target, operand, element.bytes());
}

/// Small whole numbers and, for integers, sometimes all bits.
std::uint64_t integer_value(OpCode code, std::uint64_t seed, std::uint64_t random) {
  switch (code) {
    case OpCode::sum:
      return seed % 8 == 0 ? random : 1 + random % 7;
    case OpCode::prod:
      return random | 1;
    case OpCode::land:
    case OpCode::lor:
    case OpCode::lxor:
      return random % 3 == 0 ? 0 : random >> 8U;
    case OpCode::band:
      return random | (random >> 7U) | (random << 9U);  // mostly ones
    default:
      return random;
  }
}

double real_value(OpCode code, std::uint64_t random) {
  constexpr std::array<double, 4> kFactors = {1, -1, 2, -1};
  switch (code) {
    case OpCode::sum:
      return static_cast<double>(1 + random % 7);
    case OpCode::prod:
      return kFactors[random % kFactors.size()];
    case OpCode::min:
    case OpCode::max:
      return static_cast<double>(random % 2001) - 1000;
    default:
      return static_cast<double>(1 + random % 1000);
  }
}

void make_part(Part part, OpCode code, std::uint64_t seed, std::uint64_t random, std::byte* out) {
  if (is_floating(part.scalar)) {
    store_real(part, out, real_value(code, random));
  } else {
    store_integer(part, out, integer_value(code, seed, random));
  }
}

void make_pair(const Element& element, std::uint64_t random, std::byte* out) {
  const std::uint64_t value = random % 16;  // few, so that indexes decide
  const std::uint64_t index = (random >> 8U) % 1000;
  std::memset(out, 0, element.bytes());
  if (is_floating(element.first.scalar)) {
    store_real(element.first, out, static_cast<double>(value) - 8);
  } else {
    store_integer(element.first, out, value - 8);
  }
  store_integer(element.second, out, index);
}

void make_complex(const Element& element, OpCode code, std::uint64_t random, std::byte* out) {
  if (code == OpCode::prod) {  // 1, -1, 2, i: products stay exact
    constexpr std::array<double, 4> kReal = {1, -1, 2, 0};
    constexpr std::array<double, 4> kImaginary = {0, 0, 0, 1};
    store_real(element.first, out, kReal[random % 4]);
    store_real(element.second, out, kImaginary[random % 4]);
  } else {
    store_real(element.first, out, real_value(code, random));
    store_real(element.second, out, real_value(code, random >> 32U));
  }
}

}  // namespace

void apply(const Element& element, OpCode code, std::byte* target, const std::byte* operand) {
  if (code == OpCode::no_op) return;
  if (code == OpCode::replace) {
    std::memcpy(target, operand, element.bytes());
    return;
  }
  switch (element.family) {
    case Family::number:
      apply_to_number(element, code, target, operand);
      break;
    case Family::complex:
      apply_to_complex(element, code, target, operand);
      break;
    case Family::pair:
      apply_to_pair(element, code, target, operand);
      break;
    case Family::opaque:
      break;
  }
}

bool commutes(OpCode code) noexcept {
  return code != OpCode::replace;
}

bool plausible(const Element& element, OpCode code, const std::byte* before, const std::byte* old,
               const std::byte* after) {
  switch (code) {
    case OpCode::min:
      return compare(element.first, after, old) <= 0 && compare(element.first, old, before) <= 0;
    case OpCode::max:
      return compare(element.first, before, old) <= 0 && compare(element.first, old, after) <= 0;
    case OpCode::minloc:
    case OpCode::maxloc: {
      std::array<std::byte, 32> best{};
      std::memcpy(best.data(), old, element.bytes());
      apply(element, code, best.data(), after);
      if (!equal(element, best.data(), after)) return false;
      std::memcpy(best.data(), before, element.bytes());
      apply(element, code, best.data(), old);
      return equal(element, best.data(), old);
    }
    case OpCode::band:
    case OpCode::bor: {
      const std::uint64_t x = load_integer(element.first, before);
      const std::uint64_t y = load_integer(element.first, old);
      const std::uint64_t z = load_integer(element.first, after);
      return code == OpCode::bor ? (x & ~y) == 0 && (y & ~z) == 0 : (y & ~x) == 0 && (z & ~y) == 0;
    }
    default:
      return true;
  }
}

std::uint64_t mix(std::uint64_t seed, std::uint64_t index) noexcept {  // splitmix64
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

void make_value(const Element& element, OpCode code, std::uint64_t seed, std::uint64_t index,
                std::byte* out) {
  const std::uint64_t random = mix(seed, index);
  switch (element.family) {
    case Family::number:
      make_part(element.first, code, seed, random, out);
      break;
    case Family::complex:
      make_complex(element, code, random, out);
      break;
    case Family::pair:
      make_pair(element, random, out);
      break;
    case Family::opaque:
      for (std::size_t i = 0; i < element.bytes(); i += 8) {
        const std::uint64_t word = mix(random, i);
        std::memcpy(out + i, &word, std::min<std::size_t>(8, element.bytes() - i));
      }
      break;
  }
}

void make_other(const Element& element, const std::byte* value, std::byte* out) {
  std::memcpy(out, value, element.bytes());
  out[0] ^= std::byte{0x55};  // in any type, and for zeros of both signs, another value
}

}  // namespace oriel::conformance
