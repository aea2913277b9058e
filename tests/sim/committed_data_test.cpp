// The data files that are committed: all can be read, fit each other, and are what the generator
// makes.
#include <catch2/catch.hpp>

#include "sim/cluster.hpp"
#include "sim/cost_table.hpp"
#include "sim/data_files.hpp"
#include "sim/error.hpp"
#include "sim/generate/generated_file.hpp"
#include "sim/iteration_trace.hpp"
#include "sim/measured.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::filesystem::path kRoot = GRADCAST_SOURCE_DIR;

/// Of the source's rows: that their time alone is that of the model's trace, to its nanoseconds.
void check_compute(const MeasuredRuns& measured, const std::string& source, std::size_t rows) {
  DataFiles files(kRoot);
  std::size_t found = 0;
  for (const MeasuredRun& run : measured.runs) {
    if (run.source != source) continue;
    ++found;
    CAPTURE(run.model);
    const IterationTrace trace =
        load_iteration_trace(files.read(kIterationTraces, "iteration-" + run.model + "-v100"));
    CHECK(run.batch == trace.batch);
    CHECK(run.compute.count() == Approx(trace.iteration().count()).epsilon(1e-5));
  }
  CHECK(found == rows);
}

}  // namespace

TEST_CASE("committed data is what `generate_data` makes, to the byte", "[data]") {
  for (const auto& files :
       {model_files(), measured_files(), iteration_trace_files(kRoot), cost_table_files()})
    for (const GeneratedFile& file : files) {
      CAPTURE(file.path);
      const bool same = read_text_file(kRoot / file.path).content == file.content;
      CHECK(same);  // not the texts themselves: they are long
    }
}

TEST_CASE("every committed file can be read, and names its source in a comment", "[data]") {
  DataFiles files(kRoot);
  const auto check = [&](const DataKind& kind, auto load) {
    for (const std::string& name : files.names(kind)) {
      CAPTURE(name);
      const TextFile file = files.read(kind, name);
      CHECK_NOTHROW(load(file));
      CHECK_THAT(file.content, Catch::StartsWith("#"));
    }
    CHECK_FALSE(files.names(kind).empty());
  };
  check(kModels, load_model);
  check(kIterationTraces, load_iteration_trace);
  check(kCostTables, load_cost_table);
  check(kMeasuredRuns, load_measured_runs);
  check(kClusters, load_cluster);
}

// The DenseNets were measured with 64 images a GPU, the others with 128.
TEST_CASE("every model has a V100 trace of the same tensors", "[data]") {
  DataFiles files(kRoot);
  for (const std::string& name : files.names(kModels)) {
    CAPTURE(name);
    const Model model = load_model(files.read(kModels, name));
    const IterationTrace trace =
        load_iteration_trace(files.read(kIterationTraces, "iteration-" + name + "-v100"));
    CHECK_NOTHROW(require_same_tensors(model, trace));
    CHECK(trace.batch == (name.starts_with("densenet") ? 64 : 128));
  }
}

// Table 2 gives iteration time and scaling efficiency of four algorithms; their product is the time
// of one GPU alone, the same four times to 0.002 s. Here: AlexNet's 0.571 x 14.1 % = 0.0805.
TEST_CASE("a measured row's compute time is the trace's total", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-shi2019-table2"));
  check_compute(measured, "shi2019-table2", 16);
  CHECK(measured.runs[0].compute.count() == Approx(0.571 * 0.141).margin(0.002));
}

// 3 models x 2 networks x 3 ways of fusing: 18. The other six rows are of another GPU: 64
// images at 253.1 images/s alone, and 4 x 64 at 925.02 images/s on the first.
TEST_CASE("MG-WFBP's rows have the compute time of their traces", "[data]") {
  DataFiles files(kRoot);
  const MeasuredRuns measured =
      load_measured_runs(files.read(kMeasuredRuns, "measured-mg-wfbp-dense"));
  check_compute(measured, "shi-tpds-16xV100", 18);
  REQUIRE(measured.runs.size() == 18 + 6);
  const MeasuredRun& other = measured.runs[18];
  CHECK(other.compute.count() == Approx(64 / 253.1).margin(1e-6));
  CHECK(other.iteration.count() == Approx(4 * 64 / 925.02).margin(1e-6));
}

TEST_CASE("a name is found in its folder, a path is taken as it is", "[data]") {
  TemporaryFolder folder;
  const std::string path = folder.write("mine.csv", "# x\n");
  DataFiles files(kRoot);
  CHECK(files.read(kModels, path).content == "# x\n");
  CHECK(files.read(kModels, "alexnet").path == kRoot / "models" / "alexnet.csv");
  CHECK_THROWS_WITH(files.read(kModels, "alexnett"),
                    Contains("unknown model 'alexnett'; did you mean 'alexnet'?"));
  CHECK_THROWS_AS(files.read(kModels, "./none.csv"), DataError);
}

TEST_CASE("inputs are remembered as they were typed, each once", "[data]") {
  DataFiles files(kRoot);
  files.read(kModels, "alexnet");
  files.read(kClusters, "10gbe-4x4");
  files.read(kModels, "alexnet");
  REQUIRE(files.inputs().size() == 2);
  CHECK(files.inputs()[0].typed == "alexnet");
  CHECK(files.inputs()[1].typed == "10gbe-4x4");
}
