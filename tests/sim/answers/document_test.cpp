// The JSON document and the CSV of an answer.
#include "sim/answers/document.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace gradcast;

TEST_CASE("a document says what was asked, of which inputs, by which version", "[document]") {
  const Json document =
      make_document({"simulate", {"gradcast", "simulate"}, {{"x.csv", "ab"}}, "analytic"});
  CHECK(document["schema"]["name"] == "gradcast/simulate");
  CHECK(document["schema"]["version"] == 1);
  CHECK(document["tool"]["name"] == "gradcast");
  CHECK(document["argv"].size() == 2);
  CHECK(document["inputs"][0]["path"] == "x.csv");
  CHECK(document["inputs"][0]["sha256"] == "ab");
  CHECK(document["engine"] == "analytic");
  CHECK(document.contains("seed"));
}

TEST_CASE("a number that is not finite is no result", "[document]") {
  CHECK_THROWS_WITH(to_text(Json{{"results", {{{"seconds", std::nan("")}}}}}),
                    Catch::Contains("/results/0/seconds"));
  CHECK_THROWS_AS(rows_to_csv({Json{{"seconds", HUGE_VAL}}}), std::logic_error);
}

TEST_CASE("rows become CSV, with the keys as header", "[document]") {
  CHECK(rows_to_csv({Json{{"name", "a,b"}, {"seconds", 0.1}, {"speedup", nullptr}},
                     Json{{"name", "c"}, {"seconds", 2}, {"speedup", 1.5}}}) ==
        "name,seconds,speedup\n\"a,b\",0.1,\nc,2,1.5\n");
}
