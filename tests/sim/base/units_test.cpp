#include "sim/base/units.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

TEST_CASE("bits and bytes are told apart", "[units]") {
  CHECK(parse_rate("400Gbps").value == 50e9);
  CHECK(parse_rate("50GBps").value == 50e9);
  CHECK(parse_rate("9.43 Gb/s").value == Approx(9.43e9 / 8));
  CHECK(parse_rate("1GiB/s").value == 1024.0 * 1024 * 1024);
}

TEST_CASE("arithmetic is counted in FLOPS", "[units]") {
  CHECK(parse_flop_rate("989.4TFLOPS").value == Approx(989.4e12));
  CHECK(parse_flop_rate("2.25 PFLOP/s").value == Approx(2.25e15));
  CHECK(to_text(parse_flop_rate("989.4TFLOPS")) == "989.4TFLOPS");
  CHECK(to_text(parse_flop_rate("870 GFLOPS")) == "870GFLOPS");
  CHECK_THROWS_WITH(parse_flop_rate("312"), Contains("'312' has no unit") && Contains("312TFLOPS"));
  CHECK_THROWS_WITH(parse_flop_rate("312TOPS"), Contains("'TOPS' is not a unit of arithmetic"));
  CHECK_THROWS_AS(parse_flop_rate("0FLOPS"), ValueError);
}

TEST_CASE("sizes know powers of ten and of two", "[units]") {
  CHECK(parse_bytes("25MiB") == Bytes{25 * 1024 * 1024});
  CHECK(parse_bytes("25MB") == Bytes{25'000'000});
  CHECK(parse_bytes("0B") == Bytes{0});
}

TEST_CASE("times are seconds, milli-, micro- and nanoseconds", "[units]") {
  CHECK(parse_time("26.6us").count() == Approx(26.6e-6));
  CHECK(parse_time("1 ms").count() == 1e-3);
  CHECK(parse_time("5\u00b5s").count() == Approx(5e-6));  // the micro sign, and the Greek letter
  CHECK(parse_time("5\u03bcs").count() == Approx(5e-6));
  CHECK(parse_time("0").count() == 0);  // nothing is nothing in any unit
}

TEST_CASE("a value without a unit is refused, and the message shows one that works", "[units]") {
  CHECK_THROWS_WITH(parse_time("5"), Contains("'5' has no unit") && Contains("25us"));
  CHECK_THROWS_WITH(parse_rate("10"), Contains("'10' has no unit") && Contains("9.43Gbps"));
  CHECK_THROWS_WITH(parse_bytes("64"), Contains("64MiB"));
}

TEST_CASE("what is no value of its kind is refused", "[units]") {
  for (const char* text : {"", "fast", "-1Gbps", "0Gbps", "infGbps", "nanGbps", "10gbps", "10KBps",
                           "10Gbps ", "10  Gbps", "1e999Gbps"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_rate(text), ValueError);
  }
  for (const char* text : {"1m", "-1us", "1us2", "us", "1Gbps"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_time(text), ValueError);
  }
  for (const char* text : {"-1B", "1b", "99999999TiB"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_bytes(text), ValueError);
  }
}

TEST_CASE("numbers are finite and whole lines of digits", "[units]") {
  CHECK(parse_number("1e-3") == 1e-3);
  CHECK(parse_integer("-7") == -7);
  for (const char* text : {"nan", "inf", "1.5x", "", " 1", "1 "}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_number(text), ValueError);
    CHECK_THROWS_AS(parse_integer(text), ValueError);
  }
  CHECK_THROWS_AS(parse_integer("1.5"), ValueError);
}

TEST_CASE("a density is above 0 and up to 1, a count at least 1", "[units]") {
  CHECK(parse_density("1") == 1);
  CHECK(parse_density("1%") == 0.01);
  CHECK(parse_density("100%") == 1);
  for (const char* text : {"0", "2", "-0.1", "nan", "0%", "101%", "%"})
    CHECK_THROWS_AS(parse_density(text), ValueError);
  CHECK(parse_count("16") == 16);
  for (const char* text : {"0", "-1", "1000001", "four"})
    CHECK_THROWS_AS(parse_count(text), ValueError);
  CHECK(parse_density("1e-9") == 1e-9);
  CHECK_THROWS_WITH(parse_density("1e-300"),
                    Catch::Contains("'1e-300' is below the least density, 0.000000001"));
}

TEST_CASE("what is printed can be read back", "[units]") {
  for (const char* text : {"9.43Gbps", "100Mbps", "81.28Gbps"})
    CHECK(to_text(parse_rate(text)) == text);
  for (const char* text : {"26.6us", "1.5ms", "2s", "0s", "5ns"})
    CHECK(to_text(parse_time(text)) == text);
  for (const char* text : {"25MiB", "1GiB", "1000B"}) CHECK(to_text(parse_bytes(text)) == text);
  // 2,509,765,249,218,750 KiB: sixteen digits, of which none may be lost.
  CHECK(to_text(parse_bytes("2569999615200000000B")) == "2509765249218750KiB");
  CHECK(parse_number(number_to_text(0.1)) == 0.1);
  CHECK(parse_number(number_to_text(1.0 / 3)) == 1.0 / 3);
}
