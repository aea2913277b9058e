#include "sim/import/written.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/import/report.hpp"
#include "sim/inputs/cluster_file.hpp"
#include "sim/inputs/measured.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

Imported imported(int ranks) {
  Imported made;
  made.kind = "kineto";
  made.world_size = ranks;
  made.shapes = ShapesFrom::Recorded;
  made.model = Model{"toy", {{"a", "a.weight", 16, 0}}};
  made.trace =
      IterationTrace{"", "Tesla V100", 8, Seconds{0}, {{"a.weight", Seconds{1}, Seconds{2}}}};
  made.times = ImportedTimes{};
  made.times->window = Seconds{4};
  made.transfers = {{Bytes{64}, Seconds{0.5}}};
  return made;
}

}  // namespace

TEST_CASE("names of files are small letters, digits and a few signs") {
  CHECK(file_name_of("Tesla V100-SXM2-32GB") == "tesla-v100-sxm2-32gb");
  CHECK(file_name_of("../../etc/passwd\n") == "-..-etc-passwd");
  CHECK(file_name_of("...").empty());
  CHECK(file_name_of(std::string(200, 'a')).size() == 80);
}

TEST_CASE("ranks lie in one node up to eight, then eight a node, or as the user says") {
  const auto shape = [](int ranks, std::optional<int> gpus) {
    const ImportedShape its = shape_of(imported(ranks), gpus);
    return std::pair(its.nodes, its.gpus_per_node);
  };
  CHECK(shape(2, {}) == std::pair(1, 2));
  CHECK(shape(16, {}) == std::pair(2, 8));
  CHECK(shape(9, {}) == std::pair(9, 1));
  CHECK(shape(16, 4) == std::pair(4, 4));
  CHECK_THROWS_WITH(shape(16, 3), Contains("16 ranks do not fill nodes of 3"));
}

TEST_CASE("what a run with buckets computed has the framework's work on gradients in it") {
  for (const bool sent : {true, false}) {
    Imported run = imported(2);
    if (sent) run.buckets = {16};
    const ImportedFiles made = files_of(run, "toy", shape_of(run, {}), "my", {});
    CHECK(load_measured_runs(made.files[3]).runs[0].framework_in_compute == sent);
    const std::string next = next_commands(run, made, shape_of(run, {})).front();
    CHECK((next.find(" --framework-in-compute yes ") != std::string::npos) == sent);
  }
}

// a to d have 4, 8, 2 and 3 units of 256 KiB: DDP makes buckets of d and c, then b and a. From the
// input on a fills 1 MiB alone. With 2 MiB, 8 units, d, c and b make one.
TEST_CASE("the fusion of a run makes its buckets, by DDP's own sizes or by a round one") {
  const std::int64_t unit = (256 << 10) / 4;  // elements
  Imported run = imported(2);
  run.model = Model{"four",
                    {{"a", "a", 4 * unit, 0},
                     {"b", "b", 8 * unit, 0},
                     {"c", "c", 2 * unit, 0},
                     {"d", "d", 3 * unit, 0}}};
  const auto fusion = [&](std::vector<std::int64_t> units, bool finds_unused = false) {
    run.buckets = std::move(units);
    for (std::int64_t& each : run.buckets) each *= unit;
    run.finds_unused = finds_unused;
    return to_text(fusion_of(run));
  };
  CHECK(fusion({5, 12}) == "ddp");
  CHECK(fusion({13, 4}) == "ddp:2MiB");
  CHECK(fusion({13, 4}, true) == "ddp-find-unused");
  CHECK(fusion({5, 12}, true) == "ddp-find-unused:2MiB");
  CHECK(fusion({3, 2, 8, 4}) == "layer");
  CHECK(fusion({6, 11}) == "ddp");           // by no size
  run.buckets = {std::int64_t{1} << 62, 1};  // a trace may say anything
  CHECK(to_text(fusion_of(run)) == "ddp");
}

// 6 G parameters with Adam are 96 GB, more than a GPU has.
TEST_CASE("the commands that go on with a large model shard it") {
  Imported large = imported(1);
  large.model = Model{"large", {{"a", "a", 6'000'000'000, 0}}};
  const ImportedFiles made = files_of(large, "toy", shape_of(large, {}), "my", {});
  const std::vector<std::string> next = next_commands(large, made, shape_of(large, {}));
  REQUIRE(next.size() == 2);
  CHECK_THAT(next[0], Contains("--cluster dgx-h100 --nodes 16 --sharding fsdp"));
  CHECK_THAT(next[1], Contains("gradcast decide --model my/models/toy.csv"));
}

// In double quotes a shell still runs what stands in $( ) and behind a quote.
TEST_CASE("a folder of any name is one word of the commands that go on") {
  const Imported run = imported(2);
  const ImportedFiles made = files_of(run, "toy", shape_of(run, {}), "o'; touch PWN; '", {});
  for (const std::string& next : next_commands(run, made, shape_of(run, {})))
    CHECK_THAT(next, Contains("'o'\\''; touch PWN; '\\''/"));
}

// On 4 ranks 2 x 3 steps, each of a quarter: 6/4 of the bytes. 1 s for 4 bytes and 2 s for 8 are
// 4 bytes/s x 6/4 = 6 bytes/s. With 3 s more each, 3/6 s a step.
TEST_CASE("a ring's link is a line through its all-reduces") {
  const auto line = link_of_ring({{Bytes{4}, Seconds{4}}, {Bytes{8}, Seconds{5}}}, 4, false);
  REQUIRE(line.has_value());
  CHECK(line->bandwidth.value == Approx(6));
  CHECK(line->latency.count() == Approx(0.5));
  // With waiting in them, the faster counts: 8 bytes in 5 s, 1.6 x 6/4.
  const auto bound = link_of_ring({{Bytes{4}, Seconds{4}}, {Bytes{8}, Seconds{5}}}, 4, true);
  CHECK(bound->bandwidth.value == Approx(2.4));
  CHECK(bound->latency.count() == 0);
  CHECK_FALSE(link_of_ring({}, 4, false).has_value());
}

TEST_CASE("a run of one rank has a model and a trace, one of several also a cluster and a row") {
  const Imported one = imported(1);
  CHECK(files_of(one, "toy", shape_of(one, {}), "my", {}).files.size() == 2);
  const Imported two = imported(2);
  const ImportedFiles made = files_of(two, "toy", shape_of(two, {}), "my", {"from x"});
  REQUIRE(made.files.size() == 4);
  CHECK(made.paths.trace == "my/traces/iteration-toy-tesla-v100.csv");
  for (const TextFile& file : made.files) CHECK_THAT(file.content, Contains("# from x\n"));
  CHECK(load_model(made.files[0]).elements() == 16);
  CHECK(load_iteration_trace(made.files[1]).batch == 8);
  CHECK(load_cluster(made.files[2]).gpus_per_node == 2);
  const MeasuredRuns measured = load_measured_runs(made.files[3]);
  REQUIRE(measured.runs.size() == 1);
  CHECK(measured.runs[0].iteration.count() == 4);
  CHECK(measured.runs[0].compute.count() == 3);
  CHECK(measured.runs[0].model == "../models/toy.csv");
}

TEST_CASE("without sizes there is no model and no trace") {
  Imported unknown = imported(2);
  unknown.model.reset();
  unknown.trace.reset();
  const ImportedFiles made = files_of(unknown, "toy", shape_of(unknown, {}), "my", {});
  CHECK(made.paths.model.empty());
  CHECK(made.paths.measured.empty());
  CHECK(next_commands(unknown, made, shape_of(unknown, {})).empty());
}

TEST_CASE("a run that waits for its host is told so, in words") {
  ImportedTimes times;
  times.window = Seconds{1};
  CHECK(host_sentence(times).empty());
  times.host = Seconds{0.77};
  CHECK_THAT(host_sentence(times),
             Contains("77 % of the step the GPU waits for the host") && Contains("changes little"));
  times.host = Seconds{0.12};
  CHECK_THAT(host_sentence(times), Contains("12 %") && !Contains("changes little"));
}
