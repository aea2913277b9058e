#include "sim/forecast/preset.hpp"

#include <catch2/catch.hpp>

#include "sim/forecast/evaluation.hpp"
#include "sim/forecast/schedule.hpp"
#include "sim/inputs/measured.hpp"
#include "sim/network/library_rule.hpp"

using namespace gradcast;
using Catch::Contains;
using Catch::StartsWith;

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

TEST_CASE("what runs today by itself has the sharding that is asked for", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto asked = [&](const std::string& sharding) {
    Request request;
    request.model = "gpt2-xl";
    request.cluster = "dgx-h100";
    request.sharding = parse_sharding(sharding);
    request.sharding_given = request.today = true;
    return with_defaults(request, files);
  };
  const auto words = [&](const std::string& sharding) {
    const Request request = asked(sharding);
    return assumed_words(request, make_scenario(request, files));
  };
  for (const char* sharding : {"none", "zero1", "zero2", "fsdp", "hsdp"})
    CHECK(missing_sharding(asked(sharding), files).empty());
  CHECK(asked("zero2").stack == "stack-deepspeed-zero");
  CHECK_THAT(words("zero1"), StartsWith("PyTorch DDP and ZeroRedundancyOptimizer on NCCL"));
  CHECK_THAT(words("zero2"), StartsWith("DeepSpeed ZeRO-2 on NCCL"));
  CHECK_THAT(words("zero2"), Contains(", buckets of 1000 MB, after backward"));
}

TEST_CASE("a stack of collectives alone forecasts no training", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request;
  request.model = "resnet-50";
  request.cluster = "dgx-a100";
  request.stack = "nccl";
  request.stack_given = request.today = true;
  CHECK_THROWS_WITH(make_scenario(with_defaults(request, files), files),
                    Contains("stack 'nccl' knows collectives alone"));
  request.payload = Bytes{1 << 20};
  CHECK_NOTHROW(make_scenario(with_defaults(request, files), files));
}

TEST_CASE("all gradients in one bucket follow backward, whatever overlaps", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request;
  request.model = "resnet-50";
  request.cluster = "dgx-a100";
  request.fusion = parse_fusion("merged");
  request.fusion_given = request.today = true;
  request = with_defaults(request, files);
  REQUIRE(request.overlap);
  CHECK_THAT(assumed_words(request, make_scenario(request, files)),
             Contains("all gradients in one, after backward"));
}

TEST_CASE("a stack whose software shards is sharded where nobody says how", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto sharding = [&](const std::string& stack, const std::string& asked = "none") {
    Request request;
    request.model = "gpt2-xl";
    request.cluster = "dgx-h100";
    request.sharding = parse_sharding(asked);
    request.stack = stack;
    request.stack_given = request.today = true;
    return to_text(with_defaults(request, files).sharding);
  };
  CHECK(sharding("fsdp2-nccl") == "fsdp");
  CHECK(sharding("fsdp2-nccl", "hsdp") == "hsdp");
  CHECK(sharding("deepspeed-zero3") == "fsdp");
  CHECK(sharding("deepspeed-zero") == "zero1");
  CHECK(sharding("deepspeed-zero", "zero2") == "zero2");
  CHECK(sharding("ddp-nccl") == "none");
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
  CHECK(stack("aws-p5-48xlarge", 8) == "stack-nccl-efa");
  CHECK(stack("polaris", 8) == "stack-nccl-slingshot");
  CHECK(stack("polaris-tcp", 8) == "stack-nccl-tcp");
  CHECK(stack("gcp-a3-megagpu-8g", 8) == "stack-nccl-tcp");
  CHECK(stack("polaris", 1) == "stack-nccl-node");  // its NVLinks are like any
  CHECK(stack("mi300x", 8) == "stack-nccl-rccl");
  CHECK(stack("mi300x", 1) == "stack-nccl-rccl-node");
  CHECK(stack("frontier", 8) == "stack-nccl-rccl");
}

namespace {

/// A collective alone, by the library of that name.
Scenario alone(const std::string& cluster, const std::string& collective,
               const std::string& version = "") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request;
  request.cluster = cluster;
  request.payload = Bytes{1 << 20};
  request.collective = collective;
  request.nccl = version;
  return make_scenario(request, files);
}

}  // namespace

TEST_CASE("sockets reach no more of a fast NIC by Gloo or MPI than by NCCL", "[preset]") {
  const auto nic = [](const char* collective) {
    return alone("100gbe", collective).cluster.node(0).nic.bandwidth.value;
  };
  // 94.15 Gbit/s and the 28 that sockets reach at most: 1 / sqrt(1 / 94.15^2 + 1 / 28^2) = 26.84.
  CHECK(nic("nccl") == Approx(26.84e9 / 8).epsilon(0.001));
  CHECK(nic("gloo") == nic("nccl"));
  CHECK(nic("open-mpi") == nic("nccl"));
}

// Horovod on MPI went through InfiniBand as if its hosts touched no byte, and was sure of it.
TEST_CASE("MPI's hosts send beside a fast NIC, NCCL's do not", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto host_by = [&](const char* stack) {
    Request request;
    request.model = "resnet-50";
    request.cluster = "ib-56g";
    request.stack = stack;
    const Cluster cluster = make_scenario(with_defaults(request, files), files).cluster;
    CHECK(cluster.nic.bandwidth.value == Approx(45.7e9 / 8));
    return cluster.host_bandwidth.value;
  };
  CHECK(host_by("horovod-mpi") > 0);
  CHECK(host_by("horovod-mpi") < 45.7e9 / 8);
  CHECK(host_by("horovod-nccl") == 0);
}

TEST_CASE("on AMD's GPUs nccl is RCCL, and rccl is refused elsewhere", "[preset]") {
  for (const char* ending : {"", "-all-gather", "-reduce-scatter", "-broadcast", "-send-receive"}) {
    const Scenario by_nccl = alone("mi300x", "nccl" + std::string(ending));
    const Scenario by_rccl = alone("mi300x", "rccl" + std::string(ending));
    CHECK(by_nccl.nccl == by_rccl.nccl);
    CHECK(by_nccl.outcome == by_rccl.outcome);
    CHECK_THROWS_WITH(alone("dgx-h100", "rccl" + std::string(ending)),
                      Contains("RCCL runs on AMD's GPUs, and cluster 'dgx-h100' has others"));
  }
  CHECK_THROWS_WITH(alone("mi300x", "nccl", "2.22.3"),
                    Contains("RCCL 2.22.3 is older than its tables") && Contains("from 2.25 on"));
  CHECK_THROWS_WITH(alone("frontier", "rccl", "torch-2.5"), Contains("RCCL 2.21.5 is older"));
  CHECK(alone("dgx-h100", "nccl", "2.22.3").nccl == NcclVersion{2, 22, 3});
}

// Four A100 of Mahti have 240 GB/s, a third of it to each of the others; eight MI300X 320, a
// seventh. Two of a DGX A100 have all of their links to the switch.
TEST_CASE("fewer GPUs of a node that is wired GPU by GPU have fewer links", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto gigabytes = [&](const char* cluster, const char* gpus) {
    Request request;
    request.model = "gpt2-small";
    request.cluster = cluster;
    request.changed.push_back({"gpus_per_node", gpus});
    return cluster_of(request, files).intra.bandwidth.value / 1e9;
  };
  CHECK(gigabytes("mahti", "4") == Approx(240));
  CHECK(gigabytes("mahti", "2") == Approx(80));
  CHECK(gigabytes("mi300x", "2") == Approx(320. / 7));
  CHECK(gigabytes("dgx-a100", "2") == gigabytes("dgx-a100", "8"));
}

// traces/devices.csv, memory and arithmetic over the trace's GPU. An RTX 4090 has 1008 / 2039 and
// 165.2 / 312 of an A100: their geometric mean is 0.512. An RTX 5090 has 1792 / 2039 and 209.5 /
// 312, but the trace takes 63.4 % of an A100's arithmetic, and no GPU takes more: 0.671. An H20 has
// 148 / 989.4 of an H100's, of which the trace takes 40 %: 0.6 / 0.4 times that, 0.226. A P102-100
// has fp32 alone, 10.8 / 312. Convolutions go by the scarcer: from an RTX 3090 an H20 has 148 / 71
// = 2.08.
TEST_CASE("a GPU that has more of everything is not forecast slower", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto trace_and_speed = [&](const char* model, const char* gpu) {
    Request request;
    request.model = model;
    request.cluster = "10gbe";
    request.today = true;
    request.changed.push_back({"gpu", gpu});
    request = with_defaults(request, files);
    for (const ClusterProperty& its : request.changed)
      if (its.name == "compute_speed") return request.trace + " " + its.value;
    return request.trace;
  };
  CHECK(trace_and_speed("gpt2-small", "rtx-4090") == "iteration-gpt2-small-a100 0.512");
  CHECK(trace_and_speed("gpt2-small", "rtx-5090") == "iteration-gpt2-small-a100 0.671");
  CHECK(trace_and_speed("gpt2-small", "h20") == "iteration-gpt2-small-h100 0.226");
  CHECK(trace_and_speed("gpt2-small", "a100-40gb") == "iteration-gpt2-small-a100");
  CHECK(trace_and_speed("resnet-50", "h20") == "iteration-resnet-50-rtx-3090 2.08");
  CHECK(trace_and_speed("resnet-50", "h200") == "iteration-resnet-50-rtx-3090 5.13");
  CHECK(trace_and_speed("gpt2-small", "h200") == "iteration-gpt2-small-h100");
  CHECK(trace_and_speed("gpt2-small", "p102-100") == "iteration-gpt2-small-a100 0.0346");
  CHECK(trace_and_speed("gpt2-small", "p100") == "iteration-gpt2-small-a100 0.0679");
  CHECK(trace_and_speed("resnet-50", "rtx-3090") == "iteration-resnet-50-rtx-3090");
  CHECK(trace_and_speed("resnet-50", "rtx-5090") == "iteration-resnet-50-rtx-3090 1.91");
}

// traces/devices.csv: an MI300X has 5300 / 3350 of an H100's memory bandwidth and 1307 / 989 of its
// arithmetic: their geometric mean is 1.45.
TEST_CASE("a job on AMD's GPUs has NVIDIA's trace of their time, and says what was not measured",
          "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto assumed = [&](const std::string& cluster) {
    Request request;
    request.model = "llama-3-8b";
    request.cluster = cluster;
    request.today = true;
    request = with_defaults(request, files);
    return assumed_words(request, make_scenario(request, files));
  };
  CHECK_THAT(assumed("mi300x"),
             Catch::StartsWith("PyTorch DDP on RCCL 2.27.5 over 8 NICs") &&
                 Contains("iteration-llama-3-8b-h100 at 1.45 times the speed") &&
                 Contains("come from NVIDIA's GPUs: none was measured on AMD's"));
  CHECK_THAT(assumed("dgx-h100"), !Contains("AMD"));
}

TEST_CASE("a run whose collectives begin late says when", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto assumed = [&](const std::string& share, bool overlap) {
    Request request;
    request.model = "resnet-50";
    request.fusion = parse_fusion("ddp");
    request.overlap = overlap;
    Scenario scenario = make_scenario(request, files);
    set_property(scenario.cluster, "late_start", share);
    return assumed_words(request, scenario);
  };
  CHECK_THAT(assumed("51.64%", true), Contains("overlapped with backward once 52% of it is over"));
  CHECK_THAT(assumed("0%", true), Catch::EndsWith("overlapped with backward"));
  CHECK_THAT(assumed("51.64%", false), Catch::EndsWith("after backward"));
}

// Four A100 share a NIC whose sockets reach 7 % of it. What a flag says holds over both.
TEST_CASE("what a cluster's file says of its software, no stack replaces", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto scenario = [&](const std::string& cluster, const std::string& share) {
    Request request;
    request.cluster = cluster;
    request.changed.push_back({"nodes", "8"});
    if (!share.empty()) request.changed.push_back({"nic_share", share});
    request.payload = Bytes{1 << 30};
    request.stack = "ddp-nccl";
    request.stack_given = request.today = true;
    return make_scenario(with_defaults(request, files), files);
  };
  CHECK(scenario("polaris-tcp", "").cluster.nic_share == Approx(0.07));
  CHECK(scenario("polaris-tcp", "25%").cluster.nic_share == Approx(0.25));
  // A file that says nothing leaves it to the stack.
  CHECK(scenario("100gbe", "").cluster.nic_share < 1);
  CHECK(scenario("100gbe", "").cluster.by_sockets);
  // Somebody says that all of the NIC is reached.
  CHECK_FALSE(scenario("100gbe", "100%").cluster.by_sockets);
  // Files have a collective's launch as NCCL counts it; DDP's calls take longer.
  CHECK(scenario("polaris", "").cluster.per_collective_latency > Seconds{8.5e-6});
}

// traces/devices.csv: an A100 of 40 GB has the arithmetic of one of 80. An RTX 4090 has 1008 of an
// A100's 2039 GB/s, 0.494 times, and 0.53 of its arithmetic: 0.512 in the geometric mean.
// Convolutions go by the scarcer: 1008 and 2039 over the 936 GB/s of an RTX 3090.
TEST_CASE("a cluster's own GPU says how fast it is, where its generation does not", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto speed = [&](const std::string& model, const std::string& cluster,
                         const std::string& gpu = "") {
    Request request;
    request.model = model;
    request.cluster = cluster;
    if (!gpu.empty()) request.changed.push_back({"gpu", gpu});
    request.today = true;
    return make_scenario(with_defaults(request, files), files).cluster.compute_speed;
  };
  CHECK(speed("gpt2-xl", "aws-p4d-24xlarge") == 1);
  CHECK(speed("gpt2-xl", "hgx-h200") == 1);
  CHECK(speed("gpt2-xl", "rtx-4090-8gpu") == Approx(0.512));
  CHECK(speed("resnet-50", "rtx-4090-8gpu") == Approx(1.08));
  CHECK(speed("resnet-50", "dgx-a100") == Approx(2.18));
  // 2000 / 3350 and 756 / 989.4.
  CHECK(speed("gpt2-xl", "dgx-h100", "NVIDIA H100 PCIe") == Approx(0.675).margin(1e-3));
  // Another generation's GPU has its own trace: a DGX A100 with H100s is no A100 at 1.64 times.
  CHECK(speed("gpt2-xl", "dgx-a100", "h100-sxm") == 1);
  CHECK(speed("gpt2-xl", "dgx-h100", "a100-80gb") == 1);
  // 148 of the 989.4 TFLOPS of an H100, of which the trace takes 40.7 %, its update included, and
  // no GPU takes more than 60.
  CHECK(speed("gpt2-xl", "dgx-h100", "h20") == Approx(148 / 989.4 * 0.6 / 0.407).epsilon(5e-3));
  CHECK_THROWS_WITH(speed("gpt2-xl", "dgx-h100", "rtx-4900"),
                    Contains("gpu 'rtx-4900' is none of traces/devices.csv") &&
                        Contains("did you mean 'rtx-4090'"));
}

TEST_CASE("a GPU that is typed decides its generation, as nvidia-smi prints it too", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto generation = [&](const std::string& gpu) {
    Request request;
    request.cluster = "10gbe-4x4";
    request.changed.push_back({"gpu", gpu});
    return gpu_generation_of(cluster_of(request, files));
  };
  for (const char* gpu : {"NVIDIA A800-SXM4-80GB", "NVIDIA L40S", "NVIDIA GeForce RTX 4090",
                          "NVIDIA L4", "NVIDIA A40", "NVIDIA RTX A6000", "NVIDIA L40", "NVIDIA A30",
                          "NVIDIA RTX 6000 Ada Generation"})
    CHECK(generation(gpu) == GpuGeneration::Ampere);
  for (const char* gpu : {"NVIDIA H800", "NVIDIA H20", "NVIDIA GH200 120GB"})
    CHECK(generation(gpu) == GpuGeneration::Hopper);
  for (const char* gpu :
       {"b300", "NVIDIA B300 SXM6 AC", "NVIDIA GB200", "NVIDIA GB300", "NVIDIA GeForce RTX 5090"})
    CHECK(generation(gpu) == GpuGeneration::Blackwell);
}

TEST_CASE("FSDP's copies are made in the memory of the GPU that computes", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto memory = [&](const std::string& model, const std::string& trace,
                          const std::string& sharding, const std::string& gpu = "") {
    Request request;
    request.model = model;
    request.trace = trace;
    request.cluster = "dgx-a100";
    request.sharding = parse_sharding(sharding);
    request.sharding.unit_elements = 20'000'000;
    request.overlap = true;
    request.today = !gpu.empty();
    if (request.today) request.changed.push_back({"gpu", gpu});
    // Engines multiply it by the speed at which the trace is computed.
    const Scenario scenario = make_scenario(with_defaults(request, files), files);
    return scenario.gpu_memory.value * scenario.cluster.compute_speed;
  };
  // traces/devices.csv: an H100 streams 3350 GB/s, and a100-80gb, which stands for Ampere, 2039.
  CHECK(memory("llama-3-8b", "iteration-llama-3-8b-h100", "fsdp") == Approx(3350e9));
  const std::string unnamed = "iteration-transformer-cs336-xl-128-tokens";
  CHECK(memory("transformer-cs336-xl", unnamed, "fsdp") == Approx(2039e9));
  // An A100 may compute what the trace of an H100 says.
  CHECK(memory("llama-3-8b", "iteration-llama-3-8b-h100", "fsdp", "a100-80gb") == Approx(2039e9));
}

// A row that leaves cells empty is a run of its software: as `simulate --stack` would have it.
TEST_CASE("a measured row leaves to its software what it does not say", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  MeasuredRun run;
  run.nodes = 4;
  run.gpus_per_node = 8;
  run.model = "gpt2-xl";
  run.cluster = "dgx-a100";
  run.compressor = "topk";
  run.compute = Seconds{1.5};
  run.stack = "ddp-nccl";
  const Request row = request_of(run, files);
  CHECK(row.collective == "nccl");
  CHECK(row.trace == "iteration-gpt2-xl-a100");
  CHECK(row.costs == "cost-v100-derived");
  CHECK(row.costs_device == "a100-80gb");

  run.collective = "ring-all-gather";
  run.trace = "iteration-gpt2-xl-h100";
  run.costs = "cost-v100-floor";
  run.nccl_settings = "NCCL_ALGO=Ring";
  const Request said = request_of(run, files);
  CHECK(cluster_of(said, files).nccl_settings.text == run.nccl_settings);
  CHECK(said.collective == run.collective);
  CHECK(said.trace == run.trace);
  CHECK(said.costs == run.costs);
  CHECK(said.costs_device.empty());
}

TEST_CASE("a measured row without a stack, and one of the paper's, keeps a request's own choices",
          "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  MeasuredRun run;
  run.nodes = run.gpus_per_node = 4;
  run.model = "resnet-50";
  run.cluster = "10gbe";
  run.compressor = "topk";
  for (const char* stack : {"", "paper", "my-own-name"}) {
    run.stack = stack;
    CHECK(request_of(run, files) == as_written(run));
  }
  CHECK(request_of(run, files, "ddp-gloo").collective == "gloo");  // "my-own-name" has no file
  run.stack.clear();
  CHECK(request_of(run, files, "ddp-gloo").collective == "gloo");  // assumed for it
  run.stack = "population";  // it has no schedule: today's library, as `simulate --stack` has it
  CHECK(request_of(run, files).collective == "nccl");
  run.stack = "fsdp2-nccl";
  run.compressor = "dense";
  run.sharding_given = true;
  CHECK(request_of(run, files).sharding.kind == Sharding::None);
}

// Gloo's ring leaves a node through one NIC, however many there are, and NCCL's through all. Its
// sockets are the kernel's on InfiniBand too, where NCCL has none.
TEST_CASE("Gloo goes through one NIC and the kernel's sockets on any network", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request;
  request.model = "bert-large";
  request.cluster = "dgx-a100";
  request.today = request.stack_given = true;
  for (const bool gloo : {false, true}) {
    request.stack = gloo ? "ddp-gloo" : "ddp-nccl";
    const Request asked = with_defaults(request, files);
    const Scenario scenario = make_scenario(asked, files);
    CHECK_THAT(assumed_words(asked, scenario),
               Contains(gloo ? " over 1 of 8 NICs of " : " over 8 NICs of "));
    CHECK(scenario.cluster.by_sockets == gloo);
  }
  // Polaris' 72 % are those of libfabric, which Gloo does not take; 7 % are those of sockets.
  const auto by_sockets = [&](const char* cluster) {
    request.cluster = cluster;
    return make_scenario(with_defaults(request, files), files).cluster.by_sockets;
  };
  CHECK(by_sockets("polaris"));
  CHECK_FALSE(by_sockets("polaris-tcp"));
}

// In a ring one GPU of a node sends to the next node. In halving and doubling each sends to its
// counterpart, through its own NIC; to a parameter server on the first node all others' GPUs send.
TEST_CASE("the words count the NICs that a named collective sends through", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto words = [&](const std::string& collective, const std::string& sharding) {
    Request request;
    request.model = "gpt2-xl";
    request.cluster = "dgx-h100";
    request.collective = collective;
    request.sharding = parse_sharding(sharding);
    request.today = true;
    request = with_defaults(request, files);
    return assumed_words(request, make_scenario(request, files));
  };
  CHECK_THAT(words("ring-all-reduce", "none"), Contains(" by ring-all-reduce over 1 of 8 NICs"));
  CHECK_THAT(words("recursive-halving-doubling", "none"), Contains("doubling over 8 NICs"));
  CHECK_THAT(words("parameter-server", "none"), Contains("server over 8 NICs"));
  CHECK_THAT(words("ring-all-reduce", "fsdp"), Contains("PyTorch FSDP2 over 8 NICs"));
}

TEST_CASE("sharding that somebody chose is not replaced by the stack's", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  Request request;
  request.model = "gpt2-xl";
  request.cluster = "dgx-a100";
  request.stack = "deepspeed-zero";
  request.today = request.stack_given = true;
  CHECK(with_defaults(request, files).sharding.kind == Sharding::Zero1);
  request.sharding_given = true;
  CHECK(with_defaults(request, files).sharding.kind == Sharding::None);
  // A measured row leaves it to its stack.
  MeasuredRun run;
  run.nodes = run.gpus_per_node = 4;
  run.model = request.model;
  run.cluster = request.cluster;
  run.compressor = "dense";
  run.stack = "fsdp2-nccl";
  CHECK(request_of(run, files).sharding.kind == Sharding::Fsdp);
}

// On 16 nodes of 8 RTX 4090 NCCL takes the ring for DDP's buckets, which it thinks somewhat faster
// than the tree; by its links the tree is faster by far. On DGX A100 nothing is near.
TEST_CASE("an interval reaches to what NCCL nearly chose", "[preset]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const Engine& analytic = *find_engine("analytic");
  Request request;
  request.model = "bert-large";
  request.today = true;
  request.batch = 16;
  const auto scenario_on = [&](const char* cluster, const char* nodes) {
    request.cluster = cluster;
    request.changed = {{"nodes", nodes}};
    return make_scenario(with_defaults(request, files), files);
  };
  const Scenario edge = scenario_on("rtx-4090-8gpu", "16");
  Scenario other = edge;
  other.cluster.nearly_chosen = kNearChoices.back().within;
  const Evaluation forecast = evaluate(edge, analytic);
  const Seconds runner_up = evaluate(other, analytic).result.iteration;
  CHECK(runner_up < 0.8 * forecast.result.iteration);
  CHECK(forecast.interval->low < runner_up);
  const SoftwareSpread doubt = *forecast.doubt.spread;
  SoftwareSpread sure = doubt;
  sure.other_choice = {};
  const SoftwareSpread far = *evaluate(scenario_on("dgx-a100", "16"), analytic).doubt.spread;
  CHECK(far.other_choice == sure.other_choice);
  CHECK(speedup_interval(doubt, far).high > speedup_interval(sure, far).high);
  CHECK(speedup_interval(doubt, far).low == Approx(speedup_interval(sure, far).low).epsilon(.02));
}
