// `gradcast calibrate` times every compressor of the table, and simulate forecasts with each.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "sim/inputs/compressor_words.hpp"
#include "tests/run_program.hpp"
#include "tests/sim/cli/calibrating.hpp"

using Catch::Contains;
using namespace gradcast;
using namespace gradcast::calibrating;
using Json = nlohmann::ordered_json;

namespace {

/// Tensors, elements and workers of a row.
using Point = std::tuple<int, std::int64_t, int>;

/// The modes and parameters of a compressor that `calibrate` is asked for.
std::set<std::pair<std::string, double>> kinds_of(const Compressor& compressor) {
  std::set<std::pair<std::string, double>> kinds;
  for (const Mode mode : compressor.two_modes ? std::vector<Mode>{Mode::Paper, Mode::Code}
                                              : std::vector<Mode>{Mode::Only}) {
    kinds.emplace(mode_text(mode), cost_parameter(compressor, compressor.parameter.usual));
    if (compressor.family == Family::LowRank)
      for (const double rank : {1.0, 2.0, 4.0}) kinds.emplace(mode_text(mode), rank);
  }
  return kinds;
}

}  // namespace

TEST_CASE("every compressor but dense has a row for each point, and simulate forecasts with it",
          "[cli][slow]") {
  TemporaryFolder folder;
  const std::string costs = (folder.path / "costs.csv").string();
  const Ran measured = gradcast_with(calibrate("lenet-5", costs, {"--workers", "1,16"}));
  INFO(measured.err);
  REQUIRE(measured.exit_code == 0);
  const CostTable table = load_cost_table(read_text_file(costs));
  std::set<Point> points;
  for (const CostRow& row : table.rows)
    if (row.compressor == "topk") points.insert({row.tensors, row.elements, row.workers});
  CHECK(points.contains({1, 61'706, 16}));
  CHECK(points.contains({10, 61'706, 1}));
  for (const Compressor* compressor : all_compressors()) {
    const std::string name(compressor->name);
    INFO(name);
    for (const auto& [mode, parameter] : kinds_of(*compressor)) {
      std::set<Point> of_kind;
      for (const CostRow& row : table.rows)
        if (row.compressor == name && row.mode == mode && row.parameter == parameter) {
          of_kind.insert({row.tensors, row.elements, row.workers});
          CHECK(row.encode > Seconds{0});
          CHECK(row.decode > Seconds{0});
          CHECK(row.density == (compressor->family == Family::Sparsifier ? 0.001 : 1));
        }
      CHECK(of_kind == (compressor->family == Family::Dense ? std::set<Point>{} : points));
    }
    if (compressor->family == Family::Dense) continue;
    const Ran ran =
        gradcast_runs("simulate", "--model", "lenet-5", "--costs", costs.c_str(), "--compressor",
                      name.c_str(), "--engine", "analytic", "--format", "json");
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    const Json result = Json::parse(ran.out)["results"][0];
    CHECK(result["evidence"] == "measured");
    CHECK(result["implementation"] == "gradcast-cpu");
    CHECK(result["encode_seconds"] > 0);
  }
}

TEST_CASE("decoding takes longer of more workers where each sends codes, and not of a sum",
          "[cli]") {
  TemporaryFolder folder;
  const std::string costs = (folder.path / "costs.csv").string();
  const std::string model = small_model(folder);
  for (const auto& [compressor, parameter] : {std::pair{"qsgd", "127"}, {"powersgd", "2"}})
    REQUIRE(gradcast_with(calibrate(model, costs,
                                    {"--workers", "1,16", "--compressors", compressor,
                                     "--parameters", parameter}))
                .exit_code == 0);
  std::map<std::string, std::map<int, Seconds>> decodes;
  for (const CostRow& row : load_cost_table(read_text_file(costs)).rows)
    if (row.tensors == 4 && row.mode != "paper")
      decodes[row.compressor][row.workers] = row.decode;
  CHECK(decodes.at("qsgd").at(16) > 4 * decodes.at("qsgd").at(1));
  CHECK(decodes.at("powersgd").at(16) == decodes.at("powersgd").at(1));
}

TEST_CASE("numbers that are asked for stand in the rows, beside those that are there", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string costs = (folder.path / "costs.csv").string();
  const auto of_levels = [&](const std::string& levels) {
    const Ran ran = gradcast_with(calibrate(
        model, costs, {"--compressors", "qsgd", "--workers", "1", "--parameters", levels}));
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    return ran;
  };
  of_levels("7");
  const Ran more = of_levels("7,15");
  CHECK_THAT(more.err, Contains("6 of 12 points are in"));
  std::multiset<double> levels;
  for (const CostRow& row : load_cost_table(read_text_file(costs)).rows)
    levels.insert(row.parameter);
  CHECK(levels.count(7) == 6);
  CHECK(levels.count(15) == 6);
  CHECK(levels.size() == 12);
}

TEST_CASE("a call that needs shapes which the model does not say is left out, and said", "[cli]") {
  TemporaryFolder folder;
  const std::string costs = (folder.path / "costs.csv").string();
  const std::string shapeless = folder.write("shapeless.csv",
                                             "layer,tensor,elements,forward_flops\n"
                                             "a,a.w,20000,1\na,a.b,100,0\nb,b.w,7000,1\n"
                                             "c,c.w,3000,1\n");
  const Ran ran = gradcast_with(calibrate(
      shapeless, costs,
      {"--compressors", "powersgd", "--workers", "1", "--parameters", "2", "--format", "json"}));
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.err, Contains("powersgd needs the shapes of a model's tensors for all in one "
                               "call, so not measured: 30100 elements"));
  const Json rows = Json::parse(ran.out)["results"];
  REQUIRE(rows.size() == 2);  // paper and code
  CHECK(rows[0]["parameter"] == 2);
  CHECK(rows[0]["points"] == 5);
}

TEST_CASE("the roofline states every compressor's floor, and a table of layers times all",
          "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const Ran roofline = gradcast_runs("calibrate", "--device", "cpu", "--models", model.c_str(),
                                     "--roofline", "--seconds", "0.002", "--format", "json");
  INFO(roofline.err);
  REQUIRE(roofline.exit_code == 0);
  std::map<std::string, std::set<double>> floors;  // bytes of the model as one tensor
  const Json measured = Json::parse(roofline.out);
  for (const Json& row : measured["results"]) {
    CHECK(row["share_of_floor"] > 0);
    if (row["tensors"] == 1) floors[row["compressor"]].insert(row["floor_bytes"].get<double>());
  }
  CHECK(floors.size() == all_compressors().size());  // the ceiling's, in place of dense
  CHECK(floors.at("topk") == floors.at("ceiling"));
  CHECK(floors.at("fp16") == std::set<double>{6 * 30'100});
  CHECK(floors.at("signsgd") == std::set<double>{4 * 30'100 + 4 * 941});
  CHECK(floors.at("powersgd").size() == 3);  // one per rank

  const std::string trace =
      folder.write("trace.csv",
                   "# device: X\n# batch: 1\ntensor,forward_seconds,backward_seconds\n"
                   "a.w,1,0\na.b,0,1\nb.w,1,1\nc.w,1,0\n");
  const Ran layers = gradcast_runs("calibrate", "--device", "cpu", "--per-layer", model.c_str(),
                                   "--trace", trace.c_str(), "--seconds", "0.002", "--compressors",
                                   "all", "--format", "json");
  INFO(layers.err);
  REQUIRE(layers.exit_code == 0);
  const Json document = Json::parse(layers.out);
  std::set<std::string> timed;
  for (const Json& total : document["summary"]["totals"]) {
    timed.insert(total["compressor"]);
    CHECK(total["encode_seconds"] > 0);
  }
  CHECK(timed.size() == all_compressors().size() - 1);
  CHECK(document["summary"]["totals"].size() == timed.size());  // a column each
}
