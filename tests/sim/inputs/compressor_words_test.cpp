#include "sim/inputs/compressor_words.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

TEST_CASE("a compressor has its source's number where none is asked for", "[inputs]") {
  CHECK(parameter_of(known_compressor("qsgd"), std::nullopt) == 127);
  CHECK(parameter_of(known_compressor("qsgd"), 4) == 4);
  CHECK(parameter_of(known_compressor("terngrad"), 0) == 0);
  CHECK(parameter_of(known_compressor("topk"), std::nullopt) == 0);
  CHECK(parameter_text(known_compressor("qsgd"), 4) == "levels 4");
  CHECK(parameter_text(known_compressor("topk"), 0).empty());
}

// The number of elements that pass decides the time, and the density states it.
TEST_CASE("costs go by the number that a compressor takes, but not by a threshold", "[inputs]") {
  CHECK(cost_parameter(known_compressor("qsgd"), 4) == 4);
  CHECK(cost_parameter(known_compressor("threshold"), 0.01) == 0);
  CHECK(parameter_of(known_compressor("threshold"), 0.5) == 0.5);
}

TEST_CASE("values travel in one of three types", "[inputs]") {
  CHECK(parse_value_type("fp16") == ValueType::Fp16);
  CHECK(value_type_text(parse_value_type("bf16")) == "bf16");
  CHECK_THROWS_WITH(parse_value_type("fp8"), Contains("'fp8' (known: fp32, fp16, bf16)"));
}

TEST_CASE("a number that a compressor does not take is refused with those that it takes",
          "[inputs]") {
  const auto refused = [](const char* name, double asked) {
    return [=] { (void)parameter_of(known_compressor(name), asked); };
  };
  CHECK_THROWS_WITH(refused("qsgd", 0)(), Contains("parameter 0 is not one of compressor 'qsgd': "
                                                   "levels, a whole number from 1 to 32767"));
  CHECK_THROWS_WITH(refused("qsgd", 2.5)(), Contains("a whole number"));
  CHECK_THROWS_WITH(refused("topk", 1)(), Contains("'topk' takes no parameter"));
  CHECK_THROWS_WITH(parse_parameter("-1"), Contains("a number of 0 or above"));
}

// 127 levels and a sign are 8 bits; a block of 256 has a scale of 4 bytes.
TEST_CASE("what a compressor sends is said in bits or bytes", "[inputs]") {
  const auto sent = [](const char* name) { return sent_text(known_compressor(name)); };
  CHECK(sent("dense") == "4 bytes an element, all-reduced");
  CHECK(sent("topk") == "8 bytes of each of k elements, gathered");
  CHECK(sent("threshold") == "8 bytes of each element above it, gathered");
  CHECK(sent("fp16") == "16 bits an element, all-reduced");
  CHECK(sent("int8") == "8 bits an element and 4 bytes of each 256, gathered");
  CHECK(sent("onebit") == "1 bit an element and 8 bytes, gathered");
  CHECK_THAT(sent("qsgd"), Contains("8 bits an element and 4 bytes, gathered; all-reduced"));
  CHECK_THAT(sent("powersgd"), Contains("in two rounds"));
}
