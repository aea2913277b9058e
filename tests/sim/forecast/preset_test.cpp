#include "sim/forecast/preset.hpp"

#include <catch2/catch.hpp>

#include "sim/inputs/measured.hpp"
#include "sim/network/library_rule.hpp"

using namespace gradcast;

TEST_CASE("a stack sends as its own library chooses", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto collective = [&](const std::string& stack) {
    Request request;
    request.model = "resnet-50";
    request.cluster = "10gbe";
    request.stack = stack;
    request.stack_given = !stack.empty();
    request.today = true;
    return with_defaults(request, files).collective;
  };
  CHECK(collective("ddp-nccl") == "nccl");
  CHECK(collective("") == "nccl");  // nobody names a stack
  CHECK(collective("ddp-gloo") == "gloo");
  CHECK(collective("horovod-mpi") == "open-mpi-4.0");
  CHECK(collective("mpi4py") == "open-mpi-4.0");
  CHECK(collective("paper").empty());  // its collective is not known: the compressor's ring
}

// Their steps between sizes were read off by hand: recursive doubling below 10,000 bytes, and a
// ring above.
TEST_CASE("Open MPI's rule up to 4.0 chooses what OSU's logs are taken to have run", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto runs =
      load_measured_runs(files.read(kMeasuredRuns, "measured-osu-allreduce-10gbe")).runs;
  REQUIRE(runs.size() > 20);
  const LibraryRule* rule = find_library_rule("open-mpi-4.0");
  for (const MeasuredRun& run : runs) {
    CAPTURE(run.nodes, run.payload.count);
    CHECK(rule->choose({}, Outcome::AllReduced, run.nodes, run.payload).collective->name ==
          run.collective);
  }
}

TEST_CASE("a collective alone has the interval of its network", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto stack = [&](const std::string& cluster, int nodes) {
    Request request;
    request.cluster = cluster;
    request.changed.push_back({"nodes", std::to_string(nodes)});
    request.payload = Bytes{1 << 20};
    request.today = true;
    return with_defaults(request, files).stack;
  };
  CHECK(stack("dgx-h100", 8) == "stack-nccl");
  CHECK(stack("polaris", 8) == "stack-nccl-slingshot");
  CHECK(stack("polaris-tcp", 8) == "stack-nccl-tcp");
  CHECK(stack("gcp-a3-megagpu-8g", 8) == "stack-nccl-tcp");
  CHECK(stack("polaris", 1) == "stack-nccl");  // its NVLinks are like any
}

TEST_CASE("FSDP's copies are made in the memory of the trace's GPU, else of the cluster's",
          "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto memory = [&](const std::string& model, const std::string& trace,
                          const std::string& sharding) {
    Request request;
    request.model = model;
    request.trace = trace;
    request.cluster = "dgx-a100";
    request.sharding = parse_sharding(sharding);
    request.sharding.unit_elements = 20'000'000;
    request.overlap = true;
    return make_scenario(with_defaults(request, files), files).gpu_memory;
  };
  // traces/devices.csv: an H100 streams 3350 GB/s, and a100-80gb, which stands for Ampere, 2039.
  CHECK(memory("llama-3-8b", "iteration-llama-3-8b-h100", "fsdp") == BytesPerSecond{3350e9});
  const std::string unnamed = "iteration-transformer-cs336-xl-128-tokens";
  CHECK(memory("transformer-cs336-xl", unnamed, "fsdp") == BytesPerSecond{2039e9});
}
