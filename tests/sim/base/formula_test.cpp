#include "sim/base/formula.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

constexpr std::array<std::string_view, 2> kNames{"a", "b"};

double value(const std::string& text, double a = 0, double b = 0) {
  return Formula(text, kNames).of(std::array{a, b});
}

}  // namespace

TEST_CASE("a formula is worked out as on paper", "[formula]") {
  CHECK(value("1 + 2 * 3") == 7);
  CHECK(value("(1 + 2) * 3") == 9);
  CHECK(value("10 - 4 - 3") == 3);
  CHECK(value("24 / 4 / 2") == 3);
  CHECK(value("-2 * -3 - -1") == 7);
  CHECK(value("a * 4 + b", 5, 2) == 22);
  CHECK(value("4 * ceil(a / 32)", 33) == 8);
  CHECK(value("floor(a / 32) + sqrt(b)", 65, 9) == 5);
  CHECK(value("min(a, b) + 10 * max(a, b)", 3, 4) == 43);
  CHECK(value("1.5e3 + .5") == 1500.5);
  CHECK(std::isinf(value("1 / a")));
}

TEST_CASE("a formula knows which names stand in it", "[formula]") {
  const Formula formula("4 * b", kNames);
  CHECK_FALSE(formula.uses(0));
  CHECK(formula.uses(1));
}

TEST_CASE("what is no formula is refused where it goes wrong", "[formula]") {
  const auto refuses = [](const std::string& text, const std::string& says) {
    CAPTURE(text);
    CHECK_THROWS_WITH(value(text), Contains(says));
  };
  refuses("", "character 1: a number, a name or '(' is missing");
  refuses("8 *", "character 4: a number, a name or '(' is missing");
  refuses("8 * (a + 1", "')' is missing");
  refuses("8 a", "character 3: 'a' is one too many");
  refuses("max(a)", "',' is missing");
  refuses("2 ^ a", "'^' is one too many");
  refuses("8 * cell(a)", "unknown name 'cell'; did you mean 'ceil'?");
  refuses("c", "(known: a, b, ceil, floor, sqrt, min, max)");
  refuses("1e999", "not a number");
  refuses(std::string(60, '(') + "1" + std::string(60, ')'), "too many parentheses");
  refuses("1" + std::string(1000, ' ') + "+", "at most 1000 letters");
}
