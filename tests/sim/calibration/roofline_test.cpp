// `calibrate --roofline`: a compressor beside what the device's memory allows.
#include <catch2/catch.hpp>

#include "sim/calibration/tables.hpp"
#include "tests/sim/calibration/toy_point.hpp"

using namespace gradcast;
using toy::bench_point;

// 1 M elements: e = g + e in 10 us is 1.2 TB/s, 2 M in 16 us are 1.5 TB/s, the best.
TEST_CASE("shares are of the ceiling at this size, and of the floor at the best bandwidth") {
  CalibrationPoint point;
  point.call = bench_point("topk", {1'000'000});
  BenchResult result;
  result.encode = {20e-6, 21e-6, 20, 0};
  result.selected = 5000;
  result.recall = 0.25;
  const Answer answer = roofline_answer(
      {{point, result}}, {{1'000'000, {10e-6, 11e-6, 20, 0}}, {2'000'000, {16e-6, 17e-6, 20, 0}}});
  REQUIRE(answer.rows.size() == 2);
  CHECK(answer.rows[0]["compressor"] == "ceiling");
  CHECK(answer.rows[1]["share_of_ceiling"].get<double>() == Approx(0.5));
  CHECK(answer.rows[1]["share_of_floor"].get<double>() == Approx(8.0 / 20));
  CHECK(answer.rows[1]["selected_share"].get<double>() == Approx(0.5));
  CHECK(answer.rows[1]["bytes"].is_null());         // not counted
  CHECK(answer.rows[1]["warm_seconds"].is_null());  // it keeps nothing
  CHECK(answer.summary["best_bandwidth_bytes_per_second"].get<double>() == Approx(1.5e12));
}

TEST_CASE("warm and cold calls stand beside the encode whose inputs drift") {
  CalibrationPoint point;
  point.call = bench_point("topk", {1'000'000});
  BenchResult result;
  result.encode = {22e-6, 23e-6, 20, 0};
  result.warm = BenchTiming{20e-6, 21e-6, 20, 0};
  result.cold = BenchTiming{28e-6, 29e-6, 20, 0};
  const Answer answer = roofline_answer({{point, result}}, {{1'000'000, {11e-6, 12e-6, 20, 0}}});
  CHECK(answer.rows[0]["warm_seconds"].is_null());  // the ceiling's
  CHECK(answer.rows[1]["encode_seconds"].get<double>() == 22e-6);
  CHECK(answer.rows[1]["warm_seconds"].get<double>() == 20e-6);
  CHECK(answer.rows[1]["cold_seconds"].get<double>() == 28e-6);
  CHECK(answer.rows[1]["share_of_ceiling"].get<double>() == Approx(0.5));  // the encode's
  CHECK_THAT(answer.table, Catch::Contains("28.0"));
}

// e = g + e: 12 MB in 10 us, 1.2 TB/s. One million codes of 4 bits are half a megabyte; QSGD reads
// the gradient twice, 8 MB, without a residual: 8.5 MB take 7.08 us at that speed.
TEST_CASE("a cast or quantiser is held against its own bytes, and PowerSGD against its own") {
  BenchResult result;
  result.encode = {14e-6, 15e-6, 20, 0};
  result.selected = 1'000'000;
  result.recall = 1;
  CalibrationPoint qsgd;
  qsgd.density = 1;
  qsgd.call = bench_point("qsgd", {1'000'000});
  qsgd.call.parameter = 7;
  CalibrationPoint powersgd;
  powersgd.density = 1;
  powersgd.call = bench_point("powersgd", {1'000'000});
  powersgd.call.parameter = 2;
  powersgd.call.mode = Mode::Code;
  powersgd.call.shapes = {{1000, 1000}};
  const Answer answer =
      roofline_answer({{qsgd, result}, {powersgd, result}}, {{1'000'000, {10e-6, 11e-6, 20, 0}}});
  REQUIRE(answer.rows.size() == 3);
  CHECK(answer.rows[0]["floor_bytes"] == 12e6);
  CHECK(answer.rows[0]["parameter"].is_null());
  CHECK(answer.rows[1]["floor_bytes"] == 8.5e6 + 4);
  CHECK(answer.rows[1]["parameter"] == 7);
  CHECK(answer.rows[1]["share_of_floor"].get<double>() == Approx(8.5 / 1.2 / 14).epsilon(1e-5));
  CHECK(answer.rows[1]["share_of_ceiling"].get<double>() == Approx(10.0 / 14));
  CHECK(answer.rows[1]["selected_share"].is_null());  // nothing is selected
  CHECK(answer.rows[1]["recall"].is_null());
  CHECK(answer.rows[2]["floor_bytes"] == 16e6 + 8 * 4000);
  CHECK_THAT(answer.table, Catch::Contains(" 8.50 ") && Catch::Contains(" 16.03 "));
}
