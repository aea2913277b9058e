// The order of measuring in a limited time, by arithmetic.
#include "sim/calibration/budget.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

namespace {

constexpr Seconds kLong{1000};

CalibrationPoint point_of(const std::string& compressor, const TensorSet& tensors) {
  CalibrationPoint point;
  point.call.compressor = compressor;
  point.call.implementation = "gradcast-cpu";
  point.call.tensors = tensors;
  point.call.workers = {1};
  point.density = 0.001;
  return point;
}

std::vector<CalibrationPoint> line_of_sizes(const std::string& compressor,
                                            const std::vector<std::int64_t>& sizes) {
  std::vector<CalibrationPoint> points;
  for (const std::int64_t elements : sizes) points.push_back(point_of(compressor, {elements}));
  return points;
}

/// Points that take a second each.
BudgetOrder order_of(const std::vector<CalibrationPoint>& points) {
  return {points, std::vector<Seconds>(points.size(), Seconds{1}), kLong};
}

/// Encode and decode, in milliseconds.
std::vector<Seconds> times(double encode, double decode = 1) {
  return {Seconds{encode / 1e3}, Seconds{decode / 1e3}};
}

}  // namespace

// 16 is the geometric mean of 1 and 256. Then 1 ms and 2 ms leave a factor of sqrt(2 / 1) = 1.4
// between 1 and 16, and 2 ms and 64 ms one of sqrt(64 / 2) = 5.7 between 16 and 256: 64, their
// mean, comes before 4.
TEST_CASE("first the ends are measured, then the middle of what is least sure") {
  BudgetOrder order = order_of(line_of_sizes("topk", {1, 4, 16, 64, 256}));
  CHECK(order.next(kLong) == 0u);
  order.measured(0, times(1));
  CHECK(order.next(kLong) == 4u);
  order.measured(4, times(64));
  CHECK(order.next(kLong) == 2u);
  order.measured(2, times(2));
  CHECK(order.next(kLong) == 3u);
  CHECK(order.not_reached() == "topk 2 of 5 points");
  order.measured(3, times(8));
  CHECK(order.next(kLong) == 1u);
  order.measured(1, times(1.5));
  CHECK_FALSE(order.next(kLong));
  CHECK(order.not_reached() == "");
}

// Between 1 and 16 encode grows by 1.1 and decode by 9; between 16 and 256 encode grows by 4.
TEST_CASE("a decode that is unsure counts as an encode does") {
  BudgetOrder order = order_of(line_of_sizes("topk", {1, 4, 16, 64, 256}));
  order.measured(0, times(1, 1));
  order.measured(2, times(1.1, 9));
  order.measured(4, times(4.4, 9));
  CHECK(order.next(kLong) == 1u);
}

TEST_CASE(
    "the compressor named first has both ends before the next begins, and one call of many "
    "tensors comes after all ends") {
  std::vector<CalibrationPoint> points{point_of("gaussian", {8}), point_of("topk", {8}),
                                       point_of("gaussian", {64}), point_of("topk", {64}),
                                       point_of("gaussian", {8, 64})};
  BudgetOrder order = order_of(points);
  std::vector<std::size_t> sequence;
  while (const auto next = order.next(kLong)) {
    sequence.push_back(*next);
    order.measured(*next, times(1));
  }
  CHECK(sequence == std::vector<std::size_t>{0, 2, 1, 3, 4});
}

// One line has two ends: of 4 s each may take 2 s, of 16 s each 8 s.
TEST_CASE("a size that takes more than an end's share of the budget waits for a larger one") {
  const auto points = line_of_sizes("topk", {10, 20, 40, 80});
  const std::vector<Seconds> work{Seconds{1}, Seconds{2}, Seconds{4}, Seconds{8}};
  BudgetOrder small(points, work, Seconds{4});
  BudgetOrder large(points, work, Seconds{16});
  for (BudgetOrder* order : {&small, &large}) {
    CHECK(order->next(Seconds{20}) == 0u);
    order->measured(0, times(1));
  }
  CHECK(small.next(Seconds{20}) == 1u);
  small.measured(1, times(2));
  CHECK_FALSE(small.next(Seconds{20}));
  CHECK(small.not_reached() == "topk 2 of 4 points, none above 20 elements");
  large.measured(1, times(2));  // as the file of the smaller budget has it
  CHECK(large.next(Seconds{100}) == 3u);
}

// Three lines have six ends, and a sixth of 3 s is less than any point takes: twice the shortest is
// allowed, so that the first lines are complete.
TEST_CASE("in a very short time the first compressors have both ends, the others none") {
  std::vector<CalibrationPoint> points;
  for (const char* name : {"topk", "gaussian", "dgc"})
    for (const CalibrationPoint& point : line_of_sizes(name, {10, 20})) points.push_back(point);
  BudgetOrder order(points, std::vector<Seconds>(6, Seconds{1}), Seconds{3});
  std::vector<std::size_t> sequence;
  for (int left = 3; left > 0; --left) {
    const auto next = order.next(Seconds{static_cast<double>(left)});
    REQUIRE(next);
    sequence.push_back(*next);
    order.measured(*next, times(1));
  }
  CHECK(sequence == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("nothing is begun that does not fit into the time that is left") {
  BudgetOrder order = order_of(line_of_sizes("topk", {1, 2}));
  CHECK_FALSE(order.next(Seconds{0.5}));
  CHECK(order.next(Seconds{1}) == 0u);
}

TEST_CASE("a point that cannot be measured is passed over") {
  BudgetOrder order = order_of(line_of_sizes("topk", {1, 2, 4}));
  order.left_out(0);
  CHECK(order.next(kLong) == 1u);
  order.measured(1, times(1));
  CHECK(order.next(kLong) == 2u);
  order.left_out(2);
  CHECK_FALSE(order.next(kLong));
  CHECK(order.not_reached() == "");
}
