#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/engine/engine.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

std::vector<std::string> built_engines() {
  std::vector<std::string> names;
  for (const gradcast::Engine& engine : gradcast::all_engines())
    if (engine.built()) names.emplace_back(engine.name);
  return names;
}

/// One result of the paper's cluster, ResNet-50.
Json simulated(const std::string& engine, std::vector<std::string> more) {
  std::vector<std::string> arguments{
      "simulate", "--model",  "resnet-50",       "--trace",   "iteration-resnet-50-v100",
      "--nodes",  "4",        "--gpus-per-node", "4",         "--nic-bandwidth",
      "9.43Gbps", "--fusion", "merged",          "--overlap", "no",
      "--engine", engine,     "--format",        "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ran ran = gradcast_with(arguments);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out);
}

/// One result of ResNet-50 on the paper's cluster, by the closed form.
Json scheduled(std::vector<std::string> more) {
  more.insert(more.begin(),
              {"simulate", "--model", "resnet-50", "--engine", "analytic", "--format", "json"});
  const Ran ran = gradcast_with(more);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out)["results"][0];
}

constexpr double kNic = 9.43e9 / 8;      // bytes a second
constexpr double kNicLatency = 26.6e-6;  // platforms/10gbe-4x4.csv

/// One result of a job of today, by the closed form.
Json todays(std::vector<std::string> words) {
  words.insert(words.begin(), "simulate");
  words.insert(words.end(), {"--preset", "today", "--engine", "analytic", "--format", "json"});
  const Ran ran = gradcast_with(words);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out)["results"][0];
}

}  // namespace

TEST_CASE("simulate says which flags of a sharding have no use", "[simulate]") {
  const auto notes = [](const char* flag, const char* value, const char* sharding) {
    return gradcast_with({"simulate", "--model", "gpt2-small", "--trace",
                          "iteration-gpt2-small-a100", "--engine", "analytic", "--sharding",
                          sharding, flag, value})
        .err;
  };
  CHECK_THAT(notes("--shard-group", "8", "none"), Contains("--shard-group changes nothing here"));
  CHECK_THAT(notes("--shard-group", "8", "fsdp"), !Contains("changes nothing"));
  for (const auto& [flag, value] : {std::pair{"--unit-size", "20M"}, {"--prefetch", "2"}}) {
    CHECK_THAT(notes(flag, value, "zero1"), Contains(std::string(flag) + " changes nothing here"));
    CHECK_THAT(notes(flag, value, "fsdp"), !Contains("changes nothing"));
  }
  for (const auto& [flag, value] : {std::pair{"--fusion", "merged"},
                                    {"--pipeline", "yes"},
                                    {"--gradient-copies", "view"},
                                    {"--broadcast-buffers", "yes"}}) {
    const std::string said = std::string(flag) + " changes nothing here: it is of DDP's buckets";
    CHECK_THAT(notes(flag, value, "fsdp"), Contains(said));
    CHECK_THAT(notes(flag, value, "zero1"), !Contains(said));
  }
  CHECK_THAT(notes("--synchronise", "every", "none"), Contains("there is one micro-step"));
  const std::string own_way = "FSDP2's own way is --sharding fsdp --reshard-after-forward no";
  CHECK_THAT(notes("--stack", "fsdp2-nccl", "zero2"), Contains(own_way));
  CHECK_THAT(notes("--stack", "deepspeed-zero", "zero2"), !Contains(own_way));
}

TEST_CASE("simulate says that a collective alone has no batch", "[simulate]") {
  const std::string said = "--batch changes nothing here";
  CHECK_THAT(gradcast_with({"simulate", "--payload", "1MiB", "--batch", "8"}).err, Contains(said));
  CHECK_THAT(gradcast_with({"simulate", "--payload", "1MiB"}).err, !Contains(said));
}

TEST_CASE("simulate says which sharding the software does not have", "[simulate]") {
  const auto notes = [](const std::string& stack, const std::string& sharding) {
    return gradcast_with({"simulate", "--model", "resnet-50", "--cluster", "dgx-a100", "--stack",
                          stack, "--sharding", sharding})
        .err;
  };
  CHECK_THAT(
      notes("horovod-nccl", "zero1"),
      Contains("horovod-nccl has no --sharding zero1; these stacks have it: ddp-gloo, ddp-nccl, "));
  CHECK_THAT(gradcast_with({"sweep", "--model", "resnet-50", "--cluster", "dgx-a100", "--stack",
                            "horovod-nccl", "--sharding", "none,zero1", "--engine", "analytic"})
                 .err,
             Contains("horovod-nccl has no --sharding zero1; these stacks have it: "));
  CHECK_THAT(notes("ddp-nccl", "fsdp"), Contains("ddp-nccl has no --sharding fsdp; "));
  CHECK_THAT(notes("deepspeed-zero", "fsdp"), Contains("deepspeed-zero has no --sharding fsdp; "));
  CHECK_THAT(gradcast_with({"simulate", "--model", "resnet-50", "--cluster", "dgx-a100", "--stack",
                            "deepspeed-zero", "--compressor", "fp16"})
                 .err,
             Contains("beside sharding 'zero1' (which stack 'deepspeed-zero' has by itself)"));
  for (const auto& [stack, sharding] : {std::pair{"ddp-gloo", "zero1"},
                                        {"deepspeed-zero", "zero2"},
                                        {"deepspeed-zero3", "fsdp"},
                                        {"fsdp2-nccl", "hsdp"},
                                        {"horovod-nccl", "none"}})
    CHECK_THAT(notes(stack, sharding), !Contains("has no --sharding"));
}

// FSDP divides parameters, gradients and moments among 128 GPUs, and recomputation keeps little
// else.
TEST_CASE("simulate says which run does not fit into its GPUs", "[simulate]") {
  const auto notes = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"simulate", "--preset", "today",    "--model", "llama-3-8b",
                                   "--nodes",  "16",       "--engine", "analytic"};
    words.insert(words.end(), more.begin(), more.end());
    return gradcast_with(words).err;
  };
  CHECK_THAT(notes({"--cluster", "dgx-h100"}),
             Contains("llama-3-8b at batch 2 needs 262.4 GB of a GPU's 80.0 (h100-sxm; 10 % are "
                      "kept free): it does not fit"));
  CHECK_THAT(notes({"--cluster", "dgx-h100", "--sharding", "fsdp", "--recompute", "full"}),
             !Contains("does not fit"));
  // Times and costs are those of this GPU too.
  CHECK_THAT(notes({"--cluster", "100gbe"}),
             Contains("of a GPU's 16.0 (v100, for the cluster names no GPU;"));
}

TEST_CASE("a named trace of another GPU than the cluster's is scaled, as one that nobody named is",
          "[simulate]") {
  const auto answer = [](const std::vector<std::string>& more, const char* preset = "today") {
    std::vector<std::string> words{"simulate",  "--preset", preset, "--model",
                                   "resnet-50", "--nodes",  "2",    "--engine",
                                   "analytic",  "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = gradcast_with(words);
    CHECK(ran.exit_code == 0);
    const std::size_t results = ran.out.find("\"results\"");  // after what was typed
    return ran.out.substr(results,
                          ran.out.find("\"inputs_sha256\"") - results);  // in reading order
  };
  const auto with_trace = [&](const char* cluster, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--trace", "iteration-resnet-50-v100", "--cluster", cluster});
    return answer(more);
  };
  // An H100's memory is 3350 / 900 GB/s = 3.72 times as fast as a V100's.
  const char* const kSaid = "times of iteration-resnet-50-v100 at 3.72 times the speed";
  CHECK_THAT(with_trace("dgx-h100"), Contains(kSaid));
  CHECK(answer({"--cluster", "dgx-h100", "--trace", "iteration-resnet-50-rtx-3090"}) ==
        answer({"--cluster", "dgx-h100"}));
  const char* const kScaled = "times the speed";
  CHECK_THAT(with_trace("dgx-1-v100"), !Contains(kScaled));
  CHECK_THAT(with_trace("dgx-2"), !Contains(kScaled));   // of V100s with more memory
  CHECK_THAT(with_trace("100gbe"), !Contains(kScaled));  // names no GPU
  CHECK_THAT(with_trace("dgx-h100", {"--compute-speed", "1"}), !Contains(kScaled));
  CHECK_THAT(with_trace("dgx-h100", {"--compute-seconds", "50ms"}), !Contains(kScaled));
  CHECK_THAT(answer({"--trace", "iteration-resnet-50-v100", "--cluster", "dgx-h100"}, "paper"),
             !Contains(kScaled));
}

// The trace is an A100's, and a V100 is 0.4 times as fast. The costs are a V100's already.
TEST_CASE("costs of the cluster's own GPU do not go by the speed at which a trace is carried over",
          "[simulate]") {
  const auto encode = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--model", "bert-large", "--cluster", "10gbe", "--nodes", "8",
                             "--batch", "8", "--compressor", "fp16", "--stack", "none"});
    return todays(more)["encode_seconds"].get<double>();
  };
  const double carried = encode({"--gpu", "v100"});
  CHECK(carried == Approx(encode({"--gpu", "v100", "--compute-seconds", "0.2s"})));
  // A cast goes by memory: 900 against a T4's 320 GB/s.
  CHECK(encode({"--gpu", "t4"}) / carried == Approx(900. / 320).epsilon(0.05));
}

// 161 tensors: what DDP and PowerSGD's hook take on a host for each.
TEST_CASE("a slower GPU has no slower host", "[simulate]") {
  const auto beside = [](const char* gpu, const char* part) {
    const auto seconds = [&](const char* stack) {
      return todays({"--model", "resnet-50", "--cluster", "10gbe", "--gpu", gpu, "--nodes", "8",
                     "--batch", "128", "--compressor", "powersgd", "--stack", stack})[part]
          .get<double>();
    };
    return seconds("ddp-nccl") - seconds("none");
  };
  CHECK(beside("t4", "encode_seconds") == Approx(beside("b200", "encode_seconds")).epsilon(0.01));
  CHECK(beside("t4", "encode_seconds") > 5e-3);
}

// A broadcast of S bytes to 64 ranks sends 63 S: 63/64 S a rank.
TEST_CASE("a broadcast's bytes are sent once to each rank", "[simulate]") {
  CHECK(todays({"--payload", "208KiB", "--collective", "nccl-broadcast", "--cluster", "10gbe",
                "--nodes", "64"})["sent_bytes_per_rank"] == 208 * 1024 * 63 / 64);
}

// GPT-2 XL at batch 8 has 3 x 8 times the forward of 1024 tokens. An MI300X has 1307.4 TFLOPS.
TEST_CASE("no interval reaches above three quarters of a GPU's arithmetic", "[simulate]") {
  for (const auto& [cluster, peak] : {std::pair{"mi300x", 1307.4e12}, {"dgx-1-v100", 125e12}}) {
    CAPTURE(cluster);
    const Json its = todays({"--model", "gpt2-xl", "--cluster", cluster, "--nodes", "1", "--batch",
                             "8", "--sharding", "fsdp"});
    const double flops = 3 * 8 * 3507.02e9;
    CHECK(its["interval_low_seconds"].get<double>() >= 0.999 * flops / (0.75 * peak));
  }
}

// ResNet-50 has 161 tensors, 0.1 ms each.
TEST_CASE("a small batch takes what its host takes to launch kernels", "[simulate]") {
  const auto alone = [](const char* batch) {
    return todays({"--model", "resnet-50", "--cluster", "dgx-h100", "--nodes", "1",
                   "--gpus-per-node", "1", "--batch", batch, "--stack", "none"});
  };
  CHECK(alone("1")["iteration_seconds"].get<double>() == Approx(0.0161));
  CHECK(alone("2")["iteration_seconds"].get<double>() == Approx(0.0161));
  CHECK_THAT(alone("1")["assumed"].get<std::string>(), Contains("waits for its host"));
  CHECK(alone("256")["iteration_seconds"].get<double>() > 0.05);
  CHECK_THAT(alone("256")["assumed"].get<std::string>(), !Contains("waits for its host"));
}

TEST_CASE("a deeper network takes longer, and a larger batch too", "[simulate]") {
  const auto alone = [](const char* cluster, const char* model, const char* batch) {
    return todays({"--model", model, "--cluster", cluster, "--nodes", "1", "--gpus-per-node", "1",
                   "--batch", batch, "--stack", "none"})["iteration_seconds"]
        .get<double>();
  };
  for (const char* cluster : {"dgx-1-v100", "10gbe", "dgx-a100", "dgx-h100"}) {
    CAPTURE(cluster);
    CHECK(alone(cluster, "resnet-50", "64") < alone(cluster, "resnet-101", "64"));
    CHECK(alone(cluster, "resnet-101", "64") < alone(cluster, "resnet-152", "64"));
    for (const char* model : {"lenet-5", "densenet-201"})
      CHECK(alone(cluster, model, "32") <= 1.0001 * alone(cluster, model, "64"));
  }
}

// Node 1 computes half as fast as node 0, whatever the trace: the slowest counts.
TEST_CASE("a slower node stays as much slower where the trace is another GPU's", "[simulate]") {
  std::ifstream file(std::string(GRADCAST_SOURCE_DIR) + "/platforms/dgx-h100.csv");
  const std::string rows{std::istreambuf_iterator<char>(file), {}};
  TemporaryFolder folder;
  const auto seconds = [&](const std::string& more) {
    return todays({"--model", "vgg-16", "--cluster", folder.write("cluster.csv", rows + more),
                   "--nodes", "2", "--gpus-per-node", "1", "--batch", "128", "--stack",
                   "none"})["forward_seconds"]
        .get<double>();
  };
  CHECK(seconds("compute_speed@1,0.5,invented\n") == Approx(2 * seconds("")).epsilon(0.01));
}

// Mixed precision took a V100 0.36 times as long as the fp32 of 2019.
TEST_CASE("a V100's times of 2019 may be a third of that today, and what was typed may not",
          "[simulate]") {
  const auto reach = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--model", "resnet-50", "--cluster", "dgx-1-v100", "--nodes", "2"});
    const Json its = todays(more);
    return its["interval_low_seconds"].get<double>() / its["iteration_seconds"].get<double>();
  };
  const std::vector<std::string> named{"--trace", "iteration-resnet-50-v100"};
  CHECK(reach(named) < 0.36);
  CHECK(reach({"--trace", "iteration-resnet-50-v100", "--compute-speed", "1"}) > 0.9);
  CHECK(reach({"--compute-seconds", "0.46s"}) > 0.9);
}

TEST_CASE("a note says what a typed time is at another speed", "[simulate]") {
  const auto notes = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"simulate", "--preset", "today", "--model", "resnet-50", "--nodes",
                               "1", "--engine", "analytic", "--compute-seconds", "0.2s"});
    return gradcast_with(more).err;
  };
  CHECK_THAT(notes({"--compute-speed", "2"}),
             Contains("--compute-seconds 0.2000 s counts at a compute_speed of 1: at 2 it is "));
  CHECK_THAT(notes({}), !Contains("compute_speed"));
}

TEST_CASE("a note says that the times of a CPU are not scaled to the cluster's GPU", "[simulate]") {
  TemporaryFolder folder;
  const auto with_device = [&](const std::string& device) {
    const std::string model =
        folder.write("one.csv", "layer,tensor,elements,forward_flops\na,a.w,1000000,1000\n");
    const std::string trace = folder.write(
        "trace.csv", "# device: " + device +
                         "\n# batch: 4\ntensor,forward_seconds,backward_seconds\na.w,0.01,0.02\n");
    const Ran ran = gradcast_with({"sweep", "--preset", "today", "--model", model, "--trace", trace,
                                   "--cluster", "dgx-a100", "--nodes", "1,2"});
    CHECK(ran.exit_code == 0);
    return ran.err;
  };
  const char* const kLast = "are taken as they are";
  CHECK_THAT(with_device("CPU"), Contains("are of CPU, and the cluster's GPU is a100-80gb"));
  CHECK_THAT(with_device("NVIDIA H100"), !Contains(kLast));  // scaled
  CHECK_THAT(with_device("NVIDIA A100-SXM4-40GB"), !Contains(kLast));
  CHECK_THAT(with_device("something"), !Contains(kLast));
}

// 2 x 15 messages of 1/16 of 4 x 25,557,032 bytes leave a NIC one after another (4.3 ms each); the
// next does not wait until the last has arrived (26.6 us), so that one latency shows.
TEST_CASE("dense communication is its bytes over the NIC, and the last one's latency", "[cli]") {
  for (const std::string& engine : built_engines()) {
    const Json result = simulated(engine, {"--compressor", "dense"})["results"][0];
    const double expected = 2 * 15.0 / 16 * 4 * 25'557'032 / kNic + kNicLatency;
    CAPTURE(engine);
    CHECK(result["communication_seconds"].get<double>() == Approx(expected).epsilon(1e-3));
    CHECK(result["payload_bytes_per_rank"] == 4 * 25'557'032);
  }
}

// A tenth of the elements, 4 bytes each: no index travels, and what arrives is the sum.
TEST_CASE("an all-reduce of Rand-k sends values alone", "[cli]") {
  for (const std::string& engine : built_engines()) {
    const Json result = simulated(engine, {"--compressor", "randk", "--density", "0.1",
                                           "--collective", "ring-all-reduce"})["results"][0];
    const double expected = 2 * 15.0 / 16 * 4 * 2'555'703 / kNic + kNicLatency;
    CAPTURE(engine);
    CHECK(result["communication_seconds"].get<double>() == Approx(expected).epsilon(2e-3));
    CHECK(result["wire_bytes_per_element"] == 4);
    CHECK(result["payload_bytes_per_rank"] == 4 * 2'555'703);
  }
}

TEST_CASE("a compressor that takes no time sends what it sends", "[cli]") {
  const std::vector<std::string> topk{"--compressor", "topk", "--density", "0.001"};
  std::vector<std::string> bound = topk;
  bound.insert(bound.end(), {"--compressing", "no"});
  const Json usual = simulated("analytic", topk)["results"][0];
  const Json best = simulated("analytic", bound)["results"][0];
  CHECK(usual["compressing"] == "yes");
  CHECK(best["compressing"] == "no");
  CHECK(usual["encode_seconds"].get<double>() > 0.1);  // torch.topk of 25,557,032 elements
  CHECK(best["encode_seconds"] == 0);
  CHECK(best["decode_seconds"] == 0);
  CHECK(best["payload_bytes_per_rank"] == usual["payload_bytes_per_rank"]);
  CHECK(best["iteration_seconds"].get<double>() ==
        Approx(usual["iteration_seconds"].get<double>() - usual["encode_seconds"].get<double>() -
               usual["decode_seconds"].get<double>()));
}

// 15 messages of 8 x 25,557 bytes, 173 us each.
TEST_CASE("Top-k communication is its bytes over the NIC, and the last one's latency", "[cli]") {
  for (const std::string& engine : built_engines()) {
    const Json result =
        simulated(engine, {"--compressor", "topk", "--density", "0.001"})["results"][0];
    const double expected = 15.0 * 8 * 25'557 / kNic + kNicLatency;
    CAPTURE(engine);
    CHECK(result["communication_seconds"].get<double>() == Approx(expected).epsilon(1e-3));
    CHECK(result["selected_elements"] == 25'557);
  }
}

TEST_CASE("the parts of a result add up to the iteration", "[cli]") {
  for (const std::string& engine : built_engines())
    for (const char* fusion : {"merged", "layer", "25MiB", "ddp", "cycle:5ms,64MiB"}) {
      const Ran ran = gradcast_runs("simulate", "--model", "resnet-50", "--nodes", "2",
                                    "--compressor", "gaussian", "--fusion", fusion, "--overlap",
                                    "yes", "--engine", engine.c_str(), "--format", "json");
      REQUIRE(ran.exit_code == 0);
      const Json result = Json::parse(ran.out)["results"][0];
      double sum = 0;
      for (const char* part : {"forward", "backward", "encode", "exposed_communication", "decode",
                               "update", "overhead", "wait"})
        sum += result[std::string(part) + "_seconds"].get<double>();
      CAPTURE(engine, fusion);
      CHECK(sum == Approx(result["iteration_seconds"].get<double>()).epsilon(1e-9));
      CHECK(result["exposed_communication_seconds"] <= result["communication_seconds"]);
    }
}

// Buckets of ResNet-50: each tensor alone is one of 161. 269.3 ms of backward on the V100 trace are
// 53 whole cycles of 5 ms, and the one after them takes what is left.
TEST_CASE("the schedules of PyTorch and Horovod are printed as they are asked for", "[cli]") {
  const Json ddp = scheduled({"--fusion", "ddp", "--overlap", "yes"});
  CHECK(ddp["fusion"] == "ddp");
  CHECK(ddp["buckets"] == 5);
  CHECK(ddp["wait_seconds"] == 0);
  const Json cycles = scheduled({"--fusion", "cycle:5000us,64MiB", "--overlap", "yes"});
  CHECK(cycles["fusion"] == "cycle:5ms,64MiB");
  CHECK(cycles["buckets"].get<int>() > 5);
  CHECK(cycles["buckets"].get<int>() <= 54);
  CHECK(cycles["wait_seconds"].get<double>() > 0);
  CHECK(cycles["wait_seconds"].get<double>() < 5e-3);
}

// Encode, communication and decode are the same in pieces; only whether they hide each other
// differs.
TEST_CASE("without overlap nothing is hidden, but in a pipeline", "[cli]") {
  const auto hidden = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--compressor", "topk", "--fusion", "layer"});
    const Json result = scheduled(more);
    return result["communication_seconds"].get<double>() -
           result["exposed_communication_seconds"].get<double>();
  };
  CHECK(hidden({}) == Approx(0).margin(1e-9));
  CHECK(hidden({"--pipeline", "yes"}) > 1e-3);
  const Ran streams = gradcast_runs("simulate", "--model", "resnet-50", "--network-streams", "4",
                                    "--engine", "analytic");
  CHECK(streams.exit_code == 0);
  CHECK_THAT(streams.err, Contains("--network-streams changes nothing here"));
  const Ran pipeline = gradcast_runs("simulate", "--model", "resnet-50", "--pipeline", "yes",
                                     "--overlap", "yes", "--engine", "analytic");
  CHECK_THAT(pipeline.err, Contains("--pipeline changes nothing here"));
}

TEST_CASE("simulate says which settings of NCCL have no use, and which cards no NVLink", "[cli]") {
  const auto notes = [](std::vector<std::string> more) {
    std::vector<std::string> arguments{"simulate", "--model",  "resnet-50", "--cluster",
                                       "dgx-a100", "--engine", "analytic"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return gradcast_with(arguments).err;
  };
  const std::string disabled = "NCCL_P2P_DISABLE=1";
  for (const char* library : {"open-mpi", "gloo"})
    CHECK_THAT(notes({"--nccl-settings", disabled, "--collective", library}),
               Contains("--nccl-settings changes nothing here"));
  CHECK_THAT(notes({"--nccl-settings", disabled}), !Contains("changes nothing"));
  CHECK_THAT(notes({"--gpu", "rtx-4090"}), Contains("a node's rtx-4090 have no NVLink here"));
  CHECK_THAT(notes({"--gpu", "rtx-4090", "--intra-bandwidth", "20GBps"}), !Contains("NVLink"));
  CHECK_THAT(notes({"--gpu", "h100"}), !Contains("NVLink"));
}

TEST_CASE("a JSON answer names its inputs, arguments and version", "[cli]") {
  const Json document = simulated("analytic", {"--compressor", "topk"});
  CHECK(document["schema"]["name"] == "gradcast/simulate");
  CHECK(document["argv"][1] == "simulate");
  CHECK(document["engine"] == "analytic");
  std::vector<std::string> inputs;
  for (const Json& input : document["inputs"]) inputs.push_back(input["path"]);
  CHECK(inputs == std::vector<std::string>{"resnet-50", "iteration-resnet-50-v100", "10gbe-4x4",
                                           "stack-population", "stack-population-mpi",
                                           "cost-v100-pytorch-1.1"});
}

TEST_CASE("the same command twice gives the same bytes", "[cli]") {
  for (const char* format : {"table", "csv", "json"}) {
    const auto run = [&] {
      return gradcast_runs("simulate", "--model", "alexnet", "--compressor", "dgc", "--fusion",
                           "4MiB", "--overlap", "yes", "--format", format);
    };
    const Ran first = run();
    CHECK(first.exit_code == 0);
    CHECK(first.out == run().out);
  }
}

TEST_CASE("what is not said is the paper's set-up, and everything that decides is printed",
          "[cli]") {
  const Ran ran = gradcast_runs("simulate", "--model", "resnet-50", "--compressor", "gaussian");
  CHECK(ran.exit_code == 0);
  for (const char* said :
       {"10gbe-4x4", "9.43Gbps", "26.6us", "cost-v100-pytorch-1.1", "0.001", "merged",
        "iteration-resnet-50-v100", "128", "ring-all-gather", "25557032", "derived", "code"})
    CHECK_THAT(ran.out, Contains(said));
}

TEST_CASE("a forecast shows its error where its run was measured, and nothing where it was not",
          "[cli]") {
  const auto simulate = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"simulate", "--model", "resnet-50", "--format", "json"});
    return Json::parse(gradcast_with(more).out)["results"][0];
  };
  const Json dense = simulate({});  // Table 2: 0.699 s
  CHECK(dense["measured_seconds"] == 0.699);
  CHECK(dense["measured_source"] == "shi2019-table2");
  CHECK(dense["error_percent"].get<double>() ==
        Approx(100 * (dense["iteration_seconds"].get<double>() / 0.699 - 1)));
  CHECK(simulate({"--compressor", "gaussian"})["measured_seconds"] == 0.586);
  CHECK(simulate({"--compressor", "topk", "--implementation", "torch"})["measured_seconds"] ==
        0.81);
  for (const std::vector<std::string>& other : std::vector<std::vector<std::string>>{
           {"--nodes", "8"},
           {"--nic-bandwidth", "25Gbps"},
           {"--batch", "64"},
           {"--fusion", "layer"},
           {"--overlap", "yes"},
           {"--compressor", "topk", "--density", "0.01"},
           {"--compressor", "topk", "--wire-messages", "1"},
           {"--compressor", "topk", "--wire-bytes-per-element", "64"},
           {"--compressor", "dgc", "--mode", "paper"},
           {"--compressor", "topk", "--selection", "per-tensor"},
           {"--compressor", "rtopk"}})
    CHECK(simulate(other)["measured_seconds"].is_null());
  // With costs of one's own it is another question, whatever was measured.
  const std::string costs = std::string(GRADCAST_SOURCE_DIR) + "/traces/cost-v100-pytorch-1.1.csv";
  CHECK(simulate({"--compressor", "gaussian", "--costs", costs})["measured_seconds"].is_null());
}

TEST_CASE("a broken measured file stops no forecast, and is named by list and selftest", "[cli]") {
  TemporaryFolder folder;
  for (const char* kind : {"models", "platforms", "traces"})
    std::filesystem::copy(std::filesystem::path(GRADCAST_SOURCE_DIR) / kind, folder.path / kind,
                          std::filesystem::copy_options::recursive);
  folder.write("traces/measured-broken.csv", "source\nme\n");
  setenv("GRADCAST_DATA", folder.path.c_str(), 1);
  const Ran simulate = gradcast_runs("simulate", "--model", "resnet-50");
  const Ran list = gradcast_runs("list");
  const Ran selftest = gradcast_runs("selftest");
  unsetenv("GRADCAST_DATA");
  CHECK(simulate.exit_code == 0);
  CHECK_THAT(simulate.out, Contains("measured (shi2019-table2)"));
  CHECK_THAT(list.out, Contains("BROKEN: ") && Contains("measured-broken.csv:1: the header lacks"));
  CHECK(selftest.exit_code == 1);
  CHECK_THAT(selftest.out, Contains("FAILED"));
}

namespace {

/// A model of two tensors, its trace and costs of both in two implementations, and in one call.
struct OwnFiles {
  TemporaryFolder folder;
  std::string model =
      folder.write("m.csv", "layer,tensor,elements,forward_flops\na,a.w,1000,1\nb,b.w,3000,1\n");
  std::string trace = folder.write("t.csv",
                                   "# device: X\n# batch: 1\ntensor,forward_seconds,"
                                   "backward_seconds\na.w,0.001,0.001\nb.w,0.001,0.001\n");

  static std::string line(const char* implementation, int tensors, int elements, double ms,
                          const char* evidence) {
    std::string line;
    for (const int workers : {1, 16})
      line += std::string("topk,,") + implementation + "," + std::to_string(tensors) + "," +
              std::to_string(elements) + ",0.01," + std::to_string(workers) + ",normal," +
              std::to_string(elements / 100) + "," + std::to_string(ms / 1e3) + "," +
              std::to_string(ms / 1e3) + ",0.001,0.001,100," + evidence + "\n";
    return line;
  }

  Ran simulate(const std::string& rows, std::vector<std::string> more) const {
    const std::string costs =
        folder.write("costs.csv",
                     "compressor,mode,implementation,tensors,elements,density,workers,distribution,"
                     "selected,encode_seconds,encode_p95_seconds,decode_seconds,decode_p95_seconds,"
                     "samples,evidence\n" +
                         rows);
    more.insert(more.begin(),
                {"simulate", "--model", model, "--trace", trace, "--costs", costs, "--compressor",
                 "topk", "--density", "0.01", "--engine", "analytic", "--format", "json"});
    return gradcast_with(more);
  }
};

Json only_result(const Ran& ran) {
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out)["results"][0];
}

}  // namespace

// 1 ms a thousand elements by torch, half of it by the project's own kernels.
TEST_CASE("measured costs need no excuse, and any of their implementations can be had", "[cli]") {
  const OwnFiles own;
  std::string rows;
  for (const int elements : {1000, 2000, 4000})
    rows += own.line("torch", 1, elements, elements / 1e3, "measured") +
            own.line("gradcast-cuda", 1, elements, elements / 2e3, "measured");
  const Ran ran = own.simulate(rows, {});
  CHECK(ran.err.empty());
  const Json usual = only_result(ran);
  CHECK(usual["implementation"] == "gradcast-cuda");
  CHECK(usual["evidence"] == "measured");
  CHECK(usual["encode_seconds"].get<double>() == Approx(0.002));
  CHECK(usual["interpolated_buckets"] == 0);
  CHECK(usual["interpolation_error_percent"] == 0);
  const Json torch = only_result(own.simulate(rows, {"--implementation", "torch"}));
  CHECK(torch["implementation"] == "torch");
  CHECK(torch["encode_seconds"].get<double>() == Approx(0.004));
  const Ran cub = own.simulate(rows, {"--implementation", "cub"});
  CHECK(cub.exit_code == 3);
  CHECK_THAT(cub.err, Contains("in implementation 'cub' (it has 'torch', 'gradcast-cuda')"));

  rows +=
      "topk,,gradcast-cuda,1,4000,0.1,1,normal,400,0.002,0.002,0.001,0.001,0,derived\n"
      "topk,,gradcast-cuda,1,4000,0.1,16,normal,400,0.002,0.002,0.001,0.001,0,derived\n";
  const Ran partly = own.simulate(rows, {"--fusion", "merged", "--nodes", "2"});
  CHECK(partly.err.empty());                                // the density asked for is measured
  CHECK(only_result(partly)["interpolated_buckets"] == 1);  // 8 workers, between 1 and 16
}

TEST_CASE("a selection per tensor takes one call where the costs have it, and says where not",
          "[cli]") {
  const OwnFiles own;
  const std::string singles =
      own.line("torch", 1, 1000, 1, "measured") + own.line("torch", 1, 4000, 4, "measured");
  const Ran each = own.simulate(singles, {"--selection", "per-tensor"});
  CHECK(only_result(each)["encode_calls"] == 2);
  CHECK(only_result(each)["selection"] == "per-tensor");
  CHECK(only_result(each)["interpolation_error_percent"].is_null());  // two sizes: none is inner
  CHECK_THAT(each.err, Contains("no row of 2 tensors with 4000 elements in one call"));

  const std::string together = singles + own.line("torch", 2, 4000, 1.5, "measured");
  const Ran one = own.simulate(together, {"--selection", "per-tensor"});
  CHECK(one.err.empty());
  CHECK(only_result(one)["encode_calls"] == 1);
  CHECK(only_result(one)["encode_seconds"].get<double>() == Approx(0.0015));
  CHECK(only_result(one)["selected_elements"] == 10 + 30);
  CHECK(only_result(own.simulate(together, {}))["encode_seconds"].get<double>() == Approx(0.004));
}

// 16 ranks of 128 images; one GPU alone takes 0.46 s, of which the update is a part.
TEST_CASE("throughput, efficiency and speedup are of the iteration above them", "[cli]") {
  const auto simulate = [](const char* compressor, const char* fusion, const char* overlap) {
    const Ran ran = gradcast_runs("simulate", "--model", "resnet-50", "--compressor", compressor,
                                  "--fusion", fusion, "--overlap", overlap, "--format", "json");
    return Json::parse(ran.out)["results"][0];
  };
  const Json gaussian = simulate("gaussian", "layer", "yes");
  const double iteration = gaussian["iteration_seconds"].get<double>();
  CHECK(gaussian["samples_per_second"].get<double>() == Approx(16 * 128 / iteration));
  CHECK(gaussian["scaling_efficiency"].get<double>() == Approx(0.46 / iteration).epsilon(1e-6));
  const Json dense = simulate("dense", "layer", "yes");
  CHECK(gaussian["speedup_over_dense"].get<double>() ==
        Approx(dense["iteration_seconds"].get<double>() / iteration));
}

TEST_CASE("a flag of another family of compressors is said to change nothing", "[cli]") {
  const auto notes = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"simulate", "--model", "resnet-50", "--engine", "analytic"});
    return gradcast_with(more).err;
  };
  CHECK_THAT(notes({"--compressor", "qsgd", "--density", "0.1"}),
             Contains("--density changes nothing here: qsgd sends something of every element"));
  CHECK_THAT(notes({"--compressor", "int8", "--value-type", "fp16"}),
             Contains("--value-type changes nothing here: it is of what selects elements"));
  CHECK_THAT(
      notes({"--compressor", "topk", "--value-type", "fp16", "--wire-bytes-per-element", "12"}),
      Contains("--value-type changes nothing here: --wire-bytes-per-element says"));
  CHECK_THAT(notes({"--value-type", "fp16"}),
             Contains("--value-type changes nothing here: nothing is compressed"));
  CHECK_THAT(notes({"--compressor", "topk", "--value-type", "fp8"}),
             Contains("known: fp32, fp16, bf16"));
  CHECK_THAT(notes({"--compressor", "powersgd", "--wire-messages", "2"}),
             Contains("--wire-messages changes nothing here: powersgd sends matrices"));
  CHECK_THAT(notes({"--compressor", "randk"}),
             Contains("with a shared seed an all-reduce adds it up"));
  CHECK_THAT(notes({"--compressor", "randk", "--collective", "ring-all-reduce"}),
             !Contains("shared seed"));
  CHECK_THAT(notes({"--compressor", "topk", "--parameter", "2"}),
             Contains("'topk' takes no parameter"));
  CHECK_THAT(notes({"--compressor", "qsgd", "--parameter", "0"}),
             Contains("levels, a whole number from 1 to 32767"));
}

// 1 % of ResNet-50's elements; an index has 4 bytes, and where an all-reduce adds up values there
// is none.
TEST_CASE("values of 16 bits halve what values take on the wire", "[cli]") {
  const auto payload = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--density", "0.01"});
    const Json row = simulated("analytic", more)["results"][0];
    CHECK(row["payload_bytes_per_rank"] ==
          row["wire_bytes_per_element"].get<int>() * row["selected_elements"].get<int>());
    return row["wire_bytes_per_element"].get<int>();
  };
  CHECK(payload({"--compressor", "topk"}) == 8);
  CHECK(payload({"--compressor", "topk", "--value-type", "fp16"}) == 6);
  CHECK(payload({"--compressor", "gaussian", "--value-type", "bf16"}) == 6);
  CHECK(payload({"--compressor", "randk", "--collective", "ring-all-reduce", "--value-type",
                 "fp16"}) == 2);
  CHECK(payload({"--compressor", "topk", "--value-type", "fp16", "--wire-bytes-per-element",
                 "12"}) == 12);
}

// 1 % of ResNet-50's 25,557,032 elements, 8 bytes each.
TEST_CASE("of a fixed threshold the density is what passes, whatever its value", "[cli]") {
  const auto simulate = [](const std::string& threshold) {
    return simulated("analytic",
                     {"--compressor", "threshold", "--density", "0.01", "--parameter", threshold});
  };
  const Json one = simulate("0.5")["results"][0];
  CHECK(one["selected_elements"] == 255'570);
  CHECK(one["payload_bytes_per_rank"] == 8 * 255'570);
  CHECK(one["parameter"] == 0.5);
  CHECK(simulate("0.001")["results"][0]["iteration_seconds"] == one["iteration_seconds"]);
  const Ran unnamed = gradcast_runs("simulate", "--model", "resnet-50", "--engine", "analytic",
                                    "--compressor", "threshold", "--density", "0.01");
  CHECK_THAT(unnamed.err, Contains("the share --density is taken to pass"));
}

TEST_CASE("what changes nothing or is assumed is said", "[cli]") {
  CHECK_THAT(gradcast_runs("simulate", "--model", "alexnet", "--density", "0.01").err,
             Contains("--density changes nothing here"));
  CHECK_THAT(gradcast_runs("simulate", "--model", "alexnet", "--selection", "per-tensor").err,
             Contains("--selection changes nothing here"));
  CHECK_THAT(gradcast_runs("simulate", "--model", "alexnet", "--batch", "64").err,
             Contains("proportional to the batch"));
  CHECK_THAT(
      gradcast_runs("simulate", "--model", "alexnet", "--batch", "64", "--compute-seconds", "0.04")
          .err,
      !Contains("proportional to the batch"));  // that time is the time at that batch
  CHECK_THAT(
      gradcast_runs("simulate", "--model", "alexnet", "--compressor", "topk", "--density", "0.3")
          .err,
      Contains("lie outside the cost table (density 0.3 outside 0.0001..0.1)"));
}

TEST_CASE("twice the images take twice the forward", "[cli]") {
  const auto forward = [](const char* batch) {
    const Ran ran = gradcast_runs("simulate", "--model", "vgg-16", "--batch", batch, "--engine",
                                  "analytic", "--format", "json");
    return Json::parse(ran.out)["results"][0]["forward_seconds"].get<double>();
  };
  CHECK(forward("256") == Approx(2 * forward("128")));
}

TEST_CASE("a run is scaled to what an iteration takes on one GPU of one's own", "[cli]") {
  const Json scaled =
      scheduled({"--nodes", "1", "--gpus-per-node", "1", "--compute-seconds", "230ms"});
  CHECK(scaled["iteration_seconds"].get<double>() == Approx(0.23));
  const Json bare =
      scheduled({"--nodes", "1", "--gpus-per-node", "1", "--compute-seconds", "0.23"});
  CHECK(bare["iteration_seconds"] == scaled["iteration_seconds"]);  // the flag says seconds
  const Ran zero = gradcast_runs("simulate", "--model", "resnet-50", "--compute-seconds", "0s");
  CHECK(zero.exit_code == 2);
  CHECK_THAT(zero.err, Contains("--compute-seconds: an iteration takes more than 0 s"));
  const Ran payload = gradcast_runs("simulate", "--payload", "1MiB", "--compute-seconds", "1s");
  CHECK(payload.exit_code == 2);
  CHECK_THAT(payload.err, Contains("--payload has none"));
}

// 128 images in 4 micro-steps are still 128 images an iteration, and one update: as much computing.
TEST_CASE("micro-steps divide the batch, and throughput is of all of it", "[cli]") {
  const auto simulate = [](const char* micro_steps) {
    const Ran ran =
        gradcast_runs("simulate", "--model", "resnet-50", "--fusion", "layer", "--overlap", "yes",
                      "--accumulation", micro_steps, "--engine", "analytic", "--format", "json");
    return Json::parse(ran.out)["results"][0];
  };
  const Json one = simulate("1");
  const Json four = simulate("4");
  CHECK(four["batch"] == 128);
  CHECK(four["accumulation"] == 4);
  CHECK(four["forward_seconds"].get<double>() == Approx(one["forward_seconds"].get<double>()));
  CHECK(four["backward_seconds"].get<double>() == Approx(one["backward_seconds"].get<double>()));
  // A quarter of the backward is left to hide communication under.
  CHECK(four["exposed_communication_seconds"].get<double>() >
        one["exposed_communication_seconds"].get<double>());
  const double iteration = four["iteration_seconds"].get<double>();
  CHECK(four["samples_per_second"].get<double>() == Approx(16 * 128 / iteration));
  CHECK(four["scaling_efficiency"].get<double>() == Approx(0.46 / iteration).epsilon(1e-6));

  const Ran odd = gradcast_runs("simulate", "--model", "resnet-50", "--accumulation", "3");
  CHECK(odd.exit_code == 2);
  CHECK_THAT(odd.err, Contains("a batch of 128 is not divided by 3 micro-steps"));
  CHECK(gradcast_runs("simulate", "--payload", "1MiB", "--accumulation", "2").exit_code == 2);
}

TEST_CASE("CSV is a header and a row", "[cli]") {
  const Ran ran = gradcast_runs("simulate", "--model", "alexnet", "--format", "csv");
  CHECK(ran.exit_code == 0);
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 2);
  CHECK_THAT(ran.out, Catch::StartsWith("iteration_seconds,") && Contains(",model,") &&
                          Contains(",inputs_sha256\n"));
}

// Half of the FLOPs each: layers a and b take 0.1 s forward and 0.2 s backward of 0.6 s.
TEST_CASE("a model without a trace is forecast by its FLOPs where somebody says how long it takes",
          "[cli]") {
  const TemporaryFolder folder;
  const std::string model = folder.write(
      "mine.csv",
      "layer,tensor,elements,forward_flops\na,a.w,5000000,1000000\nb,b.w,5000000,1000000\n");
  std::vector<std::string> arguments{"simulate", "--model", model,      "--cluster", "25gbe",
                                     "--preset", "today",   "--format", "json"};
  const Ran refused = gradcast_with(arguments);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("no trace of model") &&
                              Contains("; with --compute-seconds the model's forward_flops stand "
                                       "for it"));
  arguments.insert(arguments.end(), {"--compute-seconds", "600ms", "--batch", "8"});
  const Ran ran = gradcast_with(arguments);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK_THAT(ran.err, Contains("has no trace: --compute-seconds is shared out by its "
                               "forward_flops, a third of it forward"));
  const Json result = Json::parse(ran.out)["results"][0];
  CHECK(result["trace"] == "by forward_flops");
  CHECK(result["batch"] == 8);
  CHECK_THAT(result["assumed"].get<std::string>(),
             Contains("--compute-seconds is shared out by the model's forward_flops"));
  CHECK(result["forward_seconds"].get<double>() == Approx(.2).epsilon(.02));
  const auto with = [&](const std::string& file) {
    return gradcast_with({"simulate", "--model", file, "--cluster", "25gbe", "--preset", "today",
                          "--compute-seconds", "600ms"});
  };
  CHECK_THAT(with(model).err, Contains("a batch of 1 is taken: --batch says yours"));
  const Ran idle = with(folder.write("idle.csv", "layer,tensor,elements,forward_flops\na,a,5,0\n"));
  CHECK(idle.exit_code == 2);
  CHECK_THAT(idle.err, Contains("the model's forward_flops, which would stand for it, are all 0"));
  const Ran wrong =
      with(folder.write("wrong.csv", "layer,tensor,elements,forward_flops\na,a,5x,1\n"));
  CHECK(wrong.exit_code == 3);
  CHECK_THAT(wrong.err, Contains("wrong.csv:2: "));
  // Compressors have the costs of the cluster's GPU, and decide goes on from there.
  arguments.front() = "decide";
  arguments.insert(arguments.end(), {"--compressor", "topk"});
  const Ran decided = gradcast_with(arguments);
  INFO(decided.err);
  CHECK(decided.exit_code == 0);
}
