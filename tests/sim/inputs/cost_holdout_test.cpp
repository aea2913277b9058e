#include "sim/inputs/cost_holdout.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

namespace {

CostRow row(std::int64_t elements, double density, double encode, double decode = 0) {
  CostRow row;
  row.compressor = "topk";
  row.implementation = "torch";
  row.elements = elements;
  row.density = density;
  row.distribution = "normal";
  row.encode = Seconds{encode};
  row.decode = Seconds{decode};
  return row;
}

HoldOut held_out(const std::vector<CostRow>& rows) {
  return held_out_error(CostTable{"costs", rows});
}

}  // namespace

// From 1 s at 1000 elements to 100 s at 100,000 it is 1 ms an element: 10 s at 10,000, where the
// table has 20 s. Decode, 0, is no point: no error is relative to nothing.
TEST_CASE("a size is predicted from the others", "[cost_holdout]") {
  const HoldOut found =
      held_out({row(1000, 0.01, 1), row(10'000, 0.01, 20), row(100'000, 0.01, 100)});
  CHECK(found.errors.rows == 1);
  CHECK(found.errors.worst == Approx(-50));
  CHECK(found.worst_where == "topk torch, encode of 10000 elements at density 0.01");
}

// 1 s at 0.1 and 3 s at 0.3: 2 s at 0.2, where the table has 1.6 s of encode and 2 s of decode.
TEST_CASE("a density is predicted from the others", "[cost_holdout]") {
  const HoldOut found =
      held_out({row(1000, 0.1, 1, 1), row(1000, 0.2, 1.6, 2), row(1000, 0.3, 3, 3)});
  CHECK(found.errors.rows == 2);
  CHECK(found.errors.worst == Approx(25));
  CHECK(found.errors.mean_absolute == Approx(12.5));
  CHECK(found.errors.median_absolute == Approx(12.5));
  CHECK(found.worst_where == "topk torch, encode of 1000 elements at density 0.2");
}

// The interpolant is made for this: 5 s a call and a power of the size.
TEST_CASE("a launch and a power of the size are predicted without error", "[cost_holdout]") {
  std::vector<CostRow> rows{row(1, 0.01, 5)};
  for (const std::int64_t elements : {100, 1000, 10'000, 100'000})
    rows.push_back(row(elements, 0.01, 5 + 1e-3 * static_cast<double>(elements)));
  const HoldOut found = held_out(rows);
  CHECK(found.errors.rows == 3);
  // 100 elements have the least time for a neighbour, and so a straight line: 5 + 1 x 99/999.
  CHECK(found.errors.worst == Approx(100 * (5.0990990990 / 5.1 - 1)));
  CHECK(found.errors.median_absolute == Approx(0).margin(1e-9));
}

TEST_CASE("rows of other workers, parameters and implementations are lines of their own",
          "[cost_holdout]") {
  std::vector<CostRow> rows;
  for (const std::int64_t elements : {1000, 10'000, 100'000}) {
    rows.push_back(row(elements, 0.01, static_cast<double>(elements)));
    rows.push_back(rows.back());
    rows.back().workers = 16;
    rows.back().encode *= 7;
    rows.push_back(rows.back());
    rows.back().implementation = "cub";
    rows.back().encode *= 7;
    rows.push_back(rows.back());
    rows.back().parameter = 4;
    rows.back().encode *= 7;
  }
  CHECK(held_out(rows).errors.rows == 4);
  CHECK(held_out(rows).errors.mean_absolute == Approx(0).margin(1e-9));
}

TEST_CASE("ends of lines and rows of several tensors are not predicted", "[cost_holdout]") {
  CHECK(held_out({row(1000, 0.01, 1), row(10'000, 0.01, 20)}).errors.rows == 0);
  CostRow whole_model = row(10'000, 0.01, 9);
  whole_model.tensors = 161;
  CHECK(held_out({row(1000, 0.01, 1), whole_model, row(100'000, 0.01, 100)}).errors.rows == 0);
}
