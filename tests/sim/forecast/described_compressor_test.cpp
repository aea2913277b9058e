// The contract of compressors as data: one that copies a compressor of ours forecasts the very same
// seconds.
#include <catch2/catch.hpp>
#include <string>

#include "sim/base/text_file.hpp"
#include "sim/engine/engine.hpp"
#include "sim/forecast/estimates.hpp"
#include "sim/forecast/evaluation.hpp"
#include "sim/forecast/request.hpp"
#include "sim/inputs/compressor_file.hpp"
#include "sim/inputs/cost_table.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

struct Copied {
  const char* name;
  const char* family;
  const char* bytes;
  const char* collective;
};

constexpr Copied kCopied[] = {
    {"topk", "sparsifier", "8 * k", "all-gather"},
    {"dgc", "sparsifier", "8 * k", "all-gather"},
    {"fp16", "cast", "4 * ceil(elements / 2)", "all-reduce"},
    {"int8", "quantiser", "4 * ceil(elements / 4) + 4 * ceil(elements / 256)", "all-gather"},
    {"signsgd", "quantiser", "4 * ceil(elements / 32)", "all-gather"}};

constexpr const char* kCosts = "cost-v100-derived";

/// Our rows of a compressor, as those of another name.
std::string rows_of(const Copied& copied, const std::string& name) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  CostTable table = load_cost_table(files.read(kCostTables, kCosts));
  std::erase_if(table.rows, [&](const CostRow& row) {
    return row.compressor != copied.name || row.mode == "paper";
  });
  for (CostRow& row : table.rows) {
    row.compressor = name;
    row.mode.clear();
    row.parameter = 0;
  }
  return cost_table_csv(table, {});
}

/// The path of a file that describes a copy, under a name that no other file has.
std::string copy_of(const Copied& copied, const TemporaryFolder& folder, bool with_costs = true) {
  static int copies = 0;
  const std::string name = std::string(copied.name) + "-copy" + std::to_string(++copies);
  if (with_costs) folder.write("cost-" + name + ".csv", rows_of(copied, name));
  return folder.write(name + ".csv", std::string("property,value,source\nfamily,") + copied.family +
                                         ",me\nbytes," + copied.bytes + ",me\ncollective," +
                                         copied.collective + ",me\n" +
                                         (with_costs ? "costs,cost-" + name + ".csv,me\n" : ""));
}

Request run_with(const std::string& compressor) {
  Request request;
  request.model = "resnet-50";
  request.compressor = compressor;
  request.costs = kCosts;
  request.fusion = parse_fusion("25MiB");
  request.overlap = true;
  request.changed = {{"nodes", "4"}, {"gpus_per_node", "2"}};
  return request;
}

Evaluation forecast(const Request& request, const Engine& engine) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  return evaluate(make_scenario(request, files), engine);
}

}  // namespace

TEST_CASE("a copy of a compressor of ours takes as long as ours", "[described]") {
  set_compressor_source(find_described);
  const TemporaryFolder folder;
  for (const Copied& copied : kCopied) {
    const std::string copy = copy_of(copied, folder);
    for (const Engine& engine : all_engines()) {
      if (!engine.built()) continue;
      CAPTURE(copied.name, engine.name);
      const Evaluation ours = forecast(run_with(copied.name), engine);
      const Evaluation its = forecast(run_with(copy), engine);
      REQUIRE(ours.problem.empty());
      REQUIRE(its.problem.empty());
      CHECK(its.result.iteration.count() == ours.result.iteration.count());
    }
  }
}

TEST_CASE("per-tensor selection and several collectives sum up a copy's tensors", "[described]") {
  set_compressor_source(find_described);
  const TemporaryFolder folder;
  for (const Copied& copied : kCopied) {
    CAPTURE(copied.name);
    Request ours = run_with(copied.name);
    Request its = run_with(copy_of(copied, folder));
    for (Request* request : {&ours, &its}) request->selection = SelectionScope::PerTensor;
    const Engine& engine = *find_engine("analytic");
    CHECK(forecast(its, engine).result.iteration.count() ==
          forecast(ours, engine).result.iteration.count());
  }
}

TEST_CASE("a compressor without costs has those of its family, with the family's spread",
          "[described]") {
  set_compressor_source(find_described);
  const TemporaryFolder folder;
  DataFiles files(GRADCAST_SOURCE_DIR);
  const Scenario scenario = make_scenario(run_with(copy_of(kCopied[0], folder, false)), files);
  REQUIRE_FALSE(scenario.costs->rows.empty());
  for (const CostRow& row : scenario.costs->rows)
    CHECK_THAT(row.compressor, Catch::StartsWith("topk-copy"));
  CHECK(scenario.costs->rows[0].factors.high > 5);
}

TEST_CASE("a costs file adds to the usual table, and its rows come first", "[described]") {
  const TemporaryFolder folder;
  const std::string mine = folder.write("cost-mine.csv", rows_of(kCopied[0], "topk"));
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request = run_with("topk");
  request.costs = mine;
  CHECK(make_scenario(request, files).costs->name == mine);
  request.compressor = "gaussian";
  const Scenario other = make_scenario(request, files);
  CHECK_THAT(other.costs->name, Contains("cost-v100-pytorch-1.1"));
}

TEST_CASE("what a file's formula says is not said by flags as well", "[described]") {
  set_compressor_source(find_described);
  const TemporaryFolder folder;
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request = run_with(copy_of(kCopied[0], folder));
  request.wire_bytes_per_element = 4;
  CHECK_THROWS_WITH(make_scenario(request, files),
                    Contains("says what is sent: leave wire-bytes-per-element out"));
  request.wire_bytes_per_element.reset();
  request.collective = "gtopk";
  CHECK_THROWS_WITH(make_scenario(request, files),
                    Contains("does not serve compressor 'topk-copy"));
}
