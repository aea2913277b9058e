// The picture and the headline of the options of `decide`.
#include <catch2/catch.hpp>

#include "sim/report/figures.hpp"
#include "sim/report/headline.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

/// Today's run, an option with this verdict, and one that was refused.
ResultFile decided(const std::string& change, const std::string& verdict) {
  ResultFile result{"decide.json", "", "decide", {}};
  result.document["summary"]["sentences"] = {"What binds: compute."};
  result.rows = {{{"option", "today"},
                  {"change", ""},
                  {"iteration_seconds", 0.5},
                  {"scaling_efficiency", 0.9},
                  {"speedup", nullptr},
                  {"refused", ""}},
                 {{"option", "overlap"},
                  {"change", change},
                  {"iteration_seconds", 0.4},
                  {"speedup", 1.25},
                  {"speedup_low", 1.1},
                  {"speedup_high", 1.4},
                  {"verdict", verdict},
                  {"refused", ""}},
                 {{"option", "NICs x 2"},
                  {"change", "network"},
                  {"iteration_seconds", nullptr},
                  {"speedup", nullptr},
                  {"refused", "one node"}}};
  return result;
}

}  // namespace

TEST_CASE("each option has a bar with its interval, and a row says why one was left out",
          "[report][decide]") {
  const auto figures = option_figures(decided("schedule", "surely pays"));
  REQUIRE(figures.size() == 1);
  const FigureSeries& bars = figures[0].panels.at(0).series.at(0);
  REQUIRE(bars.points.size() == 1);
  CHECK(bars.name == "surely pays");  // the colour is the verdict's
  CHECK(bars.points[0].y == 1.25);
  CHECK(bars.points[0].low == 1.1);
  CHECK(bars.points[0].high == 1.4);
  CHECK(bars.points[0].label == "overlap: 1.25x, surely pays (90 %: 1.10 to 1.40)");
  REQUIRE(figures[0].table.rows.size() == 3);
  CHECK(figures[0].table.rows[2].back() == "one node");
}

TEST_CASE("what does not fit in memory is no bar and no headline", "[report][decide]") {
  ResultFile result = decided("batch", "surely pays");
  result.rows[1]["fits"] = "no";
  result.rows.push_back(result.rows[1]);
  result.rows.back()["option"] = "fp16";
  result.rows.back()["fits"] = "yes";
  const auto figures = option_figures(result);
  REQUIRE(figures.size() == 1);
  CHECK(figures[0].x.categories == std::vector<std::string>{"fp16"});
  CHECK_THAT(figures[0].summary, Contains("1 change does not fit in memory"));
  CHECK(figures[0].table.rows.size() == 4);
  CHECK(headline_of({result}).numbers.back().what == "today's speed, with fp16");
}

TEST_CASE("a gain is a headline only where it is sure, and not by more nodes", "[report][decide]") {
  const auto numbers = [](const std::string& change, const std::string& verdict) {
    return headline_of({decided(change, verdict)}).numbers.size();
  };
  CHECK(numbers("schedule", "surely pays") == 3);
  CHECK(numbers("schedule", "cannot be told") == 2);
  CHECK(numbers("nodes", "surely pays") == 2);
  const Headline headline = headline_of({decided("schedule", "surely pays")});
  CHECK(headline.sentences == std::vector<std::string>{"What binds: compute."});
  REQUIRE(headline.reasons.size() == 1);
  CHECK_THAT(headline.reasons[0], Contains("Compared is the time of an iteration"));
  CHECK(headline.numbers.back().value == "1.25x");
}
