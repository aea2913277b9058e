// Figures from rows, by arithmetic.
#include "sim/report/figures.hpp"

#include <catch2/catch.hpp>

#include "sim/report/figures_timeline.hpp"
#include "sim/report/headline.hpp"
#include "sim/report/question.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

struct Row {
  std::string model = "alexnet";
  std::string compressor = "dense";
  double workers = 16;
  double seconds = 1;  // by physics alone
  std::string bandwidth = "10Gbps";
  double density = 0.001;
  double speedup = 1;
  double fitted = 0;  // seconds with software; 0 for none
  double half_width = 0;
  std::optional<Pays> pays{};
};

Json json_of(const Row& row) {
  Json json = {{"model", row.model},
               {"batch", 128},
               {"compressor", row.compressor},
               {"density", row.compressor == "dense" ? 1 : row.density},
               {"collective", row.compressor == "dense" ? "ring-all-reduce" : "ring-all-gather"},
               {"nodes", row.workers / 4},
               {"workers", row.workers},
               {"nic_bandwidth", row.bandwidth},
               {"iteration_seconds", row.seconds},
               {"physics_seconds", row.seconds},
               {"forward_seconds", 0.1},
               {"backward_seconds", 0.2},
               {"encode_seconds", row.compressor == "dense" ? 0.0 : 0.05},
               {"exposed_communication_seconds", row.seconds - 0.35},
               {"scaling_efficiency", 0.5 / row.seconds},
               {"speedup_over_dense", row.speedup}};
  if (row.pays) {
    json["verdict"] = to_text(*row.pays);
    json["measure"] = row.pays == Pays::CannotBeTold ? "one run with it" : "";
    json["speedup_low"] = row.speedup * 0.8;
    json["speedup_high"] = row.speedup * 1.2;
  }
  for (const char* name : {"scaling_efficiency", "speedup_over_dense"})
    json[std::string("physics_") + name] = json[name];
  if (row.fitted > 0) {
    json["software"] = "population";
    json["iteration_seconds"] = row.fitted;
    json["scaling_efficiency"] = 0.5 / row.fitted;
    json["interval_low_seconds"] = row.fitted - row.half_width;
    json["interval_high_seconds"] = row.fitted + row.half_width;
  }
  return json;
}

ResultFile sweep_of(const std::vector<Row>& rows) {
  ResultFile sweep{"sweep.json", "", "sweep", {}};
  for (const Row& row : rows) sweep.rows.push_back(json_of(row));
  return sweep;
}

std::vector<AnsweredPoint> points(const std::vector<Row>& rows) {
  return points_of(sweep_of(rows));
}

const FigureSeries& series(const Figure& figure, std::size_t panel, const std::string& name) {
  for (const FigureSeries& one : figure.panels.at(panel).series)
    if (one.name == name) return one;
  throw std::runtime_error("no series " + name);
}

ResultFile compared(const std::vector<std::pair<double, double>>& measured_and_predicted) {
  ResultFile compare{"compare.json", "", "compare", Json::object()};
  for (const auto& [measured, predicted] : measured_and_predicted)
    compare.rows.push_back({{"model", "m" + std::to_string(compare.rows.size())},
                            {"compressor", "topk"},
                            {"ranks", 16},
                            {"measured_seconds", measured},
                            {"predicted_seconds", predicted}});
  return compare;
}

}  // namespace

// Efficiency 0.5 / 2 = 25 %. An iteration between 1.6 and 2.5 s is as efficient as 25 * 2 / 2.5 =
// 20 % to 25 * 2 / 1.6 = 31.25 %.
TEST_CASE("the band of an efficiency is the interval of the iteration, turned round", "[report]") {
  Json row = json_of({.workers = 16, .seconds = 2, .fitted = 2});
  row["interval_low_seconds"] = 1.6;
  row["interval_high_seconds"] = 2.5;
  ResultFile sweep = sweep_of({{.workers = 4, .seconds = 1, .fitted = 1, .half_width = 0.1}});
  sweep.rows.push_back(row);
  const std::vector<Figure> figures = scaling_figures(points_of(sweep));
  REQUIRE(figures.size() == 2);  // fitted, and physics alone
  CHECK(figures[0].id == "scaling-fitted");
  const FigurePoint& point = series(figures[0], 0, "dense").points.at(1);
  CHECK(point.y == Approx(25));
  CHECK(point.low.value() == Approx(20));
  CHECK(point.high.value() == Approx(31.25));
  CHECK_THAT(figures[0].summary, Contains("25 %"));
  CHECK(figures[1].table.rows.size() == 2);
}

TEST_CASE("one size is no scaling, and no answer is no point", "[report]") {
  CHECK(scaling_figures(points({{.workers = 16}})).empty());
  ResultFile sweep = sweep_of({{.workers = 4}});
  sweep.rows.push_back(json_of({.workers = 8}));
  sweep.rows.back()["iteration_seconds"] = nullptr;  // a problem
  CHECK(points_of(sweep).size() == 1);
}

TEST_CASE("sizes are compared where every setup has them", "[report]") {
  CHECK(largest_common_workers(points({{.workers = 4},
                                       {.workers = 8},
                                       {.workers = 16},
                                       {.model = "vgg-16", .workers = 4},
                                       {.model = "vgg-16", .workers = 8}})) == 8);
  CHECK(largest_common_workers({}) == 0);
}

TEST_CASE("a panel is a model, and what else was varied; dense's own collective is not",
          "[report]") {
  const auto swept = points({{}, {.compressor = "topk"}, {.bandwidth = "25Gbps"}});
  const std::vector<PointGroup> groups = groups_of(swept);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].title == "alexnet, 10Gbps");
  CHECK(groups[0].points.size() == 2);
  ResultFile batches = sweep_of({{}, {}});
  batches.rows[1]["batch"] = 64;
  const auto varied = points_of(batches);
  CHECK(groups_of(varied)[1].title == "alexnet, batch 64");
}

TEST_CASE("of several densities the paper's is drawn, else the middle one", "[report]") {
  CHECK(shown_density(points({{.compressor = "topk", .density = 0.0001},
                              {.compressor = "topk", .density = 0.001},
                              {.compressor = "topk", .density = 0.01}})) == 0.001);
  CHECK(shown_density(points({{.compressor = "topk", .density = 0.1},
                              {.compressor = "topk", .density = 0.02},
                              {.compressor = "topk", .density = 0.05}})) == 0.05);
}

TEST_CASE("a winner is pale where the verdict does not say so", "[report]") {
  const std::vector<Figure> figures = winner_figures(points(
      {{.fitted = 1},
       {.compressor = "topk", .seconds = 0.6, .speedup = 2, .fitted = 0.5, .pays = Pays::Yes},
       {.bandwidth = "25Gbps", .fitted = 1},
       {.compressor = "topk",
        .seconds = 1.1,
        .bandwidth = "25Gbps",
        .speedup = 1 / 0.95,
        .fitted = 0.95,
        .pays = Pays::CannotBeTold},
       {.bandwidth = "40Gbps", .fitted = 1},
       {.compressor = "topk",
        .seconds = 3,
        .bandwidth = "40Gbps",
        .speedup = 0.5,
        .fitted = 2,
        .pays = Pays::No}}));
  REQUIRE(figures.size() == 2);
  const FigureSeries& topk = series(figures[0], 0, "topk");
  REQUIRE(topk.points.size() == 2);
  CHECK(topk.points[0].text == "2.00x");
  CHECK_FALSE(topk.points[0].muted);
  CHECK(topk.points[1].muted);
  CHECK_FALSE(series(figures[0], 0, "dense").points.at(0).muted);  // it surely does not pay
  CHECK(figures[0].table.rows.at(1).back() == "cannot be told");
  CHECK(figures[0].y.categories == std::vector<std::string>{"10Gbps", "25Gbps", "40Gbps"});
  CHECK_THAT(figures[0].summary,
             Contains("Compression surely pays in 1 of 3 settings and surely does not pay in 1; in "
                      "1 (pale) it cannot be told. By the forecast itself topk wins 2, dense wins "
                      "1."));
}

TEST_CASE("breakeven's map is drawn twice, once for each estimate", "[report]") {
  ResultFile breakeven{"b.json", "", "breakeven", Json::object()};
  breakeven.document["map"] = {{{"model", "vgg-16"},
                                {"workers", 16},
                                {"nic_bandwidth", "10Gbps"},
                                {"winner", "dense"},
                                {"speedup_over_dense", 1},
                                {"physics_winner", "topk"},
                                {"physics_speedup_over_dense", 1.5},
                                {"physics_margin_percent", 50},
                                {"verdict", "cannot be told"},
                                {"agree", "no"}}};
  const std::vector<Figure> figures = winner_map_figures(breakeven);
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].panels.at(0).series.at(0).name == "dense");  // fitted first
  const FigurePoint& cell = series(figures[1], 0, "topk").points.at(0);
  CHECK(cell.text == "1.50x");
  CHECK(cell.muted);
  breakeven.document["map"] = "not a list";
  CHECK(winner_map_figures(breakeven).empty());
}

TEST_CASE("bandwidths of a map go up by value, not by their letters", "[report]") {
  std::vector<Row> rows;
  for (const char* bandwidth : {"100Gbps", "900Mbps", "25Gbps"}) {
    rows.push_back({.bandwidth = bandwidth});
    rows.push_back({.compressor = "topk", .seconds = 0.5, .bandwidth = bandwidth, .speedup = 2});
  }
  CHECK(winner_figures(points(rows)).at(0).y.categories ==
        std::vector<std::string>{"900Mbps", "25Gbps", "100Gbps"});
}

// dense: 0.1 + 0.2 + 0.65 s. topk: 0.1 + 0.2 + 0.05 + 0.05.
TEST_CASE("a breakdown has the iteration's parts in their order", "[report]") {
  const Figure figure =
      breakdown_figures(points({{}, {.compressor = "topk", .seconds = 0.4}})).at(0);
  std::vector<std::string> names;
  for (const FigureSeries& one : figure.panels.at(0).series) names.push_back(one.name);
  CHECK(names ==
        std::vector<std::string>{"forward", "backward", "encode", "exposed communication"});
  CHECK(series(figure, 0, "encode").points.at(0).x_text == "topk");
  CHECK_THAT(figure.summary, Contains("68.4 %") && Contains("dense"));  // 0.65 / 0.95
  CHECK_THAT(figure.summary, Catch::StartsWith("Physics alone."));
  const auto with_software = breakdown_figures(points({{.fitted = 1}}));
  CHECK_THAT(with_software.at(0).summary, Catch::StartsWith("Communication that no computing"));
}

// Errors +10, -20 and +5 %: mean 35 / 3 = 11.7, median 10.
TEST_CASE("a scatter's caption counts its errors", "[report]") {
  const Figure figure = error_figures(compared({{1, 1.1}, {2, 1.6}, {4, 4.2}})).at(0);
  CHECK(figure.kind == FigureKind::Scatter);
  CHECK_THAT(figure.summary, Contains("MAPE 11.7 %, median 10.0 %") && Contains("worst -20.0 %") &&
                                 Contains("n = 3") && Contains("(m1, topk"));
  CHECK(figure.table.rows.size() == 3);
  CHECK(error_figures(compared({})).empty());
}

TEST_CASE("runs outside the model are drawn pale, and not counted", "[report]") {
  ResultFile compare = compared({{1, 1.1}, {1, 3}});
  compare.rows[1]["outside"] = "the link was shared";
  const Figure figure = error_figures(compare).at(0);
  CHECK_THAT(figure.summary, Contains("n = 1") && Contains("MAPE 10.0 %") &&
                                 Contains("1 run outside the model (pale) not counted"));
  CHECK(series(figure, 0, "topk").points.at(1).muted);
}

TEST_CASE("bars are told apart by what they differ in, and by nothing else", "[report]") {
  ResultFile compare = compared({{1, 1.1}, {1, 1.2}, {1, 1.3}});
  const std::vector<std::string> bandwidths{"10Gbps", "25Gbps", "25Gbps"};
  for (std::size_t i = 0; i < 3; ++i) {
    Json& row = compare.rows[i];
    row["model"] = "resnet-50";
    row["nic_bandwidth"] = bandwidths[i];
    row["fusion"] = "merged";
    row["computing_seconds"] = 0.5;
  }
  const Figure explained = error_figures(compare).back();
  std::vector<std::string> bars;
  for (const FigurePoint& point : series(explained, 0, "computing").points)
    bars.push_back(point.x_text);
  CHECK(bars ==
        std::vector<std::string>{"topk x16, 10Gbps", "topk x16, 25Gbps", "topk x16, 25Gbps #2"});
}

TEST_CASE("a forecast that is too slow leaves nothing unexplained to draw", "[report]") {
  ResultFile compare = compared({{1, 1.1}, {1, 0.9}});
  for (Json& row : compare.rows) row["computing_seconds"] = 0.5;
  compare.rows[0]["unexplained_seconds"] = -0.1;
  compare.rows[1]["unexplained_seconds"] = 0.1;
  const std::vector<Figure> figures = error_figures(compare);
  const Figure& explained = figures.back();
  CHECK(explained.id == "explained-compare");
  CHECK(explained.panels.at(0).series.size() == 1);
  CHECK(explained.panels.at(1).series.size() == 2);
  CHECK_THAT(explained.summary, Contains("5 %"));  // 0.1 of 2 s
}

// 12 bytes of a million elements in 12 us are 1000 GB/s; e = g + e takes 6 us.
TEST_CASE("a roofline is the fewest bytes over the time, 12 an element where none are said",
          "[report]") {
  ResultFile calibrated{"roof.json", "", "calibrate", Json::object()};
  calibrated.rows = {{{"compressor", "ceiling"},
                      {"elements", 1'000'000},
                      {"encode_seconds", 6e-6},
                      {"share_of_ceiling", 1}},
                     {{"compressor", "gaussian"},
                      {"implementation", "gradcast-cuda"},
                      {"elements", 1'000'000},
                      {"encode_seconds", 12e-6},
                      {"share_of_ceiling", 0.5}},
                     {{"compressor", "qsgd"},
                      {"parameter", 127},
                      {"implementation", "gradcast-cuda"},
                      {"elements", 1'000'000},
                      {"encode_seconds", 12e-6},
                      {"floor_bytes", 9e6},
                      {"share_of_ceiling", 0.5}}};
  const Figure figure = kernel_figures(calibrated).at(0);
  CHECK(series(figure, 0, "qsgd 127").points.at(0).y == Approx(750));  // for its own bytes
  CHECK(series(figure, 0, "gaussian").points.at(0).y == Approx(1000));
  CHECK(series(figure, 0, "e = g + e").reference);
  CHECK_THAT(figure.summary, Contains("gaussian at 1000000 elements") && Contains("50 %"));
}

TEST_CASE("iterations over density have dense as a level line", "[report]") {
  const Figure figure =
      density_figures(
          points({{.seconds = 1},
                  {.compressor = "topk", .seconds = 1.5, .density = 0.1, .speedup = 0.7},
                  {.compressor = "topk", .seconds = 0.5, .density = 0.001, .speedup = 2}}))
          .at(0);
  const FigureSeries& dense = series(figure, 0, "dense");
  CHECK(dense.reference);
  CHECK(dense.points.size() == 2);
  const FigureSeries& topk = series(figure, 0, "topk");
  CHECK(topk.points[0].x == 0.001);  // by density, whatever the rows' order
  CHECK_THAT(figure.summary, Contains("2.00x") && Contains("density 0.001"));
  CHECK_THAT(figure.title, Contains("physics alone"));
  const Figure answers =
      density_figures(points({{.seconds = 1, .fitted = 3},
                              {.compressor = "topk", .density = 0.1, .fitted = 2.5},
                              {.compressor = "topk", .density = 0.001, .fitted = 2}}))
          .at(0);
  CHECK(series(answers, 0, "topk").points[0].y == 2);  // with software where there is any
  CHECK_THAT(answers.title, !Contains("physics alone"));
}

TEST_CASE("lanes of slices become panels of ranks", "[report]") {
  const Figure figure =
      lanes_figure({{0, "compute", {{"forward", "forward", Seconds{0}, Seconds{0.1}}}},
                    {0, "network", {{"all-reduce", "collective", Seconds{0.1}, Seconds{0.35}}}},
                    {1, "compute", {{"forward", "forward", Seconds{0}, Seconds{0.2}}}}});
  CHECK(figure.panels.size() == 2);
  const FigurePoint& slice = series(figure, 0, "collective").points.at(0);
  CHECK(slice.x == Approx(100));
  CHECK(slice.until == Approx(350));
  CHECK(slice.y_text == "network");
  CHECK(figure.panels[0].title == "rank 0");
  CHECK_THAT(figure.summary, Contains("350 ms") && Contains("network is busy for 250 ms"));
  CHECK(lanes_figure({{0, "compute", {}}}).panels.empty());
}

// The iteration takes 1 s. Rank 1 is 9 ms later than rank 0, which is less than 1 % of it; rank 2
// is 11 ms later.
TEST_CASE("ranks that look alike are drawn once", "[report]") {
  const auto lane = [](int rank, double begin) {
    return Lane{rank, "compute", {{"forward", "forward", Seconds{begin}, Seconds{1}}}};
  };
  const Figure figure = lanes_figure({lane(0, 0.1), lane(1, 0.109), lane(2, 0.111)});
  REQUIRE(figure.panels.size() == 2);
  CHECK(figure.panels[0].title == "2 ranks alike: 0 to 1");
  CHECK(figure.panels[1].title == "rank 2");
  CHECK_THAT(figure.summary, Contains("within 1 % of the iteration"));
  CHECK(lanes_figure({lane(0, 0.1), lane(3, 0.1)}).panels.at(0).title == "2 ranks alike: 0, 3");
}

TEST_CASE("a break-even is a lane of verdicts along its range", "[report]") {
  ResultFile breakeven{"b.json", "", "breakeven", Json::object()};
  const auto row = [](const char* compressor, const char* yes, const char* open, const char* no) {
    return Json{{"model", "alexnet"}, {"compressor", compressor}, {"over", "nic-bandwidth"},
                {"surely_pays", yes}, {"cannot_be_told", open},   {"surely_does_not_pay", no}};
  };
  breakeven.rows = {
      row("topk", "1Gbps..2.5Gbps", "2.5Gbps..5Gbps", "5Gbps..40Gbps; 80Gbps..400Gbps"),
      row("topk", "1Gbps..2.5Gbps", "2.5Gbps..5Gbps", "5Gbps..40Gbps; 80Gbps..400Gbps"),
      row("dgc", "", "1Gbps..400Gbps", "")};
  const std::vector<Figure> figures = stretch_figures(breakeven);
  REQUIRE(figures.size() == 1);
  CHECK(figures[0].x.label == "NIC bandwidth (Gb/s)");
  const FigureSeries& no = series(figures[0], 0, "surely does not pay");
  REQUIRE(no.points.size() == 2);  // the second row is the other forecast of the same question
  CHECK(no.points[0].x == 5);
  CHECK(no.points[0].until == 40);
  CHECK(no.points[1].label == "topk: surely does not pay from 80Gbps to 400Gbps");
  CHECK(series(figures[0], 0, "cannot be told").points.size() == 2);
  CHECK(figures[0].table.rows.size() == 5);
  CHECK(stretch_figures({"b.json", "", "breakeven", Json::object()}).empty());
}

namespace {

ResultFile dense_sweep() {
  ResultFile sweep = sweep_of({{}, {.bandwidth = "25Gbps"}});
  const auto step = [](const char* model, const char* change, double gain, const Json& verdict) {
    return Json{{"model", model},          {"change", change},
                {"from", "10Gbps"},        {"to", "25Gbps"},
                {"workers", 16},           {"gain", gain},
                {"gain_low", gain - 0.25}, {"gain_high", gain + 0.25},
                {"verdict", verdict},      {"measure", ""}};
  };
  sweep.document["summary"] = {
      {"upgrades",
       {step("alexnet", "network", 1.5, "surely pays"),
        step("vgg-16", "network", 1.125, "cannot be told"),
        step("alexnet", "nodes", 3.5, nullptr)}},
      {"sentences", {"Without compression, 25Gbps instead of 10Gbps: ..."}}};
  return sweep;
}

}  // namespace

TEST_CASE("a sweep without compression opens with what each upgrade gains", "[report]") {
  const ResultFile sweep = dense_sweep();
  const std::vector<Figure> figures = figures_of({&sweep, 1});
  REQUIRE(figures.size() >= 2);
  CHECK(figures[0].id == "upgrades");
  REQUIRE(figures[0].panels.size() == 1);
  CHECK(figures[0].panels[0].title == "10Gbps to 25Gbps");
  CHECK(figures[0].panels[0].series[0].name == "surely pays");
  const FigurePoint& bar = series(figures[0], 0, "cannot be told").points.at(0);
  CHECK(bar.x_text == "vgg-16");
  CHECK(bar.y == 1.125);
  CHECK(bar.low == 0.875);
  CHECK(bar.label == "vgg-16, 10Gbps to 25Gbps: 1.12x (90 %: 0.88x to 1.38x), cannot be told");
  CHECK(figures[1].id == "upgrades-nodes");
  const Headline headline = headline_of({sweep});
  CHECK(headline.sentences.size() == 1);
  CHECK(headline.reasons.empty());        // nothing is said of compressors
  REQUIRE(headline.numbers.size() == 1);  // what cannot be told is no large number
  CHECK(headline.numbers[0].value == "1.50x");
}

TEST_CASE("a title is the question that the results answer", "[report]") {
  const auto asked = [](const ResultFile& result) { return question_of({result}); };
  CHECK(asked(dense_sweep()) == "What would a faster network gain for alexnet?");
  CHECK(asked(sweep_of({{}, {.compressor = "topk"}, {.compressor = "dgc"}})) ==
        "Does topk or dgc pay for alexnet?");
  CHECK(asked(compared({{1, 1}})) == "How far are forecasts off measured runs?");
  ResultFile breakeven{"b.json", "", "breakeven", Json::object()};
  breakeven.rows = {{{"model", "alexnet"}, {"compressor", "topk"}, {"over", "nic-bandwidth"}}};
  CHECK(asked(breakeven) == "Does topk pay for alexnet, and at which NIC bandwidth?");
  ResultFile decide{"d.json", "", "decide", {{"summary", {{"question", "What binds?"}}}}};
  CHECK(question_of({breakeven, decide}) == "What binds?");
  CHECK(question_of({}) == "What do these results say?");
}

// NCCL takes another algorithm on more nodes; in one setting there is one.
TEST_CASE("a collective is in a name only where a setting has several", "[report]") {
  ResultFile sweep = sweep_of({{.workers = 16}, {.workers = 32}});
  sweep.rows[1]["collective"] = "tree";
  CHECK(points_of(sweep)[1].compressor == "dense");
  sweep.rows[1]["nodes"] = sweep.rows[0]["nodes"];
  CHECK(points_of(sweep)[1].compressor == "dense (tree)");
}

TEST_CASE("figures of two sweeps have names of their own", "[report]") {
  const ResultFile sweep = sweep_of({{.workers = 4}, {.workers = 8, .seconds = 1.2}});
  std::vector<std::string> ids;
  const std::vector<ResultFile> twice{sweep, sweep};
  for (const Figure& figure : figures_of(twice)) ids.push_back(figure.id);
  std::sort(ids.begin(), ids.end());
  CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
  CHECK(std::find(ids.begin(), ids.end(), "scaling-2") != ids.end());
}

// Fifty models: 24 panels are drawn, and 26 are named.
TEST_CASE("what is too much to draw is in the table, and that is said", "[report]") {
  std::vector<Row> rows;
  for (int i = 0; i < 50; ++i)
    for (const double workers : {4.0, 8.0})
      rows.push_back({.model = "m" + std::to_string(i), .workers = workers});
  const Figure figure = scaling_figures(points(rows)).at(0);
  CHECK(figure.panels.size() == 24);
  CHECK(figure.table.rows.size() == 100);
  CHECK_THAT(figure.summary, Contains("26 more panels are in the table alone."));
}

TEST_CASE("a headline says the verdicts in words, and at most three numbers", "[report]") {
  const Headline headline = headline_of(
      {sweep_of({{},
                 {.compressor = "topk", .seconds = 0.5, .speedup = 2, .pays = Pays::Yes},
                 {.bandwidth = "100Gbps"},
                 {.compressor = "topk",
                  .seconds = 1.25,
                  .bandwidth = "100Gbps",
                  .speedup = 0.8,
                  .pays = Pays::No}})});
  REQUIRE(headline.sentences.size() == 1);
  CHECK_THAT(headline.reasons.at(0), Contains("Compared is the time of an iteration"));
  CHECK(headline.sentences[0] ==
        "On 16 workers alexnet: topk surely pays at 10Gbps (2.00x the speed of dense, 90 %: 1.60x "
        "to 2.40x); compression surely does not pay at 100Gbps (at best topk, 0.80x the speed of "
        "dense, 90 %: 0.64x to 0.96x).");
  REQUIRE(headline.numbers.size() == 3);
  CHECK(headline.numbers[0].value == "2.00x");
  CHECK(headline.numbers[1].value == "1 of 2");
  CHECK(headline.numbers[1].what == "points where compression surely pays");
}

TEST_CASE("what cannot be told is no win and no large number, and other winners are owned up to",
          "[report]") {
  // 1.05 s of dense over 1 s of topk; by physics alone dense is faster.
  const Headline headline = headline_of({sweep_of({{.seconds = 0.9, .fitted = 1.05},
                                                   {.compressor = "topk",
                                                    .seconds = 1,
                                                    .speedup = 1.05,
                                                    .fitted = 1,
                                                    .pays = Pays::CannotBeTold}})});
  REQUIRE(headline.sentences.size() == 2);
  CHECK(
      headline.sentences[0] ==
      "On 16 workers alexnet: it cannot be told at 10Gbps (at best topk, 1.05x the speed of dense, "
      "90 %: 0.84x to 1.26x): measure one run with it.");
  CHECK_THAT(headline.sentences[1], Contains("Physics alone names another fastest run in 1 of 1"));
  REQUIRE(headline.numbers.size() == 3);
  CHECK(headline.numbers[0].value == "0 of 1");
  CHECK(headline.numbers[1].value == "1 of 1");
  CHECK(headline.numbers[1].what == "points where it cannot be told");
}

// Files of before there were verdicts have none.
TEST_CASE("a file without verdicts tells nothing surely", "[report]") {
  const Headline headline =
      headline_of({sweep_of({{}, {.compressor = "topk", .seconds = 0.5, .speedup = 2}})});
  CHECK_THAT(headline.sentences.at(0),
             Contains("it cannot be told at 10Gbps (at best topk, 2.00x"));
  CHECK(headline.numbers.at(0).value == "0 of 1");
}

TEST_CASE("a map of break-evens alone asks no question", "[report]") {
  const ResultFile map{"b.json", "", "breakeven", {{"summary", {{"sentences", {"On ..."}}}}}};
  CHECK(headline_of({map}).numbers.empty());
}

TEST_CASE("each map has the margins of its own forecast", "[report]") {
  ResultFile breakeven{"b.json", "", "breakeven", Json::object()};
  const auto cell = [](int workers) {
    return Json{{"model", "alexnet"},
                {"workers", workers},
                {"nic_bandwidth", "1Gbps"},
                {"winner", "topk"},
                {"speedup_over_dense", 2.25},
                {"margin_percent", 125},
                {"physics_winner", "topk"},
                {"physics_speedup_over_dense", 2.5},
                {"physics_margin_percent", 150},
                {"agree", "yes"}};
  };
  breakeven.document["map"] = {cell(8), cell(16)};
  const std::vector<Figure> figures = winner_map_figures(breakeven);
  REQUIRE(figures.size() == 2);
  const auto margin = [](const Figure& figure) { return figure.table.rows.at(0).at(5); };
  CHECK(margin(figures[0]) == "125.0");  // fitted
  CHECK(margin(figures[1]) == "150.0");
  // By physics alone there is one map, and nothing to agree.
  for (Json& row : breakeven.document["map"]) row["agree"] = nullptr;
  CHECK(winner_map_figures(breakeven).size() == 1);
}

TEST_CASE("sentences of breakeven are the headline", "[report]") {
  ResultFile breakeven{
      "b.json",
      "",
      "breakeven",
      {{"summary", {{"sentences", {"On 16 workers topk surely pays below 9Gbps."}}}}}};
  breakeven.rows = {{{"compressor", "topk"}, {"surely_pays", "1Gbps..9Gbps"}},
                    {{"compressor", "topk"}, {"surely_pays", "1Gbps..9Gbps"}},
                    {{"compressor", "dgc"}, {"surely_pays", ""}}};
  const Headline headline = headline_of({breakeven});
  CHECK(headline.sentences.at(0) == "On 16 workers topk surely pays below 9Gbps.");
  CHECK(headline.numbers.at(0).value == "1 of 2");
}

// Two seeds after 10 s: 80 and 84 %, so 82 in a band from 80 to 84.
TEST_CASE("accuracy over time is the median of the trainings, in a band", "[report]") {
  ResultFile tta{"t.json", "", "tta", Json::object()};
  const auto row = [](const char* compressor, int seed, double percent) {
    return Json{{"compressor", compressor},
                {"mode", ""},
                {"density", 0.001},
                {"seed", seed},
                {"seconds", 10},
                {"estimate", "physics"},
                {"iteration", 5},
                {"test_accuracy_percent", percent}};
  };
  CHECK(accuracy_figures(tta).empty());
  tta.document["curves"] = {row("topk", 1, 80), row("topk", 2, 84), row("dgc", 1, 70), {1, 2}};
  const std::vector<Figure> figures = accuracy_figures(tta);
  REQUIRE(figures.size() == 1);
  const FigureSeries& topk = figures[0].panels.at(0).series.at(0);
  CHECK(topk.name == "topk 0.001");
  REQUIRE(topk.points.size() == 1);
  CHECK(topk.points[0].y == 82);
  CHECK(topk.points[0].low == 80.0);
  CHECK(topk.points[0].high == 84.0);
  CHECK_THAT(figures[0].summary, Contains("The highest is topk 0.001: 82.00 % after 10 s."));
}

namespace {

/// A training of `train`: the accuracy after each of its iterations 10, 20, ...
ResultFile trained(const std::string& compressor, int seed, const std::vector<double>& percents,
                   bool feedback = true) {
  ResultFile result{"t.json", "", "train", Json::object()};
  result.document["seed"] = seed;
  result.document["summary"] = {{"wanted_elements", 200}};
  for (std::size_t i = 0; i < percents.size(); ++i)
    result.rows.push_back({{"network", "fnn-3"},
                           {"dataset", "made"},
                           {"compressor", compressor},
                           {"mode", ""},
                           {"density", compressor == "dense" ? 1 : 0.001},
                           {"feedback", feedback},
                           {"seed", seed},
                           {"epoch", i + 1},
                           {"iteration", 10 * (i + 1)},
                           {"train_loss", 1},
                           {"test_accuracy_percent", percents[i]},
                           {"sent_elements_mean", 50}});
  return result;
}

}  // namespace

// Top-k's seeds end at 80 and 84 %: 82, and dense's 86 is 4 more. 50 of 200 sent: 0.25 k.
TEST_CASE("trainings that differ by their seeds alone are one line over iterations", "[report]") {
  const ResultFile dense = trained("dense", 1, {70, 86});
  const ResultFile first = trained("topk", 1, {60, 80});
  const ResultFile second = trained("topk", 2, {50, 84});
  const std::vector<Figure> figures = convergence_figures({&dense, &first, &second});
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].panels.at(0).title == "fnn-3 on made");
  const FigureSeries& topk = series(figures[0], 0, "topk 0.001");
  REQUIRE(topk.points.size() == 2);
  CHECK(topk.points[0].x == 10);
  CHECK(topk.points[0].y == 55);
  CHECK(topk.points[0].low == 50.0);
  CHECK(topk.points[1].y == 82);
  CHECK_THAT(figures[0].summary,
             Contains("fnn-3 on made ended at: dense 86.0 %, topk 0.001 82.0 % (4.0 points behind "
                      "dense)."));
  CHECK(series(figures[1], 0, "topk 0.001").points[0].y == 0.25);
  CHECK(figures[1].panels[0].series.size() == 1);  // dense has no k
  CHECK_THAT(headline_of({dense, first, second}).sentences.at(0), Contains("4.0 points behind"));
}

TEST_CASE("longer trainings are lines of their own, and a training that is named twice is one",
          "[report]") {
  ResultFile dense = trained("dense", 1, {80});
  ResultFile topk = trained("topk", 1, {70});
  ResultFile longer = trained("topk", 1, {70, 79});
  dense.document["summary"]["epochs"] = topk.document["summary"]["epochs"] = 1;
  longer.document["summary"]["epochs"] = 2;
  const std::vector<Figure> figures = convergence_figures({&dense, &topk, &topk, &longer});
  CHECK(series(figures.at(0), 0, "topk 0.001, epochs 1").points.size() == 1);
  CHECK_FALSE(series(figures.at(0), 0, "topk 0.001, epochs 1").points[0].low.has_value());
  CHECK(series(figures.at(0), 0, "topk 0.001, epochs 2").points.size() == 2);
  // For two epochs there is no dense training to compare with.
  CHECK_THAT(
      figures.at(0).summary,
      Contains("dense 80.0 %, topk 0.001, epochs 2 79.0 %, topk 0.001, epochs 1 70.0 % (10.0 "
               "points behind dense)."));
}

TEST_CASE("what sets two trainings of a compressor apart is in their names", "[report]") {
  const ResultFile with = trained("randk", 1, {70});
  const ResultFile without = trained("randk", 1, {40}, false);
  const std::vector<Figure> figures = convergence_figures({&with, &without});
  CHECK(series(figures.at(0), 0, "randk 0.001, feedback yes").points[0].y == 70);
  CHECK(series(figures.at(0), 0, "randk 0.001, feedback no").points[0].y == 40);
}

// 30 of 100 elements lie within 0.1 and 0.2 deviations: 30 % of them in that tenth. Twenty lie
// within 2 and 4: 1 % in each tenth.
TEST_CASE("a histogram of u is a ridge, in percent of a tenth of a deviation", "[report]") {
  ResultFile result = trained("topk", 1, {70});
  const Json bins = {{{"from_deviations", 0.1}, {"to_deviations", 0.2}, {"count", 30}},
                     {{"from_deviations", 2}, {"to_deviations", 4}, {"count", 20}},
                     {{"from_deviations", 6}, {"to_deviations", 90}, {"count", 50}}};
  const auto observation = [&](const char* tensor) {
    return Json{{"iteration", 200}, {"tensor", tensor}, {"elements", 100}, {"mean", 0.0},
                {"deviation", 1.0}, {"kurtosis", 2.5},  {"zeros", 0},      {"bins", bins}};
  };
  CHECK(u_figures({&result}).empty());
  result.document["observations"] = {observation("all"), observation("fc1.weight")};
  const std::vector<Figure> figures = u_figures({&result});
  REQUIRE(figures.size() == 1);
  const FigureSeries& ridge = series(figures[0], 0, "iteration 200");
  REQUIRE(ridge.points.size() == 2);  // far away nothing is drawn
  CHECK(ridge.points[0].x == Approx(0.15));
  CHECK(ridge.points[0].y == Approx(30));
  CHECK(ridge.points[1].y == Approx(1));
  // 100 % * 0.1 * phi(0) = 3.989 %
  CHECK(series(figures[0], 0, "normal distribution").points.at(40).y ==
        Approx(3.989).epsilon(1e-3));
  CHECK(figures[0].table.rows.size() == 2);
  CHECK_THAT(figures[0].summary, Contains("fnn-3, topk 0.001: 2.50"));
}

TEST_CASE("curves of theory are two figures, with a panel a distribution", "[report]") {
  ResultFile theory{"c.json", "", "theory-curve", Json::object()};
  for (const char* name : {"normal", "uniform"})
    for (const double q : {0.0, 0.5, 1.0})
      theory.rows.push_back({{"distribution", name},
                             {"elements", 2},
                             {"k", 2 * q},
                             {"q", q},
                             {"pi_square", 1 - q},
                             {"line", 1 - q},
                             {"exact", (1 - q) / 2},
                             {"sampled_exact", nullptr},
                             {"bound_classic", 1 - q},
                             {"bound_square", (1 - q) * (1 - q)},
                             {"bound_cube", 0.1}});
  const std::vector<Figure> figures = theory_figures(theory);
  REQUIRE(figures.size() == 2);
  REQUIRE(figures[0].panels.size() == 2);
  CHECK(series(figures[0], 0, "1 - i/d").reference);
  CHECK(series(figures[1], 1, "(1 - k/d)^2").points.at(1).y == 0.25);
  // (1 - q) / 2 is above (1 - q)^2 where q > 0.5: here nowhere, and 0.9 makes one place of it.
  CHECK_THAT(figures[1].summary, Contains("normal: at none of 3 places; uniform: at none of 3"));
  theory.rows[1]["exact"] = 0.9;
  CHECK_THAT(theory_figures(theory)[1].summary, Contains("normal: at 1 of 3 places"));
  CHECK(theory_figures({"c.json", "", "theory-curve", Json::object()}).empty());
}

// 4 KiB goes by a tree in 40 us, 1 MiB and 4 MiB by a ring: the name stands at the first point and
// where it changes.
TEST_CASE("collectives are lines of nodes, named where their way changes", "[figures]") {
  std::vector<Json> rows;
  for (const int nodes : {2, 4})
    for (const auto& [bytes, algorithm, us] :
         {std::tuple{4096, "tree", 40.0}, {1 << 20, "ring", 100.0}, {4 << 20, "ring", 200.0}})
      rows.push_back({{"kind", "all-reduce"},
                      {"nodes", nodes},
                      {"gpus_per_node", 8},
                      {"bytes", bytes},
                      {"algorithm", algorithm},
                      {"protocol", "LL"},
                      {"us", nodes * us},
                      {"busbw_gb_per_second", 100.0 / nodes}});
  const std::vector<Figure> figures = collective_figures(rows);
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].id == "all-reduce-bandwidth");
  CHECK(figures[1].id == "all-reduce-time");
  const FigureSeries& four = series(figures[1], 0, "4 nodes of 8");
  REQUIRE(four.points.size() == 3);
  CHECK(four.points[1].x == 1 << 20);
  CHECK(four.points[1].y == 400);
  CHECK(four.points[0].text == "tree/LL");
  CHECK(four.points[1].text == "ring/LL");
  CHECK(four.points[2].text.empty());
  CHECK_THAT(figures[0].summary, Contains("The most is 50 GB/s, of 2 nodes of 8 at 4KiB"));
  CHECK(collective_figures({}).empty());
}
