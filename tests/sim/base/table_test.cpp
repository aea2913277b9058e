#include "sim/base/table.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

using namespace gradcast;

TEST_CASE("numbers stand to the right, words to the left", "[table]") {
  CHECK(to_text(TextTable{{"model", "s"}, {{"a", "1.5"}, {}, {"long", "-10.25"}, {"b", "-"}}}) ==
        "model       s\n"
        "-----  ------\n"
        "a         1.5\n"
        "\n"
        "long   -10.25\n"
        "b           -\n");
}

TEST_CASE("what is no number is not printed as a result", "[table]") {
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    CHECK_THROWS_AS(fixed(value, 1), std::logic_error);
    CHECK_THROWS_AS(with_sign(value, 1), std::logic_error);
  }
}

TEST_CASE("fixed numbers are never minus nothing", "[table]") {
  CHECK(fixed(-0.0004, 3) == "0.000");
  CHECK(fixed(-0.0006, 3) == "-0.001");
  CHECK(with_sign(0.5, 1) == "+0.5");
  CHECK(with_sign(-0.5, 1) == "-0.5");
  CHECK(with_sign(0, 1) == "+0.0");
}
