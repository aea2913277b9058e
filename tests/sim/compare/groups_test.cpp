#include "sim/compare/groups.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/compare/compared.hpp"

using namespace gradcast;

namespace {

ComparedRun with_interval(ComparedRun run, double low, double high) {
  run.low = Seconds{low};
  run.high = Seconds{high};
  return run;
}

}  // namespace

// Errors: -50 % of dense, +25 % of topk on m and -25 % on n; together -50/3.
TEST_CASE("errors are summed up by algorithm, by model and over all", "[comparison]") {
  const std::vector<ComparedRun> runs{compared("dense", 4, 2), compared("topk", 4, 5),
                                      compared("topk", 4, 3, "n")};
  CHECK(summary_of(runs, by_algorithm(runs), "dense")->worst == Approx(-50));
  CHECK(summary_of(runs, by_algorithm(runs), "topk")->bias == Approx(0));
  CHECK(summary_of(runs, by_model(), "n")->bias == Approx(-25));
  CHECK(summary_of(runs, by_source(), "s")->rows == 3);
  CHECK(summary_of(runs)->bias == Approx(-50.0 / 3));
}

TEST_CASE("rows outside the model are in no summary", "[comparison]") {
  const std::vector<ComparedRun> runs{compared("dense", 4, 2), outside(compared("topk", 4, 400))};
  CHECK(summary_of(runs)->rows == 1);
  CHECK(summary_of(runs)->worst == Approx(-50));
  CHECK_FALSE(summary_of(runs, by_algorithm(runs), "topk"));
  CHECK_FALSE(summary_of({outside(compared("topk", 4, 400))}));
}

// A collective that the program chooses does not tell algorithms apart. One that the file names
// does, if the file has more than one.
TEST_CASE("an algorithm has its collective's name where the rows have several", "[comparison]") {
  std::vector<ComparedRun> runs{with_collective(compared("topk", 4, 4), "gtopk"),
                                compared("dense", 4, 4)};
  runs[0].run.collective = "gtopk";
  runs[1].run.collective = "ring-all-reduce";  // filled in
  CHECK(values_of(runs, by_algorithm(runs)) == std::vector<std::string>{"topk", "dense"});
  runs.push_back(compared("topk", 3, 3));
  CHECK(values_of(runs, by_algorithm(runs)) ==
        std::vector<std::string>{"topk gtopk", "dense", "topk"});
}

TEST_CASE("a bias has a word for its sign", "[comparison]") {
  CHECK(bias_in_words(3) == "too slow");
  CHECK(bias_in_words(-3) == "too fast");
  CHECK(bias_in_words(0).empty());
}

// Widths 2 of 4 and 1 of 2 s: 50 %, and 3 of 4: 75 %. Inside: 3 of 2..4 and 2 of 2..3, not 9 of
// 3..6. The row outside the model and the one without an interval are not asked.
TEST_CASE("coverage is of the rows that have an interval and count", "[comparison]") {
  const auto coverage = coverage_of(
      {with_interval(compared("dense", 3, 4), 2, 4), with_interval(compared("topk", 2, 2), 2, 3),
       with_interval(compared("dgc", 9, 4), 3, 6),
       outside(with_interval(compared("dgc", 9, 4), 3, 6)), compared("randk", 9, 4)});
  REQUIRE(coverage);
  CHECK(coverage->rows == 3);
  CHECK(coverage->inside == 2);
  CHECK(coverage->percent() == Approx(200.0 / 3));
  CHECK(coverage->median_width_percent == Approx(50));
  CHECK_FALSE(coverage_of({compared("dense", 3, 4)}));
}
