#include "sim/fit/structure.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;

namespace {

constexpr const char* kHeader = "structure,errors,parameter,applies_to,start,least,most,source\n";

FitStructures structures(const std::string& rows) {
  return load_fit_structures({"fit-x.csv", kHeader + rows});
}

void check_refused(const std::string& rows, const std::string& why) {
  INFO(rows);
  CHECK_THROWS_WITH(structures(rows), Catch::Contains(why));
}

MeasuredRun run_of(const std::string& compressor, const std::string& cluster) {
  MeasuredRun run;
  run.compressor = compressor;
  run.cluster = cluster;
  return run;
}

}  // namespace

TEST_CASE("A structure's file is read with its reasons, bounds and scopes", "[fit]") {
  const FitStructures all = load_fit_structures(
      {"fit-x.csv", std::string("# first: because\n") + kHeader +
                        "first,absolute,per_iteration_overhead,,5ms,0s,500ms,a source\n"
                        "first,absolute,encode_factor,compressor=dgc+topk,1,0.5,2,a source\n"
                        "second,relative,nic_bandwidth,,8Gbps,1Gbps,10Gbps,a source\n"});
  REQUIRE(all.structures.size() == 2);
  const FitStructure& first = all.find("");
  CHECK(first.name == "first");
  CHECK(first.reason == "because");
  CHECK(first.errors == FitErrors::Absolute);
  REQUIRE(first.parameters.size() == 2);
  CHECK(first.parameters[0].most == 0.5);
  CHECK(first.parameters[1].name() == "encode_factor (compressor=dgc+topk)");
  // Rates are fitted as the time of a byte: 1 Gbps is 8 ns, and the most.
  const FitParameter& goodput = all.find("second").parameters[0];
  CHECK(goodput.most == Approx(8e-9));
  CHECK(goodput.least == Approx(0.8e-9));
  CHECK(goodput.start == Approx(1e-9));
}

TEST_CASE("A scope holds for the runs that have one of its values in each of its columns",
          "[fit]") {
  const FitScope scope = parse_fit_scope("compressor=dgc+topk cluster=a");
  CHECK(scope.holds(run_of("dgc", "a")));
  CHECK(scope.holds(run_of("topk", "a")));
  CHECK_FALSE(scope.holds(run_of("dgc", "b")));
  CHECK_FALSE(scope.holds(run_of("dense", "a")));
  CHECK(parse_fit_scope("").holds(run_of("dense", "b")));
}

TEST_CASE("A scope may name density, nodes, stack, selection, and whether a run compressed",
          "[fit]") {
  MeasuredRun run = run_of("topk", "a");
  run.density = 0.01;
  run.nodes = 8;
  run.stack = "horovod-mpi";
  run.selection = SelectionScope::PerTensor;
  run.compressing = false;
  for (const char* holds : {"density=0.01", "density=0.1+0.010", "nodes=4+8", "stack=horovod-mpi",
                            "selection=per-tensor", "compressing=no"}) {
    CAPTURE(holds);
    CHECK(parse_fit_scope(holds).holds(run));
  }
  for (const char* not_this :
       {"density=0.1", "nodes=4", "stack=paper", "selection=merged", "compressing=yes"}) {
    CAPTURE(not_this);
    CHECK_FALSE(parse_fit_scope(not_this).holds(run));
  }
  CHECK_THROWS_WITH(parse_fit_scope("compressing=maybe"), "'maybe' is not 'yes' or 'no'");
  CHECK_THROWS_WITH(parse_fit_scope("density=2"), Catch::Contains("'2' is not a density"));
}

TEST_CASE("A column of each value becomes one parameter for each that the runs have", "[fit]") {
  const FitStructures all =
      for_runs(structures("a,absolute,nic_bandwidth,cluster=each,8Gbps,1Gbps,10Gbps,x\n"
                          "a,absolute,encode_factor,compressor=topk cluster=each,1,0.5,2,x\n"
                          "a,absolute,encode_per_call,compressor=each cluster=each,1ms,0s,1s,x\n"),
               {run_of("dense", "b"), run_of("topk", "a.csv"), run_of("topk", "b")});
  std::vector<std::string> names;
  for (const FitParameter& parameter : all.structures[0].parameters)
    names.push_back(parameter.name());
  CHECK(names == std::vector<std::string>{"nic_bandwidth (cluster=b)",
                                          "nic_bandwidth (cluster=a.csv)",
                                          "encode_factor (compressor=topk cluster=b)",
                                          "encode_factor (compressor=topk cluster=a.csv)",
                                          "encode_per_call (compressor=dense cluster=b)",
                                          "encode_per_call (compressor=dense cluster=a.csv)",
                                          "encode_per_call (compressor=topk cluster=b)",
                                          "encode_per_call (compressor=topk cluster=a.csv)"});
  CHECK(all.structures[0].parameters[1].scope.holds(run_of("dense", "a.csv")));
  CHECK_FALSE(all.structures[0].parameters[1].scope.holds(run_of("dense", "b")));
  CHECK_THROWS_WITH(parse_fit_scope("cluster=each+b"), Catch::Contains("stands alone"));
}

TEST_CASE("What is wrong in a structure's file is said with its line", "[fit]") {
  check_refused("a,absolute,per_iteration_overhed,,5ms,0s,1s,x\n",
                "fit-x.csv:2: column 'parameter': unknown parameter 'per_iteration_overhed'; did "
                "you mean 'per_iteration_overhead'?");
  check_refused("a,squared,per_iteration_overhead,,5ms,0s,1s,x\n",
                "'squared' is not 'absolute' or 'relative'");
  check_refused("a,absolute,per_iteration_overhead,compresor=dgc,5ms,0s,1s,x\n",
                "did you mean 'compressor'?");
  check_refused("a,absolute,per_iteration_overhead,dgc,5ms,0s,1s,x\n",
                "'dgc' is not a column with its values");
  check_refused("a,absolute,per_iteration_overhead,,5,0s,1s,x\n",
                "column 'start': '5' has no unit");
  check_refused("a,absolute,per_iteration_overhead,,5s,0s,1s,x\n", "is not within the bounds");
  check_refused("a,absolute,per_iteration_overhead,,1s,1s,1s,x\n", "no room");
  check_refused("a,absolute,per_iteration_overhead,,5ms,0s,1s,\n", "column 'source': is empty");
  check_refused(
      "a,absolute,per_iteration_overhead,,5ms,0s,1s,x\n"
      "a,relative,encode_factor,,1,0.5,2,x\n",
      "fit-x.csv:3: column 'errors': 'a' is fitted by one kind of errors");
  check_refused("a,absolute,encode_factor,,1,0.5,2,x\na,absolute,encode_factor,,1,0.5,2,x\n",
                "stands twice");
  check_refused(
      "a,absolute,encode_factor,,1,0.5,2,x\nb,absolute,encode_factor,,1,0.5,2,x\n"
      "a,absolute,decode_factor,,1,0.5,2,x\n",
      "do not stand together");
  check_refused("", "the file has no structure");
}

TEST_CASE("A structure that is not there gets a suggestion", "[fit]") {
  CHECK_THROWS_WITH(structures("shared,absolute,encode_factor,,1,0.5,2,x\n").find("sharde"),
                    Catch::Contains("did you mean 'shared'?"));
}

TEST_CASE("Every quantity prints what it reads", "[fit]") {
  for (const ScenarioQuantity& quantity : all_scenario_quantities()) {
    INFO(quantity.name);
    Scenario scenario;
    const double before = quantity.get(scenario);
    CHECK(quantity.parse(quantity.text(before)) == Approx(before));
    quantity.set(scenario, 0.25);
    CHECK(quantity.get(scenario) == Approx(0.25));
    CHECK(quantity.parse(quantity.text(0.25)) == Approx(0.25));
  }
}
