// The figures of docs/accuracy.md: their counts, and the words of a figure beside its limit.
#include "sim/validate/today.hpp"

#include <catch2/catch.hpp>

namespace gradcast {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::WithinAbs;

TodayRow collective(const std::string& source, double bytes, double measured, double forecast) {
  return {"measured-nccl-tests", source, "TCP", "nccl", 2, 8, bytes, measured, forecast};
}

TodayRow training(const std::string& source, const std::string& software, double forecast) {
  return {"measured-csc", source, software, "nccl", 1, 8, 0, 1.0, forecast};
}

// 10 s measured: 12 s are +20 %, 9 s are -10 %, 25 s are +150 %. The mean of 20, 10 and 150 is 60,
// that of +20, -10 and +150 is 53.33.
TEST_CASE("a group has the mean of the errors, their bias and the worst row", "[validate]") {
  const TodayGroup group{
      "g",
      0,
      0,
      {collective("a", 1, 10, 12), collective("a", 1, 10, 9), collective("a", 1, 10, 25)}};
  CHECK_THAT(group.mean(), WithinAbs(60, 1e-9));
  CHECK_THAT(group.bias(), WithinAbs(160.0 / 3, 1e-9));
  CHECK_THAT(group.worst(), WithinAbs(150, 1e-9));
  CHECK(group.beyond() == 1);
}

// 4 s measured: 8 s and 2 s are a factor of 2, not beyond it; 8.1 s and 1.9 s are.
TEST_CASE("a row is beyond a factor of 2 on either side", "[validate]") {
  CHECK_FALSE(collective("a", 1, 4, 8).beyond_factor_two());
  CHECK_FALSE(collective("a", 1, 4, 2).beyond_factor_two());
  CHECK(collective("a", 1, 4, 8.1).beyond_factor_two());
  CHECK(collective("a", 1, 4, 1.9).beyond_factor_two());
}

TEST_CASE("a figure beyond its limit is bold, a bias by its size", "[validate]") {
  CHECK(beside_limit(15.04, false, 15) == "**15.0 %** (> 15)");
  CHECK(beside_limit(14.9, false, 15) == "14.9 % (<= 15)");
  CHECK(beside_limit(-2.6, true, 2) == "**-2.6 %** (> 2)");
  CHECK(beside_limit(1.5, true, 2) == "+1.5 % (<= 2)");
  CHECK(beside_limit(42, false, 0) == "42.0 %");
}

// 1 MiB is 1048576 bytes: that row is among the large, one byte less is not. +40 % is above TCP's
// 30, and -40 % below its 50.
TEST_CASE("collectives are divided at 1 MiB, each part with its limit", "[validate]") {
  Today today;
  today.collectives = {collective("a", 1048576, 1, 1.4), collective("b", 1048575, 1, 0.6)};
  CHECK_THAT(collectives_as_markdown(today),
             Contains("| TCP | 2 | 1 | **40.0 %** (> 30) | +40.0 % | 1 | 40.0 % (<= 50) | "
                      "-40.0 % | 0 of 2 |"));
}

// 2.5 and 0.4 are beyond 2, 1.5 is not: 2 of 3 rows, one too fast and one too slow.
TEST_CASE("rows beyond a factor of 2 are counted in the page and listed in the file",
          "[validate]") {
  Today today;
  today.collectives = {collective("a", 1024, 0.001, 0.0025), collective("a", 1024, 0.001, 0.0015),
                       collective("b", 2048, 0.001, 0.0004)};
  const std::string page = collectives_as_markdown(today);
  CHECK_THAT(page, Contains("2 of 3 rows are beyond a factor of 2: the forecast is too "
                            "fast in 1 and too slow in 1."));
  CHECK_THAT(page, Contains("| `a` | 1 | 2 |\n| `b` | 1 | 1 |\n"));
  const std::string file = beyond_as_csv(today);
  CHECK_THAT(file, Contains("a,nccl,2,8,1024,1000.0,2500.0,2.50\n"));
  CHECK_THAT(file, Contains("b,nccl,2,8,2048,1000.0,400.0,0.40\n"));
  CHECK_THAT(file, !Contains("1500.0"));
}

// DDP: +5 and -8 %, mean 6.5 above 5, bias -1.5 within 2. With Horovod's -12 %: mean 25/3, bias
// -15/3.
TEST_CASE("trainings have totals, and every source above 10 % is named", "[validate]") {
  Today today;
  today.trainings = {training("a", "ddp-nccl", 1.05), training("b", "ddp-nccl", 0.92),
                     training("c", "horovod-nccl", 0.88)};
  const std::string page = trainings_as_markdown(today);
  CHECK_THAT(page, Contains("| **all by DDP, with a stack** |  | 2 | **6.5 %** (> 5) | "
                            "-1.5 % (<= 2) | -8.0 % | `b`: 8.0 % (<= 10) |"));
  CHECK_THAT(page, Contains("| **all with a stack** |  | 3 | **8.3 %** (> 5) | **-5.0 "
                            "%** (> 2) | -12.0 % | `c`: **12.0 %** (> 10) |"));
}

// 20 % where 10 % was committed is a growth; 10.5 % is not (a tenth is allowed).
TEST_CASE("an error that has grown by more than a tenth is named", "[validate]") {
  Today before;
  before.collectives = {collective("a", 2097152, 1, 1.1)};
  const TextFile file{"validation-today.csv", today_as_csv(before)};
  Today now = before;
  now.collectives[0].forecast_seconds = 1.105;
  CHECK(today_complaints(now, file).empty());
  now.collectives[0].forecast_seconds = 1.2;
  CHECK_THAT(today_complaints(now, file),
             Contains("TCP: from 1 MiB: mean_absolute_percent was 10.00 and is 20.00\n"));
}

}  // namespace
}  // namespace gradcast
